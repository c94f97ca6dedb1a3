package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// paper is a forge whose reviews are lines of a file: what is posted survives the server, as on a host.
type paper struct {
	dir    string
	number int
}

func (p *paper) file() string { return filepath.Join(p.dir, fmt.Sprintf("reviews-%d", p.number)) }

func (p *paper) Request(context.Context) (*bot.Request, error) {
	return &bot.Request{Number: p.number, Head: commit(p.number), Open: true}, nil
}

func (p *paper) Diff(context.Context) (bot.Diff, error) {
	return bot.ParseDiff("--- /dev/null\n+++ b/a.go\n@@ -0,0 +1,2 @@\n+package a\n+var x = 1\n")
}

func (p *paper) Text(context.Context, string, string) (string, error) {
	return "package a\nvar x = 1\n", nil
}

func (p *paper) Posted(context.Context) (*bot.Posted, error) {
	data, err := os.ReadFile(p.file())
	if os.IsNotExist(err) {
		return new(bot.Posted), nil
	}
	posted := new(bot.Posted)
	for line := range strings.Lines(string(data)) {
		var body string
		if err := json.Unmarshal([]byte(line), &body); err != nil {
			return nil, err
		}
		posted.Bodies = append(posted.Bodies, body)
	}
	return posted, err
}

func (p *paper) Post(_ context.Context, _, body string, _ []bot.Comment) error {
	f, err := os.OpenFile(p.file(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n')) // one write: all of it or nothing
	time.Sleep(5 * time.Millisecond)     // a host answers later than it posts
	return err
}

func (p *paper) Resolve(context.Context, bot.Thread) error       { return nil }
func (p *paper) Reply(context.Context, bot.Thread, string) error { return nil }
func (p *paper) Answers(context.Context) ([]string, error)       { return nil, nil }
func (p *paper) Answer(context.Context, string) error            { return nil }
func (p *paper) MayWrite(context.Context, string) (bool, error)  { return false, nil }
func (p *paper) Self(context.Context) (bot.Author, error)        { return bot.Author{}, nil }
func (p *paper) Abilities() bot.Abilities                        { return bot.Abilities{} }

// child is a server whose worker takes some time to find one bug in each request.
func child(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	q, err := Open(context.Background(), filepath.Join(dir, "queue.db"))
	fail(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	fmt.Println("http://" + l.Addr().String())
	s := &Server{Queue: q, Secret: []byte(secret), Log: func(string) {}}
	s.Work = func(ctx context.Context, j Job) (string, error) {
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed, Title: "race",
			Variable: finding.Variable{Package: "a", Name: "x"}, Evidence: &finding.Evidence{},
			Accesses: []finding.Access{{Position: finding.Position{File: "a.go", Line: 2}, Function: "f", Expr: "x",
				Mode: finding.Write}}}
		f.ID = f.ComputeID()
		file := &bot.File{Version: bot.FileVersion, Head: j.Head, Complete: true, Findings: []*finding.Finding{f}}
		_, err := bot.Review(ctx, &paper{dir, j.Number}, file, time.Sleep)
		return "", err
	}
	fail(s.Serve(context.Background(), l))
}

// TestKilled kills the server, in a long test forty times while twenty requests come in: each gets one review.
func TestKilled(t *testing.T) {
	kills, requests := 10, 8
	if isLong {
		kills, requests = 40, 20
	}
	dir := t.TempDir()
	var mu sync.Mutex
	url := "" // guarded by mu
	// Events come while the server dies; a host delivers again where there was no answer.
	var events sync.WaitGroup
	for n := range requests {
		events.Go(func() {
			time.Sleep(time.Duration(n*kills*30/requests) * time.Millisecond)
			for {
				mu.Lock()
				at := url
				mu.Unlock()
				if code := deliver(t, at, "pull_request", body("opened", n+1, commit(n+1)), secret); code == http.StatusAccepted ||
					code == http.StatusConflict {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	reviews := func() (all []int) {
		for n := range requests {
			p := paper{dir, n + 1}
			posted, err := p.Posted(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, len(posted.Bodies))
		}
		return all
	}
	for i := range kills + 1 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SERVE_TEST_CHILD="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatalf("server %d did not start: %v", i, err)
		}
		mu.Lock()
		url = strings.TrimSpace(line)
		mu.Unlock()
		// The last one may finish.
		if i < kills {
			time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
		} else {
			events.Wait()
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if s := fmt.Sprint(reviews()); !strings.Contains(s, "0") {
					break
				}
			}
			time.Sleep(200 * time.Millisecond) // for a review too many
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	for n, got := range reviews() {
		if got != 1 {
			t.Errorf("request %d has %d reviews", n+1, got)
		}
	}
}

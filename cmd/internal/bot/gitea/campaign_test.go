package gitea_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/gitea"
	"github.com/interlock-go/interlock/cmd/internal/bot/serve"
)

// peekTest runs Peek beside Add.
const peekTest = `package bank

import (
	"sync"
	"testing"
)

func TestPeek(t *testing.T) {
	a := new(Account)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				a.Add(1)
				a.Peek()
			}
		}()
	}
	wg.Wait()
}
`

// TestCampaign goes the whole way on a real Gitea: a webhook arrives, the bugs of the request are found by runs, and
// the review appears; a push that mends the bug resolves the comment, and one without a change posts nothing.
func TestCampaign(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("runs a campaign for each push: make long")
	}
	s := startServer(t)
	interlock := filepath.Join(t.TempDir(), "interlock")
	if out, err := exec.Command("go", "build", "-o", interlock, "../../../interlock").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The bot's server, which Gitea delivers to.
	queue, err := serve.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 10)
	reviewer := &serve.Reviewer{Token: s.token, Timeout: 10 * time.Minute, Find: []string{interlock},
		Forge: func(ctx context.Context, repository string, number int) (bot.Forge, error) {
			return gitea.New(ctx, s.url, s.token, repository, number)
		}}
	server := &serve.Server{Queue: queue, Secret: []byte("hook"), Log: func(line string) { ended <- line },
		Work: reviewer.Work}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(ctx, l) }()
	defer func() {
		stop()
		<-stopped
	}()
	if _, _, err := s.owner.CreateRepoHook("owner", "bank", sdk.CreateHookOption{Type: sdk.HookTypeGitea, Active: true,
		Events: []string{"pull_request", "pull_request_sync"}, Config: map[string]string{
			"url": "http://" + l.Addr().String() + "/hook", "content_type": "json", "secret": "hook"}}); err != nil {
		t.Fatal(err)
	}
	await := func(want string) {
		t.Helper()
		for {
			select {
			case line := <-ended:
				if strings.Contains(line, "git") && !strings.Contains(line, "posted") { // it is tried again
					t.Log(line)
					continue
				}
				if !strings.Contains(line, want) {
					t.Fatalf("the job ended as %q, want %q", line, want)
				}
				return
			case <-time.After(10 * time.Minute):
				t.Fatal("no job has ended")
			}
		}
	}
	s.push("main", map[string]string{"go.mod": "module example.com/bank\n\ngo 1.24\n", "bank.go": account})
	s.push("change", map[string]string{"bank.go": account + peek, "bank_test.go": peekTest})
	n := s.open()
	await("posted; 1 comments")
	comments := s.comments(n)
	if len(comments) != 1 || comments[0].LineNum != 18 || !strings.Contains(comments[0].Body, "+\ta.mu.Lock()") ||
		!strings.Contains(comments[0].Body, "interlock test -runs=1") {
		t.Fatalf("comments: %+v", comments)
	}
	if dir := os.Getenv("INTERLOCK_TEST_PAGE"); dir != "" {
		s.picture(n, dir)
	}
	s.push("change", nil)
	await("nothing to post; 0 comments, 0 resolved")
	s.push("change", map[string]string{"bank.go": account + mended})
	await("nothing to post; 0 comments, 1 resolved")
	s.push("change", nil)
	await("nothing to post; 0 comments, 0 resolved")
	if c := s.comments(n); len(c) != 1 || c[0].Resolver == nil {
		t.Errorf("comments: %+v", c)
	}
}

// picture writes a picture of the request's page, for people, where there is a Chromium.
func (s *server) picture(n int, dir string) {
	s.t.Helper()
	page := s.url + "/owner/bank/pulls/" + strconv.Itoa(n)
	// The page keeps a connection open, so that it is never wholly loaded.
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,2000",
		"--virtual-time-budget=10000", "--user-data-dir="+s.t.TempDir(),
		"--screenshot="+filepath.Join(dir, "request.png"), page)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Logf("no picture: %v\n%s", err, out)
	}
}

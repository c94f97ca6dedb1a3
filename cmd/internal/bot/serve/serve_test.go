package serve

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// isLong reports whether tests that have a sample are run whole.
var isLong = os.Getenv("INTERLOCK_TEST_LONG") != ""

const secret = "the secret of the webhooks"

// body returns an event about a head of a request.
func body(action string, number int, head string) string {
	return fmt.Sprintf(`{"action":%q,"number":%d,"pull_request":{"head":{"sha":%q}},"repository":{"full_name":"o/r"}}`,
		action, number, head)
}

// asked returns an event about a comment.
func asked(action string, number int, comment int64, author, text string) string {
	return fmt.Sprintf(`{"action":%q,"issue":{"number":%d,"pull_request":{}},"repository":{"full_name":"o/r"},`+
		`"comment":{"id":%d,"body":%q,"user":{"login":%q}}}`, action, number, comment, text, author)
}

func commit(n int) string { return fmt.Sprintf("%040x", n) }

// deliver sends an event as GitHub and Gitea do, and returns the status of the answer.
func deliver(t testing.TB, url, event, text, key string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// start starts a server with a worker, and returns its address.
func start(t *testing.T, work Worker) (url string, q *Queue) {
	t.Helper()
	q, err := Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Queue: q, Secret: []byte(secret), Work: work, Log: func(string) {}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String(), q
}

// await waits until the queue has so many jobs in the state.
func await(t *testing.T, q *Queue, state string, n int) {
	t.Helper()
	var counts map[string]int
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var err error
		if counts, err = q.Counts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if counts[state] == n {
			return
		}
	}
	t.Fatalf("the queue has %v, want %d %s", counts, n, state)
}

func TestDeliveries(t *testing.T) {
	var mu sync.Mutex
	var jobs []string
	url, q := start(t, func(_ context.Context, j Job) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		jobs = append(jobs, j.String())
		return "", nil
	})
	good := body("opened", 7, commit(1))
	for _, c := range []struct {
		name, event, text, key string
		want                   int
	}{
		{"wrong secret", "pull_request", good, "guess", http.StatusUnauthorized},
		{"opened", "pull_request", good, secret, http.StatusAccepted},
		{"replayed", "pull_request", good, secret, http.StatusConflict},
		{"replayed, other space", "pull_request", good + " ", secret, http.StatusAccepted}, // another signature: not a replay
		{"pushed on GitHub", "pull_request", body("synchronize", 7, commit(2)), secret, http.StatusAccepted},
		{"pushed on Gitea", "pull_request", body("synchronized", 7, commit(3)), secret, http.StatusAccepted},
		{"closed", "pull_request", body("closed", 7, commit(4)), secret, http.StatusOK},
		{"another event", "push", good + "  ", secret, http.StatusOK},
		{"no JSON", "pull_request", "x", secret, http.StatusBadRequest},
		{"no commit", "pull_request", body("opened", 7, "main; rm -rf /"), secret, http.StatusBadRequest},
		{"no number", "pull_request", body("opened", -1, commit(5)), secret, http.StatusBadRequest},
		{"a comment", "issue_comment", asked("created", 7, 1, "w", "/interlock apply"), secret, http.StatusAccepted},
		{"again", "issue_comment", asked("created", 7, 1, "w", "/interlock apply"), secret, http.StatusConflict},
		{"on Gitea", "pull_request_comment", asked("created", 7, 2, "w", "/interlock apply\r\nplease"), secret,
			http.StatusAccepted},
		{"edited", "issue_comment", asked("edited", 7, 3, "w", "/interlock apply"), secret, http.StatusOK},
		{"another text", "issue_comment", asked("created", 7, 3, "w", "> /interlock apply"), secret, http.StatusOK},
		{"more words", "issue_comment", asked("created", 7, 3, "w", "/interlock apply now"), secret, http.StatusOK},
		{"second line", "issue_comment", asked("created", 7, 3, "w", "x\n/interlock apply"), secret, http.StatusOK},
		{"an issue", "issue_comment", strings.Replace(asked("created", 7, 3, "w", "/interlock apply"), "{}", "null", 1),
			secret, http.StatusOK},
		{"a user of a path", "issue_comment", asked("created", 7, 3, "../x", "/interlock apply"), secret,
			http.StatusBadRequest},
		{"no user", "issue_comment", asked("created", 7, 3, "", "/interlock apply"), secret, http.StatusBadRequest},
		{"no comment", "issue_comment", asked("created", 7, 0, "w", "/interlock apply"), secret, http.StatusBadRequest},
		{"no name", "pull_request", strings.Replace(good, "o/r", "../r/x", 1), secret, http.StatusBadRequest},
	} {
		if got := deliver(t, url, c.event, c.text, c.key); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	// No signature at all.
	resp, err := http.Post(url, "application/json", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("unsigned: %d", resp.StatusCode)
	}
	await(t, q, done, 5)
	mu.Lock()
	defer mu.Unlock()
	if len(jobs) < 3 || jobs[0] != "o/r#7 at 000000000000" {
		t.Errorf("jobs: %q", jobs)
	}
}

func TestNoSecret(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := (&Server{}).Serve(t.Context(), l); err == nil {
		t.Error("a server without a secret")
	}
}

// A job that fails, or panics, is tried again later; others go on.
func TestRetry(t *testing.T) {
	url, q := start(t, func(_ context.Context, j Job) (string, error) {
		switch j.Number {
		case 1:
			return "", fmt.Errorf("no")
		case 2:
			panic("no")
		}
		return "", nil
	})
	for n := range 4 {
		if got := deliver(t, url, "pull_request", body("opened", n+1, commit(n)), secret); got != http.StatusAccepted {
			t.Fatal(got)
		}
	}
	await(t, q, done, 2)
	await(t, q, queued, 2)
}

// TestManyDeliveries delivers events as fast as it can, a thousand in a long test: each has its job, within a minute.
func TestManyDeliveries(t *testing.T) {
	url, q := start(t, func(context.Context, Job) (string, error) { return "", nil })
	n := 100
	if isLong {
		n = 1000
	}
	begin := time.Now()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				if got := deliver(t, url, "pull_request", body("opened", i+1, commit(i)), secret); got != http.StatusAccepted {
					t.Errorf("event %d: %d", i, got)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	taken := time.Since(begin)
	await(t, q, done, n)
	t.Logf("%d events in %v, all done after %v", n, taken, time.Since(begin))
	if time.Since(begin) > time.Minute {
		t.Errorf("%d events took %v", n, time.Since(begin))
	}
}

// One server has a queue at a time.
func TestOneServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue.db")
	q, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if second, err := Open(ctx, file); err == nil {
		second.Close()
		t.Error("two servers have one queue")
	}
}

// FuzzReceive sends signed texts of strangers: a stranger who opens a request chooses its parts.
func FuzzReceive(f *testing.F) {
	f.Add([]byte(body("opened", 7, commit(1))))
	f.Add([]byte(`{"action":"opened","number":1e99}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(asked("created", 7, 1, "w", "/interlock apply")))
	q, err := Open(f.Context(), filepath.Join(f.TempDir(), "queue.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { q.Close() })
	h := (&Server{Queue: q, Secret: []byte(secret), Log: func(string) {}}).handler()
	f.Fuzz(func(t *testing.T, text []byte) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(text)
		for _, event := range []string{"pull_request", "issue_comment"} {
			req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(text))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-GitHub-Event", event)
			req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code == http.StatusServiceUnavailable {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	})
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("SERVE_TEST_CHILD"); dir != "" {
		child(dir)
		return
	}
	if result := os.Getenv("SERVE_TEST_TRY"); result != "" {
		tryChild(os.Args[1:], result)
		return
	}
	os.Exit(m.Run())
}

// TestOvertaken delivers another head of a request while one is worked on: that work ends, and is begun again where the
// head is still the last of the request, as deliveries may be late.
func TestOvertaken(t *testing.T) {
	began := make(chan string, 10)
	var last atomic.Value // the head of the request, as the forge has it
	tries := map[string]int{}
	url, q := start(t, func(ctx context.Context, j Job) (string, error) {
		if j.Head != last.Load() {
			return "superseded", nil
		}
		began <- j.Head
		if tries[j.Head]++; tries[j.Head] > 1 {
			return "reviewed", nil
		}
		<-ctx.Done() // a long campaign
		return "", ctx.Err()
	})
	push := func(n int) {
		t.Helper()
		if got := deliver(t, url, "pull_request", body("synchronize", 7, commit(n)), secret); got != http.StatusAccepted {
			t.Fatalf("delivery of %d: %d", n, got)
		}
	}
	last.Store(commit(1))
	push(1)
	<-began
	last.Store(commit(3))
	push(3)
	<-began
	push(2) // late
	await(t, q, "done", 3)
	if got := <-began; got != commit(3) || len(began) != 0 {
		t.Errorf("%s was begun last, then %d more: want %s and none", got, len(began), commit(3))
	}
}

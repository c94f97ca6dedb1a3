package gitea_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"
)

// server is a real Gitea on loopback, with a repository owner/bank, a request and a user for the bot.
type server struct {
	t     *testing.T
	url   string
	dir   string // of the server
	work  string // the clone of the repository
	owner *sdk.Client
	token string // of the bot
	other *sdk.Client
}

// configuration of the server, with its folder, port and program's folder.
const configuration = `APP_NAME = test
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %[1]s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[2]d
ROOT_URL = http://127.0.0.1:%[2]d/
STATIC_ROOT_PATH = %[3]s
APP_DATA_PATH = %[1]s/data
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = %[1]s/data/gitea.db
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v2
[repository]
ROOT = %[1]s/repositories
[webhook]
ALLOWED_HOST_LIST = *
[log]
LEVEL = warn
ROOT_PATH = %[1]s/log
[session]
PROVIDER = memory
[cron]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
`

// startServer starts Gitea, or skips the test where make gitea has not built it.
func startServer(t *testing.T) *server {
	t.Helper()
	program, err := filepath.Abs("../../../../bin/gitea/gitea")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no Gitea: make gitea builds it")
	}
	s := &server{t: t, dir: t.TempDir(), work: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	config := filepath.Join(s.dir, "app.ini")
	text := fmt.Sprintf(configuration, s.dir, port, filepath.Dir(program))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{"--config", config}, args...)...)
		cmd.Env = append(os.Environ(), "GITEA_WORK_DIR="+s.dir, "HOME="+s.dir)
		return cmd
	}
	// Users and tokens come from the command line of the server.
	run := func(args ...string) string {
		out, err := call(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("gitea %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("migrate")
	tokens := map[string]string{}
	for _, name := range []string{"owner", "bot", "person"} {
		out := run("admin", "user", "create", "--username", name, "--password", "Secret-pass-1", "--email",
			name+"@example.com", "--admin", "--must-change-password=false", "--access-token", "--access-token-scopes", "all")
		m := regexp.MustCompile(`[0-9a-f]{40}`).FindString(out)
		if m == "" {
			t.Fatalf("no token in %s", out)
		}
		tokens[name] = m
	}
	web := call("web")
	var log bytes.Buffer
	web.Stdout, web.Stderr = &log, &log
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		web.Process.Kill()
		web.Wait()
		if t.Failed() {
			t.Logf("Gitea said:\n%s", log.String())
		}
	})
	s.awaitServer()
	s.token = tokens["bot"]
	s.owner, s.other = s.client(tokens["owner"]), s.client(tokens["person"])
	if _, _, err := s.owner.CreateRepo(sdk.CreateRepoOption{Name: "bank", DefaultBranch: "main"}); err != nil {
		t.Fatal(err)
	}
	s.git("init", "-q", "-b", "main")
	s.git("remote", "add", "origin", strings.Replace(s.url, "://", "://owner:"+tokens["owner"]+"@", 1)+"/owner/bank.git")
	return s
}

// awaitServer waits until the server answers.
func (s *server) awaitServer() {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(s.url + "/api/v1/version")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	s.t.Fatal("Gitea does not answer")
}

func (s *server) client(token string) *sdk.Client {
	s.t.Helper()
	c, err := sdk.NewClient(s.url, sdk.SetToken(token))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// git runs git in the clone.
func (s *server) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.work
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// push commits files on a branch, and pushes it. It returns the commit.
func (s *server) push(branch string, files map[string]string) string {
	s.t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.work, name), []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "c")
	s.git("push", "-q", "origin", "HEAD:"+branch)
	return s.git("rev-parse", "HEAD")
}

// open opens a request of branch change.
func (s *server) open() int {
	s.t.Helper()
	p, _, err := s.owner.CreatePullRequest("owner", "bank", sdk.CreatePullRequestOption{Head: "change", Base: "main",
		Title: "Peek"})
	if err != nil {
		s.t.Fatal(err)
	}
	return int(p.Index)
}

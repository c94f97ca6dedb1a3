package github_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/interlock-go/interlock/cmd/internal/bot/github"
)

// fake is GitHub with one repository and one pull request, over a real git repository. It computes the hunks itself,
// and refuses what GitHub refuses. Requests must fit GitHub's own description (testdata/openapi.json, made from
// @octokit/openapi 23.0.2 by leaving out other operations, responses and descriptions).
type fake struct {
	t      *testing.T
	dir    string // of the git repository; branches main and change
	server *httptest.Server
	router routers.Router

	mu       sync.Mutex
	closed   bool
	readOnly bool   // writes are refused, as with the token of a fork
	noSolve  bool   // resolving is refused
	hooks    []hook // each answers one write in place of the fake, or behind it
	reviews  []review
	comments []string          // of the bot, beside its reviews
	roles    map[string]string // of users: their permission
	threads  []*thread
	requests []string          // methods and paths of all writes
	diffs    map[string]string // by head and file
}

// hook stands in for the next answer to a write. With carry, the write has its effect.
type hook struct {
	status int
	header http.Header
	carry  bool
	before func() // runs before the write is looked at
}

type review struct {
	Body, Commit string
	Comments     []draft
}

type draft struct {
	Path      string `json:"path"`
	Body      string `json:"body"`
	Line      int    `json:"line"`
	Side      string `json:"side"`
	StartLine *int   `json:"start_line"`
	StartSide string `json:"start_side"`
}

type thread struct {
	draft
	id       int
	resolved bool
	replies  []reply
}

type reply struct {
	body string
	mine bool // of the bot
}

func newFake(t *testing.T, files map[string]string) *fake {
	t.Helper()
	f := &fake{t: t, dir: t.TempDir(), diffs: map[string]string{}}
	doc, err := openapi3.NewLoader().LoadFromFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if f.router, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatal(err)
	}
	f.git("init", "-q", "-b", "main")
	f.commit(files)
	f.git("checkout", "-q", "-b", "change")
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

// forge returns a client of the pull request.
func (f *fake) forge() *github.Forge {
	f.t.Helper()
	g, err := github.New(github.Options{API: f.server.URL, Graph: f.server.URL + "/graphql", Token: "secret"}, "o/r")
	if err != nil {
		f.t.Fatal(err)
	}
	return g.On(7)
}

func (f *fake) git(args ...string) string {
	f.t.Helper()
	out, err := f.try(args...)
	if err != nil {
		f.t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSuffix(out, "\n")
}

func (f *fake) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// commit commits the files on the current branch, and removes those that are empty. It returns the commit.
func (f *fake) commit(files map[string]string) string {
	f.t.Helper()
	for name, text := range files {
		name = filepath.Join(f.dir, filepath.FromSlash(name))
		if text == "" {
			if err := os.Remove(name); err != nil {
				f.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", "c")
	return f.git("rev-parse", "HEAD")
}

func (f *fake) head() string { return f.git("rev-parse", "change") }

// serve answers one request.
func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" {
		f.answer(w, http.StatusUnauthorized, message("Bad credentials"))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.URL.Path == "/graphql" {
		f.graph(w, body)
		return
	}
	// GitHub's own description comes first.
	route, params, err := f.router.FindRoute(r)
	if err != nil {
		f.t.Errorf("%s %s is not described: %v", r.Method, r.URL.Path, err)
		f.answer(w, http.StatusNotFound, message("Not Found"))
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		f.t.Errorf("%s %s does not fit its description: %v", r.Method, r.URL.Path, err)
	}
	switch route.Operation.OperationID {
	case "pulls/list":
		f.list(w, r)
	case "pulls/get":
		f.answer(w, http.StatusOK, f.pull())
	case "pulls/list-files":
		f.files(w, r)
	case "repos/get-content":
		f.content(w, params["path"], r.URL.Query().Get("ref"))
	case "pulls/create-review":
		f.write(w, r, func() (int, any) { return f.review(body) })
	case "issues/create-comment":
		f.write(w, r, func() (int, any) { return f.comment(body) })
	case "repos/get-collaborator-permission-level":
		f.permission(w, params["username"])
	}
}

func message(text string) any { return map[string]any{"message": text} }

func (f *fake) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		f.t.Error(err)
	}
}

// write carries a write out, unless it is refused.
func (f *fake) write(w http.ResponseWriter, r *http.Request, do func() (int, any)) {
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	if len(f.hooks) > 0 {
		h := f.hooks[0]
		f.hooks = f.hooks[1:]
		if h.before != nil {
			h.before()
		}
		if h.carry {
			do()
		}
		if h.status != 0 {
			for k, v := range h.header {
				w.Header()[k] = v
			}
			f.answer(w, h.status, message("You have exceeded a secondary rate limit"))
			return
		}
	}
	if f.readOnly {
		f.answer(w, http.StatusForbidden, message("Resource not accessible by integration"))
		return
	}
	status, v := do()
	f.answer(w, status, v)
}

func (f *fake) pull() any {
	state := "open"
	if f.closed {
		state = "closed"
	}
	head, _ := f.try("rev-parse", "change")
	repo := map[string]any{"clone_url": f.dir}
	return map[string]any{"number": 7, "state": state, "base": map[string]any{"ref": "main", "repo": repo},
		"head": map[string]any{"sha": strings.TrimSpace(head), "ref": "change", "repo": repo}}
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("head") != "stranger:change" {
		f.answer(w, http.StatusOK, []any{})
		return
	}
	f.answer(w, http.StatusOK, []any{f.pull()})
}

// pageSize is how many files or threads a page has, whatever is asked for.
const pageSize = 2

func (f *fake) files(w http.ResponseWriter, r *http.Request) {
	all := []any{}
	for _, name := range strings.Fields(f.git("diff", "--name-only", "main...change")) {
		text := f.git("diff", "main...change", "--", name)
		at := strings.Index(text, "\n@@")
		file := map[string]any{"filename": name, "status": "modified"}
		if strings.Contains(text, "\ndeleted file") {
			file["status"] = "removed"
		}
		if at >= 0 {
			file["patch"] = text[at+1:]
		}
		all = append(all, file)
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(page, 1)
	from, to := min(len(all), (page-1)*pageSize), min(len(all), page*pageSize)
	if to < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=%d>; rel="next"`, f.server.URL, r.URL.Path, page+1))
	}
	f.answer(w, http.StatusOK, all[from:to])
}

func (f *fake) content(w http.ResponseWriter, path, ref string) {
	text, err := f.try("cat-file", "blob", ref+":"+path)
	if err != nil {
		f.answer(w, http.StatusNotFound, message("Not Found"))
		return
	}
	f.answer(w, http.StatusOK, map[string]any{"type": "file", "encoding": "base64", "path": path, "size": len(text),
		"content": base64.StdEncoding.EncodeToString([]byte(text))})
}

// hunkHead is the beginning of a hunk; its new lines are the third and fourth number.
var hunkHead = regexp.MustCompile(`(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// hunkOf returns the number of the hunk that a line of a file is in, -1 if it is in none.
func (f *fake) hunkOf(path string, line int) int {
	head := f.head()
	text, ok := f.diffs[head+path]
	if !ok {
		text, _ = f.try("diff", "main...change", "--", path)
		f.diffs[head+path] = text
	}
	for i, m := range hunkHead.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		if line >= from && line < from+n {
			return i
		}
	}
	return -1
}

// review posts a review, or refuses all of it.
func (f *fake) review(body []byte) (int, any) {
	var in struct {
		CommitID string  `json:"commit_id"`
		Body     string  `json:"body"`
		Event    string  `json:"event"`
		Comments []draft `json:"comments"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, message("Problems parsing JSON")
	}
	refuse := func(text string) (int, any) { return http.StatusUnprocessableEntity, message(text) }
	commits := strings.Fields(f.git("rev-list", "main..change"))
	switch {
	case in.Event != "COMMENT" || in.Body == "":
		return refuse("Could not create a review without a body")
	case !slices.Contains(commits, in.CommitID):
		return refuse("The commit is not part of the pull request")
	case len(in.Body) > 65535:
		return refuse("body is too long")
	}
	for _, c := range in.Comments {
		at := f.hunkOf(c.Path, c.Line)
		switch {
		case len(c.Body) > 65535 || c.Body == "":
			return refuse("body is too long")
		case at < 0 || c.Side != "RIGHT":
			return refuse("pull_request_review_thread.line must be part of the diff")
		case c.StartLine != nil && *c.StartLine >= c.Line:
			return refuse("pull_request_review_thread.start_line must precede the end line")
		case c.StartLine != nil && (f.hunkOf(c.Path, *c.StartLine) != at || c.StartSide != "RIGHT"):
			return refuse("pull_request_review_thread.start_line must be part of the same hunk as the line")
		}
	}
	f.reviews = append(f.reviews, review{in.Body, in.CommitID, in.Comments})
	for _, c := range in.Comments {
		f.threads = append(f.threads, &thread{draft: c, id: 100 + len(f.threads)})
	}
	return http.StatusOK, map[string]any{"id": len(f.reviews)}
}

// comment adds a comment to the request.
func (f *fake) comment(body []byte) (int, any) {
	var in struct{ Body string }
	if err := json.Unmarshal(body, &in); err != nil || in.Body == "" || len(in.Body) > 65535 {
		return http.StatusUnprocessableEntity, message("body is too long")
	}
	f.comments = append(f.comments, in.Body)
	return http.StatusCreated, map[string]any{"id": len(f.comments)}
}

// permission answers who may do what: everybody may read.
func (f *fake) permission(w http.ResponseWriter, user string) {
	role, ok := f.roles[user]
	switch {
	case f.readOnly:
		f.answer(w, http.StatusForbidden, message("Must have push access to view collaborator permission."))
	case !ok:
		f.answer(w, http.StatusNotFound, message("Not Found"))
	default:
		f.answer(w, http.StatusOK, map[string]any{"permission": role, "user": map[string]any{"login": user}})
	}
}

// graph answers the operations of GraphQL that there are.
func (f *fake) graph(w http.ResponseWriter, body []byte) {
	var in struct {
		Query     string
		Variables map[string]any
	}
	if err := json.Unmarshal(body, &in); err != nil {
		f.t.Error(err)
	}
	if strings.HasPrefix(in.Query, "mutation") {
		f.mutate(w, in.Query, in.Variables["input"].(map[string]any))
		return
	}
	if !strings.Contains(in.Query, "repository(") {
		f.answer(w, http.StatusOK, map[string]any{"data": map[string]any{
			"viewer": map[string]any{"login": "bot", "databaseId": 41}}})
		return
	}
	if strings.Contains(in.Query, "comments(first: 100, after: $comments)") {
		comments := []any{map[string]any{"body": `<!-- interlock {"comment":1} -->`, "viewerDidAuthor": false}}
		for _, c := range f.comments {
			comments = append(comments, map[string]any{"body": c, "viewerDidAuthor": true})
		}
		f.answer(w, http.StatusOK, map[string]any{"data": map[string]any{"repository": map[string]any{
			"pullRequest": map[string]any{"comments": part(comments, in.Variables["comments"])}}}})
		return
	}
	// Both lists come in pages.
	var reviews, threads []any
	for _, r := range f.reviews {
		reviews = append(reviews, map[string]any{"body": r.Body, "viewerDidAuthor": true})
	}
	// A stranger copies the bot's marker, which must change nothing.
	reviews = append(reviews, map[string]any{"viewerDidAuthor": false,
		"body": `<!-- interlock {"head":"` + f.git("rev-parse", "change") + `"} -->`})
	for _, t := range f.threads {
		comments := []any{map[string]any{"body": t.Body, "viewerDidAuthor": true}}
		for _, r := range t.replies {
			comments = append(comments, map[string]any{"body": r.body, "viewerDidAuthor": r.mine})
		}
		threads = append(threads, map[string]any{"id": t.node(), "isResolved": t.resolved, "path": t.Path,
			"resolvedBy": nil, "comments": map[string]any{"nodes": comments}})
	}
	f.answer(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": "bot"},
		"repository": map[string]any{"pullRequest": map[string]any{
			"reviews":       part(reviews, in.Variables["reviews"]),
			"reviewThreads": part(threads, in.Variables["threads"])}}}})
}

// mutate resolves a thread, or replies to it.
func (f *fake) mutate(w http.ResponseWriter, query string, input map[string]any) {
	resolves := strings.Contains(query, "resolveReviewThread(")
	f.requests = append(f.requests, map[bool]string{true: "resolve", false: "reply"}[resolves])
	if f.readOnly || f.noSolve && resolves {
		f.answer(w, http.StatusOK, map[string]any{"errors": []any{message("Resource not accessible by integration")}})
		return
	}
	for _, t := range f.threads {
		switch {
		case resolves && t.node() == input["threadId"]:
			t.resolved = true
		case !resolves && t.node() == input["pullRequestReviewThreadId"]:
			t.replies = append(t.replies, reply{input["body"].(string), true})
		default:
			continue
		}
		f.answer(w, http.StatusOK, map[string]any{"data": map[string]any{}})
		return
	}
	f.answer(w, http.StatusOK, map[string]any{"errors": []any{message("Could not resolve to a node")}})
}

func (t *thread) node() string { return fmt.Sprintf("T%d", t.id) }

// part returns a page of a list, behind a cursor.
func part(all []any, after any) any {
	from := 0
	if s, ok := after.(string); ok {
		from, _ = strconv.Atoi(s)
	}
	to := min(len(all), from+pageSize)
	return map[string]any{"nodes": append([]any{}, all[from:to]...), "pageInfo": map[string]any{
		"hasNextPage": to < len(all), "endCursor": strconv.Itoa(to)}}
}

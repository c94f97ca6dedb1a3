package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/gitea"
	"github.com/interlock-go/interlock/cmd/internal/bot/github"
	"github.com/interlock-go/interlock/cmd/internal/bot/repo"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

var botReviewCommand = command{
	name: "bot review", args: "[flags]", short: "post the findings of bot find on a pull request",
	long: botLong + `

Review posts the findings of the file that the request brings in: one review for a push, with a comment
at the lines of each bug, ten at most; the others stand in its text. A patch that lies in one hunk of the
request is a suggestion to be committed by a click; any other is shown as a diff. Nothing is posted twice, and
nothing at all where nothing is new. A comment whose finding is gone is resolved, or answered once if
somebody has replied.

In GitHub Actions and Gitea Actions the repository, the request and the server are known; elsewhere
name them. The token is read from INTERLOCK_TOKEN, GITHUB_TOKEN or GITEA_TOKEN. A token that may not write, as
that of a request from a fork, turns the review into annotations and a summary of the job. With
-forge=none nothing is posted: standard output has the new findings in the format that -format names, for
GitLab (gitlab) and reviewdog (rdjson).

With -push, for hosts and teams without a suggestion that a click commits, the verified patches that comments of
the bot show become one commit on the branch of the request. "bot try" has to have tried them together. Drafts
are never pushed, nothing but Go source is changed, and nothing is pushed onto a commit of the bot. A branch that
has moved, or that the host keeps from the bot, stays as it is.`,
	examples: [][2]string{
		{"interlock bot review -findings=findings.json", "in GitHub or Gitea Actions"},
		{"interlock bot review -forge=gitea -api=https://git.example.com -repo=o/r -pr=7 -findings=findings.json",
			"anywhere else"},
		{"interlock bot review -push -findings=findings.json", "behind find and try: push the patches too"},
		{"interlock bot review -forge=none -format=gitlab -findings=findings.json", "in GitLab CI, for code quality"},
	},
	options: func() runner { return new(botReviewOptions) },
}

type botReviewOptions struct {
	findings   string
	forge      string
	api        string
	repository string
	number     int
	format     string
	commits    bool // -push
}

// forges are the values of -forge.
var forges = []string{"github", "gitea", "none"}

func (o *botReviewOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.findings, "findings", "interlock-findings.json", "post the findings of this `file` of bot find")
	fs.Func("forge", "post to this `host`: github, gitea or none (default: that of the CI system)", func(s string) error {
		if !slices.Contains(forges, s) {
			return errors.New("use github, gitea or none")
		}
		o.forge = s
		return nil
	})
	fs.StringVar(&o.api, "api", "", "`address` of the server: of GitHub's API, or of Gitea")
	fs.StringVar(&o.repository, "repo", "", "`owner/name` of the repository")
	fs.IntVar(&o.number, "pr", 0, "`number` of the pull request")
	fs.Func("format", "`format` of standard output with -forge=none: "+strings.Join(report.Formats(), ", ")+
		" (default text)", func(s string) error {
		_, err := report.For(s)
		o.format = s
		return err
	})
	fs.BoolVar(&o.commits, "push", false, "push the verified patches that the review names onto the branch, as one "+
		"commit: the file\nneeds the result of bot try")
}

func (o *botReviewOptions) fit() error {
	if o.commits && o.forge == "none" {
		return errors.New("-push needs a host: leave -forge=none out")
	}
	return nil
}

func (o *botReviewOptions) run(c *call) int {
	in, err := os.Open(o.findings)
	if err != nil {
		return c.usage("-findings: %v", err)
	}
	defer in.Close()
	file, leftOut, err := bot.ReadFile(in)
	if err != nil {
		return c.usage("-findings: %s: %v", o.findings, err)
	}
	if leftOut > 0 {
		c.warn(fmt.Sprintf("%s of the file left out: they break their contract, or lie outside of the repository",
			report.Count(leftOut, "finding")))
	}
	if !file.Complete {
		c.warn(o.findings + " is not complete: not all was analysed and run, and patches may be missing")
	}
	if o.commits && file.Tried == nil {
		return c.usage("-push needs patches that were tried together: run `interlock bot try -findings=%s` first", o.findings)
	}
	if o.forge == "none" {
		return o.print(c, file)
	}
	// The request is that of the CI system, never one that the file names.
	forge, err := o.connect(c.ctx)
	if err != nil {
		return c.usage("%v", err)
	}
	if forge == nil {
		c.warn("no open request has this commit as its head: nothing is posted")
		return exitClean
	}
	r, err := bot.Review(c.ctx, forge, file, time.Sleep)
	if err != nil {
		c.warn(err.Error())
		return exitIncomplete
	}
	if code := o.finish(c, r); code != exitClean || !o.commits {
		return code
	}
	return pushPatches(c, forge, file, tokenOf())
}

// finish reports how the review has ended, and posts elsewhere what the token may not.
func (o *botReviewOptions) finish(c *call, r *bot.Result) int {
	switch r.Ending {
	case bot.Superseded:
		c.warn("the request has another head by now: nothing is posted")
	case bot.Closed:
		c.warn("the request is closed: nothing is posted")
	case bot.ReadOnly:
		c.warn("the token may not write: the findings are annotations, and stand in the summary of the job")
		rep := &report.Report{Command: "bot review", Version: version(), Findings: r.Findings()}
		if err := writeTo(c.stdout, report.GitHub{}, rep); err != nil {
			return c.unwritten(err)
		}
		if err := appendSummary(os.Getenv("GITHUB_STEP_SUMMARY"), r.Summary()); err != nil {
			return c.unwritten(err)
		}
	case bot.Reviewed:
		s := fmt.Sprintf("posted: %s", report.Count(len(r.Chosen), "bug"))
		if r.InBody {
			s += ", in the text of the review, as the host refused the comments"
		}
		c.warn(s)
	case bot.Quiet:
		c.warn("nothing new to post")
	}
	if r.Resolved+r.Answered > 0 {
		c.warn(fmt.Sprintf("%s resolved, %d answered", report.Count(r.Resolved, "comment"), r.Answered))
	}
	return exitClean
}

// appendSummary appends a text to the file that the CI system shows as the summary of a job, if there is one.
func appendSummary(name, text string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// print writes the new findings to standard output. The repository around this folder has their text.
func (o *botReviewOptions) print(c *call, file *bot.File) int {
	r, err := repo.Open(c.ctx, ".")
	if err != nil {
		return c.failed(err)
	}
	text, err := r.Diff(c.ctx, file.Base, file.Head)
	if err != nil {
		return c.failed(fmt.Errorf("comparing the commits of the file: %w", err))
	}
	d, err := bot.ParseDiff(text)
	if err != nil {
		return c.failed(err)
	}
	decision := bot.Decide(bot.State{File: file, Diff: d, Posted: new(bot.Posted),
		Text: func(path string) (string, error) { return r.Text(c.ctx, file.Head, path) }})
	if o.format == "" {
		o.format = "text"
	}
	rep := &report.Report{Command: "bot review", Version: version(), Root: r.Root(), Dir: r.Root(), Repository: r.Root(),
		Findings: decision.Findings()}
	if err := c.emit(rep, reportFlags{format: o.format}); err != nil {
		return c.unwritten(err)
	}
	return exitClean
}

// event is the part of an event of GitHub or Gitea that names a request. The CI system has written it.
type event struct {
	PullRequest struct{ Number int } `json:"pull_request"`
	Run         *struct {
		Head       string `json:"head_sha"`
		Branch     string `json:"head_branch"`
		Repository struct {
			Owner struct{ Login string }
		} `json:"head_repository"`
	} `json:"workflow_run"`
}

// readEvent returns the event that has started the job, which is empty outside of CI.
func readEvent() (e event, err error) {
	name := os.Getenv("GITHUB_EVENT_PATH")
	if name == "" {
		return e, nil
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		err = fmt.Errorf("reading GITHUB_EVENT_PATH: %w", err)
	}
	return e, err
}

// tokenOf returns the token of the environment.
func tokenOf() string {
	return cmp.Or(os.Getenv("INTERLOCK_TOKEN"), os.Getenv("GITHUB_TOKEN"), os.Getenv("GITEA_TOKEN"))
}

// connect returns the request on its host, or nil if no open request has the head of the run that started this job.
func (o *botReviewOptions) connect(ctx context.Context) (bot.Forge, error) {
	env := os.Getenv
	token := tokenOf()
	if token == "" {
		return nil, errors.New("bot review needs a token: set INTERLOCK_TOKEN, or use -forge=none")
	}
	e, err := readEvent()
	if err != nil {
		return nil, err
	}
	// Flags win over the environment, and that over the event.
	if o.forge == "" {
		o.forge = "github"
		if env("GITEA_ACTIONS") == "true" {
			o.forge = "gitea"
		}
	}
	o.repository = cmp.Or(o.repository, env("GITHUB_REPOSITORY"))
	if o.number == 0 {
		o.number = e.PullRequest.Number
	}
	if o.number == 0 && (e.Run == nil || o.forge == "gitea") {
		return nil, errors.New("bot review does not know the request: name it by -pr and -repo")
	}
	if o.forge == "gitea" {
		return gitea.New(ctx, cmp.Or(o.api, env("GITHUB_SERVER_URL")), token, o.repository, o.number)
	}
	forge, err := github.New(githubOptions(o.api, token), o.repository)
	if err != nil {
		return nil, err
	}
	if o.number == 0 {
		if o.number, err = forge.Find(ctx, e.Run.Repository.Owner.Login, e.Run.Branch, e.Run.Head); o.number == 0 {
			return nil, err
		}
	}
	return forge.On(o.number), nil
}

// githubOptions returns where GitHub is: the addresses of an enterprise's server are in the environment of its jobs.
func githubOptions(api, token string) github.Options {
	graph := os.Getenv("GITHUB_GRAPHQL_URL")
	if api != "" {
		graph = strings.TrimSuffix(api, "/") + "/graphql"
	}
	return github.Options{Token: token, API: cmp.Or(api, os.Getenv("GITHUB_API_URL"), "https://api.github.com"),
		Graph: cmp.Or(graph, "https://api.github.com/graphql")}
}

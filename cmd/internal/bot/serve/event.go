package serve

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// delivery is the part of an event that names a job. Gitea sends the same fields as GitHub.
type delivery struct {
	Action  string
	Number  int
	Request struct {
		Head struct{ SHA string }
	} `json:"pull_request"`
	// A comment on a request is one on the issue that belongs to it.
	Issue struct {
		Number  int
		Request json.RawMessage `json:"pull_request"`
	}
	Comment struct {
		ID   int64
		Body string
		User struct{ Login string }
	}
	Repository struct {
		FullName string `json:"full_name"`
	}
}

// pushed are the actions by which a request has a new head.
var pushed = []string{"opened", "reopened", "synchronize", "synchronized"}

// What is taken from an event becomes part of addresses.
var (
	validName   = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	validCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	validUser   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

var (
	errNoEvent   = errors.New("no event")
	errNoRequest = errors.New("the event names no request")
)

// jobOf returns the job of an event, or the reason why there is none.
func jobOf(event string, body []byte) (j Job, ignored string, err error) {
	var d delivery
	switch event {
	case "pull_request", "issue_comment", "pull_request_comment":
		if err := json.Unmarshal(body, &d); err != nil {
			return Job{}, "", errNoEvent
		}
	default:
		return Job{}, "not about a request", nil
	}
	j.Repository = d.Repository.FullName
	if event == "pull_request" {
		if !slices.Contains(pushed, d.Action) {
			return Job{}, "no new head", nil
		}
		j.Number, j.Head = d.Number, d.Request.Head.SHA
	} else {
		isNull := len(d.Issue.Request) == 0 || string(d.Issue.Request) == "null"
		if d.Action != "created" || isNull || !bot.Asks(d.Comment.Body) {
			return Job{}, "nothing is asked for", nil
		}
		j.Number, j.Comment, j.Author = d.Issue.Number, d.Comment.ID, d.Comment.User.Login
	}
	isHead, isComment := validCommit.MatchString(j.Head), j.Comment > 0 && validUser.MatchString(j.Author)
	if !validName.MatchString(j.Repository) || j.Number <= 0 || !isHead && !isComment {
		return Job{}, "", errNoRequest
	}
	return j, "", nil
}

package report

import (
	"fmt"
	"io"
	"strings"
)

// GitLab writes the report that GitLab shows in merge requests (artifacts:reports:codequality).
type GitLab struct{}

type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// Write implements [Handler].
func (GitLab) Write(w io.Writer, r *Report) error {
	issues := []gitlabIssue{} // never null
	for _, e := range r.entries() {
		issues = append(issues, gitlabIssue{
			Description: Clean(e.message), CheckName: string(e.Code), Fingerprint: e.ID,
			Severity: severity{"critical", "major", "info"}.of(e.Finding),
			Location: gitlabLocation{r.inRepository(e.at.File), gitlabLines{e.at.Line}},
		})
	}
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}

// GitHub writes workflow commands, one line a finding, which GitHub shows as annotations.
type GitHub struct{}

// escapes of workflow commands: of the message behind ::, and of the properties before it, which need more.
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Write implements [Handler].
func (GitHub) Write(w io.Writer, r *Report) error {
	var b strings.Builder
	for _, e := range r.entries() {
		place := fmt.Sprintf("file=%s,line=%d", commandProperty.Replace(Clean(r.inRepository(e.at.File))), e.at.Line)
		if e.at.Column > 0 {
			place += fmt.Sprintf(",col=%d", e.at.Column)
		}
		if e.at.EndLine > 0 {
			place += fmt.Sprintf(",endLine=%d", e.at.EndLine)
		}
		title := commandProperty.Replace(Clean(fmt.Sprintf("%s %s", e.Code, e.Status)))
		fmt.Fprintf(&b, "::%s %s,title=%s::%s\n", severity{"error", "warning", "notice"}.of(e.Finding), place, title,
			commandText.Replace(Clean(e.message+" ["+e.ID+"]")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

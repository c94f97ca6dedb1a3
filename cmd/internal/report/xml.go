package report

import (
	"encoding/xml"
	"io"
	"strings"
)

// Checkstyle writes the XML of Checkstyle, which Jenkins and many others read.
type Checkstyle struct{}

type checkstyle struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Version string           `xml:"version,attr"`
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr,omitempty"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

// Write implements [Handler].
func (Checkstyle) Write(w io.Writer, r *Report) error {
	doc := checkstyle{Version: "4.3"}
	for _, e := range r.entries() { // those of one file follow each other
		file := Clean(r.inRepository(e.at.File))
		if n := len(doc.Files); n == 0 || doc.Files[n-1].Name != file {
			doc.Files = append(doc.Files, checkstyleFile{Name: file})
		}
		last := &doc.Files[len(doc.Files)-1]
		last.Errors = append(last.Errors, checkstyleError{e.at.Line, e.at.Column,
			severity{"error", "warning", "info"}.of(e.Finding), Clean(e.message), "interlock." + string(e.Code)})
	}
	return writeXML(w, doc)
}

// JUnit writes the findings as failed tests, which every CI system shows, beside the tests that failed by themselves;
// or one test that passed, if there are none. A finding that does not fail the build is a skipped test.
type JUnit struct{}

type junit struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	File    string      `xml:"file,attr,omitempty"`
	Line    int         `xml:"line,attr,omitempty"`
	Failure *junitFault `xml:"failure,omitempty"`
	Error   *junitFault `xml:"error,omitempty"`
	Skipped *junitFault `xml:"skipped,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Write implements [Handler].
func (JUnit) Write(w io.Writer, r *Report) error {
	s := junitSuite{Name: "interlock " + r.Command}
	for _, e := range r.entries() {
		c := junitCase{
			Class: Clean(e.Variable.Package), Name: string(e.Code) + " " + Clean(e.Title) + " [" + e.ID + "]",
			File: Clean(r.inRepository(e.at.File)), Line: e.at.Line,
		}
		fault := &junitFault{Clean(e.Title), string(e.Code), Clean(r.place(e.at) + ": " + e.message)}
		if e.Minor() {
			c.Skipped = fault
		} else {
			c.Failure = fault
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	for _, f := range r.Failures {
		s.failed(&f)
	}
	// Code that was not analysed is no pass.
	for _, p := range r.Problems {
		s.Errors++
		s.Cases = append(s.Cases, junitCase{Class: "interlock", Name: "incomplete",
			Error: &junitFault{Message: "not everything was analysed", Text: Clean(p)}})
	}
	if len(s.Cases) == 0 {
		s.Cases = append(s.Cases, junitCase{Class: "interlock", Name: "no findings"})
	}
	s.Tests = len(s.Cases)
	return writeXML(w, junit{Suites: []junitSuite{s}})
}

// failed adds a test case for each test of a failure, or one for the package where no test is named.
func (s *junitSuite) failed(f *Failure) {
	tests := f.Tests
	if len(tests) == 0 {
		tests = []string{"the tests as a whole"}
	}
	for _, test := range tests {
		c := junitCase{Class: Clean(f.Package), Name: Clean(test)}
		fault := &junitFault{Message: Clean(f.Text), Type: "test", Text: lastLines(f.Output)}
		switch {
		case f.Unbuilt:
			c.Error = fault
			s.Errors++
		case f.Fails:
			c.Failure = fault
			s.Failures++
		default:
			c.Skipped = fault
		}
		s.Cases = append(s.Cases, c)
	}
}

// mostOutput is the number of lines of test output that are shown.
const mostOutput = 200

// lastLines returns the last lines of the output of tests.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if n := len(lines) - mostOutput; n > 0 {
		lines = append([]string{"… " + Count(n, "line") + " before"}, lines[n:]...)
	}
	for i := range lines {
		lines[i] = cut(Clean(lines[i]))
	}
	return strings.Join(lines, "\n")
}

func writeXML(w io.Writer, doc any) error {
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	}
	return err
}

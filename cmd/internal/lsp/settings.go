package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"go.lsp.dev/protocol"
)

// section is the name under which clients keep the settings.
const section = "interlock"

// settings are those of the user, in initializationOptions or in the section
// "interlock" of the client's configuration.
type settings struct {
	Tags       string   `json:"tags"`       // build tags, with commas between
	Possible   bool     `json:"possible"`   // show findings too that are no more than possible
	From       []string `json:"from"`       // files with findings of campaigns and audits: JSON or JSON Lines
	CodeLens   bool     `json:"codeLens"`   // offer to run tests under Interlock
	InlayHints bool     `json:"inlayHints"` // name beside a field the lock that guards it
	TestFlags  []string `json:"testFlags"`  // of `interlock test`, such as -runs=20
}

// read sets the settings in data, JSON from the client.
func (s *settings) read(data []byte) error {
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, s); err != nil {
		return fmt.Errorf("reading the settings of the section %q: %w", section, err)
	}
	return nil
}

// files returns the names of the files with findings, relative ones from root on, and that of the module's audit, if
// there is one.
func (s settings) files(root string) (names []string) {
	for _, name := range s.From {
		names = append(names, absolute(root, name))
	}
	if audit := filepath.Join(root, auditFindings); exists(audit) && !slices.Contains(names, audit) {
		names = append(names, audit)
	}
	return names
}

// auditFindings is where `interlock audit` leaves its findings without -o.
const auditFindings = "interlock-audit/findings.jsonl"

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// buildFlags returns those of the go command.
func (s settings) buildFlags() []string {
	if s.Tags == "" {
		return nil
	}
	return []string{"-tags=" + s.Tags}
}

// in returns the settings for a module in a repository.
func (s settings) in(r Repository) settings {
	s.Tags, s.Possible = cmp.Or(s.Tags, r.Tags), s.Possible || r.Possible
	return s
}

// set returns the settings.
func (s *server) set() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// configure asks the client for the settings. It may be called by several goroutines.
func (s *server) configure(ctx context.Context) {
	if !s.can.configuration {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := s.client.Configuration(ctx, &protocol.ConfigurationParams{
		Items: []protocol.ConfigurationItem{{Section: ptr(section)}},
	})
	if err != nil || len(answer) != 1 {
		return // the client says that it can, and does not: those of initialize stay
	}
	s.take(ctx, answer[0])
}

// take has new settings obeyed, if they are others.
func (s *server) take(ctx context.Context, data []byte) {
	s.mu.Lock()
	next := s.settings
	err := next.read(data)
	changed := err == nil && !reflect.DeepEqual(next, s.settings)
	if changed {
		s.settings = next
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		s.message(ctx, err.Error())
	case changed:
		s.work.again()
	}
}

// DidChangeConfiguration asks for the settings, or takes those that the client sends.
func (s *server) DidChangeConfiguration(ctx context.Context, p *protocol.DidChangeConfigurationParams) error {
	if s.can.configuration {
		s.configure(ctx)
		return nil
	}
	var sent map[string]json.RawMessage
	if json.Unmarshal(p.Settings, &sent) == nil {
		s.take(ctx, sent[section])
	}
	return nil
}

// watchFiles asks the client to report files that others change.
func (s *server) watchFiles(ctx context.Context) {
	var w protocol.DidChangeWatchedFilesRegistrationOptions
	for _, glob := range []string{"**/*.go", "**/go.mod", "**/go.work", "**/.interlock.yml"} {
		w.Watchers = append(w.Watchers, protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(glob)})
	}
	options, err := protocol.Marshal(w)
	if err != nil {
		s.lost(err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.lost(s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
		ID: "interlock-files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: options,
	}}}))
}

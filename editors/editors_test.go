// Package editors tests the language server with clients that are not ours: Neovim,
// and Microsoft's library for Node. Both are optional: without them their test says so
// and is skipped, and `make test` prints it.
package editors

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// program is interlock, built for the tests.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "editors")
	if err != nil {
		log.Fatal(err)
	}
	program = filepath.Join(dir, "interlock.exe")
	build := exec.Command("go", "build", "-race=false", "-o", program, "../cmd/interlock")
	if out, err := build.CombinedOutput(); err != nil {
		log.Fatalf("building interlock: %v\n%s", err, out)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// module lays out the module that the clients work on.
func module(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a client in the module. It has to print each of the words, and to leave a
// module that compiles.
func run(t *testing.T, dir string, words []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "INTERLOCK="+program, "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	for _, word := range words {
		if !bytes.Contains(out, []byte(word)) {
			t.Errorf("it does not print %q", word)
		}
	}
	build := exec.Command("go", "vet", "./...")
	build.Dir, build.Env = dir, cmd.Env
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("after the patch: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "count.go"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(data), "c.mu.Lock()") != 3 {
		t.Errorf("after the patch:\n%s", data)
	}
}

// vet returns what `go vet` prints of the one fault of the module, as both clients print it: with the place first, and
// a full stop behind the title, as the message goes on there.
func vet(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("go", "vet", "-vettool="+program, "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	said := regexp.MustCompile(`(?m)^(?:\./)?count\.go:(\d+:\d+: IL\d+: [^:]+): (.*)$`).FindSubmatch(out)
	if err == nil || said == nil {
		t.Fatalf("go vet: %v\n%s", err, out)
	}
	return fmt.Sprintf("at %s. %s", said[1], said[2])
}

func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed")
	}
	script, err := filepath.Abs("test/nvim.lua")
	if err != nil {
		t.Fatal(err)
	}
	dir := module(t)
	run(t, dir, []string{"interlock IL1001 c.n", "1 related", "is guarded by `c.mu`", "Interlock: fix:", vet(t, dir)},
		nvim, "--headless", "--clean", "-n", "count.go", "-c", "luafile "+script)
}

func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is not installed")
	}
	client, err := filepath.Abs("test/client.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("test/node_modules/vscode-languageserver-protocol"); err != nil {
		t.Skip("the protocol library is not installed: run `npm install` in editors/test")
	}
	dir := module(t)
	run(t, dir, []string{"under Interlock: ", "IL1001 c.n: ", vet(t, dir)},
		node, client, dir, filepath.Join(dir, "count.go"), filepath.Join(dir, "count_test.go"))
}

// The packed extension has all that its package.json and its source name.
func TestExtension(t *testing.T) {
	const packed = "vscode/interlock.vsix"
	files, err := zip.OpenReader(packed)
	if err != nil {
		t.Skipf("%v: `make editors` packs it", err)
	}
	defer files.Close()
	data, err := fs.ReadFile(files, "extension/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Main         string
		Dependencies map[string]string
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	want := []string{"extension/" + strings.TrimPrefix(manifest.Main, "./"), "extension/LICENSE.txt",
		"extension/readme.md"}
	for name := range manifest.Dependencies {
		want = append(want, "extension/node_modules/"+name+"/package.json")
	}
	if len(manifest.Dependencies) == 0 {
		t.Error("the extension has no client of the protocol")
	}
	for _, name := range want {
		if _, err := fs.Stat(files, name); err != nil {
			t.Errorf("%s: %v", packed, err)
		}
	}
}

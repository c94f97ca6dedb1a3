package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser drives a Chromium without a window, by its debugging protocol on a pipe.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Scanner
	session string
	id      int
}

// openPage opens a page, and skips the test where there is no browser.
func openPage(t *testing.T, text []byte) *browser {
	t.Helper()
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return openURL(t, "file://"+file)
}

// openURL opens the page at an address, and skips the test where there is no browser.
func openURL(t *testing.T, url string) *browser {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("no chromium, or -short")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "interlock-browser-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
		"--user-data-dir="+profile)
	cmd.ExtraFiles = []*os.File{theirs, theirOut} // it reads from descriptor 3, and writes to 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	theirOut.Close()
	t.Cleanup(func() {
		to.Close()
		cancel()
		cmd.Wait()
		from.Close()
		// Its other processes may write for a moment after it has ended.
		for limit := time.Now().Add(10 * time.Second); os.RemoveAll(profile) != nil && time.Now().Before(limit); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	b := &browser{t: t, to: to, from: bufio.NewScanner(from)}
	b.from.Buffer(nil, 1<<24)
	b.from.Split(func(data []byte, _ bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	// The page has a session of its own.
	var target struct{ TargetID, SessionID string }
	b.call(&target, "Target.createTarget", map[string]any{"url": url})
	b.call(&target, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = target.SessionID
	b.call(nil, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
	b.until(`document.readyState=="complete"&&location.protocol!="about:"`)
	return b
}

// until waits until an expression of the page is true.
func (b *browser) until(expr string) {
	b.t.Helper()
	for limit := time.Now().Add(time.Minute); b.eval(expr) != "true"; {
		if time.Now().After(limit) {
			b.t.Fatalf("not within a minute: %s", expr)
		}
	}
}

// call calls a method of the protocol.
func (b *browser) call(result any, method string, params map[string]any) {
	b.t.Helper()
	b.id++
	data, err := json.Marshal(map[string]any{"id": b.id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		data = bytes.Replace(data, []byte(`,"sessionId":""`), nil, 1)
	}
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for b.from.Scan() {
		var answer struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(b.from.Bytes(), &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.id {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
	b.t.Fatalf("%s: the browser has ended: %v", method, b.from.Err())
}

// eval returns what an expression of the page comes to, as text.
func (b *browser) eval(expr string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call(&r, "Runtime.evaluate", map[string]any{"expression": expr})
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expr, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// press presses a key, whose text is what it writes.
func (b *browser) press(key, text string) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, " ": 32}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		p := map[string]any{
			"type": kind, "key": key, "code": strings.ReplaceAll(key, " ", "Space"), "windowsVirtualKeyCode": code,
		}
		if kind == "keyDown" && text != "" {
			p["text"] = text
		}
		b.call(nil, "Input.dispatchKeyEvent", p)
	}
}

// Without a mouse, a reader reaches each filter and each entry in the order of the page, sees which has the focus, and
// opens and closes entries; for screen readers, each of them has a name.
func TestPageByKeyboard(t *testing.T) {
	b := openPage(t, render(t, HTML{}, sample()))
	const at = `(e=>e.tagName+(e.type?":"+e.type:"")+(e.closest("article")?":"+e.closest("article").id:""))` +
		`(document.activeElement)`
	var seen []string
	b.eval("window.focus()")
	for range 60 {
		b.press("Tab", "")
		now := b.eval(at)
		if now == "BODY" {
			break
		}
		if outline := b.eval("getComputedStyle(document.activeElement).outlineStyle"); outline != "solid" {
			t.Errorf("%s has the focus, and its outline is %q", now, outline)
		}
		seen = append(seen, now)
	}
	// Each entry is opened and closed by its summary.
	first := b.eval(`document.querySelector("article").id`)
	b.eval(`document.querySelector("article summary").focus()`)
	for _, want := range []string{"false", "true"} {
		b.press("Enter", "\r")
		if got := b.eval(`document.querySelector("article details").open`); got != want {
			t.Errorf("%s is open: %s, want %s", first, got, want)
		}
	}
	for _, want := range []string{"INPUT:search", "INPUT:checkbox", "SUMMARY", "SUMMARY:" + first, "FIGURE:" + first} {
		if i := slices.Index(seen, want); i < 0 {
			t.Errorf("%s is not reached", want)
		} else {
			seen = seen[i+1:]
		}
	}
	// A filter is switched by the space bar, and says what it is.
	before := b.eval(`document.getElementById("n").textContent`)
	b.eval(`document.querySelector("input[data-f=status]").focus()`)
	b.press(" ", " ")
	if after := b.eval(`document.getElementById("n").textContent`); after == before {
		t.Errorf("without a status: %s", after)
	}
	// What has a role has a name.
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.call(nil, "Accessibility.enable", map[string]any{})
	b.press(" ", " ")
	b.call(&tree, "Accessibility.getFullAXTree", map[string]any{})
	count := map[string]int{}
	for _, n := range tree.Nodes {
		role := fmt.Sprint(n.Role.Value)
		if n.Ignored || !slices.Contains([]string{"checkbox", "searchbox", "article", "figure", "image", "navigation",
			"DisclosureTriangle"}, role) {
			continue
		}
		count[role]++
		if n.Name.Value == nil || n.Name.Value == "" {
			t.Errorf("a %s has no name", role)
		}
	}
	for _, role := range []string{"checkbox", "searchbox", "article", "figure", "image"} {
		if count[role] == 0 {
			t.Errorf("no %s", role)
		}
	}
}

// screenshot writes a picture of the whole page.
func (b *browser) screenshot(t *testing.T, name string) {
	var picture struct{ Data []byte }
	b.call(&picture, "Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})
	if err := os.WriteFile(name, picture.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}

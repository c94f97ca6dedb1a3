package branch

import (
	"strings"
	"testing"
)

// The token goes to the server of the request alone, and once to each address.
func TestToken(t *testing.T) {
	const base = "https://git.example.com/o/r.git"
	for other, want := range map[string]bool{
		"https://git.example.com/stranger/r.git": true, base: true, "https://evil.example/o/r.git": false,
		"http://git.example.com/o/r.git": false, "https://git.example.com:444/o/r.git": false, "": false,
		"https://git.example.com@evil.example/o/r.git": false, "ssh://git.example.com/o/r.git": false, "%": false,
	} {
		if isSameServer(base, other) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
	for addresses, want := range map[string]string{base + " " + base: "GIT_CONFIG_COUNT=1",
		base + " https://git.example.com/x/r.git": "GIT_CONFIG_COUNT=2", base + " ": "GIT_CONFIG_COUNT=1"} {
		env := withToken("secret", strings.Split(addresses, " ")...)
		if env[len(env)-1] != want || strings.Contains(strings.Join(env, " "), "secret") {
			t.Errorf("%q: %q", addresses, env)
		}
	}
}

// Another try is of use only where the host may take the commit later.
func TestRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"!\tc:refs/heads/b\t[remote rejected] (protected branch hook declined)": "protected branch hook declined",
		"!\tc:refs/heads/b\t[rejected] (stale info)":                            "stale info",
		"*\tc:refs/heads/b\t[new branch]":                                       "",
	} {
		got := ""
		if m := rejected.FindStringSubmatch("To x\n" + line + "\nDone\n"); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
	for text, want := range map[string]bool{
		"git push: exit status 128: fatal: unable to access 'https://x/': The requested URL returned error: 403": true,
		"git push: exit status 128: fatal: unable to access 'https://x/': Could not resolve host: x":             false,
		"git push: exit status 128: fatal: unable to access 'https://x/': The requested URL returned error: 502": false,
	} {
		if denied.MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

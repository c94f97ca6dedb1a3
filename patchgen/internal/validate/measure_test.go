package validate_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

var (
	measured = flag.String("measured", "", "measure a patch of the module in this folder (see TestMeasure)")
	patch    = flag.String("patch", "", "folder with the patched files, by their path in the module")
	claim    = flag.String("claim", "", "import path and claim: pkg kind T.f T.mu")
)

// TestMeasure prints what a patch of a real module costs to check, and what
// is said of it:
//
//	go test ./patchgen/internal/validate -run TestMeasure -v -args \
//	  -measured ~/nats-server -patch ~/patch -claim 'github.com/…/server guarded rateCounter.blocked rateCounter.mu'
func TestMeasure(t *testing.T) {
	if *measured == "" {
		t.Skip("no -measured")
	}
	last := cpu(t)
	lap := func(what string) {
		now := cpu(t)
		t.Logf("%-20s %6.2f CPU-s, peak %d MiB", what, (now - last).Seconds(), peak(t))
		last = now
	}
	loaded, err := packages.Load(&packages.Config{Mode: session.LoadMode, Dir: *measured}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	lap("load")
	s, err := session.New(*measured, loaded)
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Original()
	if err != nil {
		t.Fatal(err)
	}
	lap("original")
	v := validate.New(facts.New(before))
	files := patchedFiles(t)
	pkg, text, _ := strings.Cut(*claim, " ")
	for range 3 {
		after, err := s.With(files)
		if err != nil {
			t.Fatal(err)
		}
		lap("candidate, analysed")
		for _, r := range v.Check(after, claimOf(t, pkg, text)) {
			t.Logf("refused: %s: %s", r.Obligation, r.Reason)
		}
		lap("candidate, judged")
	}
}

func patchedFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(*patch, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(*patch, name)
		if err == nil {
			files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func usage(t *testing.T) syscall.Rusage {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// cpu returns the CPU time of the process so far.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	u := usage(t)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the most memory that the process has had resident, in MiB.
func peak(t *testing.T) int64 {
	t.Helper()
	return usage(t).Maxrss / 1024
}

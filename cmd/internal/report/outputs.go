package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// output is one -o format:path.
type output struct {
	format, path string
	handler      Handler
}

// Outputs are the files that -o names, each with its format. It is a flag.Value.
type Outputs []output

// String returns nothing, so that help shows no default.
func (o *Outputs) String() string { return "" }

// Set takes one format:path, checking the format and that the path is that of a file.
func (o *Outputs) Set(s string) error {
	format, path, ok := strings.Cut(s, ":")
	if !ok || path == "" {
		return fmt.Errorf("want format:path, such as sarif:interlock.sarif")
	}
	if path == "-" {
		return fmt.Errorf("want the name of a file: on standard output the report has the format that -format names")
	}
	h, err := For(format)
	if err != nil {
		return err
	}
	*o = append(*o, output{format, path, h})
	return nil
}

// Probe finds out, before the long work, whether the reports can be written
// at its end. It leaves nothing behind.
func (o Outputs) Probe() error {
	seen := map[string]bool{}
	for _, out := range o {
		path, err := filepath.Abs(out.path)
		if err != nil {
			return fmt.Errorf("%s: %w", out.path, err)
		}
		if seen[path] {
			return fmt.Errorf("%s: named twice", out.path)
		}
		seen[path] = true
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s: is no regular file", out.path)
		}
		f, err := createBeside(path)
		if err != nil {
			return fmt.Errorf("%s: cannot be written: %w", out.path, errors.Unwrap(err))
		}
		f.Close()
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("%s: %w", out.path, err)
		}
	}
	return nil
}

// Write writes all reports; each appears whole or not at all.
func (o Outputs) Write(r *Report) error {
	var errs []error
	for _, out := range o {
		var buf bytes.Buffer
		err := out.handler.Write(&buf, r)
		if err == nil {
			err = WriteFile(out.path, buf.Bytes())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("-o %s: %w", out.path, err))
		}
	}
	return errors.Join(errs...)
}

// WriteFile replaces the file in one step.
func WriteFile(path string, data []byte) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// besideFormat names the files of createBeside, by the process and a number.
const besideFormat = ".interlock-%d-%d.tmp"

// RemoveTorn removes the files that processes have left in dir which were killed in the middle of WriteFile. No other
// process may write there.
func RemoveTorn(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, strings.ReplaceAll(besideFormat, "%d", "*")))
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// createBeside makes a file beside path, on the same file system, with the
// mode that a new file gets (os.CreateTemp would hide it from others).
func createBeside(path string) (*os.File, error) {
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(besideFormat, os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

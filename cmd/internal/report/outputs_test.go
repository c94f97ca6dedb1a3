package report

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileReplacesInOneStep(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out")
	for _, text := range []string{"first", "second"} {
		if err := WriteFile(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "absent", "out"), nil); err == nil {
		t.Error("a file in a folder that is not there was written")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "folder"), nil); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestOutputNamesAFile(t *testing.T) {
	for text, ok := range map[string]bool{
		"text:out": true, "text:-": false, "text:": false, "out": false, "nonsense:out": false,
	} {
		if err := new(Outputs).Set(text); (err == nil) != ok {
			t.Errorf("-o %s: %v", text, err)
		}
	}
}

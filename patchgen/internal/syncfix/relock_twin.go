package syncfix

import (
	"fmt"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// twin makes the method that does what f does under its lock, once, and returns its name.
func (r *relocking) twin(f *source.Function, b lockedBody) (name string, err error) {
	if name := r.twins[f]; name != "" {
		return name, nil
	}
	if b.deferred {
		from := f.File.EndOfLine(f.Body.List[1].End())
		name, err = strategy.Twin(r.edits, f, from, "", f.File.Text(b.lock.Expr))
	} else {
		name, err = r.twinBefore(f, b)
	}
	if err == nil {
		r.twins[f] = name
	}
	return name, err
}

// twinBefore is twin where the lock is released by the last statement, which stays in f.
func (r *relocking) twinBefore(f *source.Function, b lockedBody) (string, error) {
	if f.Type.Results != nil && len(f.Type.Results.List) > 0 {
		return "", fmt.Errorf("%s releases the lock before it returns its results", f.Name())
	}
	t, err := strategy.TwinOf(f, f.File.Text(b.lock.Expr))
	if err != nil {
		return "", err
	}
	file, list := f.File, f.Body.List
	release := list[1+len(b.work)]
	from := file.EndOfLine(list[0].End()) + 1
	to := file.Offset(release.Pos()) - len(file.Indent(release.Pos()))
	body, end := string(file.Source[from:to]), file.Offset(f.Node.End())
	r.edits.Add(file, from, to, func() string { return "\t" + t.Call + "\n" })
	r.edits.Add(file, end, end, func() string { return "\n\n" + t.Head + "{\n" + body + "}" })
	return t.Name, nil
}

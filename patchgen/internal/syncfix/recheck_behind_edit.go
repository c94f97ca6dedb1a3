package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lookAgain writes the second look, and the statements of the setter.
func (b *behind) lookAgain() error {
	section, err := b.section()
	if err != nil {
		return err
	}
	if err := b.isRepeatable(section); err != nil {
		return err
	}
	v, err := b.valueRead()
	if err != nil {
		return err
	}
	if b.branch == nil {
		return b.leaveAgain(v)
	}
	if err := b.isMissedBehind(b.read, section); err != nil {
		return err
	}
	before, after, err := b.around(v)
	if err != nil {
		return err
	}
	return b.write(section, before, after)
}

// section returns the statements under the second lock.
func (b *behind) section() ([]ast.Stmt, error) {
	switch {
	case b.branch == nil:
		return b.list[b.second : b.second+1], nil
	case b.setter == nil:
		return b.lastInBranch()
	case b.second+1 < len(b.list):
		return nil, fmt.Errorf("%s: what follows %s is right only if the test still holds", b.file.At(b.list[b.second+1]),
			b.setter.callee.Name())
	case b.branch.Else != nil:
		return nil, fmt.Errorf("%s: the other branch is right if the test does not hold any more", b.file.At(b.branch.Else))
	}
	return b.list[b.second:], nil
}

// isRepeatable returns an error where the words of the test may mean another thing at the use, or something lasting is
// done by the test or before the use.
func (b *behind) isRepeatable(section []ast.Stmt) error {
	words := b.file.LocalsIn(b.test.Cond)
	if b.branch == nil {
		words = b.file.LocalsIn(b.test)
	}
	if b.read != nil {
		maps.Copy(words, b.file.LocalsIn(b.read))
		for _, lhs := range b.read.Lhs {
			if id, ok := lhs.(*ast.Ident); ok {
				delete(words, b.object(id)) // read again
			}
		}
	}
	maps.DeleteFunc(words, func(v types.Object, _ bool) bool {
		return b.test.Body.Pos() <= v.Pos() && v.Pos() < b.test.Body.End()
	})
	between := b.list[:b.second]
	if b.branch == nil {
		between = b.list[slices.Index(b.list, ast.Stmt(b.test))+1 : b.second]
	}
	if err := b.isUnchanged(words, between); err != nil {
		return err
	}
	// Beside the getter the test may call nothing.
	var beside *ast.CallExpr
	ast.Inspect(b.test.Cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && call != b.entry && !source.IsBuiltin(b.file, call, "len", "cap") &&
			!b.file.Package.Info.Types[call.Fun].IsType() {
			beside = call
		}
		return true
	})
	if beside != nil {
		return fmt.Errorf("%s: the test calls %s, too", b.file.At(beside), b.file.Text(beside.Fun))
	}
	return b.leavesNothing(nil, between)
}

// valueRead returns the value that the test reads.
func (b *behind) valueRead() (v value, err error) {
	switch {
	case b.getter != nil:
		if v, err = b.getter.value(); err != nil {
			return v, err
		}
		for _, part := range append(slices.Clone(b.getter.body), ast.Stmt(b.getter.ret)) {
			if why := b.Facts.Lasting(b.getter.callee.File, part); why != "" {
				return v, fmt.Errorf("%s: the test cannot be made twice: it %s", b.file.At(b.entry), why)
			}
		}
	case b.read != nil && len(b.read.Rhs) == 1:
		v = value{text: b.file.Text(b.read.Rhs[0]), count: len(b.read.Lhs)}
		for i := range b.read.Lhs {
			v.which = append(v.which, i)
		}
	case b.read == nil:
		v = value{text: b.file.Text(b.entry), count: 1, which: []int{0}}
	default:
		return v, fmt.Errorf("%s: several values are read at once", b.file.At(b.read))
	}
	if b.read != nil && len(v.which) != len(b.read.Lhs) {
		return v, fmt.Errorf("%s: what is read goes into more than variables", b.file.At(b.read))
	}
	return v, nil
}

// again writes the test with the read; results go into variables of the same names, by := or =.
func (b *behind) again(v value, define string) string {
	cond := b.file.Text(b.test.Cond)
	if b.read == nil && b.getter == nil {
		return cond
	}
	names := slices.Repeat([]string{"_"}, v.count)
	switch {
	case b.read != nil:
		for i, lhs := range b.read.Lhs {
			names[v.which[i]] = b.file.Text(lhs)
		}
		return strings.Join(names, ", ") + define + v.text + "; " + cond
	case v.count == 1:
		return b.inPlace(cond, v.text)
	}
	// if !c.has(k)
	name := source.NewNames(b.function).Fresh([]string{"again", "ok"}[v.which[0]])
	names[v.which[0]] = name
	return strings.Join(names, ", ") + " := " + v.text + "; " + b.inPlace(cond, name)
}

// inPlace writes a text in place of the getter's call in the condition.
func (b *behind) inPlace(cond, text string) string {
	from := b.file.Offset(b.entry.Pos()) - b.file.Offset(b.test.Cond.Pos())
	return cond[:from] + text + cond[from+len(b.file.Text(b.entry)):]
}

// around returns the lines before and after the section, where the test leads there.
func (b *behind) around(v value) (before, after string, err error) {
	result, isIn := b.tested()
	isReplaced := result != nil && slices.ContainsFunc(b.list[:b.second], func(s ast.Stmt) bool {
		return b.file.Sets(s, map[types.Object]bool{b.object(result): true}) != nil
	})
	if !isReplaced {
		return "if " + b.again(v, " = ") + " {", "}", nil
	}
	// e = newEntry() before the use: an entry that is there by now takes its place.
	l := &look{b.sections, b.read, result, isIn}
	if err := l.isUsedBySection(b.list[:b.second]); err != nil {
		return "", "", err
	}
	names := slices.Repeat([]string{"_"}, v.count)
	found := source.NewNames(b.function).Fresh("found")
	test := found + " != nil"
	for i, lhs := range b.read.Lhs {
		if id, ok := lhs.(*ast.Ident); ok && b.object(id) == b.object(result) {
			names[v.which[i]] = found
		} else if isIn != nil {
			names[v.which[i]], test = isIn.Name, isIn.Name
		}
	}
	return fmt.Sprintf("if %s := %s; %s {\n\t%s = %s\n} else {", strings.Join(names, ", "), v.text, test, result.Name,
		found), "}", nil
}

// tested returns the result that the test finds missing, and the one that says so if that is another: e == nil, !ok.
func (b *behind) tested() (result, isIn *ast.Ident) {
	if l := b.lookOf(b.read); l != nil {
		return l.result, l.isIn
	}
	return nil, nil
}

// comment stands above a second look.
const comment = "// Another goroutine may have been here since the test.\n"

// write puts the lines around the section.
func (b *behind) write(section []ast.Stmt, before, after string) error {
	if b.setter == nil {
		b.edits.After(b.file, b.list[slices.Index(b.list, section[0])-1], func() string { return comment + before })
		b.edits.After(b.file, section[len(section)-1], func() string { return after })
		return nil
	}
	body, err := b.setterBody()
	if err != nil {
		return err
	}
	return b.replace(comment + before + "\n" + body + "\n" + after + "\n")
}

// leaveAgain makes the test again and leaves as it does.
func (b *behind) leaveAgain(v value) error {
	from, lbrace := b.file.Offset(b.test.Pos()), b.file.Offset(b.test.Body.Lbrace)
	first, leaves, ok := strings.Cut(b.file.Text(b.test)[lbrace-from+1:], "\n")
	if !ok || strings.TrimSpace(first) != "" && !strings.HasPrefix(strings.TrimSpace(first), "//") {
		return fmt.Errorf("%s: the test is written in one line", b.file.At(b.test))
	}
	leaves = strings.ReplaceAll(leaves, "\n"+b.file.Indent(b.test.Pos()), "\n")
	// The test may do no more than that, with the lock released first.
	for _, stmt := range b.test.Body.List {
		if n := b.firstOther(stmt); n != nil {
			return fmt.Errorf("%s: the test does more than leaving the function", b.file.At(n))
		}
	}
	unlock, err := b.unlockText()
	if err != nil {
		return err
	}
	if b.deferred {
		unlock = ""
	}
	text := comment + "if " + b.again(v, " := ") + " {" + unlock + "\n" + leaves
	if b.setter == nil {
		after := b.list[b.second]
		if b.deferred {
			after = b.list[b.second+1]
		}
		b.edits.After(b.file, after, func() string { return text })
		return nil
	}
	body, err := b.setterBody()
	if err != nil {
		return err
	}
	return b.replace(text + "\n" + body + "\n")
}

// firstOther returns a node of a statement that starts or defers something, or works on a lock; nil if none does.
func (b *behind) firstOther(stmt ast.Stmt) (found ast.Node) {
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			found = n
		case *ast.CallExpr:
			if _, ok := b.file.LockOp(n); ok {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// unlockText returns the line that releases the second lock.
func (b *behind) unlockText() (string, error) {
	lock := b.file.Text(b.lock.Expr)
	var err error
	if b.setter != nil {
		lock, err = b.setter.lockText()
	}
	return "\n" + lock + ".Unlock()", err
}

// setterBody returns the statements of the setter under the lock.
func (b *behind) setterBody() (string, error) {
	// An entry that is made for nothing, as another one is there by now, must leave nothing behind.
	for _, arg := range b.setter.call.Args {
		if why := b.Facts.Lasting(b.file, arg); why != "" {
			return "", fmt.Errorf("%s: what is made for the use may have to be undone: it %s", b.file.At(arg), why)
		}
	}
	var lines []string
	var err error
	if b.copies, err = b.setter.copyArguments(); err != nil {
		return "", err
	}
	for _, stmt := range b.setter.body {
		line, err := b.setter.spell(stmt)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

// replace writes a critical section in place of the setter's call. An argument that is not plain is computed before it.
func (b *behind) replace(section string) error {
	lock, err := b.setter.lockText()
	if err != nil {
		return err
	}
	text := strings.Join(append(b.copies, lock+".Lock()\n"), "\n") + section + lock + ".Unlock()"
	stmt := b.list[b.second]
	indent := b.file.Indent(stmt.Pos())
	b.edits.Replace(b.file, stmt, strings.TrimSuffix(edit.Lines(text, indent), "\n"+indent))
	return nil
}

package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxColumns is how many characters a line of Go may have. A tab is one.
const MaxColumns = 120

// Tree is the result of [Survey].
type Tree struct {
	Packages []*Package // by folder
}

// Package is one folder with Go files.
type Package struct {
	Dir      string // slash path below the root
	Files    []*File
	Fixtures int // lines of Go files and archives below its testdata
}

// Phrase is a phrase of a comment that docs/style.md rejects.
type Phrase struct {
	Line int
	Text string
}

// File is one Go file.
type File struct {
	Name                 string // slash path below the root
	Test                 bool
	Lines                int
	Code, Comments       int      // lines that have some; a line may count as both
	Wide                 []int    // numbers of the lines over MaxColumns
	Openings             []Phrase // of comments that open like "X says"
	Words                []Phrase // of comments, which docs/style.md rejects
	Relatives            []int    // numbers of the lines of comments with what, who, whom or whose
	Structs              []int    // lines of struct types of largeStruct fields or more
	Conditions           []int    // lines of conditions of largeCondition operands or more
	Exported, Documented int      // declared names at the top level, and how many of them have a comment
	Functions            []Function
	Imports              []string
}

// Function is one declared function or method. Function literals count as part
// of the one that they stand in.
type Function struct {
	Name       string // with its receiver's type: T.Name
	Line       int
	Lines      int // from func to the closing brace
	Cyclomatic int // 1, and 1 more for each if, for, case, && and ||
	Nesting    int // how many control statements the deepest one stands in, itself included
	Parameters int
	Commented  bool // a comment stands between its braces
}

// Survey measures the Go files of the module in root. Files below testdata only
// count as fixtures; folders that begin with . or _ do not count.
func Survey(root string) (*Tree, error) {
	tree := &Tree{}
	byDir := map[string]*Package{}
	at := func(dir string) *Package {
		if byDir[dir] == nil {
			byDir[dir] = &Package{Dir: dir}
			tree.Packages = append(tree.Packages, byDir[dir])
		}
		return byDir[dir]
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); rel != "." && (base[0] == '.' || base[0] == '_') || rel == "bin" {
				return fs.SkipDir
			}
			return nil
		}

		// The fixtures of a package count for that package.
		owner, _, fixture := strings.Cut(rel, "/testdata/")
		if !d.Type().IsRegular() || strings.HasPrefix(rel, "testdata/") {
			return nil
		}
		if ext := path.Ext(rel); fixture && (ext == ".go" || ext == ".txtar") {
			data, err := os.ReadFile(name)
			at(owner).Fixtures += bytes.Count(data, []byte("\n"))
			return err
		}
		if fixture || path.Ext(rel) != ".go" {
			return nil
		}

		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := surveyFile(rel, src)
		if err != nil {
			return err
		}
		pkg := at(path.Dir(rel))
		pkg.Files = append(pkg.Files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("surveying %s: %w", root, err)
	}
	slices.SortFunc(tree.Packages, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return tree, nil
}

// opening matches the first words of a comment in the dialect that docs/style.md
// rejects.
var opening = regexp.MustCompile(`^(//|/\*)\s*(Package )?[\w.]+ (gives|tells|says)\b`)

// rejected matches the words of the last table of docs/style.md.
var rejected = regexp.MustCompile(`(?i)\b(gives|tells|(is|are) told|in vain|given up|c[ao]mes? by|whoever|but for)\b`)

// relative matches the pronouns by which a comment avoids to name the thing that it is about.
var relative = regexp.MustCompile(`(?i)\b(what|who|whom|whose)\b`)

// surveyFile measures one file.
func surveyFile(name string, src []byte) (*File, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Test: strings.HasSuffix(name, "_test.go")}
	// Lines and comments.
	f.Lines, f.Wide = widths(src)
	f.Code, f.Comments = countTokens(src)
	for _, group := range syntax.Comments {
		if text := opening.FindString(group.List[0].Text); text != "" {
			f.Openings = append(f.Openings, Phrase{fset.Position(group.Pos()).Line, text})
		}
		for _, comment := range group.List {
			for i, line := range strings.Split(comment.Text, "\n") {
				if word := rejected.FindString(line); word != "" {
					f.Words = append(f.Words, Phrase{fset.Position(comment.Pos()).Line + i, word})
				}
				if relative.MatchString(line) {
					f.Relatives = append(f.Relatives, fset.Position(comment.Pos()).Line+i)
				}
			}
		}
	}
	f.Structs, f.Conditions = crowded(fset, syntax)
	// Declarations.
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		f.Imports = append(f.Imports, imported)
	}
	for _, decl := range syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			f.count(decl.Name, decl.Doc)
			if decl.Body != nil {
				f.Functions = append(f.Functions, measure(fset, decl, syntax.Comments))
			}
		case *ast.GenDecl:
			f.countSpecs(decl)
		}
	}
	return f, nil
}

// widths returns the number of lines, and which are wider than MaxColumns.
func widths(src []byte) (lines int, wide []int) {
	for line := range bytes.Lines(src) {
		lines++
		if utf8.RuneCount(bytes.TrimRight(line, "\n")) > MaxColumns {
			wide = append(wide, lines)
		}
	}
	return lines, wide
}

// countTokens returns how many lines hold code, and how many hold a comment.
func countTokens(src []byte) (code, comments int) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	// The last line of each kind that is counted already; tokens come in order.
	lastCode, lastComment := 0, 0
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return code, comments
		case tok == token.SEMICOLON && text == "\n":
			continue
		}
		first := file.Line(pos)
		last := first + strings.Count(text, "\n")
		if tok == token.COMMENT {
			comments += last - max(first-1, lastComment)
			lastComment = last
			continue
		}
		code += last - min(last, max(first-1, lastCode))
		lastCode = last
	}
}

// count counts a declared name at the top level, and whether it has a comment.
func (f *File) count(name *ast.Ident, docs ...*ast.CommentGroup) {
	if !name.IsExported() {
		return
	}
	f.Exported++
	if slices.ContainsFunc(docs, func(doc *ast.CommentGroup) bool { return doc != nil }) {
		f.Documented++
	}
}

// countSpecs counts the names of a declaration of types, variables or constants.
// A comment above the whole group, or behind a name, documents it too.
func (f *File) countSpecs(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			f.count(spec.Name, decl.Doc, spec.Doc, spec.Comment)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				f.count(name, decl.Doc, spec.Doc, spec.Comment)
			}
		}
	}
}

// Package schema publishes the contracts as JSON Schema, and has a library check documents against them.
//
// The Go types of a contract package are the one source: [Generate] reads
// their declarations, json tags and comments, so that a schema.json beside
// them cannot say anything else. A test fails on a stale file and prints the
// command that mends it.
//
// Only the subset of JSON Schema that the contracts need is spoken: objects
// with named properties, arrays, strings, integers, booleans, enumerations
// and references to definitions. Unknown properties are allowed on purpose:
// adding a field does not raise a contract's version.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// Schema is the subset of JSON Schema (2020-12) spoken here.
type Schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Type        string             `json:"type,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Examples    []string           `json:"examples,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Defs        map[string]*Schema `json:"$defs,omitempty"`
}

// Contract names a published type: Root of the package in Dir, as File there.
// A named string type's constants become an enumeration, or mere examples if
// the type is among Open: those that may grow without a new version.
type Contract struct {
	Dir, Root string
	File      string // empty: schema.json
	Open      []string
	Imports   map[string]string // folders of the packages of which it uses types, by name
}

// Generate returns the schema of c as indented JSON with a final newline.
func Generate(c Contract) ([]byte, error) {
	g, err := load(c)
	if err != nil {
		return nil, fmt.Errorf("reading the types of %s: %w", c.Dir, err)
	}
	root, err := g.named(c.Root)
	if err != nil {
		return nil, fmt.Errorf("schema of %s in %s: %w", c.Root, c.Dir, err)
	}
	s := *root
	s.Dialect, s.Title, s.Defs = "https://json-schema.org/draft/2020-12/schema",
		"Interlock "+strings.ToLower(c.Root), g.defs
	delete(s.Defs, c.Root)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(s)
	return buf.Bytes(), err
}

// generator holds the declarations of one package and the definitions made
// from them so far.
type generator struct {
	types  map[string]*ast.TypeSpec
	docs   map[string]string
	consts map[string][]string // values of the constants of each named type, in order
	open   []string
	defs   map[string]*Schema
	others map[string]*generator // of the packages of which it uses types; they share defs and open
}

func load(c Contract) (*generator, error) {
	files, err := filepath.Glob(filepath.Join(c.Dir, "*.go"))
	if err != nil {
		return nil, err
	}
	g := &generator{map[string]*ast.TypeSpec{}, map[string]string{}, map[string][]string{}, c.Open, map[string]*Schema{},
		map[string]*generator{}}
	for name, dir := range c.Imports {
		other, err := load(Contract{Dir: dir, Open: c.Open})
		if err != nil {
			return nil, err
		}
		other.defs, g.others[name] = g.defs, other
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				g.declare(d)
			}
		}
	}
	return g, nil
}

func (g *generator) declare(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.types[spec.Name.Name] = spec
			g.docs[spec.Name.Name] = comment(d.Doc, spec.Doc, spec.Comment)
		case *ast.ValueSpec:
			typ, ok := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !ok {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						g.consts[typ.Name] = append(g.consts[typ.Name], s)
					}
				}
			}
		}
	}
}

// comment joins comment groups to one line of prose.
func comment(groups ...*ast.CommentGroup) string {
	var words []string
	for _, c := range groups {
		words = append(words, strings.Fields(c.Text())...)
	}
	return strings.NewReplacer("[", "", "]", "").Replace(strings.Join(words, " "))
}

// named returns the definition of a declared type, making it if need be.
func (g *generator) named(name string) (*Schema, error) {
	if s := g.defs[name]; s != nil {
		return s, nil
	}
	spec := g.types[name]
	if spec == nil {
		return nil, fmt.Errorf("no type %s", name)
	}
	s := &Schema{}
	g.defs[name] = s // before the fields: a type may hold itself
	made, err := g.expr(spec.Type)
	if err != nil {
		return nil, fmt.Errorf("type %s: %w", name, err)
	}
	*s = *made
	s.Description = g.docs[name]
	for _, open := range g.open {
		if open == name {
			s.Examples = g.consts[name]
			return s, nil
		}
	}
	s.Enum = g.consts[name]
	return s, nil
}

func (g *generator) expr(e ast.Expr) (*Schema, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return g.expr(e.X)
	case *ast.ArrayType:
		items, err := g.expr(e.Elt)
		return &Schema{Type: "array", Items: items}, err
	case *ast.StructType:
		return g.object(e)
	case *ast.Ident:
		return g.ident(e.Name)
	case *ast.SelectorExpr: // a type of another package
		if pkg, ok := e.X.(*ast.Ident); ok && g.others[pkg.Name] != nil {
			return g.others[pkg.Name].ident(e.Sel.Name)
		}
	}
	return nil, fmt.Errorf("no schema for a %T", e)
}

func (g *generator) ident(name string) (*Schema, error) {
	zero := 0
	switch name {
	case "string":
		return &Schema{Type: "string"}, nil
	case "bool":
		return &Schema{Type: "boolean"}, nil
	case "int", "int64":
		return &Schema{Type: "integer"}, nil
	case "uint", "uint32", "uint64":
		return &Schema{Type: "integer", Minimum: &zero}, nil
	}
	if _, err := g.named(name); err != nil {
		return nil, err
	}
	return &Schema{Ref: "#/$defs/" + name}, nil
}

func (g *generator) object(st *ast.StructType) (*Schema, error) {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 {
			if err := g.embed(s, field.Type); err != nil {
				return nil, err
			}
			continue
		}
		prop, err := g.expr(field.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Names[0].Name, err)
		}
		prop.Description = comment(field.Doc, field.Comment)
		for _, name := range field.Names {
			s.add(name.Name, field.Tag, prop)
		}
	}
	return s, nil
}

// embed takes over the properties of an embedded struct, as encoding/json does.
func (g *generator) embed(s *Schema, e ast.Expr) error {
	id, ok := e.(*ast.Ident)
	if !ok {
		return fmt.Errorf("no schema for an embedded %T", e)
	}
	inner, err := g.named(id.Name)
	if err != nil {
		return err
	}
	for name, prop := range inner.Properties {
		s.Properties[name] = prop
	}
	s.Required = append(s.Required, inner.Required...)
	return nil
}

func (s *Schema) add(name string, tag *ast.BasicLit, prop *Schema) {
	var options string
	if tag != nil {
		text, _ := strconv.Unquote(tag.Value)
		json, rest, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		if json == "-" {
			return
		}
		if json != "" {
			name = json
		}
		options = rest
	}
	s.Properties[name] = prop
	if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
		s.Required = append(s.Required, name)
	}
}

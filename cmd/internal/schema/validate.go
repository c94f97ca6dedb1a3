package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Validate reports the first place where the JSON document does not follow
// the schema. It speaks the subset that [Generate] writes; null stands for an
// empty array, as encoding/json writes a nil slice.
func Validate(schema, document []byte) error {
	var root Schema
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("reading the document: more follows its end")
	}
	return root.check(&root, "$", v)
}

func (s *Schema) check(root *Schema, at string, v any) error {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		def := root.Defs[name]
		if def == nil {
			return fmt.Errorf("%s: schema refers to an unknown %s", at, s.Ref)
		}
		return def.check(root, at, v)
	}
	// A type that the generator does not write is a fault of the schema.
	switch s.Type {
	case "object":
		return s.checkObject(root, at, v)
	case "array":
		return s.checkArray(root, at, v)
	case "string":
		return s.checkString(at, v)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%s: %v is not a boolean", at, v)
		}
	case "integer":
		n, ok := v.(json.Number)
		if !ok || strings.ContainsAny(n.String(), ".eE") {
			return fmt.Errorf("%s: %v is not an integer", at, v)
		}
		if s.Minimum != nil && strings.HasPrefix(n.String(), "-") {
			return fmt.Errorf("%s: %v is below %d", at, v, *s.Minimum)
		}
	default:
		return fmt.Errorf("%s: schema has unknown type %q", at, s.Type)
	}
	return nil
}

func (s *Schema) checkObject(root *Schema, at string, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %v is no object", at, v)
	}
	for _, name := range s.Required {
		if _, ok := m[name]; !ok {
			return fmt.Errorf("%s: no %q", at, name)
		}
	}
	for name, prop := range s.Properties {
		if inner, ok := m[name]; ok {
			if err := prop.check(root, at+"."+name, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Schema) checkArray(root *Schema, at string, v any) error {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s: %v is no array", at, v)
	}
	for i, inner := range list {
		if err := s.Items.check(root, fmt.Sprintf("%s[%d]", at, i), inner); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkString(at string, v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s: %v is no string", at, v)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%s: %q is none of %q", at, text, s.Enum)
	}
	return nil
}

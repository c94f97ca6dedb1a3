package schema

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate reports where the JSON document does not follow the schema, each place as a JSON pointer.
func Validate(schema, document []byte) error {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	const name = "mem:///schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, s); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	return compiled.Validate(v)
}

package driver

import "errors"

// without goes on without the packages that do not compile, if others do;
// finish names those that were not analysed. Else it says why go vet failed.
func (m *merger) without(stderr []byte, err error) error {
	err = m.explain(stderr, err)
	var compile *CompileError
	if !errors.As(err, &compile) || len(m.seen) == 0 {
		return err
	}
	m.result.Uncompiled = compile.Output
	return nil
}

package tests

import (
	"bytes"
	"io"
)

// Options are read by the goroutine of a signer.
type Options struct{ Keys []string }

type Signer struct {
	pw   *io.PipeWriter
	done <-chan error
}

func NewSigner(o *Options) (*Signer, error) {
	if o == nil {
		return nil, io.EOF
	}
	done := make(chan error, 1)
	pr, pw := io.Pipe()
	s := &Signer{pw, done}
	fail := func(err error) {
		pr.CloseWithError(err)
		done <- err
	}
	go func() {
		defer close(done)
		all, err := io.ReadAll(pr)
		if err != nil {
			fail(err)
			return
		}
		if o.Keys != nil {
			println(len(o.Keys), len(all))
		}
		fail(nil)
	}()
	return s, nil
}

func (s *Signer) Write(p []byte) (int, error) { return s.pw.Write(p) }

func (s *Signer) Close() error {
	if err := s.pw.Close(); err != nil {
		return err
	}
	return <-s.done
}

func Sign(w io.Writer, r io.Reader, o *Options) error {
	s, err := NewSigner(o)
	if err != nil {
		return err
	}
	defer s.Close()
	var b bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(&b, s), r); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	_, err = io.Copy(w, &b)
	return err
}

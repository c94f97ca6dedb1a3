package predict

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
)

// Place is where a program goes on: in the source, behind a call or an access.
type Place struct {
	Function string // that the linker knows: one that was inlined there has its caller's name
	File     string
	Line     int
}

// Symbols knows the places of a program.
type Symbols struct{ table *gosym.Table }

// ReadSymbols reads those of an executable file of Linux, stripped or not.
func ReadSymbols(program string) (*Symbols, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("reading the places of %s: %w", program, err)
	}
	defer f.Close()
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return nil, errors.New("reading the places of " + program + ": it is no program of Go's")
	}
	data, err := lines.Data()
	if err != nil {
		return nil, fmt.Errorf("reading the places of %s: %w", program, err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, fmt.Errorf("reading the places of %s: %w", program, err)
	}
	return &Symbols{table}, nil
}

// Place returns the place of a pc, empty where the program has no such.
func (s *Symbols) Place(pc uint64) Place {
	file, line, fn := s.table.PCToLine(pc - 1)
	if fn == nil {
		return Place{}
	}
	return Place{fn.Name, file, line}
}

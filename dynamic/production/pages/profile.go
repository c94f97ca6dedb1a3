package pages

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// writeProfile writes races as a profile for pprof (github.com/google/pprof/proto/profile.proto), zipped as all of them
// are. The fields are written by hand: a custom profile of runtime/pprof has the stacks of those who add to it, not
// those that were kept, and github.com/google/pprof would be another module in the user's program.
//
// Each access of a race is a sample with its own stack, so that both places stand in a list. The value "races" is that
// of the later access alone, so that its sum is the number of times that a race was seen; "accesses" is that of both.
func writeProfile(to io.Writer, races []status.Race, now time.Time) error {
	p := profile{
		texts: map[string]uint64{}, functions: map[status.Frame]uint64{}, locations: map[status.Frame]uint64{},
	}
	p.text("") // the first text is the empty one
	p.types()
	for _, r := range explained(races) {
		for i, s := range r.Sides {
			p.sample(r, i, s)
		}
	}
	p.out.number(timeNanos, uint64(now.UnixNano()))
	p.out.number(defaultSampleType, p.text("accesses"))
	zipped := gzip.NewWriter(to)
	if _, err := zipped.Write(p.out); err != nil {
		return err
	}
	return zipped.Close()
}

// Numbers of the fields of the messages, by profile.proto.
const (
	sampleType, sample, location, function, stringTable = 1, 2, 4, 5, 6 // of Profile
	timeNanos, defaultSampleType                        = 9, 14
	valueKind, valueUnit                                = 1, 2 // of ValueType
	sampleLocation, sampleValue, sampleLabel            = 1, 2, 3
	labelKey, labelText                                 = 1, 2
	locationID, locationLine                            = 1, 4
	lineFunction, lineNumber                            = 1, 2
	functionID, functionName, functionSystem, fileName  = 1, 2, 3, 4
)

// profile is a profile as it grows: what a sample names is written where it is named first, and has a number from then
// on. A message may have its fields in any order.
type profile struct {
	out       message
	texts     map[string]uint64
	functions map[status.Frame]uint64 // whose line is 0
	locations map[status.Frame]uint64
}

// types writes what the values of a sample are.
func (p *profile) types() {
	for _, kind := range []string{"races", "accesses"} {
		var m message
		m.number(valueKind, p.text(kind))
		m.number(valueUnit, p.text("count"))
		p.out.bytes(sampleType, m)
	}
}

// sample writes the side s, which is the ith, of a race.
func (p *profile) sample(r status.Race, i int, s status.Side) {
	var m message
	for _, f := range s.Frames {
		m.number(sampleLocation, p.location(f))
	}
	races := r.Count
	if i > 0 {
		races = 0
	}
	m.number(sampleValue, races)
	m.number(sampleValue, r.Count)
	// What the other goroutine did is a label, as a sample has one stack.
	labels := [][2]string{{"access", mode(s)}, {"other", "not seen"}}
	if len(r.Sides) == 2 {
		labels[1][1] = place(r.Sides[1-i])
		labels = append(labels, [2]string{"side", [...]string{"later", "earlier"}[i]})
	}
	for _, l := range s.Labels { // those that a profile of the processor time has
		labels = append(labels, [2]string{l.Key, l.Value})
	}
	for _, label := range labels {
		var l message
		l.number(labelKey, p.text(label[0]))
		l.number(labelText, p.text(label[1]))
		m.bytes(sampleLabel, l)
	}
	p.out.bytes(sample, m)
}

// place returns an access and where it is, in one line.
func place(s status.Side) string {
	if len(s.Frames) == 0 {
		return mode(s)
	}
	f := s.Frames[0]
	return fmt.Sprintf("%s at %s %s:%d", mode(s), f.Function, f.File, f.Line)
}

// location returns the number of a frame's line.
func (p *profile) location(f status.Frame) uint64 {
	if id := p.locations[f]; id != 0 {
		return id
	}
	id := uint64(len(p.locations) + 1)
	p.locations[f] = id
	var line, m message
	line.number(lineFunction, p.function(f))
	line.number(lineNumber, uint64(f.Line))
	m.number(locationID, id)
	m.bytes(locationLine, line)
	p.out.bytes(location, m)
	return id
}

// function returns the number of a frame's function.
func (p *profile) function(f status.Frame) uint64 {
	f.Line = 0
	if id := p.functions[f]; id != 0 {
		return id
	}
	id := uint64(len(p.functions) + 1)
	p.functions[f] = id
	var m message
	m.number(functionID, id)
	m.number(functionName, p.text(f.Function))
	m.number(functionSystem, p.text(f.Function))
	m.number(fileName, p.text(f.File))
	p.out.bytes(function, m)
	return id
}

// text returns the number of a text.
func (p *profile) text(s string) uint64 {
	id, known := p.texts[s]
	if !known {
		id = uint64(len(p.texts))
		p.texts[s] = id
		p.out.bytes(stringTable, message(s))
	}
	return id
}

// message is a message of protocol buffers as it grows.
type message []byte

func (m *message) number(field, n uint64) {
	const varint = 0
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, field<<3|varint), n)
}

func (m *message) bytes(field uint64, b message) {
	const lengthDelimited = 2
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, field<<3|lengthDelimited), uint64(len(b)))
	*m = append(*m, b...)
}

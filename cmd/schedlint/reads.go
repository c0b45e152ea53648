package main

// reads are the files that were read while roots were looked for, by their names from the
// root of the run, be they outside. The run takes them from there, so that it judges what was
// found and reads no file twice.
type reads struct {
	byName map[string][]byte
	left   int // bytes
}

// mostRead is how many bytes are kept; what is beyond is read again.
const mostRead = 64 << 20

func newReads() *reads { return &reads{map[string][]byte{}, mostRead} }

func (t *reads) keep(name string, text []byte) {
	if _, known := t.byName[name]; !known && len(text) <= t.left {
		t.byName[name] = text
		t.left -= len(text)
	}
}

// overlay is for lint.Options.
func (t *reads) overlay(name string) (text []byte, ok bool) {
	text, ok = t.byName[name]
	return text, ok
}

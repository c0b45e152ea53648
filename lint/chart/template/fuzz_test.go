package template

import "testing"

// FuzzTemplate checks that any template prints the same as with text/template, or fails on the
// same line.
func FuzzTemplate(f *testing.F) {
	for _, source := range constructs(f) {
		f.Add(source)
	}
	for seed := range uint64(100) {
		f.Add(randomTemplate(seed))
		f.Add(lined(randomTemplate(seed)))
	}
	f.Fuzz(func(t *testing.T, source string) { compareWith(t, tamed, source, data()) })
}

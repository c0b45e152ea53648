package source

import (
	"strings"
	"testing"
)

// TestSize checks that the contents of an anchor count once, however many aliases there are, and
// that the size of an object is close to the length of its text.
func TestSize(t *testing.T) {
	of := func(text string) int {
		set, err := Load(Options{Dir: "/", Root: "/", Stdin: strings.NewReader("apiVersion: v1\nkind: ConfigMap\n" + text)}, []string{"-"})
		if err != nil || len(set.Objects) != 1 {
			t.Fatal(err, len(set.Objects))
		}
		return set.Objects[0].Size()
	}
	long := strings.Repeat("x", 1000)
	once, often := of("data: {a: &a {k: "+long+"}}\n"), of("data: {a: &a {k: "+long+"}, b: *a, c: *a, d: *a}\n")
	if often-once > 100 {
		t.Errorf("%d bytes with three aliases, %d without", often, once)
	}
	if plain := of("data: {a: " + long + ", b: " + long + "}\n"); plain < 2000 || plain > 2200 {
		t.Errorf("%d bytes of a text of about 2,050", plain)
	}
}

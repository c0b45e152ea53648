package engine

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// TestExpand compares each form of expression with the result of Flux.
func TestExpand(t *testing.T) {
	vars := &render.Variables{Given: map[string]render.Variable{"a": {Value: "Abc-abc"}, "n": {Value: "3"}, "m": {Value: "-2"}, "far": {Value: "-20"}, "e": {}}, Unknown: []string{"secret"}}
	open := &render.Variables{Given: vars.Given, Open: true}
	for _, c := range []struct {
		text, want string
		vars       *render.Variables
	}{
		{"x ${a} y ${n}", "x Abc-abc y 3", vars},
		{"${gone} ${secret}", "${gone} ${secret}", vars},
		{"$a $ {a} a$", "$a $ {a} a$", vars},
		{"$${a} $$$${a}", "${a} $${a}", vars},
		{"${gone:=1}${gone:-2}${gone=3}", "123", vars},
		{"${n:=1}${e:=2}${e:-${n}}", "323", vars},
		{"${secret:=1}", "${secret:=1}", vars},
		{"${gone:=1} ${n:=1}", "${gone:=1} 3", open},
		{"${gone:=${other}}", "${gone:=${other}}", vars},
		{"${gone:=${other:-x}-y}", "x-y", vars},
		{"${a^^}${a,,}${a,}${a^}", "ABC-ABCabc-abcabc-abcAbc-abc", vars},
		{"${a:1}${a:1:2}${a:-2}${a:9}", "bc-abcbcAbc-abc", vars},
		{"${a:x} ${a:x:2} ${a: -2} ${a:1:x}", "Abc-abc Abc-abc Abc-abc Abc-abc", vars}, // no numbers
		{"${a:${m}} ${a:${m}:1} ${a:${far}:2}", "bc b Ab", vars},
		{"${a:1:0} ${a:6:1} ${a:6:2} ${a:7}", " c c ", vars},
		{"${a:1:-1}", "${a:1:-1}", vars}, // Flux crashes
		{"${a/#x/y} ${a/%x/y}", "Abc-abc Abc-abc", vars},
		{"${#a} ${#e}", "7 0", vars},
		{"${a/bc/X}${a//bc/X}${a/#Ab/X}${a/%bc/X}${a//bc/}", "AX-abcAX-aXXc-abcAbc-aXA-a", vars},
		{"${a#Abc-}${a##Abc}${a%abc}${a%%-abc}${a#x}", "abc-abcAbc-AbcAbc-abc", vars},
		{"${a#*-}", "${a#*-}", vars},
		{"${e^}", "", vars},
	} {
		work := 0
		got, err := expand(c.text, c.vars, &work)
		if err != nil || got != c.want {
			t.Errorf("%s gives %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"${", "${}", "${a", "${a b}", "${a-b}", "${#a:1}", "${a:=", "${ a }", "${a//b}", strings.Repeat("${a:=", 100) + strings.Repeat("}", 100)} {
		if got, err := expand(text, vars, new(int)); err == nil {
			t.Errorf("%s gives %q, want an error", text, got)
		}
	}
}

// TestExpandBounded checks that the size of the result is limited.
func TestExpandBounded(t *testing.T) {
	vars := &render.Variables{Given: map[string]render.Variable{"a": {Value: strings.Repeat("x", 1<<20)}}}
	for _, text := range []string{strings.Repeat("${a}", 1000), strings.Repeat("${a//x/}", 1000), "${a//x/${a//x/${a}}}"} {
		work := 0
		_, err := expand(text, vars, &work)
		if work > limits.Substituted+64<<20 {
			t.Errorf("%.20s: %d bytes of work", text, work)
		}
		if err == nil && !strings.HasPrefix(text, "${a//x/${") {
			t.Errorf("%.20s: no error", text)
		}
	}
}

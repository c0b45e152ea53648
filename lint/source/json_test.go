package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/limits"
)

// TestJSONTokens compares the Nodes of a JSON text, including their positions, with the tokens of
// encoding/json.
func TestJSONTokens(t *testing.T) {
	check := func(text string) {
		t.Helper()
		if !looksLikeJSON([]byte(text)) {
			t.Fatalf("no JSON: %q", text)
		}
		var got []string
		for _, d := range parseJSON([]byte(text), limits.Cost{Documents: 100, Values: 10_000, Bytes: 1 << 20}).docs {
			got = append(got, tokens(d.root)...)
		}
		if want := decodedTokens(text); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, text := range []string{"{} 1{}", `[]"a"{}`, `[]true null[]-1.5e3"x"`, "{\"a\"\t:\r\n\"\\u00e9\\\"\",\"\\\\\":[\"é\",\"\\ud83d\",\"\xff\"]}\n\n"} {
		check(text)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range trials.Of(t, 20_000) {
		text := ""
		for i := range 1 + r.IntN(2) {
			text += randomJSON(r, 1+r.IntN(4), i == 0)
		}
		check(text)
	}
}

// tokens lists the contents of a Node in the same form as decodedTokens.
func tokens(n *Node) (all []string) {
	at := fmt.Sprintf("%d:%d ", n.Line, n.Column)
	switch n.Kind {
	case Map, Sequence:
		open, end := "{", "}"
		if n.Kind == Sequence {
			open, end = "[", "]"
		}
		all = append(all, at+open)
		for _, inner := range n.content() {
			all = append(all, tokens(inner)...)
		}
		return append(all, end)
	}
	return append(all, fmt.Sprintf("%s%q %v %v", at, n.Value, n.Quoted, n.Type))
}

// decodedTokens lists the tokens of a JSON text.
func decodedTokens(text string) (all []string) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		from := int(dec.InputOffset())
		for from < len(text) && strings.IndexByte(" \t\r\n,:", text[from]) >= 0 {
			from++
		}
		tok, err := dec.Token()
		if err != nil {
			return all
		}
		before := text[:from]
		at := fmt.Sprintf("%d:%d ", 1+strings.Count(before, "\n"), 1+len([]rune(before[strings.LastIndexByte(before, '\n')+1:])))
		switch x := tok.(type) {
		case json.Delim:
			if x == '}' || x == ']' {
				at = ""
			}
			all = append(all, at+x.String())
		case string:
			all = append(all, fmt.Sprintf("%s%q true %v", at, x, (&Node{}).Type))
		default:
			kind := map[bool]Type{true: Float, false: Int}[strings.ContainsAny(fmt.Sprint(x), ".eE")]
			switch x.(type) {
			case bool:
				kind = Bool
			case nil:
				kind, x = Null, "null"
			}
			all = append(all, fmt.Sprintf("%s%q false %v", at, fmt.Sprint(x), kind))
		}
	}
}

// randomJSON returns a random value with random white space. If brackets is set, the value is a
// map or a list.
func randomJSON(r *rand.Rand, depth int, brackets bool) string {
	space := func() string { return []string{"", "", " ", "\n", "\r\n\t"}[r.IntN(5)] }
	kind := r.IntN(8)
	if depth == 0 && !brackets {
		kind = 2 + r.IntN(6)
	} else if brackets {
		kind = r.IntN(2)
	}
	switch kind {
	case 0, 1:
		var b bytes.Buffer
		b.WriteByte("{["[kind])
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteString(space() + ",")
			}
			if kind == 0 {
				fmt.Fprintf(&b, "%s\"k%d\\u00e4\"%s:", space(), i, space())
			}
			b.WriteString(space() + randomJSON(r, max(0, depth-1), false))
		}
		b.WriteString(space())
		b.WriteByte("}]"[kind])
		return b.String() + space()
	}
	return []string{`"plain"`, `"with \" \\ \/ \n \ud83d\ude00"`, `"é😀"`, "-12.5E+3", "0", "true", "null", `""`}[r.IntN(8)] + " "
}

package source

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlaceholder(t *testing.T) {
	for _, text := range []string{
		"${X}", "$X", "$NODE_OS", "web-$$name$$", "$(X)", "{{ x }}", "<node>", "<your node name>", "pre-<x>-post", "{x}", "a-{x}", "%TARGET%", "web-%N%-0", "@STS_NAME@", "...",
		"FILL THIS IN", "NODE_COUNT", "SET BY_THE OPERATOR", "ENC[AES256_GCM,data:Zm9v]",
		"%%%", "%%%NAME%%%", "%%NAME%%-web", "__NAME__", "web-__NODE_POOL__-0", "__pool__", "(@= name @)", "a-(@ x @)-b", "#@ data.values.name",
		"CHANGE_ME", "changeme", "ChangeMe", "change-me", "REPLACE_ME", "replace_me", "your-node-name-here", "YOUR pool HERE", "TODO",
	} {
		if !Placeholder(text) {
			t.Errorf("%q is a placeholder", text)
		}
	}
	for _, text := range []string{
		"", "web", "ALWAYS", "ON_FAILURE", "NO_SCHEDULE", "NO SCHEDULE", "DO_NOT_SCHEDULE", "DOES_NOT_EXIST", "NOT_IN", "ROLLING_UPDATE", "ORDERED_REDY",
		"EXISTS", "UPD", "512MB", "1CPU", "512 MB", "1 CPU", "MYAPP", "HOSTNAME", "one", "25%", "50%-75%", "My_App", "A_B", "NODE_1", "N-1", "a b", "A  B", "_A", "A_",
		"ON_DEMAND", "CAPACITY_BLOCK", "a < b", "<2.0.0 >1.0.0", ">1.0.0 <2.0.0", "me@example.com", "{}", "<>", "....", "%20%20", "$", "$1", "5$", "\n",
		"%%", "100%%", "__", "____", "a__b__c", "FOO__BAR__BAZ", "__a", "a__", "(@", "@)", "#@", "a #@ b", "todo", "todo-app", "TODOS", "changes", "exchange", "your", "your-app", "yourhere", "here",
	} {
		if Placeholder(text) {
			t.Errorf("%q is no placeholder", text)
		}
	}
}

// TestPlaceholderSyntax checks documents with placeholders that YAML treats as syntax, including
// documents that have another mistake.
func TestPlaceholderSyntax(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\n"
	for _, tt := range []struct {
		name, text string
		broken     int // line of the mistake, or 0
		key, want  string
	}{
		{name: "percent", text: "x: %TARGET%", key: "x", want: "%TARGET%"},
		{name: "at", text: "x: @NAME@-web", key: "x", want: "@NAME@-web"},
		{name: "braces", text: "x: {PREFIX}.16", key: "x", want: "{PREFIX}.16"},
		{name: "braces and a slash", text: "x: {IPv6}/128", key: "x", want: "{IPv6}/128"},
		{name: "braces and a blank", text: "x: {A} of {B}", key: "x", want: "{A} of {B}"},
		{name: "braces alone", text: "x: {A}", key: "x", want: "{A}"},
		{name: "list", text: "x: z\nl:\n- %A%\n- @B@", key: "x", want: "z"},
		{name: "flow", text: "l: [%A%, @B@]\nx: z", key: "x", want: "z"},
		{name: "key", text: "'@K@': v\nx: y", key: "@K@", want: "v"},
		{name: "plain key", text: "@K@: v\nx: %A%", key: "@K@", want: "v"},
		{name: "beside quotes", text: "y: '%A%'\nx: %A%", key: "y", want: "%A%"},
		{name: "beside block text", text: "y: |\n  @A@\nx: @A@", key: "y", want: "@A@\n"},
		{name: "percents", text: "x: %%%NAME%%%-web", key: "x", want: "%%%NAME%%%-web"},
		{name: "percents alone", text: "y: {z: %%%}\nx: %%%", key: "x", want: "%%%"},
		{name: "percents in a list", text: "x: z\nl: [%%%, %%A%%]", key: "x", want: "z"},
		{name: "second document", text: "x: z\n---\n" + head + "x: %A%", key: "x", want: "%A%"},

		{name: "a mistake below", text: "x: %A%\ny: [1", broken: 4},
		{name: "a mistake above", text: "y: a: b\nx: %A%", broken: 3},
		{name: "no second sign", text: "x: %A", broken: 3},
		{name: "an address", text: "x: @me@example.com", broken: 3},
		{name: "no word", text: "x: @@", broken: 3},
		{name: "two percents", text: "x: %%", broken: 3},
		{name: "percents above a mistake", text: "x: %%%\ny: [1", broken: 4},
		{name: "a number", text: "x: {8080}/tcp", broken: 3},
		{name: "a map of one field", text: "x: {a: b}/c", broken: 3},
		{name: "a map as a key", text: "x: {A}: b", broken: 3},
		{name: "one brace too many", text: "x: {A}}", broken: 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, _ := parsedWith(wholeOptions(), "x.yaml", head+tt.text+"\n")
			if tt.broken > 0 {
				if len(set.Problems) != 1 || set.Problems[0].Kind != Unparsable || set.Problems[0].Span.Line != tt.broken {
					t.Fatalf("problems are %+v", set.Problems)
				}
				return
			}
			if len(set.Problems) > 0 || len(set.Skipped) > 0 || len(set.Objects) == 0 {
				t.Fatalf("%+v %+v", set.Problems, set.Skipped)
			}
			got := set.Objects[len(set.Objects)-1].Root.Get(tt.key)
			if got.Text() != tt.want {
				t.Fatalf("%s is %q", tt.key, got.Text())
			}
			if f := set.Files[0]; got.Line > 0 && got.Placeholder() && !got.Quoted {
				if start, end, ok := f.Range(f.Span(got)); !ok || string(f.Text[start:end]) != tt.want {
					t.Errorf("its place is %+v", f.Span(got))
				}
			}
		})
	}
}

// TestComputed checks that a ytt comment after a key or a dash counts as the value, at the
// position of the comment.
func TestComputed(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\n"
	for _, tt := range []struct{ text, want, place string }{
		{"a: #@ b", "#@ b", "3:4-8"},
		{"a:   #@ f(\"x: y\")  ", "#@ f(\"x: y\")", "3:6-18"},
		{"ä: #@ ö # c", "#@ ö # c", "3:4-12"},
		{"a:\n- #@ b\n- c", "#@ b", "4:3-7"},
		{"'a: #@': #@ b", "#@ b", "3:10-14"},
		{"---\n" + head + "a: #@ b", "#@ b", "6:4-8"},
		{"a: # #@ b", "", ""},
		{"a: #@b", "", ""},
		{"a: #! b", "", ""},
		{"a: ~ #@ b", "~", "3:4-5"},
		{"a: c #@ b", "c", "3:4-5"},
		{"a: |\n  b: #@ c", "b: #@ c\n", ""},
		{"a: 'b\n  c: #@ d'", "b c: #@ d", ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			set, f := parsedWith(wholeOptions(), "x.yaml", strings.ReplaceAll(head+tt.text+"\n", "\n", end))
			_, n := set.Objects[len(set.Objects)-1].Root.content()[4], set.Objects[len(set.Objects)-1].Root.content()[5]
			if n.Kind == Sequence {
				n = n.Items()[0]
			}
			if s := f.Span(n); n.Value != tt.want || tt.place != "" && fmt.Sprintf("%d:%d-%d", s.Line, s.Column, s.EndColumn) != tt.place || n.Placeholder() != strings.HasPrefix(tt.want, "#@") {
				t.Errorf("%q: got %q at %+v", tt.text, n.Value, s)
			}
		}
	}
	set, err := Load(Options{Dir: "/", Root: "/", Stdin: strings.NewReader(head + "spec:\n  nodeName: #@ b\n")}, []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	set.Objects[0].Fold(&Kept{})
	if n := set.Objects[0].Root.At("spec", "nodeName"); n.Value != "#@ b" {
		t.Errorf("read again it is %q", n.Value)
	}
}

// TestBracedMap checks maps that look like placeholders but are not.
func TestBracedMap(t *testing.T) {
	set, _ := parsedWith(wholeOptions(), "x.yaml", "apiVersion: v1\nkind: Pod\na: {x: }\nb: {x: null}\nc: { x }\nd: {x, y}\ne: {}\nf: {1}\ng:\n  x:\nh: &h {x}\n")
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if n := set.Objects[0].Root.Get(key); n.Kind != Map {
			t.Errorf("%s is a %s", key, n.Kind)
		}
	}
	for _, text := range []string{"{X,}", "{X,  }", "{X,\t}", "{X,\n}", "{X,\r\n\r\n  }", "{X, # y\n  # z\n  }", "{X,#y\n}", "{X,\u2028}"} {
		got, _ := parsedWith(wholeOptions(), "x.yaml", "apiVersion: v1\nkind: Pod\na: "+text+"\n")
		if len(got.Objects) != 1 || got.Objects[0].Root.Get("a").Kind != Map {
			t.Errorf("%q is no map: %+v", text, got.Problems)
		}
	}
	templated, _ := parsedWith(wholeOptions(), "x.yaml", "apiVersion: v1\nkind: Pod\nx: {{x}}\n")
	if got := templated.Skipped; len(got) != 1 || got[0].Reason != SkipTemplate {
		t.Errorf("skipped is %+v", got)
	}
}

// TestPlaceholderLines checks that a document is left out if it lacks only the lines that a script
// inserts, and that any other mistake in it is reported.
func TestPlaceholderLines(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"
	for _, tt := range []struct{ text, skip string }{
		{"  <LABELS>\nspec: {}\n", SkipOtherTemplate},
		{"  <LABELS 1>\n  <LABELS 2>\nspec: {}\n", SkipOtherTemplate},
		{"x: |\n$CERT\ny: z\n", SkipOtherTemplate},
		{"  ${LABELS}\nspec: {}\n", SkipOtherTemplate},
		{"  %LABELS%\nspec: {}\n", SkipOtherTemplate},
		{"  @LABELS@\nspec: {}\n", SkipOtherTemplate},
		{"  %%%LABELS%%%\nspec: {}\n", SkipOtherTemplate},
		{"%%%\nspec: {}\n", SkipOtherTemplate},
		{"  __LABELS__\nspec: {}\n", SkipOtherTemplate},
		{"  <LABELS>\nspec: [\n", ""},
		{"  LABELS\nspec: {}\n", ""},
		{"  <LABELS> and more\nspec: {}\n", ""},
	} {
		set, _ := parsedWith(wholeOptions(), "x.yaml", head+tt.text)
		switch {
		case tt.skip == "" && (len(set.Problems) != 1 || len(set.Skipped) != 0):
			t.Errorf("%q: problems %+v, skipped %+v", tt.text, set.Problems, set.Skipped)
		case tt.skip != "" && (len(set.Problems) != 0 || len(set.Skipped) != 1 || set.Skipped[0].Reason != tt.skip):
			t.Errorf("%q: problems %+v, skipped %+v", tt.text, set.Problems, set.Skipped)
		}
	}
}

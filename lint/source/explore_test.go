package source
import ("testing";"strings";"time";"fmt")
func TestExplore(t *testing.T) {
	rep := strings.Repeat
	keys := func(n int) string { var b strings.Builder; for i := range n { fmt.Fprintf(&b, "k%d: v\n", i) }; return b.String() }
	anchors := func(n int) string { var b strings.Builder; for i := range n { fmt.Fprintf(&b, "k%d: &a%d v\nl%d: *a%d\n", i,i,i,i) }; return b.String() }
	for name, text := range map[string]string{
		"keys": keys(100000),
		"flowkeys": "{"+strings.ReplaceAll(keys(100000),"\n",", ")+"}",
		"comments": rep("# c\n", 100000)+"a: 1\n",
		"comments2": rep("a:\n# c\n", 1)+rep("  # c\n", 100000)+"  b: 1\n",
		"comments3": "a:\n"+rep("- x # c\n# d\n\n# e\n", 50000),
		"deepflow": rep("[", 100000),
		"deepflow9000": rep("[", 9000)+rep("]",9000),
		"deepmap9000": rep("{a: ", 9000)+rep("}",9000),
		"deepdash": rep("- ", 100000),
		"deepq": rep("? ", 100000),
		"colons": rep("a: ", 100000),
		"docs": rep("---\n", 300000),
		"docs2": rep("---\na: 1\n", 100000),
		"broken": rep("---\n\ta\n", 100000),
		"broken2": rep("---\na: b: c\n", 50000),
		"broken3": rep("---\na: \"\n", 50000),
		"one broken": keys(50000)+"a: b: c\n"+keys(20000),
		"one broken 10MB": keys(500000)+"a: b: c\n"+keys(400000),
		"anchors": anchors(50000),
		"plain lines": "a: "+rep("x\n  ", 200000),
		"quoted lines": "a: \""+rep("x\n  ", 200000)+"\"",
		"block": "a: |\n"+rep("  x\n", 200000),
		"blank": rep("\n", 1000000),
		"spaces": rep(" ", 1000000),
		"crs": rep("\r", 1000000),
		"ls": rep("a: \"\u2028\"\n---\n", 50000),
		"flowseq": "["+rep("a,", 300000)+"]",
		"flowunclosed": rep("[a, ", 5000),
		"dup": rep("a: 1\n", 50000),
		"templ": rep("---\na: {{ b }} c\n", 50000),
		"merge": "b: &b {x: 1}\nu:\n"+rep("  <<: *b\n", 50000),
		"tags": rep("- !!str a\n", 100000),
		"jsonlong": "["+rep("{\"a\":1},", 100000)+"1]",
		"jsondeep": rep("[", 9999)+rep("]", 9999),
		"jsonbroken": "{"+rep("\"a\":1,", 100000)+"}",
		"jsonbroken tabs": "{\n"+rep("\t\"a\":1,\n", 100000)+"}",
		"jsonstream": rep("{\"a\":1}\n", 100000),
		"questions": rep("? a\n: b\n", 50000),
		"percent": rep("%YAML 1.1\n---\n", 30000),
		"dots": rep("...\n", 100000),
		"anchor chain": func() string { var b strings.Builder; b.WriteString("a0: &a0 {x: 1}\n"); for i := 1; i < 5000; i++ { fmt.Fprintf(&b, "a%d: &a%d {x: *a%d}\n", i,i,i-1) }; return b.String() }(),
		"merge chain": func() string { var b strings.Builder; b.WriteString("a0: &a0 {x: 1}\n"); for i := 1; i < 2000; i++ { fmt.Fprintf(&b, "a%d: &a%d {<<: *a%d, k%d: 1}\n", i,i,i-1,i) }; return b.String() }(),
	} {
		start := time.Now()
		set, _ := parsed("x", text)
		el := time.Since(start)
		first := ""
		if len(set.Problems) > 0 { first = fmt.Sprint(set.Problems[0]) }
		mark := ""
		if el > 500*time.Millisecond { mark = "SLOW" }
		fmt.Printf("%-16s %8.0fms %7dB %6s docs %d problems %d skipped %d %.100s\n", name, float64(el.Milliseconds()), len(text), mark, set.Documents, len(set.Problems), len(set.Skipped), first)
	}
}

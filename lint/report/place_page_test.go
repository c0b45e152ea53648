package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// drawn returns a placement of two workloads, with a picture, whose names end in the given text.
func drawn(name string) *diag.Placements {
	ref := func(w string) string { return "apps/v1/Deployment/shop/" + w + name }
	pod := func(what string, w, n int) diag.PictureEvent {
		return diag.PictureEvent{What: what, PicturePod: diag.PicturePod{Workload: w, Node: n}}
	}
	node := func(n, zone string, cordoned bool) diag.PictureNode {
		return diag.PictureNode{Name: n + name, Zone: zone + name, Pool: "p" + name, Allocatable: []int64{2000, -1, 10}, Cordoned: cordoned, Taints: []string{"t=" + name + ":NoSchedule"}}
	}
	d := diag.Placement{
		Context: "c" + name, Verdict: "sometimes", RulesVerdict: "sometimes", Pods: diag.PlacementPods{Total: 4, MaxPlaced: 4, MinPlaced: 3, Exact: true},
		Workloads: []diag.PlacementWorkload{
			decided("Deployment", "web"+name, 3, 3, 3, "always", diag.PlacementChange{}),
			decided("Deployment", "db"+name, 1, 0, 1, "sometimes", diag.PlacementChange{}),
		},
		Notes: []string{"note" + name},
		Picture: &diag.Picture{
			Resources: []string{"cpu", "memory", "pods"},
			Nodes:     []diag.PictureNode{node("n0", "a", false), node("n1", "a", false), node("n2", "b", true), node("n3", "b", false)},
			Workloads: []diag.PictureWorkload{{Reference: ref("web"), Requests: []int64{500, 0, 1}}, {Reference: ref("db"), Requests: []int64{1500, 0, 1}}},
			Runs: []diag.PictureRun{
				{Question: diag.AskPlaced, Workload: -1, After: -1, Title: "A placement" + name, Events: []diag.PictureEvent{pod("place", 1, 0), pod("place", 0, 1), pod("place", 0, 1), pod("place", 0, 3)}},
				{
					Question: diag.AskStuck, Workload: -1, After: -1, Title: "Stuck" + name, Events: []diag.PictureEvent{pod("place", 0, 0), pod("place", 0, 1), pod("place", 0, 3)},
					Pending: []diag.PicturePending{{Workload: 1, Count: 1, Reason: "3 nodes" + name, Refused: []diag.PictureRefused{{Filter: "NodeResourcesFit", Why: "why" + name, Nodes: []int{0, 1, 3}}}}},
				},
				{Question: diag.AskDrain, Workload: -1, After: 0, Title: "Drain" + name, Lost: []int{1}, Meaning: "drained", Events: []diag.PictureEvent{pod("lose", -1, -1), pod("remove", 0, 1), pod("place", 0, 3)}},
			},
			LeftOut: []string{"left out" + name},
		},
	}
	return &diag.Placements{SchemaVersion: "1", Decisions: []diag.Placement{d}}
}

func pageText(t *testing.T, format string, p *diag.Placements) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePlacement(&b, format, p, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageHostileNames checks that names stay text in the page and in the picture, and that both are
// well-formed.
func TestPageHostileNames(t *testing.T) {
	for _, name := range []string{
		`<img src=x onerror=alert(1)>`, `</script><script>alert(1)</script>`, `"'><b>`, "<!--", "]]>", "\u202egnp\u2066", "\u2028alert(1)", "a\x00b\x1bc", strings.Repeat("long", 200), "&lt;", "\xff\xfe",
	} {
		p := drawn(name)
		page, svg := pageText(t, "html", p), pageText(t, "svg", p)
		if page != pageText(t, "html", p) || svg != pageText(t, "svg", p) {
			t.Errorf("%q: a second output differs", name)
		}
		plain := pageText(t, "html", drawn(""))
		for _, tag := range []string{"<script", "</script", "<img", "<b>", "<!--"} {
			if got, want := strings.Count(page, tag), strings.Count(plain, tag); got != want {
				t.Errorf("%q: the page has %s %d times, not %d", name, tag, got, want)
			}
		}
		for _, text := range []string{page, svg} {
			if i := strings.IndexFunc(text, func(r rune) bool {
				return r < ' ' && r != '\n' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u2028'
			}); i >= 0 {
				t.Errorf("%q: hidden characters at %q", name, text[i:min(len(text), i+20)])
			}
		}
		x := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := x.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v\n%s", name, err, svg)
			}
			if start, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "title", "desc", "style", "defs", "pattern", "path", "rect", "text"}, start.Name.Local) {
				t.Errorf("%q: the picture has an element %s", name, start.Name.Local)
			}
		}
	}
}

// TestPageAllowsOnlyItself checks that the policy of the page allows no source and that the script makes
// no markup of texts.
func TestPageAllowsOnlyItself(t *testing.T) {
	page := pageText(t, "html", drawn(""))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']{44}'; script-src 'sha256-[^']{44}'; img-src data:; base-uri 'none'; form-action 'none'"`)
	if !policy.MatchString(page) {
		t.Error("the policy is not the expected one")
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://", "url(", "@import", " style=\""} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %s", word)
		}
	}
}

func TestPictureGolden(t *testing.T) { sameAsGolden(t, "place-svg", pageText(t, "svg", drawn(""))) }

package limits

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/cpu"
)

// documented lists the phrases about limits in docs/limits.md, where {} stands for a number. The
// document must contain each phrase, and its sections on input and rendering must contain no other
// number.
var documented = []string{
	say("more than {} workloads or {} pods compete", Rivals, RivalPods),
	say("| size | {} | {} |", bytes(File.Bytes), bytes(Run.Bytes)),
	say("| documents and list items | {} | {} |", File.Documents, Run.Documents),
	say("| values | {}, and {} or one per four bytes, whichever is more | {} |", File.Values, DenseValues, Run.Values),
	say("| problems in the text | {} | {} |", File.Problems, Run.Problems),
	say("| suppressions | {} | {} |", File.Suppressions, Run.Suppressions),
	say("about 2,500 objects, or {} that kustomize need not compare | {} times that of a root |", Render.Objects, RunRoots),
	say("| objects | | {} |", Renders.Objects),
	say("| size | {} and {} entries | {} |", bytes(Render.Bytes), Render.Entries, bytes(Renders.Bytes)),
	say("A chart is limited to {} per file, {} per values file, {} million steps of its templates, {} of output and {} nested includes.",
		bytes(ChartFile), bytes(ValuesFile), ChartSteps/1_000_000, bytes(ChartText), ChartIncludes),
	say("a run renders about 300 large charts"), // measured
	say("or {} for one root", bytes(WorkerMemory)),
}

// inWords has phrases of docs/limits.md that write numbers as words, and whether they agree with
// the limits.
var inWords = map[string]bool{
	"one per four bytes":                   BytesPerValue == 4,
	"count for a sixteenth of their size":  PassedOver == 16,
	"templates count for a quarter":        TemplateBytes == 4,
	"documentation for a sixteenth":        PassedOver == 16,
	"more than a minute of CPU time":       WorkerCPU.Minutes() == 1,
	"of CPU time, ten minutes in all, or ": cpu.Backstop*WorkerCPU.Minutes() == 10,
}

type bytes int

// say fills in numbers as a document writes them.
func say(phrase string, figures ...any) string {
	for _, f := range figures {
		text := fmt.Sprint(f)
		if n, ok := f.(bytes); ok && n >= 1<<30 {
			text = fmt.Sprintf("%d GiB", n>>30)
		} else if ok {
			text = fmt.Sprintf("%d MiB", n>>20)
		} else {
			for at := len(text) - 3; at > 0; at -= 3 {
				text = text[:at] + "," + text[at:]
			}
		}
		phrase = strings.Replace(phrase, "{}", text, 1)
	}
	return phrase
}

// TestDocumented compares the table with docs/limits.md.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(doc)), " ")
	for words, holds := range inWords {
		if !holds || !strings.Contains(text, words) {
			t.Errorf("docs/limits.md must say %q, and the table must agree (it does: %v)", words, holds)
		}
	}
	for _, phrase := range documented {
		if !strings.Contains(text, phrase) {
			t.Errorf("docs/limits.md does not say %q", phrase)
		}
		text = strings.Replace(text, phrase, "", 1)
	}
	for _, section := range []string{"## Input ", "## Rendering "} {
		_, after, ok := strings.Cut(text, section)
		if !ok {
			t.Fatalf("docs/limits.md has no section %s", section)
		}
		body, _, _ := strings.Cut(after, " ## ")
		for _, figure := range regexp.MustCompile(`\S* ?\d[\d,.]*\S* ?\S*`).FindAllString(body, -1) {
			t.Errorf("docs/limits.md, %s: %q is in no phrase of this test", section, figure)
		}
	}
}

// TestCost checks that each part of a cost is added, compared and named.
func TestCost(t *testing.T) {
	most := Cost{Objects: 1, Bytes: 2, Entries: 3, Nodes: 4, Steps: 5, Documents: 6, Values: 7, Problems: 8, Suppressions: 9}
	if got := most.Beyond(most); got != "" {
		t.Errorf("a cost is beyond itself: %s", got)
	}
	names := map[string]bool{}
	for _, one := range []Cost{{Objects: 1}, {Bytes: 1}, {Entries: 1}, {Nodes: 1}, {Steps: 1}, {Documents: 1}, {Values: 1}, {Problems: 1}, {Suppressions: 1}} {
		sum := most.Plus(one)
		names[sum.Beyond(most)] = true
		if sum.Less(one) != most || sum.Least(most) != most || most.Less(sum) != (Cost{}) {
			t.Errorf("%+v and %+v", sum, one)
		}
	}
	if len(names) != 9 || names[""] || !names["3 kustomization entries"] {
		t.Errorf("got %v", names)
	}
}

// TestCounter checks the last number within a limit, and numbers that overflow.
func TestCounter(t *testing.T) {
	c := Counter{Most: 3}
	if !c.Add(3) || c.Left() != 0 || c.Add(1) || c.Left() != 0 || c.Spent != 4 {
		t.Errorf("got %+v", c)
	}
	const largest = int(^uint(0) >> 1)
	if c.Add(largest) || c.Spent != largest || Sum(largest-1, 1) != largest || Product(largest/2, 3) != largest || Product(4, 0) != 0 {
		t.Errorf("got %+v", c)
	}
}

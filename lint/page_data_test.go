package lint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// pageData is the data in a page. Texts are indices into Strings.
type pageData struct {
	Strings  []string
	Contexts []struct {
		Columns []int
		Rows    []struct {
			Name, Replicas int
			Cells          []int
		}
		Picture *struct {
			Resources, Running, LeftOut []int
			Nodes, Workloads            []int64
			Runs                        []pageRun
		}
	}
}

type pageRun struct {
	Question, Meaning  string
	Title, Note, After int
	Events, Lost       []int
	Pending            []pagePending
}

type pagePending struct {
	Workload, Count, Reason int
	Orphaned                bool
	Refused                 []struct {
		Filter, Why int
		Nodes       []int
	}
}

// pageOf returns the data in a page.
func pageOf(t *testing.T, page string) (d *pageData) {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// text returns a text by its index.
func (d *pageData) text(i int) string { return d.Strings[i] }

// counted returns the numbers of pairs of a first number and a length.
func counted(pairs []int) (all []int) {
	for ; len(pairs) > 0; pairs = pairs[2:] {
		for k := range pairs[1] {
			all = append(all, pairs[0]+k)
		}
	}
	return all
}

// picture unpacks the picture of a context. Names of workloads are as the page shows them.
func (d *pageData) picture(t *testing.T, i int, width int) *diag.Picture {
	p := d.Contexts[i].Picture
	out := &diag.Picture{}
	for _, r := range p.Resources {
		out.Resources = append(out.Resources, d.text(r))
	}
	for row := range slices.Chunk(p.Nodes, 5+width) {
		n := diag.PictureNode{Name: d.text(int(row[0])), Zone: d.text(int(row[1])), Pool: d.text(int(row[2])), Cordoned: row[3]&1 > 0, ZoneOpen: row[3]&2 > 0, Allocatable: row[5:]}
		if taints := d.text(int(row[4])); taints != "" {
			n.Taints = strings.Split(taints, ", ")
		}
		out.Nodes = append(out.Nodes, n)
	}
	for row := range slices.Chunk(p.Workloads, 2+width) {
		out.Workloads = append(out.Workloads, diag.PictureWorkload{Reference: d.text(int(row[0])), New: row[1] == 1, Requests: row[2:]})
	}
	for pair := range slices.Chunk(p.Running, 2) {
		out.Running = append(out.Running, diag.PicturePod{Workload: pair[0], Node: pair[1]})
	}
	for _, line := range p.LeftOut {
		out.LeftOut = append(out.LeftOut, d.text(line))
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		run := diag.PictureRun{Question: r.Question, Meaning: r.Meaning, Title: d.text(r.Title), Note: d.text(r.Note), After: r.After, Lost: counted(r.Lost)}
		for row := range slices.Chunk(r.Events, 4) {
			e := diag.PictureEvent{What: []string{diag.EventPlace, diag.EventRemove, diag.EventLose}[row[0]], PicturePod: diag.PicturePod{Workload: row[1], Node: row[2]}}
			if e.What == diag.EventLose {
				e.PicturePod = diag.PicturePod{Workload: -1, Node: -1}
			}
			for range row[3] {
				run.Events = append(run.Events, e)
			}
		}
		for _, x := range r.Pending {
			pending := diag.PicturePending{Workload: x.Workload, Count: x.Count, Reason: d.text(x.Reason), Orphaned: x.Orphaned}
			for _, f := range x.Refused {
				pending.Refused = append(pending.Refused, diag.PictureRefused{Filter: d.text(f.Filter), Why: d.text(f.Why), Nodes: counted(f.Nodes)})
			}
			run.Pending = append(run.Pending, pending)
		}
		out.Runs = append(out.Runs, run)
	}
	return out
}

// shown returns a picture as a page shows it: texts are printable, workloads have the name that the
// table has for them, and no run says which workload it is about.
func shown(p *diag.Picture, all []diag.PlacementWorkload) *diag.Picture {
	see := report.Visible
	names := map[string]string{}
	for i := range all {
		w := &all[i]
		names[strings.Join([]string{w.APIVersion, w.Kind, w.Namespace, w.Name}, "/")] = see(w.Kind) + " " + see(strings.TrimPrefix(w.Namespace+"/"+w.Name, "/"))
	}
	out := &diag.Picture{Running: p.Running}
	for _, r := range p.Resources {
		out.Resources = append(out.Resources, see(r))
	}
	for _, n := range p.Nodes {
		n.Name, n.Zone, n.Pool, n.Taints = see(n.Name), see(n.Zone), see(n.Pool), slices.Clone(n.Taints)
		for i := range n.Taints {
			n.Taints[i] = see(n.Taints[i])
		}
		out.Nodes = append(out.Nodes, n)
	}
	for _, w := range p.Workloads {
		w.Reference = names[w.Reference]
		out.Workloads = append(out.Workloads, w)
	}
	for _, line := range p.LeftOut {
		out.LeftOut = append(out.LeftOut, see(line))
	}
	for _, r := range p.Runs {
		r.Title, r.Note, r.Workload = see(r.Title), see(r.Note), 0
		r.Pending = slices.Clone(r.Pending)
		for i := range r.Pending {
			x := &r.Pending[i]
			x.Reason, x.Refused = see(x.Reason), slices.Clone(x.Refused)
			for k := range x.Refused {
				x.Refused[k].Filter, x.Refused[k].Why = see(x.Refused[k].Filter), see(x.Refused[k].Why)
			}
		}
		out.Runs = append(out.Runs, r)
	}
	return out
}

// TestPageData reads the data of pages back. It is the picture that Place returns, and the table has
// the answers: one that is not known is never yes.
func TestPageData(t *testing.T) {
	hostile := t.TempDir()
	hostileCluster(t, hostile)
	fixture := func(name string, nodes, manifests string) [2]string {
		return [2]string{filepath.Join("..", "fixtures", name, nodes), filepath.Join("..", "fixtures", name, manifests)}
	}
	seen := map[string]bool{}
	for _, files := range [][2]string{
		fixture("order-dependent-placement", "nodes.yaml", "bad.yaml"), fixture("rollout-may-deadlock", "nodes.yaml", "bad.yaml"),
		fixture("zone-loss-leaves-pods-pending", "nodes.yaml", "bad.yaml"), fixture("demo", "nodes.yaml", "manifests"),
		{filepath.Join(hostile, "nodes.yaml"), filepath.Join(hostile, "manifests")},
	} {
		doc, err := lint.Place(context.Background(), lint.Options{Paths: []string{files[1]}, Topology: []string{files[0]}, Pictures: true})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := report.WritePlacement(&page, "html", doc, report.Options{}); err != nil {
			t.Fatal(err)
		}
		data := pageOf(t, page.String())
		if len(data.Contexts) != len(doc.Decisions) {
			t.Fatalf("%s: %d contexts", files[1], len(data.Contexts))
		}
		for i := range doc.Decisions {
			d := &doc.Decisions[i]
			if diff := cmp.Diff(shown(d.Picture, d.Workloads), data.picture(t, i, len(d.Picture.Resources))); diff != "" {
				t.Errorf("%s: the picture differs\n%s", files[1], diff)
			}
			for k, w := range d.Workloads {
				row := data.Contexts[i].Rows[k]
				if fits := data.text(row.Cells[0]); row.Replicas != w.Replicas || strings.HasPrefix(fits, "yes") != (w.Verdict == string(diag.Always)) {
					t.Errorf("%s: %s fits: %s, not %s", files[1], w.Name, fits, w.Verdict)
				}
			}
			for _, r := range d.Picture.Runs {
				seen[r.Question] = true
				seen["Pending"] = seen["Pending"] || len(r.Pending) > 0 && len(r.Pending[0].Refused) > 0
				seen["after"] = seen["after"] || r.After >= 0
			}
		}
	}
	for _, what := range []string{diag.AskPlaced, diag.AskStuck, diag.AskRollout, diag.AskDrain, diag.AskLoss, "Pending", "after"} {
		if !seen[what] {
			t.Errorf("no page has %s", what)
		}
	}
}

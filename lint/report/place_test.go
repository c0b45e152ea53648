package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
)

const (
	byNode = "kubernetes.io/hostname"
	byZone = "topology.kubernetes.io/zone"
)

// decided returns a workload for the sample placement.
func decided(kind, name string, replicas, least, most int, verdict string, change diag.PlacementChange) diag.PlacementWorkload {
	for i := range change.Survives {
		change.Survives[i].Replicas = replicas
	}
	return diag.PlacementWorkload{
		APIVersion: "apps/v1", Kind: kind, Namespace: "shop", Name: name, Replicas: replicas, MinPlaced: least, MaxPlaced: most,
		Verdict: verdict, RulesVerdict: verdict, Change: change,
	}
}

func loss(key, value, meaning, verdict string, pending, like int) diag.PlacementSurvival {
	return diag.PlacementSurvival{Key: key, Value: value, Meaning: meaning, Verdict: verdict, Pending: pending, Like: like}
}

func judged(verdict, reason string) diag.PlacementJudgement {
	return diag.PlacementJudgement{Verdict: verdict, Reason: reason}
}

// placed returns a placement with every kind of change.
func placed() *diag.Placement {
	none := judged("none", "")
	web := decided("Deployment", "web", 3, 3, 3, "always", diag.PlacementChange{
		Rollout: diag.PlacementRollout{Verdict: "never", Surge: 1, Reason: "required anti-affinity on kubernetes.io/hostname leaves no node for the 1 pod of maxSurge 25%, and maxUnavailable 25% of 3 rounds down to 0"},
		Survives: []diag.PlacementSurvival{
			loss(byZone, "a", "gone", "sometimes", 1, 1), loss(byZone, "c", "gone", "unknown", 0, 0),
			loss(byZone, "a", "unreachable", "never", 1, 2),
			loss(byNode, "worker-0", "gone", "always", 0, 0), loss(byNode, "worker-0", "unreachable", "always", 0, 0),
		},
		Drain: judged("never", "PodDisruptionBudget shop/web allows no disruptions (minAvailable 3 of 3 pods)"), Migrate: none,
		Autoscale: judged("sometimes", "HorizontalPodAutoscaler shop/web asks for up to 9 pods and 6 fit until pool general grows to 9 nodes"),
	})
	db := decided("StatefulSet", "db", 7, 6, 6, "never", diag.PlacementChange{
		Rollout: diag.PlacementRollout{Verdict: "none"}, Drain: judged("never", "its node is the only one of pool disks"), Migrate: none, Autoscale: judged("unknown", "too much to go through"),
		Survives: []diag.PlacementSurvival{loss(byNode, "worker-0", "gone", "never", 2, 0), loss(byNode, "worker-1", "gone", "never", 7, 0), loss(byNode, "worker-0", "unreachable", "never", 2, 0)},
	})
	db.RulesVerdict = "always"
	db.Core = []diag.PlacementCore{{File: "db.yaml", Line: 3, Column: 5, Field: "replicas", Text: "7 pods"}}
	db.Repairs = []string{"set replicas of StatefulSet shop/db to 6"}
	machines := decided("VirtualMachinePool", "vms", 4, 2, 4, "sometimes", diag.PlacementChange{
		Rollout: diag.PlacementRollout{Verdict: "unknown", Reason: "its placement is not checked"}, Drain: judged("always", "pods can wait for minutes"),
		Migrate: judged("never", "every node that it may use has one of its pods"),
		Survives: []diag.PlacementSurvival{
			loss(byNode, "worker-0", "gone", "sometimes", 0, 0), loss(byNode, "worker-1", "gone", "unknown", 0, 0),
			loss(byNode, "worker-2", "gone", "sometimes", 1, 0), loss(byNode, "worker-3", "gone", "sometimes", 2, 0),
		},
	})
	whole := decided("Deployment", "api", 2, 2, 2, "always", diag.PlacementChange{
		Rollout: diag.PlacementRollout{Verdict: "always", Surge: 1}, Drain: judged("always", ""), Migrate: judged("none", "not to be said either"), Autoscale: judged("always", "not to be said"),
		Survives: []diag.PlacementSurvival{loss(byNode, "worker-0", "gone", "always", 0, 0), loss(byZone, "a", "unreachable", "always", 0, 0)},
	})
	open := decided("Job", "load", 5, 0, 5, "unknown", diag.PlacementChange{})
	open.Namespace = ""
	return &diag.Placement{
		Verdict: "never", RulesVerdict: "sometimes",
		Pods:      diag.PlacementPods{Total: 21, MaxPlaced: 20, MinPlaced: 13},
		Workloads: []diag.PlacementWorkload{whole, web, db, machines, open},
		Witness:   []diag.PlacementStep{{Workload: "apps/v1/Deployment/shop/web", Node: "worker-0", Zone: "a"}},
		Notes:     []string{"a note"},
	}
}

// alone returns a placement in the form that the place command writes.
func alone(p *diag.Placement) *diag.Placements {
	return &diag.Placements{SchemaVersion: "1", Decisions: []diag.Placement{*p}}
}

// hostile returns a placement whose names are all untrusted.
func hostile() *diag.Placement {
	const evil = "::error::x ##[error]\x1b[31m\n\u202e \t"
	p := placed()
	p.Workloads = p.Workloads[1:2]
	w := &p.Workloads[0]
	w.Kind, w.Namespace, w.Name = evil, evil, evil
	w.Core = []diag.PlacementCore{{File: evil, Field: evil, Text: evil}}
	w.Repairs = []string{evil}
	r := judged("never", strings.Repeat("long ", 10)+strings.Repeat(evil, 3))
	w.Change = diag.PlacementChange{
		Rollout: diag.PlacementRollout{Verdict: evil, Reason: r.Reason}, Drain: r, Migrate: r, Autoscale: judged(evil, evil),
		Survives: []diag.PlacementSurvival{loss(evil, evil, "gone", "never", 1, 1), loss(byNode, evil, "unreachable", "never", 3, 0), loss("example.com/rack", "r1", "unreachable", "never", 3, 0)},
	}
	for i := range w.Change.Survives {
		w.Change.Survives[i].Replicas = w.Replicas
	}
	p.Witness = []diag.PlacementStep{{Workload: evil, Node: evil}}
	p.Stuck = &diag.PlacementStuck{Placements: p.Witness, Pending: []diag.PlacementPending{{Workload: evil, Count: 1, Reason: evil}}}
	p.Invalid = []diag.PlacementInvalid{{Workload: evil, Field: evil, Message: evil}}
	p.Unmodelled, p.Notes = []string{evil}, []string{evil}
	return p
}

func placementIn(t testing.TB, format string, p *diag.Placement) string {
	t.Helper()
	return placementWith(t, format, p, Options{})
}

func placementWith(t testing.TB, format string, p *diag.Placement, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePlacement(&b, format, alone(p), opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlacementGolden(t *testing.T) {
	for name, got := range map[string]string{
		"place-text": placementIn(t, "text", placed()), "place-json": placementIn(t, "json", placed()), "place-hostile": placementIn(t, "text", hostile()),
		"place-markdown": placementIn(t, "markdown", placed()), "place-markdown-hostile": placementIn(t, "markdown", hostile()),
	} {
		sameAsGolden(t, name, got)
	}
}

// sameAsGolden compares an output with the recorded one. SCHEDLINT_UPDATE=1 records it.
func sameAsGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("..", "..", "fixtures", "report", name+".golden")
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (SCHEDLINT_UPDATE=1 rewrites it):\n%s", golden, diff)
	}
}

// TestPlacementWidth checks that a table with all columns fits into a pull request if names have a
// usual length, and that the text below it fits into any terminal.
func TestPlacementWidth(t *testing.T) {
	p := placed()
	for i := range p.Workloads {
		w := &p.Workloads[i]
		w.Kind, w.Core = "Deployment", nil
		if w.Verdict != "never" {
			w.Verdict = "always"
		}
		if w.Change.Rollout.Verdict == "unknown" {
			w.Change.Rollout.Verdict, w.Change.Drain.Verdict = "sometimes", "never"
		}
		for k := range w.Change.Survives {
			w.Change.Survives[k].Meaning = "gone"
		}
	}
	for line := range strings.Lines(placementIn(t, "text", p)) {
		limit := lineWidth
		if !strings.HasPrefix(line, "  ") && strings.Contains(line, "  ") || strings.HasPrefix(line, "     ") {
			limit = 100 // maximum width of the table
		}
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > limit {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestNothingUnsafeIsWrittenOfAPlacement(t *testing.T) {
	for _, f := range PlaceFormats() {
		if found := unsafeIn(f, placementIn(t, f, hostile())); found != "" {
			t.Errorf("%s: %s", f, found)
		}
	}
}

// TestPlacementArrays checks that no array is null, and that writing a placement does not modify
// it.
func TestPlacementArrays(t *testing.T) {
	empty := &diag.Placement{Workloads: []diag.PlacementWorkload{{}}, Stuck: &diag.PlacementStuck{}}
	empty.Workloads[0].Change.Survives = []diag.PlacementSurvival{{}}
	for _, p := range []*diag.Placement{{}, {Workloads: []diag.PlacementWorkload{{}}}, empty, placed()} {
		var got diag.Placement
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		written := placementIn(t, "json", p)
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, again) {
			t.Errorf("the document changed from %s to %s", text, again)
		}
		if strings.Contains(strings.ReplaceAll(written, `"stuck": null`, ""), "null") {
			t.Errorf("an array is null in %s", written)
		}
		if err := json.Unmarshal([]byte(written), &got); err != nil {
			t.Error(err)
		}
	}
}

// TestPlacementWithoutChange checks that there are no columns for questions without answers.
func TestPlacementWithoutChange(t *testing.T) {
	p := &diag.Placement{Verdict: "always", RulesVerdict: "always", Workloads: []diag.PlacementWorkload{decided("Deployment", "web", 2, 2, 2, "always", diag.PlacementChange{})}}
	const want = "\nworkload             replicas  fits\nDeployment shop/web  2         yes\nyes: in every run\n"
	if got := placementIn(t, "text", p); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPlacementFolds checks what equal workloads, reasons and nodes look like, and that All shows each
// of them.
func TestPlacementFolds(t *testing.T) {
	p := &diag.Placement{Verdict: "always", RulesVerdict: "always", Pods: diag.PlacementPods{Total: 30, MaxPlaced: 30, MinPlaced: 30, Exact: true}}
	add := func(kind, name string, drain diag.PlacementJudgement, node string) {
		p.Workloads = append(p.Workloads, decided(kind, name, 1, 1, 1, "always", diag.PlacementChange{Drain: drain}))
		p.Witness = append(p.Witness, diag.PlacementStep{Workload: "apps/v1/" + kind + "/shop/" + name, Node: node, Zone: "a"})
	}
	no := judged("never", "draining worker-0 leaves 1 of 1 pod Pending")
	for i := range 4 {
		add("Deployment", fmt.Sprint("fine-", i), judged([]string{"always", "none"}[i%2], ""), "worker-0")
		add("Deployment", fmt.Sprint("no-", i), no, "worker-0")
	}
	add("StatefulSet", "one", no, "worker-0")
	add("StatefulSet", "two", no, "worker-0")
	for i := range 3 {
		p.Witness = append(p.Witness, diag.PlacementStep{Workload: "apps/v1/Deployment/shop/fine-0", Node: fmt.Sprint("worker-", i+1), Zone: "a"})
	}
	const want = `
workload                           replicas  fits  drains
Deployment shop/no-0 (and 3 more)  1         yes   no
StatefulSet shop/one               1         yes   no
StatefulSet shop/two               1         yes   no
and 4 more: yes in every column that applies
  Deployment shop/no-0 (and 3 more) drains: no, draining worker-0 leaves 1 of
    1 pod Pending
  StatefulSet shop/one (and shop/two) drains: no, draining worker-0 leaves 1
    of 1 pod Pending
yes: in every run; no: in no run; -: does not apply
--all prints every workload and every reason by itself
`
	got := placementIn(t, "text", p)
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if want := "    worker-1 (and 2 alike)  1 x Deployment shop/fine-0\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if markdown := placementIn(t, "markdown", p); strings.Count(markdown, "\n| ") != 5 || !strings.Contains(markdown, "and 4 more: yes in every column") {
		t.Error(markdown)
	}
	for _, format := range []string{"text", "markdown"} {
		all := placementWith(t, format, p, Options{All: true})
		if strings.Contains(all, " more") || strings.Contains(all, "alike") || strings.Count(all, "drains: no") != 6 || !strings.Contains(all, "worker-3") {
			t.Error(all)
		}
	}
	for i := range p.Workloads {
		p.Workloads[i].Change = diag.PlacementChange{}
	}
	if got := placementIn(t, "text", p); !strings.Contains(got, "\n10 workloads: yes in every column that applies\n") {
		t.Error(got)
	}
}

// TestPlacementOfOnePod checks that the only pod of a workload comes back, and does not survive, and
// that other answers about it stay.
func TestPlacementOfOnePod(t *testing.T) {
	for want, survives := range map[string][]diag.PlacementSurvival{
		"comes back":                   {loss(byNode, "a", "gone", "always", 0, 0), loss(byNode, "a", "unreachable", "always", 0, 0)},
		"comes back (unreachable: no)": {loss(byNode, "a", "gone", "always", 0, 0), loss(byNode, "a", "unreachable", "never", 1, 0)},
		"may":                          {loss(byNode, "a", "gone", "sometimes", 1, 0)},
		"not known":                    {loss(byNode, "a", "gone", "always", 0, 0), loss(byNode, "b", "gone", "unknown", 0, 0)},
		"no":                           {loss(byNode, "a", "gone", "never", 1, 0)},
	} {
		w := decided("Deployment", "web", 1, 1, 1, "always", diag.PlacementChange{Survives: survives})
		if got := survival(&w, byNode).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	w := decided("Deployment", "web", 1, 1, 1, "always", diag.PlacementChange{Survives: []diag.PlacementSurvival{loss(byNode, "a", "gone", "always", 0, 0)}})
	const want = "\nyes: in every run; comes back: down until its only pod runs on another node,\n  as after an eviction without migration\n"
	if got := placementIn(t, "text", &diag.Placement{Verdict: "always", Workloads: []diag.PlacementWorkload{w}}); !strings.Contains(got, want) || strings.Contains(got, "gone:") {
		t.Error(got)
	}
}

// TestPlacementNames checks that steps keep their API version where nothing else tells two workloads
// apart.
func TestPlacementNames(t *testing.T) {
	p := &diag.Placement{Workloads: []diag.PlacementWorkload{{APIVersion: "a/v1", Kind: "Job", Name: "x"}, {APIVersion: "b/v1", Kind: "Job", Name: "x"}, {APIVersion: "v1", Kind: "Pod", Name: "y"}}}
	names := shortNames(p)
	for ref, want := range map[string]string{"a/v1/Job/default/x": "a/v1/Job/default/x", "b/v1/Job/default/x": "b/v1/Job/default/x", "v1/Pod/default/y": "Pod y"} {
		if got := shortName(names, ref); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPlacementBounds checks that bounds are printed if they say more than the number of pods.
func TestPlacementBounds(t *testing.T) {
	const open = " (bounds: more could not be decided)"
	for want, n := range map[string]diag.PlacementPods{
		"pods: 3, placed at most 3, at least 0":        {Total: 3, MaxPlaced: 3, Exact: true},
		"pods: 3, placed at most 2, at least 1" + open: {Total: 3, MaxPlaced: 2, MinPlaced: 1},
		"pods: 3, placed at most 2" + open:             {Total: 3, MaxPlaced: 2},
		"pods: 3, placed at least 1" + open:            {Total: 3, MaxPlaced: 3, MinPlaced: 1},
		"pods: 3, placed: not known":                   {Total: 3, MaxPlaced: 3},
	} {
		if got := pods(&diag.Placement{Pods: n}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPlacementFormats(t *testing.T) {
	err := WritePlacement(&bytes.Buffer{}, "sarif", alone(placed()), Options{})
	if err == nil || err.Error() != `unknown format "sarif": formats are text, json, markdown, html, svg` {
		t.Error(err)
	}
	for _, f := range PlaceFormats() {
		if err := WritePlacement(full{}, f, alone(placed()), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}

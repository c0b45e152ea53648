package lint_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// environs holds manifests by path.
type environs map[string]string

// randomTree returns a few objects in a few variants in a few directories, so that some are
// alternatives, some copies and some unique.
func randomTree(r *rand.Rand) environs {
	dirs := []string{"", "one/", "two/", "one/prod/", "one/test/", "two/prod/", "three/a/b/"}
	files := environs{}
	for range 3 + r.IntN(5) {
		var docs []string
		for range 1 + r.IntN(3) {
			docs = append(docs, randomObject(r))
		}
		files[dirs[r.IntN(len(dirs))]+string('f'+rune(r.IntN(4)))+".yaml"] = strings.Join(docs, "---\n")
	}
	return files
}

func randomObject(r *rand.Rand) string {
	name := []string{"web", "api", "db"}[r.IntN(3)]
	label := []string{"web", "api", "db", "webb"}[r.IntN(4)]
	rule := ""
	switch r.IntN(4) {
	case 0:
		rule = fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}, ", label)
	case 1:
		rule = fmt.Sprintf("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}, ", label)
	case 2:
		rule = fmt.Sprintf("affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}}]}}, ", label)
	}
	if r.IntN(4) == 0 {
		return fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s}\nspec: {minAvailable: %d, selector: {matchLabels: {app: %s}}}\n", name, 1+r.IntN(3), label)
	}
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}}\n    spec: {%scontainers: [{name: c, image: example.com/c, resources: {requests: {cpu: %d}}}]}\n",
		name, 1+r.IntN(4), name, name, rule, 1+r.IntN(2))
}

// renamed gives every directory and every file another name, which changes their order.
func (t environs) renamed(r *rand.Rand) (renamed environs, names map[string]string) {
	renamed, names = environs{}, map[string]string{".": "."}
	order := r.Perm(1000)
	var name func(p string) string
	name = func(p string) string {
		if names[p] == "" {
			names[p] = path.Join(name(path.Dir(p)), fmt.Sprintf("n%03d%s", order[len(names)], path.Ext(p)))
		}
		return names[p]
	}
	for p, text := range t {
		renamed[name(p)] = text
	}
	return renamed, names
}

// verdicts returns the results of lint and place for a tree, without file names, and the verdict of
// each context.
func (t environs) verdicts(tt *testing.T) (all []string, contexts map[string]string) {
	tt.Helper()
	dir := tt.TempDir()
	for name, text := range t {
		at := filepath.Join(dir, "tree", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			tt.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			tt.Fatal(err)
		}
	}
	nodes := filepath.Join(dir, "nodes.yaml")
	if err := os.WriteFile(nodes, []byte("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 3, allocatable: {cpu: 3, memory: 4Gi, pods: 10}}]\n"), 0o644); err != nil {
		tt.Fatal(err)
	}
	report, err := run(tt, dir, []string{nodes}, "tree") // named explicitly, so that its directories are deployed together
	if err != nil {
		tt.Fatal(err)
	}
	for _, d := range report.Diagnostics {
		all = append(all, fmt.Sprintf("%s %s %s/%s line %d: %s", d.Level, d.Rule, d.Object.Kind, d.Object.Name, d.Location.Line, linttest.Text(&d)))
	}
	doc, err := lint.Place(context.Background(), lint.Options{Dir: dir, Root: dir, Paths: []string{"tree"}, Topology: []string{nodes}})
	if err != nil {
		tt.Fatal(err)
	}
	contexts = map[string]string{}
	for _, d := range doc.Decisions {
		text := fmt.Sprintf("%s %s %+v", d.Verdict, d.RulesVerdict, d.Pods)
		for _, w := range d.Workloads {
			text += fmt.Sprintf("; %s %s %d-%d rolls %s drains %s", w.Name, w.Verdict, w.MinPlaced, w.MaxPlaced, w.Change.Rollout.Verdict, w.Change.Drain.Verdict)
		}
		contexts[strings.TrimPrefix(d.Context, "tree/")] = text
	}
	slices.Sort(all)
	return all, contexts
}

// TestNamesDecideNothing renames all directories and files of random trees. Findings and decisions
// stay the same, except that each context has a new name.
func TestNamesDecideNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	several := 0
	for i := range trials.Seeds(t, trials.Of(t, 60)) {
		before := randomTree(r)
		after, names := before.renamed(r)
		said, decided := before.verdicts(t)
		saidAfter, decidedAfter := after.verdicts(t)
		if len(decided) > 1 {
			several++
		}
		if !slices.Equal(said, saidAfter) {
			t.Errorf("tree %d %v: findings change with names:\n%s\n--\n%s", i, pathsOf(before), strings.Join(said, "\n"), strings.Join(saidAfter, "\n"))
		}
		for context, want := range decided {
			to := names[context]
			if context == "" {
				to = ""
			}
			if got := decidedAfter[to]; got != want {
				t.Errorf("tree %d %v: context %q was %s, and as %q it is %s", i, pathsOf(before), context, want, to, got)
			}
		}
	}
	if several < trials.Share(t, 20) {
		t.Errorf("only %d trees have several contexts", several)
	}
}

// TestContextsOneByOne checks that an environment gets the same results in a tree with other
// environments as in a separate tree, although contexts share answers that do not depend on their
// differences.
func TestContextsOneByOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	named := func(name string) string {
		object := randomObject(r)
		for name == "extra" && !strings.Contains(object, "kind: Deployment") { // an alternative has the same kind
			object = randomObject(r)
		}
		for _, old := range []string{"web", "api", "db"} {
			object = strings.Replace(object, "metadata: {name: "+old+"}", "metadata: {name: "+name+"}", 1)
		}
		return object
	}
	found := 0
	for i := range trials.Seeds(t, trials.Of(t, 30)) {
		var docs []string
		for _, name := range []string{"web", "api", "db"} {
			docs = append(docs, named(name))
		}
		common := strings.Join(docs, "---\n")
		whole, want := environs{"common.yaml": common}, map[string]bool{}
		extra := []string{named("extra"), named("extra")}
		for e := range 4 {
			name, text := fmt.Sprintf("envs/e%d/extra.yaml", e), extra[r.IntN(2)]
			if e == 0 { // equal objects form one context
				text = named("extra") + "# alone\n"
			}
			whole[name] = text
			said, _ := environs{"common.yaml": common, name: text}.verdicts(t)
			for _, s := range said {
				want[s] = true
			}
		}
		said, _ := whole.verdicts(t)
		got := map[string]bool{}
		for _, s := range said {
			got[s] = true
		}
		found += len(got)
		if !maps.Equal(got, want) {
			t.Errorf("tree %d\n%v\ntogether:\n%s\none by one:\n%s", i, whole, strings.Join(slices.Sorted(maps.Keys(got)), "\n"), strings.Join(slices.Sorted(maps.Keys(want)), "\n"))
		}
	}
	if found < trials.Share(t, 100) {
		t.Errorf("only %d findings", found)
	}
}

func pathsOf(t environs) []string {
	var all []string
	for k := range t {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// TestManyContexts checks that, with very many contexts, some of them are judged and lint and place
// count the open questions.
func TestManyContexts(t *testing.T) {
	t.Parallel()
	trials.Large(t)
	dir := t.TempDir()
	common := ""
	for i := range 3000 {
		common += fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n---\n", i)
	}
	linttest.Put(t, filepath.Join(dir, "common.yaml"), common)
	for i := range 400 {
		if err := os.MkdirAll(filepath.Join(dir, "envs", fmt.Sprint("e", i)), 0o755); err != nil {
			t.Fatal(err)
		}
		linttest.Put(t, filepath.Join(dir, "envs", fmt.Sprint("e", i), "pod.yaml"), fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {e: e%d}}\nspec: {containers: [{name: c, image: x}]}\n", i))
	}
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, count: 3, allocatable: {cpu: 4, memory: 8Gi, pods: 20}}\n")
	o := lint.Options{Dir: dir, Root: dir, Paths: []string{"."}, Topology: []string{"nodes.yaml"}, Policy: linttest.Engine(t), Level: func(string) diag.Level { return diag.LevelNote }}
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := lint.Place(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(docs.Decisions); n == 0 || n >= 400 || r.Summary.Contexts != 400 {
		t.Errorf("%d of %d contexts are decided", n, r.Summary.Contexts)
	}
	for what, unknown := range map[string][]diag.Skip{"lint": r.Summary.Unknown, "place": docs.Decisions[len(docs.Decisions)-1].Unknown} {
		if !slices.ContainsFunc(unknown, func(s diag.Skip) bool { return s.Budget && strings.Contains(s.Reason, "contexts") && s.Count > 3000 }) {
			t.Errorf("%s: %v", what, unknown)
		}
	}
}

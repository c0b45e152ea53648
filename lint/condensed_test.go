package lint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/diag"
)

// dump returns the seed as a dump of its cluster: the objects about volumes are among the nodes. Some
// Nodes have a twin, some are as the API server shows them, and some memory differs a little.
func (s seed) dump(t *testing.T, r *rand.Rand) seed {
	t.Helper()
	var nodes, manifests []string
	twins, uids, jitter := r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	for i, text := range []string{string(s.nodes), string(s.manifest)} {
		for _, doc := range strings.Split(text, "---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				return s
			}
			switch kind := o["kind"]; {
			case o == nil:
			case kind == "Node":
				for twin := range 2 {
					if twin == 0 || twins && r.IntN(2) == 0 {
						nodes = append(nodes, dumped(t, doc, twin, uids, jitter, r))
					}
				}
			case i == 0, kind == "StorageClass", kind == "PersistentVolume", kind == "PersistentVolumeClaim", kind == "CSINode":
				nodes = append(nodes, doc)
			default:
				manifests = append(manifests, doc)
			}
		}
	}
	return seed{[]byte(strings.Join(manifests, "---\n")), []byte(strings.Join(nodes, "---\n"))}
}

func dumped(t *testing.T, doc string, twin int, uid, jitter bool, r *rand.Rand) string {
	t.Helper()
	var n map[string]any
	if err := yaml.Unmarshal([]byte(doc), &n); err != nil {
		t.Fatal(err)
	}
	meta := n["metadata"].(map[string]any)
	if twin > 0 {
		meta["name"] = fmt.Sprint(meta["name"], "-twin")
		if labels, ok := meta["labels"].(map[string]any); ok && labels["kubernetes.io/hostname"] != nil {
			labels["kubernetes.io/hostname"] = meta["name"]
		}
	}
	if uid {
		meta["uid"] = fmt.Sprint("u-", meta["name"])
	}
	status, _ := n["status"].(map[string]any)
	sizes, _ := status["allocatable"].(map[string]any)
	var size int
	if count, _ := fmt.Sscanf(fmt.Sprint(sizes["memory"]), "%dGi", &size); jitter && count == 1 {
		sizes["memory"] = fmt.Sprintf("%dKi", size<<20-r.IntN(size<<13))
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// outcomes returns the verdicts about a seed by workload and question. It returns false if a question
// was given up or the input is refused.
func (s seed) outcomes(t *testing.T) (map[string]string, bool) {
	t.Helper()
	doc, err := lint.Place(context.Background(), s.options(t))
	if err != nil {
		return nil, false
	}
	all := map[string]string{}
	for i, d := range doc.Decisions {
		if diag.Unsettled(d.Unknown, "budget") {
			return nil, false
		}
		all[fmt.Sprint(i)] = d.Verdict + " " + d.RulesVerdict
		for _, w := range d.Workloads {
			if w.Reason == "budget" || w.Reason == "size" {
				return nil, false
			}
			of := fmt.Sprint(i, " ", w.Kind, " ", w.Namespace, "/", w.Name)
			c := w.Change
			all[of] = w.Verdict
			all[of+" rules"] = w.RulesVerdict
			all[of+" pods"] = fmt.Sprint(w.MinPlaced, " to ", w.MaxPlaced)
			all[of+" rollout"], all[of+" drain"], all[of+" scale"], all[of+" migrate"] = c.Rollout.Verdict, c.Drain.Verdict, c.Autoscale.Verdict, c.Migrate.Verdict
			lost := map[string]int{}
			for _, loss := range c.Survives {
				lost[loss.Key+" "+loss.Verdict] += 1 + loss.Like
			}
			all[of+" losses"] = fmt.Sprint(lost)
		}
	}
	return all, true
}

// TestCondensedNodesChangeNoAnswer checks that condensed nodes give the answers of the nodes that they
// are made of. If amounts of resources differ, or rules are about the names of nodes, no workload that
// cannot be placed becomes placeable.
func TestCondensedNodesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	all := trials.Sample(t, fixtureSeeds(), 5)
	for i := range trials.AtLeast(t, 150, 15) {
		for _, family := range clusters.Families {
			all = append(all, generated(family, 5, i))
		}
	}
	paths, err := filepath.Glob("../../shared/topologies/*.yaml") // only in .ci/run
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, "../fixtures/topology/cluster.yaml", "../fixtures/topology/clusterconfig.yaml", "../fixtures/topology/node.yaml")
	for i, path := range paths {
		nodes, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 4 {
			all = append(all, seed{fixtureSeeds()[(i*4+j)*7%len(fixtureSeeds())].manifest, nodes})
		}
	}
	names := regexp.MustCompile(`nodeName:|metadata\.name|key: kubernetes\.io/hostname|kubernetes\.io/hostname:`)
	volumes := regexp.MustCompile(`key: kubernetes\.io/hostname|allowedTopologies:`)
	compared, rough, fewer := 0, 0, 0
	for i, s := range all {
		s = s.dump(t, rand.New(rand.NewPCG(uint64(i), 29)))
		o := s.options(t)
		topo, objects, err := lint.Nodes(context.Background(), o)
		if err != nil {
			continue
		}
		text, pools, err := condense.Of(topo, objects).Text()
		if err != nil {
			t.Errorf("%v\n%s", err, s.nodes)
			continue
		}
		kept, gone, named := map[string]bool{}, false, strings.FieldsFunc(string(s.manifest), func(r rune) bool { return strings.ContainsRune(" \n\"'[]{},:", r) })
		for _, n := range pools.Nodes {
			kept[n.Name] = true
		}
		for _, n := range topo.Nodes {
			gone = gone || !kept[n.Name] && (slices.Contains(named, n.Name) || slices.Contains(named, n.Labels["kubernetes.io/hostname"]))
		}
		if gone { // a manifest names a node that is in a pool now
			continue
		}
		want, ok := s.outcomes(t)
		got, also := seed{s.manifest, text}.outcomes(t)
		if !ok || !also {
			if ok != also {
				t.Logf("given up: %v %v\n%s%s", ok, also, s.nodes, s.manifest)
			}
			continue
		}
		compared++
		if len(pools.Pools) < len(topo.Nodes) {
			fewer++
		}
		least, unknown := strings.Contains(string(text), "the least of its nodes") || names.Match(s.manifest) || volumes.Match(s.nodes), false
		for _, key := range pools.Open() {
			unknown = unknown || !slices.Contains(topo.Open(), key) && strings.Contains(string(s.manifest), key)
		}
		if least {
			rough++
		}
		for of, verdict := range want {
			better := verdict == "never" && (got[of] == "always" || got[of] == "sometimes") && strings.Count(of, " ") == 2
			if better || !least && got[of] != verdict && !(unknown && strings.Contains(got[of], "unknown")) {
				t.Errorf("%s: %s, condensed %s\n%s\n---condensed\n%s\n---\n%s", of, verdict, got[of], s.nodes, text, s.manifest)
				break
			}
		}
	}
	t.Logf("%d of %d compared, %d of them with fewer pools than nodes, %d with unequal resources", compared, len(all), fewer, rough)
	if compared < len(all)/4 || fewer < len(all)/20 {
		t.Errorf("%d of %d clusters are compared, %d of them have pools of several nodes", compared, len(all), fewer)
	}
}

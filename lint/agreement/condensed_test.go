package agreement

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

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/topology"
)

// dump returns the seed as a dump of its cluster: the objects about volumes are among the nodes. Some
// Nodes have a twin, some are as the API server shows them, and some memory differs a little. The
// Nodes of the second seed have pods, which make the resources of those of the first seed smaller.
func (s seed) dump(t *testing.T, r *rand.Rand) (without, with seed) {
	t.Helper()
	var nodes, busy, manifests []string
	twins, uids, jitter, pods := r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(3) == 0
	for i, text := range []string{string(s.nodes), string(s.manifest)} {
		for _, doc := range strings.Split(text, "---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				return s, s
			}
			switch kind := o["kind"]; {
			case o == nil:
			case kind == "Node":
				for twin := range 2 {
					if twin == 0 || twins && r.IntN(2) == 0 {
						node := dumped(t, doc, twin, uids, jitter, r)
						free, running := node, ""
						if pods {
							free, running = occupied(t, node, r)
						}
						nodes, busy = append(nodes, free), append(busy, node+running)
					}
				}
			case i == 0, kind == "StorageClass", kind == "PersistentVolume", kind == "PersistentVolumeClaim", kind == "CSINode":
				nodes, busy = append(nodes, doc), append(busy, doc)
			default:
				manifests = append(manifests, doc)
			}
		}
	}
	manifest := []byte(strings.Join(manifests, "---\n"))
	return seed{manifest, []byte(strings.Join(nodes, "---\n"))}, seed{manifest, []byte(strings.Join(busy, "---\n"))}
}

// occupied returns pods on a node, and the node with what they leave of its resources.
func occupied(t *testing.T, doc string, r *rand.Rand) (free, pods string) {
	t.Helper()
	var n map[string]any
	if err := yaml.Unmarshal([]byte(doc), &n); err != nil {
		t.Fatal(err)
	}
	name := n["metadata"].(map[string]any)["name"]
	status, _ := n["status"].(map[string]any)
	sizes, _ := status["allocatable"].(map[string]any)
	if len(sizes) == 0 {
		sizes, _ = status["capacity"].(map[string]any)
	}
	for k := range r.IntN(3) {
		cpu, memory := fmt.Sprintf("%dm", 250*r.IntN(3)), fmt.Sprintf("%dMi", 256*r.IntN(3))
		pods += fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: '%s-%d'}\nspec: {nodeName: '%s', containers: [{name: c, resources: {requests: {cpu: %s, memory: %s}}}]}\n", name, k, name, cpu, memory)
		for what, less := range map[string]string{"cpu": cpu, "memory": memory, "pods": "1"} {
			if sizes[what] != nil {
				q := resource.MustParse(fmt.Sprint(sizes[what]))
				if q.Sub(resource.MustParse(less)); q.Sign() < 0 {
					q = resource.Quantity{}
				}
				sizes[what] = q.String()
			}
		}
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), pods
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

// condensed condenses the nodes of a seed. The topologies are those before and after, or nil if there
// are no nodes or a manifest names a node that is in a pool now.
func (s seed) condensed(t *testing.T) (text []byte, topo, pools *topology.Topology) {
	t.Helper()
	topo, objects, err := lint.Nodes(context.Background(), s.options(t))
	if err != nil {
		return nil, nil, nil
	}
	if text, pools, err = condense.Of(topo, objects).Text(); err != nil {
		t.Errorf("%v\n%s", err, s.nodes)
		return nil, nil, nil
	}
	kept, named := map[string]bool{}, strings.FieldsFunc(string(s.manifest), func(r rune) bool { return strings.ContainsRune(" \n\"'[]{},:", r) })
	for _, n := range pools.Nodes {
		kept[n.Name] = true
	}
	for _, n := range topo.Nodes {
		if !kept[n.Name] && (slices.Contains(named, n.Name) || slices.Contains(named, n.Labels["kubernetes.io/hostname"])) {
			return nil, nil, nil
		}
	}
	return text, topo, pools
}

// TestCondensedNodesChangeNoAnswer checks that condensed nodes give the answers of the nodes that they
// are made of, without what the pods of the dump take. If amounts of resources differ, or rules are
// about the names of nodes, no workload that cannot be placed becomes placeable.
func TestCondensedNodesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	all := trials.Sample(t, fixtureSeeds(), 5)
	for i := range trials.Seeds(t, trials.AtLeast(t, 150, 10)) {
		for _, family := range clusters.Families {
			all = append(all, generated(family, 5, i))
		}
	}
	paths, err := filepath.Glob("../../../shared/topologies/*.yaml") // only in .ci/run
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, "../../fixtures/topology/cluster.yaml", "../../fixtures/topology/clusterconfig.yaml", "../../fixtures/topology/node.yaml")
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
	compared, rough, fewer, reserved := 0, 0, 0, 0
	for i, s := range all {
		s, busy := s.dump(t, rand.New(rand.NewPCG(uint64(i), 29)))
		text, topo, pools := busy.condensed(t)
		if pools == nil {
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
		least, unknown := strings.Contains(string(text), "the least of its nodes") || strings.Contains(string(text), "the most of its nodes") || names.Match(s.manifest) || volumes.Match(s.nodes), false
		for _, key := range pools.Open() {
			unknown = unknown || !slices.Contains(topo.Open(), key) && strings.Contains(string(s.manifest), key)
		}
		if least {
			rough++
		}
		if strings.Contains(string(text), "reserved:") {
			reserved++
		}
		for of, verdict := range want {
			better := verdict == "never" && (got[of] == "always" || got[of] == "sometimes") && strings.Count(of, " ") == 2
			open := unknown && strings.Contains(got[of], "unknown") || strings.HasSuffix(of, " losses") && strings.Contains(got[of]+verdict, "unknown") // the search may give up earlier
			if strings.HasSuffix(of, " pods") {                                                                                                         // the search for the fewest or most pods may give up earlier
				var low, high, less, more int
				fmt.Sscanf(verdict+" "+got[of], "%d to %d %d to %d", &low, &high, &less, &more)
				open = open || low <= less && more <= high || less <= low && high <= more
			}
			if better || !least && got[of] != verdict && !open {
				t.Errorf("%s: %s, condensed %s\n%s\n---condensed\n%s\n---\n%s", of, verdict, got[of], busy.nodes, text, s.manifest)
				break
			}
		}
	}
	t.Logf("%d of %d compared, %d of them with fewer pools than nodes, %d with unequal resources, %d with pods", compared, len(all), fewer, rough, reserved)
	if compared < len(all)/4 || fewer < len(all)/20 || reserved < len(all)/20 {
		t.Errorf("%d of %d clusters are compared, %d of them have pools of several nodes", compared, len(all), fewer)
	}
}

package agreement

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
)

// TestOpenLabelsAgree decides about pods that ask for labels that a NodePool leaves open, and again with every
// value listed that the pods can tell apart, and with one to four zones. What is known of open labels holds of
// each list.
func TestOpenLabelsAgree(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 2000)) {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 61))}
		rule, allowed := d.openLabel()
		manifests := d.asking()
		zoned := d.chance(50)
		pool := func(team, zones string) string {
			text := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n      requirements:\n"
			for _, r := range []string{team, zones, "{key: kubernetes.io/os, operator: In, values: [linux]}"} {
				if r != "" {
					text += "      - " + r + "\n"
				}
			}
			return text
		}
		listed := "{key: team, operator: In, values: [" + strings.Join(allowed, ", ") + "]}"
		if len(allowed) == 0 {
			listed = rule
		}
		fixed := "{key: topology.kubernetes.io/zone, operator: In, values: [z1, z2]}"
		if !zoned {
			fixed = ""
		}
		open := decided(t, pool(rule, fixed), manifests)
		for zones := 1; zones <= 4; zones++ {
			names := "z1, z2, z3, z4"[:4*zones-2]
			list := "{key: topology.kubernetes.io/zone, operator: In, values: [" + names + "]}"
			if zoned && zones != 2 {
				continue
			}
			for w, was := range decided(t, pool(listed, list), manifests) {
				now := cmp.Or(open[w], "unknown") // or not modeled
				switch {
				case now == was:
					seen[now]++
				case now == "unknown":
					seen["only unknown with open labels"]++
				case now == "yes" && was == "unknown":
					seen["only unknown with a list"]++
				default:
					t.Errorf("seed %d, %s: %s with open labels, %s with %s and zones %s\n%s\n%s", seed, w, now, was, listed, names, rule, manifests)
				}
			}
		}
	}
	t.Log(seen)
	for what, least := range map[string]int{"yes": 2000, "never": 270} {
		if seen[what] < trials.Share(t, least) {
			t.Errorf("%d answers are %s", seen[what], what)
		}
	}
}

// decided returns whether all pods of each workload fit once the pools have grown.
func decided(t *testing.T, nodes, manifests string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), nodes)
	linttest.Put(t, filepath.Join(dir, "all.yaml"), manifests)
	all := map[string]string{}
	for _, w := range linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"all.yaml"}, Topology: []string{"nodes.yaml"}}).Workloads {
		all[w.Name] = string(w.Verdict)
		if slices.Contains(w.OnceGrown, "fits") || w.Verdict == "always" {
			all[w.Name] = "yes"
		}
	}
	return all
}

// openLabel returns a requirement that leaves a label open, and those of its values that pods can tell apart.
func (d dice) openLabel() (rule string, allowed []string) {
	n := strconv.Itoa(2 + d.IntN(6))
	operator := d.pick("Exists", "NotIn", "Gt", "Lt", "DoesNotExist")
	values := map[string]string{"NotIn": "[a, " + n + "]", "Gt": "['" + n + "']", "Lt": "['" + n + "']"}[operator]
	rule = "{key: team, operator: " + operator + "}"
	if values != "" {
		rule = "{key: team, operator: " + operator + ", values: " + strings.ReplaceAll(values, ", "+n, ", '"+n+"'") + "}"
	}
	for _, v := range []string{"a", "b", "c", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		x, err := strconv.Atoi(v)
		y, _ := strconv.Atoi(n)
		if operator == "Exists" || operator == "NotIn" && v != "a" && v != n || operator == "Gt" && err == nil && x > y || operator == "Lt" && err == nil && x < y {
			allowed = append(allowed, "'"+v+"'")
		}
	}
	return rule, allowed
}

// asking returns workloads that ask for the label team, and rules about zones and hostnames.
func (d dice) asking() (text string) {
	for i := range 1 + d.IntN(3) {
		name := fmt.Sprintf("w%d", i)
		spec := map[string]string{}
		operator := d.pick("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
		values := map[string]string{"In": "[a, '3']", "NotIn": "[b]", "Gt": "['4']", "Lt": "['4']"}[operator]
		expression := "{key: team, operator: " + operator + "}"
		if values != "" {
			expression = "{key: team, operator: " + operator + ", values: " + values + "}"
		}
		var affinity []string
		switch d.IntN(3) {
		case 0:
			spec["nodeSelector"] = "{team: " + d.pick("a", "b", "'3'", "'6'") + "}"
		case 1:
			affinity = append(affinity, "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: ["+expression+"]}]}}")
		}
		selector := ", labelSelector: {matchLabels: {app: " + name + "}}"
		if d.chance(25) {
			affinity = append(affinity, "podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "+d.pick("kubernetes.io/hostname", "topology.kubernetes.io/zone", "team")+selector+"}]}")
		}
		if len(affinity) > 0 {
			spec["affinity"] = "{" + strings.Join(affinity, ", ") + "}"
		}
		if d.chance(50) {
			key := d.pick("topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "team")
			least := d.pick("", "", ", minDomains: 3")
			spec["topologySpreadConstraints"] = "[{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: " + key + least + selector + "}]"
		}
		text += fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: shop}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}}\n    spec:\n      containers: [{name: c, image: c}]\n", name, 1+d.IntN(4), name, name)
		for _, key := range slices.Sorted(maps.Keys(spec)) {
			text += "      " + key + ": " + spec[key] + "\n"
		}
	}
	return text
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator makes random NodePools and pods.
type generator struct{ *rand.Rand }

// values lists keys of each kind and values that requirements name.
var values = map[string][]string{
	"kubernetes.io/arch":                     {"amd64", "arm64"},
	"beta.kubernetes.io/arch":                {"amd64", "arm64"},
	"kubernetes.io/os":                       {"linux", "windows"},
	"topology.kubernetes.io/zone":            {"a", "b", "c"},
	"failure-domain.beta.kubernetes.io/zone": {"a", "b"},
	"topology.ebs.csi.aws.com/zone":          {"a", "b"},
	"karpenter.sh/capacity-type":             {"spot", "on-demand"},
	"node.kubernetes.io/instance-type":       {"m7i.large", "m7g.large", "c7i.large"},
	"karpenter.k8s.aws/instance-generation":  {"2", "5", "7"},
	"karpenter.k8s.aws/instance-category":    {"c", "m", "t"},
	"karpenter.sh/nodepool":                  {"pool", "other"},
	"karpenter.sh/registered":                {"true", "false"},
	"karpenter.k8s.aws/ec2nodeclass":         {"default", "other"},
	"kubernetes.io/hostname":                 {"ip-10-0-0-1", "x"},
	"team":                                   {"shop", "blue", "7"},
	"example.com/size":                       {"2", "4", "8", "x"},
	"node-role.kubernetes.io/batch":          {"", "true"},
	"nvidia.com/gpu.product":                 {"A100", "T4"},
	"example.com/rare":                       {"5", "x"},
}

// Keys that a NodePool may name, and those that only pods do.
var (
	poolKeys = []string{
		"kubernetes.io/arch", "beta.kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone",
		"topology.ebs.csi.aws.com/zone", "karpenter.sh/capacity-type", "node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-generation",
		"karpenter.k8s.aws/instance-category", "team", "example.com/size", "node-role.kubernetes.io/batch",
	}
	numeric = []string{"example.com/rare", "karpenter.k8s.aws/instance-generation", "example.com/size"}
	podOnly = []string{"karpenter.sh/nodepool", "karpenter.sh/registered", "karpenter.k8s.aws/ec2nodeclass", "kubernetes.io/hostname", "nvidia.com/gpu.product", "example.com/rare", "example.com/rare"}
)

func pick[T any](g *generator, of []T) T { return of[g.IntN(len(of))] }

// some returns one or more of the values of a key.
func (g *generator) some(key string) string {
	var chosen []string
	for _, v := range values[key] {
		if g.IntN(2) == 0 {
			chosen = append(chosen, v)
		}
	}
	if chosen == nil {
		chosen = []string{pick(g, values[key])}
	}
	return fmt.Sprintf("%q", chosen)
}

func (g *generator) requirement(keys, operators []string) string {
	key := pick(g, keys)
	operator := pick(g, operators)
	list := strings.ReplaceAll(g.some(key), `" "`, `", "`)
	if slices.Contains([]string{"Gt", "Lt", "Gte", "Lte"}, operator) && !slices.Contains(numeric, key) && g.IntN(8) > 0 {
		operator = "In"
	}
	switch operator {
	case "Exists", "DoesNotExist":
		list = "[]"
	case "Gt", "Lt", "Gte", "Lte":
		list = fmt.Sprintf("[%q]", fmt.Sprint(1+g.IntN(8))) // Karpenter panics below 0
	}
	return fmt.Sprintf("{key: %s, operator: %s, values: %s}", key, operator, list)
}

// nodePool returns a NodePool that names the keys.
func (g *generator) nodePool(keys []string) string {
	operators := []string{"In", "In", "In", "In", "In", "NotIn", "NotIn", "NotIn", "Exists", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}
	var b strings.Builder
	b.WriteString("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: pool}\nspec:\n  template:\n    metadata:\n      labels:\n        from: pool\n")
	used := map[string]bool{}
	for range g.IntN(3) {
		if key := pick(g, keys); !used[key] && g.IntN(2) == 0 {
			used[key] = true
			fmt.Fprintf(&b, "        %s: %q\n", key, pick(g, values[key]))
		}
	}
	b.WriteString("    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements:\n")
	for range 1 + g.IntN(4) {
		key := pick(g, keys)
		if !used[key] || g.IntN(5) == 0 {
			b.WriteString("      - " + g.requirement([]string{key}, operators) + "\n")
		}
		used[key] = true
	}
	if g.IntN(4) == 0 {
		b.WriteString("      taints:\n")
		for _, key := range []string{"dedicated", "gpu"}[:1+g.IntN(2)] {
			fmt.Fprintf(&b, "      - {key: %s, value: %q, effect: %s}\n", key, pick(g, []string{"x", ""}), pick(g, []string{"NoSchedule", "NoExecute", "PreferNoSchedule"}))
		}
	}
	return b.String()
}

// pods returns a Deployment whose pods name some of the keys.
func (g *generator) pods(keys []string) string {
	operators := []string{"In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}
	if g.IntN(3) == 0 {
		keys = append(keys[:len(keys):len(keys)], podOnly...)
	}
	var b strings.Builder
	b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n" +
		"    metadata: {labels: {app: web}}\n    spec:\n      containers: [{name: web, image: web:1}]\n      nodeSelector:\n        from: pool\n")
	used := map[string]bool{}
	for range g.IntN(3) {
		if key := pick(g, keys); !used[key] {
			used[key] = true
			fmt.Fprintf(&b, "        %s: %q\n", key, pick(g, values[key]))
		}
	}
	if terms := g.IntN(3); terms > 0 {
		b.WriteString("      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n")
		for range terms {
			b.WriteString("            - matchExpressions:\n")
			for range 1 + g.IntN(3) {
				b.WriteString("              - " + g.requirement(keys, operators) + "\n")
			}
		}
	}
	if g.IntN(2) == 0 {
		b.WriteString("      tolerations:\n")
		for _, key := range []string{"dedicated", "gpu"}[:1+g.IntN(2)] {
			fmt.Fprintf(&b, "      - {key: %s, %s, effect: %q}\n", key, pick(g, []string{"operator: Exists", "value: x"}), pick(g, []string{"", "NoSchedule", "NoExecute"}))
		}
	}
	return b.String()
}

// newCase returns a NodePool and pods that name the same few keys.
func newCase(seed, number uint64) (pool, pods string) {
	g := &generator{rand.New(rand.NewPCG(seed, number))}
	var keys []string
	for range 1 + g.IntN(4) {
		keys = append(keys, pick(g, poolKeys))
	}
	return g.nodePool(keys), g.pods(keys)
}

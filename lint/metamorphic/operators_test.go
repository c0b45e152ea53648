package metamorphic

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// additions are changes that an operator may make to pods.
var additions = map[string]func(meta, spec map[string]any){
	"nothing": func(_, _ map[string]any) {},
	"a label": func(meta, _ map[string]any) { meta["labels"].(map[string]any)["x-added"] = "true" },
	"a sidecar": func(_, spec map[string]any) {
		spec["containers"] = append(spec["containers"].([]any), map[string]any{"name": "x-sidecar", "image": "i", "resources": map[string]any{"requests": map[string]any{"cpu": "500m"}}})
	},
}

// TestOperatorsAgree turns a random Deployment into a Grafana resource, whose operator makes that
// Deployment. Pods that lint reports of the resource as infeasible must never be placed, whatever the
// operator adds.
func TestOperatorsAgree(t *testing.T) {
	t.Parallel()
	e := linttest.Engine(t)
	reported, silent := 0, 0
	for seed := range trials.Seeds(t, trials.Of(t, 150)) {
		x := dice{rand.New(rand.NewPCG(uint64(seed), 53))}.example(seed)
		at := slices.IndexFunc(x.docs, func(doc string) bool { return strings.Contains(doc, "kind: Deployment") })
		if at < 0 {
			continue
		}
		with := func(change func(o map[string]any)) []string {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(x.docs[at]), &o); err != nil {
				t.Fatal(err)
			}
			change(o)
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			docs := slices.Clone(x.docs)
			docs[at] = string(text)
			return docs
		}
		var name string
		custom := with(func(o map[string]any) {
			name = o["metadata"].(map[string]any)["name"].(string)
			o["apiVersion"], o["kind"], o["spec"] = "grafana.integreatly.org/v1beta1", "Grafana", map[string]any{"deployment": map[string]any{"spec": o["spec"]}}
		})
		got := ask(t, e, variant{nodes: x.nodes, files: whole(custom)})
		said := slices.ContainsFunc(got.findings, func(f string) bool {
			return strings.Contains(f, "Grafana") && slices.ContainsFunc(linttest.Pending, func(rule string) bool { return strings.HasPrefix(f, "error "+rule+" ") })
		})
		for what, add := range additions {
			docs := with(func(o map[string]any) {
				template := o["spec"].(map[string]any)["template"].(map[string]any)
				add(template["metadata"].(map[string]any), template["spec"].(map[string]any))
			})
			placed := ask(t, e, variant{nodes: x.nodes, files: whole(docs)})
			i := slices.IndexFunc(placed.place.Workloads, func(w diag.PlacementWorkload) bool { return w.Kind == "Deployment" && w.Name == name })
			if i < 0 {
				continue
			}
			switch v := diag.Outcome(placed.place.Workloads[i].Verdict); {
			case said && (v == diag.Always || v == diag.Sometimes):
				t.Errorf("%s: lint says that pods stay Pending, and with %s place says %s\n%s\n%s---\n%s", x.name, what, v, strings.Join(got.findings, "\n"), strings.Join(custom, "---\n"), strings.Join(x.nodes, "---\n"))
			case said && v == diag.Never:
				reported++
			case v == diag.Never && what == "nothing":
				silent++
			}
		}
	}
	t.Logf("%d variants never fit as reported, %d Deployments without a report do not either", reported, silent)
	if reported < trials.Share(t, 25) {
		t.Errorf("the generator is too tame: %d", reported)
	}
}

package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestGoverning checks the rows about ResourceQuotas, LimitRanges and RuntimeClasses.
func TestGoverning(t *testing.T) {
	const meta = "apiVersion: v1\nkind: %s\nmetadata: {name: %s, namespace: shop}\n"
	web := func(kind, name, spec string) string {
		return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop}\nspec: {" + spec +
			"selector: {matchLabels: {app: " + name + "}}, template: {metadata: {labels: {app: " + name + "}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]}}}\n"
	}
	quota := func(spec string) string { return fmt.Sprintf(meta, "ResourceQuota", "team") + "spec: {" + spec + "}\n" }
	for _, test := range []struct{ name, want, text string }{
		{"use", "shop/team pods: 5 of 6 (83 to 84%); shop/team requests.cpu: 2500 of 2000 (125 to 125%)",
			quota("hard: {pods: 6, requests.cpu: 2}") + "---\n" + web("Deployment", "web", "replicas: 3, ") + "---\n" + web("Deployment", "api", "replicas: 2, ")},
		{"autoscaled", "shop/team pods: 2 to 8 of 10 (20 to 80%)", quota("hard: {pods: 10}") + "---\n" + web("Deployment", "web", "replicas: 3, ") +
			"---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec: {minReplicas: 2, maxReplicas: 8, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"},
		{"another namespace", "shop/team pods: 0 of 6 (0 to 0%)", quota("hard: {pods: 6}") + "---\n" + strings.ReplaceAll(web("Deployment", "web", "replicas: 3, "), "shop", "data")},
		{"an open namespace", "shop/team pods: 0 to 3 of 6 (0 to 50%)", quota("hard: {pods: 6}") + "---\n" + strings.ReplaceAll(web("Deployment", "web", "replicas: 3, "), "shop", "'${NS}'")},
		{"paused", "shop/team pods: 0 to 3 of 6 (0 to 50%)", quota("hard: {pods: 6}") + "---\n" + web("Deployment", "web", "replicas: 3, paused: true, ")},
		{"a DaemonSet", "shop/team pods: 2 to any of 10 (20 to any%)", quota("hard: {pods: 10}") + "---\n" + web("Deployment", "web", "replicas: 2, ") + "---\n" + web("DaemonSet", "log", "")},
		{"other objects", "shop/team secrets: 0 to any of 3 (0 to any%)", quota("hard: {secrets: 3}") + "---\n" + web("Deployment", "web", "replicas: 2, ")},
		{"scoped", "shop/team pods, scoped: 0 of 3 (0 to 0%)", quota("hard: {pods: 3}, scopes: [Terminating]") + "---\n" + web("Deployment", "web", "replicas: 2, ")},
		{"nothing allowed", "shop/team pods: 0 of 0 (0 to 0%)", quota("hard: {pods: 0}") + "---\n" + web("Deployment", "web", "replicas: 2, ")},
		{"a variable", "", quota("hard: {pods: '${PODS}'}") + "---\n" + web("Deployment", "web", "replicas: 2, ")},
		{"defaults", "shop/sizes Container: min [] max [cpu=2] default [cpu=2] request [cpu=100m]",
			fmt.Sprintf(meta, "LimitRange", "sizes") + "spec: {limits: [{type: Container, max: {cpu: 2}, defaultRequest: {cpu: 100m}}]}\n"},
		{"a class", "class vm kata [cpu=250m memory=64Mi]", "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: vm}\nhandler: kata\noverhead: {podFixed: {memory: 64Mi, cpu: 250m}}\n"},
	} {
		objects := models.Objects(t, test.text)
		set := workload.NewReader(workload.NewTable()).Load(objects, nil)
		m := sched.New(set, &topology.Topology{})
		m.Scale(1, 1)
		in := derive.Input{Model: m, Set: set, Origin: derive.Origin{Objects: objects}}
		if f := derive.Facts(in); len(f.Quotas)+len(f.LimitRanges)+len(f.RuntimeClasses) > 0 {
			t.Errorf("%s: rows that no rule asks for", test.name)
		}
		in.Whole = func(string) bool { return true }
		f := derive.Facts(in)
		number := func(n int) string {
			if n == facts.NoValue {
				return "any"
			}
			return fmt.Sprint(n)
		}
		of := func(all []facts.ResourceAmount) string {
			var text []string
			for _, a := range all {
				text = append(text, a.Resource+"="+a.Quantity)
			}
			return "[" + strings.Join(text, " ") + "]"
		}
		var got []string
		for _, q := range f.Quotas {
			text := q.Namespace + "/" + q.Name + " " + q.Resource
			if q.Scoped {
				text += ", scoped"
			}
			text += ": " + number(q.RequestedMin)
			if q.RequestedMax != q.RequestedMin {
				text += " to " + number(q.RequestedMax)
			}
			got = append(got, fmt.Sprintf("%s of %d (%s to %s%%)", text, q.Hard, number(q.PercentMin), number(q.PercentMax)))
		}
		for _, l := range f.LimitRanges {
			got = append(got, fmt.Sprintf("%s/%s %s: min %s max %s default %s request %s", l.Namespace, l.Name, l.Type, of(l.Min), of(l.Max), of(l.Default), of(l.DefaultRequest)))
		}
		for _, c := range f.RuntimeClasses {
			got = append(got, "class "+c.Name+" "+c.Handler+" "+of(c.Overhead))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, text, test.want)
		}
	}
}

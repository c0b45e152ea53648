package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/lint/sched/simulate"
)

// owned has the objects from which the scheduler takes the selector of default
// spread constraints.
type owned struct{ services, replicaSets, statefulSets, controllers cache.Indexer }

func (o *owned) load(c *Cluster) error {
	var replicaSets, statefulSets, controllers []runtime.Object
	for _, owner := range c.Owners {
		switch owner.(type) {
		case *appsv1.ReplicaSet:
			replicaSets = append(replicaSets, owner)
		case *appsv1.StatefulSet:
			statefulSets = append(statefulSets, owner)
		case *corev1.ReplicationController:
			controllers = append(controllers, owner)
		}
	}
	return cmp.Or(replace(o.services, c.Services), replace(o.replicaSets, replicaSets), replace(o.statefulSets, statefulSets), replace(o.controllers, controllers))
}

// Best runs all filters and scores of the scheduler for one more pod of a class:
// the nodes with the highest score, and the scores of those that take the pod.
func (w *World) Best(ctx context.Context, c *Class) (best []int32, scores []fwk.NodePluginScores) {
	state := framework.NewCycleState()
	result, status, _ := w.framework.RunPreFilterPlugins(ctx, state, c.Pod)
	if !status.IsSuccess() {
		refusedBy(status)
		return nil, nil
	}
	var at []int32
	var infos []fwk.NodeInfo
	for i, info := range w.lister.all {
		if (result.AllNodes() || result.NodeNames.Has(info.Node().Name)) && w.framework.RunFilterPlugins(ctx, state, c.Pod, info).IsSuccess() {
			at, infos = append(at, int32(i)), append(infos, info)
		}
	}
	if len(at) < 2 {
		return at, nil
	}
	if s := w.framework.RunPreScorePlugins(ctx, state, c.Pod, infos); !s.IsSuccess() {
		return nil, nil // a preference that does not parse
	}
	scores, status = w.framework.RunScorePlugins(ctx, state, c.Pod, infos)
	if !status.IsSuccess() {
		panic(status.AsError())
	}
	most := slices.MaxFunc(scores, func(a, b fwk.NodePluginScores) int { return int(a.TotalScore - b.TotalScore) }).TotalScore
	for i, s := range scores {
		if s.TotalScore == most {
			best = append(best, at[i])
		}
	}
	return best, scores
}

// soften gives a case the rules that score. Its nodes list CPU and memory, since
// nothing can be said of the scores of others. The Services are not part of its
// manifests, which the oracle reads.
func soften(c *clusters.Case, seed uint64) (services []*corev1.Service, text string) {
	g := &softener{rand.New(rand.NewPCG(seed, c.Number))}
	for _, n := range c.Nodes {
		g.node(n)
	}
	for _, m := range c.Manifests {
		if spec := podSpecOf(m); spec != nil {
			g.pod(spec)
		}
	}
	for i := range g.IntN(4) {
		selector := map[string]string{"app": pick(g, "a", "b", "c", "app-1", "app-2")}
		if g.chance(30) {
			selector["v"] = pick(g, "1", "2")
		}
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s%d", i), Namespace: pick(g, "d", "d", "e")}}
		s.Spec.Selector = selector
		services = append(services, s)
		text += fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: %s}\nspec: {selector: {", s.Name, s.Namespace)
		for _, k := range []string{"app", "v"} {
			if v, ok := selector[k]; ok {
				text += fmt.Sprintf("%s: %q, ", k, v)
			}
		}
		text += "}}\n"
	}
	return services, text
}

type softener struct{ *rand.Rand }

func (g *softener) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *softener, from ...T) T { return from[g.IntN(len(from))] }

type object = map[string]any

// child is a map in a map, made if need be.
func child(o object, key string) object {
	in, ok := o[key].(object)
	if !ok {
		in = object{}
		o[key] = in
	}
	return in
}

func (g *softener) node(n object) {
	status := child(n, "status")
	list, ok := status["allocatable"].(object)
	if !ok {
		list, ok = status["capacity"].(object)
	}
	if !ok {
		list = child(status, "allocatable")
	}
	for name, amount := range map[string]string{"cpu": pick(g, "2", "4", "4", "8", "3900m"), "memory": pick(g, "4Gi", "8Gi", "8Gi", "15000Mi"), "pods": "20"} {
		if _, listed := list[name]; !listed {
			list[name] = amount
		}
	}
	for _, taint := range []object{{"key": pick(g, "soft", "spare"), "value": pick(g, "db", "x"), "effect": "PreferNoSchedule"}, {"key": "only", "effect": "NoSchedule"}} {
		if g.chance(20) {
			taints, _ := child(n, "spec")["taints"].([]any)
			child(n, "spec")["taints"] = append(taints, taint)
		}
	}
}

// podSpecOf finds the pod spec of a manifest.
func podSpecOf(m object) object {
	spec, _ := m["spec"].(object)
	for spec != nil && spec["containers"] == nil {
		inner, ok := spec["template"].(object)
		if !ok {
			if inner, ok = spec["jobTemplate"].(object); !ok {
				return nil
			}
		}
		spec, _ = inner["spec"].(object)
	}
	return spec
}

func (g *softener) pod(spec object) {
	affinity := child(spec, "affinity")
	for _, use := range []string{"podAffinity", "podAntiAffinity"} {
		rules, ok := affinity[use].(object)
		if !ok && g.chance(25) {
			rules = child(affinity, use)
			rules["requiredDuringSchedulingIgnoredDuringExecution"] = []any{object{"topologyKey": pick(g, "kubernetes.io/hostname", corev1.LabelTopologyZone, "rack"), "labelSelector": object{"matchLabels": object{"app": pick(g, "a", "b", "c", "app-0", "app-1")}}}}
			ok = true
		}
		if !ok || g.chance(30) {
			continue
		}
		terms, _ := rules["requiredDuringSchedulingIgnoredDuringExecution"].([]any)
		var soft []any
		for _, t := range terms {
			soft = append(soft, object{"weight": pick(g, 1, 5, 10, 50, 100), "podAffinityTerm": t})
		}
		if len(soft) > 0 && g.chance(80) {
			delete(rules, "requiredDuringSchedulingIgnoredDuringExecution")
		}
		if len(soft) > 0 {
			rules["preferredDuringSchedulingIgnoredDuringExecution"] = soft
		}
	}
	if g.chance(25) {
		term := object{"matchExpressions": []any{object{"key": pick(g, "pool", "rack", corev1.LabelTopologyZone), "operator": "In", "values": []any{pick(g, "p", "x", "a", "b")}}}}
		child(affinity, "nodeAffinity")["preferredDuringSchedulingIgnoredDuringExecution"] = []any{object{"weight": pick(g, 1, 20, 100), "preference": term}, object{"weight": 7, "preference": object{"matchExpressions": []any{object{"key": "rack", "operator": "Exists"}}}}}
	}
	if len(affinity) == 0 {
		delete(spec, "affinity")
	}
	if g.chance(40) {
		tolerations, _ := spec["tolerations"].([]any)
		spec["tolerations"] = append(tolerations, object{"key": "only", "operator": "Exists"})
	}
	if g.chance(40) {
		delete(spec, "topologySpreadConstraints")
	}
	constraints, _ := spec["topologySpreadConstraints"].([]any)
	soft := map[any]bool{}
	for _, c := range constraints {
		c := c.(object)
		if c["whenUnsatisfiable"] == "ScheduleAnyway" {
			soft[c["topologyKey"]] = true
		}
	}
	for _, c := range constraints {
		if c := c.(object); !soft[c["topologyKey"]] && g.chance(70) {
			c["whenUnsatisfiable"] = "ScheduleAnyway"
			delete(c, "minDomains")
			c["nodeTaintsPolicy"] = pick(g, "Honor", "Ignore")
			soft[c["topologyKey"]] = true
		}
	}
	if containers, ok := spec["containers"].([]any); ok && g.chance(60) {
		if c := containers[0].(object); c["resources"] == nil {
			c["resources"] = object{"requests": pick(g, object{"cpu": "100m"}, object{"cpu": "500m", "memory": "256Mi"}, object{"memory": "1Gi"}, object{"cpu": "250m", "memory": "1500Mi"})}
		}
	}
}

// scores follows one random run of the scheduler and compares the best nodes of
// every pending workload in every state on the way.
func (c *Comparer) scores(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, seed uint64) error {
	if err := c.World.Load(cluster); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 2))
	state := simulate.NewState(ours.Model)
	left := map[*Class]int{}
	for {
		type move struct {
			class *Class
			node  int
		}
		var moves []move
		for _, s := range cluster.Series {
			w := ours.Workloads[s.Name]
			if ours.Model.Group(w).Unknown.Given() {
				return nil // its pods count on one side only
			}
			for i, class := range s.Classes {
				if class.Count == left[class] || s.Ordered && i > 0 && left[s.Classes[i-1]] == 0 || class.Bound {
					continue
				}
				best, scores := c.World.Best(ctx, class)
				for _, n := range best {
					moves = append(moves, move{class, int(n)})
				}
				if s.Daemon || state.Why(w).Given() {
					r.Open = true
					continue
				}
				if len(best) < 2 && scores == nil {
					continue
				}
				r.Filters++
				if got := slices.Sorted(slices.Values(state.Best(w))); !slices.Equal(got, best) {
					r.find("score", "best", "pod of %s: scheduler %v, we %v: %+v", s.Name, best, got, scores)
					return nil
				}
			}
		}
		if len(moves) == 0 {
			return nil
		}
		m := moves[random.IntN(len(moves))]
		c.World.Place(m.class, m.node)
		state.Bind(ours.Workloads[m.class.Series.Name], m.node)
		left[m.class]++
	}
}

// CompareScores compares the best nodes of one softened case.
func (c *Comparer) CompareScores(ctx context.Context, nodes, manifests, services string, list []*corev1.Service) (*Report, error) {
	cluster, err := NewCluster(nodes, manifests)
	if err != nil {
		return nil, err
	}
	cluster.Services = list
	ours, err := NewOurs(nodes, manifests+services)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	r.validation(cluster, ours)
	if r.Beyond = r.Beyond || cluster.Odd; len(r.Findings) > 0 || r.Beyond || ours.Model.Split() != ours.Model {
		return r, nil
	}
	for _, s := range cluster.Series {
		if len(s.Classes) > 1 && !s.Daemon {
			return r, nil // our side does not tell such pods apart
		}
	}
	choices, err := cluster.choices()
	if err != nil || len(choices) > 1 {
		return r, nil
	}
	for walk := range c.Walks {
		if err := c.scores(ctx, r, choices[0], ours, uint64(walk)); err != nil || len(r.Findings) > 0 {
			return r, err
		}
	}
	return r, nil
}

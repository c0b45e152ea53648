package main

import "fmt"

// workload is a random one of a random kind.
func (g *gen) workload(i, replicas int) object {
	kind := pick(g, "Deployment", "Deployment", "Deployment", "Deployment", "Pod", "ReplicaSet", "StatefulSet", "Job")
	if g.kinds {
		kind = pick(g, "Deployment", "Deployment", "Pod", "ReplicaSet", "StatefulSet", "StatefulSet", "DaemonSet", "DaemonSet", "Job", "ReplicationController", "CronJob")
	}
	labels := g.podLabels()
	g.app = labels["app"].(string)
	meta := object{"name": fmt.Sprintf("w%d", i), "namespace": g.inNamespace()}
	template := object{"metadata": object{"labels": labels}, "spec": g.podSpec(kind)}
	if kind == "Pod" {
		meta["labels"] = labels
		return object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}
	}
	selector := object{"matchLabels": object{"app": labels["app"]}}
	o := object{"apiVersion": "apps/v1", "kind": kind, "metadata": meta}
	spec := object{"template": template, "selector": selector, "replicas": replicas}
	switch kind {
	case "StatefulSet":
		spec["serviceName"] = "s"
		if g.chance(50) {
			spec["podManagementPolicy"] = pick(g, "Parallel", "OrderedReady")
		}
		if g.chance(20) {
			spec["ordinals"] = object{"start": 2}
		}
	case "DaemonSet":
		delete(spec, "replicas")
	case "ReplicationController":
		o["apiVersion"] = "v1"
		spec["selector"] = selector["matchLabels"]
	case "Job":
		o["apiVersion"] = "batch/v1"
		spec = g.jobSpec(template, replicas)
	case "CronJob":
		o["apiVersion"] = "batch/v1"
		spec = object{"schedule": "0 0 * * *", "jobTemplate": object{"spec": g.jobSpec(template, replicas)}}
	}
	if kind != "DaemonSet" && replicas == 1 && g.chance(30) {
		delete(spec, "replicas")
	}
	o["spec"] = spec
	return o
}

func (g *gen) jobSpec(template object, replicas int) object {
	template["spec"].(object)["restartPolicy"] = "Never"
	spec := object{"template": template}
	switch pick(g, 0, 0, 1, 2, 3) {
	case 0:
		spec["parallelism"], spec["completions"] = replicas, replicas
	case 1:
		spec["parallelism"] = replicas
	case 2:
		spec["parallelism"], spec["completions"] = replicas+1, replicas
	case 3:
		spec["parallelism"], spec["completions"], spec["completionMode"] = replicas, replicas+1, "Indexed"
	}
	if g.chance(4) {
		spec["suspend"] = true
	}
	return spec
}

func (g *gen) podLabels() object {
	labels := object{"app": pick(g, "a", "a", "b", "c")}
	if g.chance(50) {
		labels["v"] = pick(g, "1", "2")
	}
	if g.chance(25) {
		labels["tier"] = pick(g, "x", "y")
	}
	if g.chance(3) {
		labels[zoneKey] = pick(g, "a", "z")
	}
	return labels
}

// runningPod is a pod in place, sometimes one that is being deleted.
func (g *gen) runningPod(i int) object {
	g.app = pick(g, "a", "b")
	spec := g.podSpec("Pod")
	delete(spec, "schedulingGates")
	delete(spec, "schedulerName")
	spec["nodeName"] = fmt.Sprintf("n%d", g.IntN(g.nodes+1)%(g.nodes+1))
	meta := object{"name": fmt.Sprintf("r%d", i), "namespace": g.inNamespace(), "labels": g.podLabels()}
	if g.chance(15) {
		meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": object{"phase": "Running"}}
}

// podSpec is a random pod's spec of the family.
func (g *gen) podSpec(kind string) object {
	spec := object{"containers": list{object{"name": "c", "image": "c"}}}
	affinity := object{}
	if g.chance(g.anti) {
		affinity["podAntiAffinity"] = g.podTerms()
	}
	if g.chance(g.affinity) {
		affinity["podAffinity"] = g.podTerms()
	}
	if g.chance(g.spread) {
		spec["topologySpreadConstraints"] = g.spreads()
	}
	if g.chance(g.odds.node) {
		g.nodeRules(spec, affinity)
	}
	if len(affinity) > 0 {
		spec["affinity"] = affinity
	}
	if g.chance(g.resource) {
		g.resources(spec)
	}
	if g.kinds && g.chance(3) {
		spec["schedulingGates"] = list{object{"name": "example.com/gate"}}
	}
	if g.kinds && g.chance(3) {
		spec["schedulerName"] = pick(g, "other", "default-scheduler")
	}
	if g.kinds && g.chance(6) && spec["schedulingGates"] == nil {
		spec["nodeName"] = fmt.Sprintf("n%d", g.IntN(g.nodes))
	}
	return spec
}

// podTerms are required terms, and now and then preferred ones, which must
// not matter.
func (g *gen) podTerms() object {
	var required list
	for range pick(g, 1, 1, 1, 1, 2, 2, 3) {
		required = append(required, g.podTerm())
	}
	o := object{"requiredDuringSchedulingIgnoredDuringExecution": required}
	if g.chance(10) {
		o["preferredDuringSchedulingIgnoredDuringExecution"] = list{object{"weight": 1 + g.IntN(100), "podAffinityTerm": g.podTerm()}}
	}
	return o
}

func (g *gen) topologyKey() string {
	return pick(g, hostKey, hostKey, hostKey, zoneKey, zoneKey, zoneKey, hostKey, zoneKey, hostKey, zoneKey, "rack", "rack", "rack",
		pick(g, "rack", "missing", "topology.kubernetes.io/region"))
}

func (g *gen) podTerm() object {
	t := object{"topologyKey": g.topologyKey()}
	if s := g.selector(); s != nil {
		t["labelSelector"] = s
		g.labelKeys(t, true)
	}
	if g.chance(5 + g.namespace/2) {
		t["namespaceSelector"] = g.namespaceSelector()
	}
	if g.chance(4 + g.namespace/3) {
		t["namespaces"] = pick(g, list{"d"}, list{"e"}, list{"d", "e"}, list{"f"}, list{"nowhere"}, list{})
	}
	return t
}

// labelKeys adds matchLabelKeys and mismatchLabelKeys.
func (g *gen) labelKeys(t object, mismatch bool) {
	keys := []string{"v", "v", "tier", "absent", "pod-template-hash", "pod-template-hash", "controller-revision-hash", "job-name"}
	if g.perPod {
		keys = append(keys, "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", "batch.kubernetes.io/job-completion-index", "app")
	}
	if g.chance(15) {
		match := list{pick(g, keys...)}
		if g.chance(20) {
			match = append(match, "other")
		}
		t["matchLabelKeys"] = match
	}
	if mismatch && g.chance(10) {
		t["mismatchLabelKeys"] = list{pick(g, append(keys, "app")...)}
	}
}

// selector is a label selector, or nil for none.
func (g *gen) selector() object {
	switch n := g.IntN(100); {
	case n < 3:
		return nil
	case n < 11:
		return object{}
	case n < 65:
		return object{"matchLabels": object{"app": pick(g, g.app, g.app, g.app, "a", "b", "c")}}
	}
	s := object{}
	if g.chance(50) {
		s["matchLabels"] = object{pick(g, "app", "app", "v", "tier"): pick(g, "a", "b", "1", "x")}
	}
	var all list
	for range pick(g, 1, 1, 2) {
		all = append(all, g.requirement())
	}
	s["matchExpressions"] = all
	return s
}

func (g *gen) requirement() object {
	keys := []string{"app", "app", "v", "tier", "absent"}
	if g.chance(8) {
		keys = []string{"pod-template-hash"}
	}
	if g.perPod {
		keys = append(keys, "apps.kubernetes.io/pod-index", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index")
	}
	if g.chance(1) {
		keys = []string{zoneKey, "topology.kubernetes.io/region"}
	}
	r := object{"key": pick(g, keys...), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist")}
	if r["key"] == "pod-template-hash" && g.chance(90) {
		r["operator"] = pick(g, "Exists", "DoesNotExist")
	}
	if r["operator"] == "In" || r["operator"] == "NotIn" {
		r["values"] = pick(g, list{"a"}, list{"b"}, list{"a", "b"}, list{"1"}, list{"2"}, list{"x"}, list{"0"}, list{"w0-0"}, list{"a", "1", "x", "0"})
	}
	return r
}

func (g *gen) namespaceSelector() object {
	if g.chance(25) {
		return object{}
	}
	if g.chance(30) {
		return object{"matchLabels": object{"team": pick(g, "x", "y")}}
	}
	r := object{"key": pick(g, "team", "team", "env", "kubernetes.io/metadata.name", "absent"), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist")}
	if r["operator"] == "In" || r["operator"] == "NotIn" {
		r["values"] = pick(g, list{"x"}, list{"y"}, list{"d", "e"}, list{"prod"}, list{"e"})
	}
	return object{"matchExpressions": list{r}}
}

func (g *gen) spreads() list {
	var all list
	seen := map[string]bool{}
	for range pick(g, 1, 1, 1, 2, 2, 3) {
		key := g.topologyKey()
		c := object{"topologyKey": key, "maxSkew": pick(g, 1, 1, 1, 2, 3), "whenUnsatisfiable": "DoNotSchedule"}
		if g.chance(12) {
			c["whenUnsatisfiable"] = "ScheduleAnyway"
		}
		id := key + c["whenUnsatisfiable"].(string)
		if seen[id] {
			continue
		}
		seen[id] = true
		if s := g.selector(); s != nil {
			c["labelSelector"] = s
			g.labelKeys(c, false)
		}
		if g.chance(25) && c["whenUnsatisfiable"] == "DoNotSchedule" {
			c["minDomains"] = pick(g, 1, 2, 3, 4)
		}
		if g.chance(30) {
			c["nodeAffinityPolicy"] = pick(g, "Honor", "Ignore")
		}
		if g.chance(30) {
			c["nodeTaintsPolicy"] = pick(g, "Honor", "Ignore")
		}
		all = append(all, c)
	}
	return all
}

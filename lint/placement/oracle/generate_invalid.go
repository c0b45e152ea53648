package main

import "strings"

// breakSomething puts one value into a case that some rule of validation is
// about. Not every one is refused: that is the point.
func (g *gen) breakSomething(c *Case) {
	o := c.Manifests[g.IntN(len(c.Manifests))]
	switch o["kind"] {
	case "Namespace":
		return
	case "Pod":
		g.breakPod(o["metadata"].(object), o["spec"].(object))
		return
	}
	if g.chance(25) {
		g.breakOuter(o)
		return
	}
	spec := o["spec"].(object)
	if o["kind"] == "CronJob" {
		spec = spec["jobTemplate"].(object)["spec"].(object)
	}
	template := spec["template"].(object)
	g.breakPod(template["metadata"].(object), template["spec"].(object))
}

// long is a text of more letters than a label or name may have.
var long = strings.Repeat("a", 64)

// breakOuter breaks what stands around the template.
func (g *gen) breakOuter(o object) {
	spec := o["spec"].(object)
	switch g.IntN(11) {
	case 0:
		o["metadata"].(object)["name"] = pick(g, "UPPER", "a.b", strings.Repeat("a", 60), "-x", "under_score")
	case 1:
		delete(spec, "selector")
	case 2:
		spec["selector"] = object{"matchLabels": object{"app": "other"}}
	case 3:
		spec["selector"] = object{}
	case 4:
		spec["selector"] = object{"matchExpressions": list{object{"key": "app", "operator": pick(g, "Exists", "In", "Gt", "exists")}}}
	case 5:
		spec[pick(g, "replicas", "parallelism", "completions")] = pick[any](g, -1, "2", 1.5, "x")
	case 6:
		spec["strategy"] = object{"rollingUpdate": object{"maxSurge": pick[any](g, 0, "0%", "10", "50%"), "maxUnavailable": pick[any](g, 0, "0%", "200%", -1)}}
	case 7:
		spec["updateStrategy"] = object{"rollingUpdate": object{"maxSurge": pick[any](g, 0, 1, "10%"), "maxUnavailable": pick[any](g, 0, 1, "101%")}}
	case 8:
		spec[pick(g, "podManagementPolicy", "completionMode")] = pick(g, "parallel", "Indexed", "OrderedReady")
	case 9:
		spec["completionMode"], spec[pick(g, "parallelism", "completions", "backoffLimit")] = "Indexed", 2
	case 10:
		spec["manualSelector"] = g.chance(80)
	}
}

// breakPod breaks labels or the pod's spec.
func (g *gen) breakPod(meta, spec object) {
	switch g.IntN(10) {
	case 0:
		meta["labels"].(object)[pick(g, "bad key!", "v", "/x", "a/b/c", "UPPER/x", "-x")] = pick[any](g, "ok", "bad value!", long, "-x", 1, true)
	case 1:
		spec["nodeSelector"] = object{pick(g, "bad key!", "pool", "a/"): pick[any](g, "p", "bad value!", "-x", 1)}
	case 2, 3:
		g.breakTerm(spec)
	case 4, 5:
		g.breakSpread(spec)
	case 6:
		g.breakToleration(spec)
	case 7:
		g.breakNodeTerm(spec)
	case 8:
		g.breakContainer(spec)
	case 9:
		g.breakRest(spec)
	}
}

func affinityOf(spec object) object {
	a, ok := spec["affinity"].(object)
	if !ok {
		a = object{}
		spec["affinity"] = a
	}
	return a
}

// badRequirement is a condition of a label selector.
func (g *gen) badRequirement() object {
	return object{"key": pick(g, "app", "bad key!", ""), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", ""),
		"values": pick(g, list{}, list{"a"}, list{"bad value!"}, list{"a", "-b"}, list{"1"})}
}

func (g *gen) badSelector() object {
	if g.chance(30) {
		return object{"matchLabels": object{pick(g, "bad key!", "app"): pick[any](g, "a", "bad value!", 1)}}
	}
	return object{"matchExpressions": list{g.badRequirement()}}
}

// breakTerm breaks a pod affinity term: R-V11 to R-V13, R-V21 to R-V23.
func (g *gen) breakTerm(spec object) {
	t := g.podTerm()
	switch g.IntN(8) {
	case 0:
		t["topologyKey"] = pick(g, "", "bad key!", "a/b/c", "fine.io/x")
	case 1:
		t["labelSelector"] = g.badSelector()
	case 2:
		t["namespaceSelector"] = g.badSelector()
	case 3:
		t["namespaces"] = pick(g, list{"UPPER"}, list{"a.b"}, list{""}, list{"ok", long})
	case 4:
		delete(t, "labelSelector")
		t[pick(g, "matchLabelKeys", "mismatchLabelKeys")] = pick(g, list{"v"}, list{})
	case 5:
		t["matchLabelKeys"], t["mismatchLabelKeys"] = list{"v"}, list{pick(g, "v", "tier")}
	case 6:
		t["labelSelector"] = pick(g, object{"matchLabels": object{"app": "a", "v": "1"}}, object{"matchExpressions": list{object{"key": "v", "operator": "Exists"}}},
			object{"matchLabels": object{"v": "1"}, "matchExpressions": list{object{"key": "v", "operator": "Exists"}}})
		t["matchLabelKeys"] = pick(g, list{"v"}, list{"app"}, list{"v", "v"}, list{"bad key!"})
	case 7:
		t["labelSelector"] = object{"matchExpressions": list{object{"key": "v", "operator": "NotIn", "values": list{"9"}}}}
		t["mismatchLabelKeys"] = pick(g, list{"v"}, list{"app", "app"}, list{"v", "v"}, list{"bad key!"})
	}
	terms := object{"requiredDuringSchedulingIgnoredDuringExecution": list{t}}
	if g.chance(15) {
		terms = object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{"weight": pick(g, 0, 1, 100, 101, -1), "podAffinityTerm": t}}}
	}
	affinityOf(spec)[pick(g, "podAffinity", "podAntiAffinity")] = terms
}

// breakSpread breaks a constraint: R-V24 to R-V30.
func (g *gen) breakSpread(spec object) {
	t := object{"topologyKey": zoneKey, "maxSkew": 1, "whenUnsatisfiable": pick(g, "DoNotSchedule", "ScheduleAnyway"), "labelSelector": object{"matchLabels": object{"app": "a"}}}
	all := list{t}
	switch g.IntN(9) {
	case 0:
		t["maxSkew"] = pick[any](g, 0, -1, "1")
	case 1:
		delete(t, pick(g, "maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector"))
	case 2:
		t["topologyKey"] = pick(g, "", "not a label!!", "a/b/c")
	case 3:
		t["whenUnsatisfiable"] = pick(g, "", "DoNotschedule", "Honor")
	case 4:
		t["minDomains"] = pick(g, 0, -1, 2)
	case 5:
		t[pick(g, "nodeAffinityPolicy", "nodeTaintsPolicy")] = pick(g, "", "honor", "Honor")
	case 6:
		t["labelSelector"] = g.badSelector()
	case 7:
		second := object{"topologyKey": zoneKey, "maxSkew": 2, "whenUnsatisfiable": pick(g, "DoNotSchedule", "ScheduleAnyway")}
		all = append(all, second)
	case 8:
		t["matchLabelKeys"] = pick(g, list{"app"}, list{"v"}, list{"v", "v"}, list{"bad key!"})
		if g.chance(30) {
			delete(t, "labelSelector")
		}
	}
	spec["topologySpreadConstraints"] = all
}

// breakToleration breaks a toleration: R-V14 to R-V17.
func (g *gen) breakToleration(spec object) {
	t := object{}
	if g.chance(75) {
		t["key"] = pick(g, "dedicated", "bad key!", "")
	}
	if g.chance(70) {
		t["operator"] = pick(g, "Exists", "Equal", "Gt", "Lt", "exists", "")
	}
	if g.chance(50) {
		t["value"] = pick[any](g, "x", "bad value!", "", "5", 5)
	}
	if g.chance(60) {
		t["effect"] = pick(g, "NoSchedule", "NoExecute", "PreferNoSchedule", "Nope", "")
	}
	if g.chance(30) {
		t["tolerationSeconds"] = pick(g, 0, 5, -1)
	}
	spec["tolerations"] = list{t}
}

// breakNodeTerm breaks node affinity: R-V3 to R-V10.
func (g *gen) breakNodeTerm(spec object) {
	r := object{"key": pick(g, "pool", "bad key!", ""), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", ""),
		"values": pick(g, list{}, list{"p"}, list{"-1"}, list{"1", "2"}, list{"abc"}, list{"bad value!"})}
	if g.chance(15) {
		delete(r, "values")
	}
	t := object{"matchExpressions": list{r}}
	if g.chance(30) {
		t = object{"matchFields": list{object{"key": pick(g, "metadata.name", "spec.x"), "operator": pick(g, "In", "NotIn", "Exists"), "values": pick(g, list{"n0"}, list{"n0", "n1"}, list{"UPPER"}, list{})}}}
	}
	switch g.IntN(6) {
	case 0:
		affinityOf(spec)["nodeAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": pick[any](g, object{}, object{"nodeSelectorTerms": list{}}, object{"nodeSelectorTerms": list{object{}}}, nil)}
	case 1:
		affinityOf(spec)["nodeAffinity"] = object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{"weight": pick(g, 0, 1, 101), "preference": t}}}
	default:
		affinityOf(spec)["nodeAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": list{t}}}
	}
}

// breakContainer breaks resources and ports: R-V20, R-V32, R-V33.
func (g *gen) breakContainer(spec object) {
	containers, _ := spec["containers"].(list)
	if len(containers) == 0 { // something else is broken already
		return
	}
	c := containers[0].(object)
	name := pick(g, "cpu", "memory", "example.com/gpu", "hugepages-2Mi", "disk", "ephemeral-storage", "requests.cpu", "kubernetes.io/x", "pods", "bad name!/x")
	value := func() any { return pick[any](g, "1", "2", "-1", "1.5", "2Mi", "1e3", "x", 1, 2.5, "0") }
	switch g.IntN(6) {
	case 0:
		c["resources"] = object{pick(g, "requests", "limits"): object{name: value()}}
	case 1:
		c["resources"] = object{"requests": object{name: value()}, "limits": object{name: value()}}
	case 2:
		spec["resources"] = object{pick(g, "requests", "limits"): object{name: value()}}
	case 3:
		spec["hostNetwork"] = g.chance(60)
		c["ports"] = list{object{"containerPort": pick[any](g, 80, 0, 70000, "80"), "hostPort": pick[any](g, 80, 81, -1, 0)}}
	case 4:
		c["ports"] = list{object{"containerPort": 80, "hostPort": 80, "name": "a"}, object{"containerPort": 80, "hostPort": 80, "protocol": pick(g, "TCP", "UDP", "tcp"), "hostIP": pick(g, "", "127.0.0.1", "x")}}
	case 5:
		spec["overhead"] = object{name: value()}
	}
}

// breakRest breaks the remaining fields: R-V2, R-V18, R-V19.
func (g *gen) breakRest(spec object) {
	switch g.IntN(8) {
	case 0:
		spec["nodeName"] = pick(g, "UPPER", "n0", "under_score")
	case 1:
		spec["nodeName"], spec["schedulingGates"] = "n0", list{object{"name": "a"}}
	case 2:
		spec["schedulingGates"] = pick(g, list{object{"name": "bad name!"}}, list{object{"name": "a"}, object{"name": "a"}}, list{object{}})
	case 3:
		spec["preemptionPolicy"] = pick(g, "Never", "never", "")
	case 4:
		spec[pick(g, "priorityClassName", "runtimeClassName")] = pick(g, "UPPER", "bad!")
	case 5:
		spec["containers"] = pick(g, list{}, list{object{"image": "c"}}, list{object{"name": "c"}}, list{object{"name": "UPPER", "image": "c"}}, list{object{"name": "c", "image": "c"}, object{"name": "c", "image": "c"}})
	case 6:
		spec["initContainers"] = list{object{"name": "i", "image": "c", "restartPolicy": pick(g, "Always", "Never", "always", "OnFailure")}}
	case 7:
		if delete(spec, "restartPolicy"); g.chance(80) {
			spec["restartPolicy"] = pick(g, "Always", "Never", "OnFailure", "x")
		}
	}
}

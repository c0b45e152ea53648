package main

// nodeRules adds what decides about nodes alone.
func (g *gen) nodeRules(spec, affinity object) {
	if g.chance(25) {
		spec["nodeSelector"] = pick(g, object{"pool": "p"}, object{"pool": "q"}, object{zoneKey: "a"}, object{hostKey: "n0"}, object{"rack": ""}, object{"missing": "x"})
	}
	if g.chance(35) {
		required := object{"nodeSelectorTerms": g.nodeTerms()}
		affinity["nodeAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": required}
		if g.chance(10) {
			affinity["nodeAffinity"] = object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{"weight": 5, "preference": g.nodeTerm()}}}
		}
	}
	if g.chance(60) {
		spec["tolerations"] = g.tolerations()
	}
}

func (g *gen) nodeTerms() list {
	var all list
	for range pick(g, 1, 1, 2) {
		all = append(all, g.nodeTerm())
	}
	return all
}

func (g *gen) nodeTerm() object {
	t := object{}
	if g.chance(80) {
		var all list
		for range pick(g, 1, 1, 2) {
			all = append(all, g.nodeRequirement())
		}
		t["matchExpressions"] = all
	}
	if g.chance(20) {
		t["matchFields"] = list{object{"key": "metadata.name", "operator": pick(g, "In", "NotIn"), "values": list{pick(g, "n0", "n1", "n9")}}}
		if g.chance(10) {
			t["matchFields"] = append(t["matchFields"].(list), object{"key": "metadata.name", "operator": "In", "values": list{"n1"}})
		}
	}
	return t
}

func (g *gen) nodeRequirement() object {
	r := object{"key": pick(g, "pool", "pool", "size", "size", zoneKey, hostKey, "rack", "missing"), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")}
	switch r["operator"] {
	case "In", "NotIn":
		r["values"] = pick(g, list{"p"}, list{"q"}, list{"p", "q"}, list{"a"}, list{"a", "b"}, list{"n0"}, list{"n0", "n1"}, list{""}, list{"08"})
	case "Gt", "Lt":
		r["values"] = pick(g, list{"1"}, list{"7"}, list{"08"}, list{"abc"}, list{"9223372036854775808"}, list{"7.5"})
	}
	return r
}

// tolerations are valid ones of every shape.
func (g *gen) tolerations() list {
	var all list
	for range pick(g, 1, 1, 2, 3) {
		key := pick(g, "dedicated", "dedicated", "gpu", "node-role.kubernetes.io/control-plane", "node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure")
		t := object{"key": key}
		switch g.IntN(5) {
		case 0:
			t["operator"] = "Exists"
		case 1:
			t = object{"operator": "Exists"}
		case 2:
			t["operator"], t["value"] = "Equal", pick(g, "db", "7", "x")
		case 3:
			t["value"] = pick(g, "db", "7", "x")
		}
		if g.chance(50) {
			t["effect"] = pick(g, "NoSchedule", "NoExecute", "PreferNoSchedule")
			if t["effect"] == "NoExecute" && g.chance(40) {
				t["tolerationSeconds"] = pick(g, 0, 300)
			}
		}
		all = append(all, t)
	}
	return all
}

// resources adds requests, limits, init containers, sidecars, overhead and
// host ports.
func (g *gen) resources(spec object) {
	var containers list
	for i := range pick(g, 1, 1, 2) {
		containers = append(containers, g.container("c"+string(rune('0'+i)), false))
	}
	spec["containers"] = containers
	if g.chance(25) {
		var inits list
		for i := range pick(g, 1, 1, 2, 3) {
			inits = append(inits, g.container("i"+string(rune('0'+i)), g.chance(50)))
		}
		spec["initContainers"] = inits
	}
	if g.chance(10) {
		spec["overhead"] = object{"cpu": pick(g, "100m", "600m"), "memory": "64Mi"}
	}
	if g.chance(10) {
		spec["hostNetwork"] = true
	}
	if g.chance(12) {
		spec["resources"] = pick(g, object{"requests": object{"cpu": "1"}}, object{"requests": object{"cpu": "2"}}, object{"limits": object{"cpu": "3"}}, object{"limits": object{"memory": "2Gi", "cpu": "4"}, "requests": object{"memory": "1Gi"}})
	}
}

func (g *gen) container(name string, sidecar bool) object {
	c := object{"name": name, "image": "c"}
	if sidecar {
		c["restartPolicy"] = "Always"
	}
	requests, limits := object{}, object{}
	if g.chance(60) {
		requests["cpu"] = pick(g, "100m", "250m", "500m", "500m", "1", "1500m", "0", "0.5")
		if g.chance(25) {
			limits["cpu"] = "2"
		}
	} else if g.chance(25) {
		limits["cpu"] = pick(g, "500m", "1")
	}
	if g.chance(40) {
		requests["memory"] = pick(g, "256Mi", "512Mi", "1Gi", "600M", "1e8")
	}
	if g.chance(12) {
		limits["example.com/gpu"] = pick(g, "1", "2")
		if g.chance(50) {
			requests["example.com/gpu"] = limits["example.com/gpu"]
		}
	}
	if g.chance(6) {
		limits["hugepages-2Mi"], limits["memory"], requests["memory"] = "2Mi", "1Gi", "256Mi"
	}
	if g.chance(8) {
		requests["ephemeral-storage"] = pick(g, "1Gi", "2Gi")
	}
	resources := object{}
	if len(requests) > 0 {
		resources["requests"] = requests
	}
	if len(limits) > 0 {
		resources["limits"] = limits
	}
	if len(resources) > 0 {
		c["resources"] = resources
	}
	if g.chance(30) {
		c["ports"] = list{g.port()}
	}
	return c
}

func (g *gen) port() object {
	number := pick(g, 80, 80, 81)
	p := object{"containerPort": number}
	if g.chance(75) {
		p["hostPort"] = number
	}
	if g.chance(25) {
		p["protocol"] = pick(g, "TCP", "UDP", "SCTP")
	}
	if g.chance(30) {
		p["hostIP"] = pick(g, "127.0.0.1", "127.0.0.2", "0.0.0.0", "::")
	}
	return p
}

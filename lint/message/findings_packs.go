package message

import "strings"

// packFindings returns the catalogue entries for findings from packs and templates.
func packFindings() map[string]valueWords {
	return map[string]valueWords{
		"container-without-memory-limit": says("${workload}: container ${container} has no memory limit", "set resources.limits.memory"),
		"container-without-requests":     says("${workload}: container ${container} requests no ${resources| or }", "set resources.requests for ${resources| and }"),
		"daemonsets-fill-node":           daemonSets("${percent}% of the ${resource}"),
		"daemonsets-without-room":        daemonSets("more than all of the ${resource}"),
		"short-after-loss":               shortAfterLoss,
		"priority-class-undeclared":      says("${workload} uses PriorityClass ${class}, which is not declared", "declare the PriorityClass, or list it in the parameter known"),

		"budget-allows-all": func(v *values) (string, string) {
			return v.say("${budget} allows the eviction of all ${pods} pods of ${workload}") + when(v.is("scaled"), " at its smallest size") +
				aside(strings.TrimSpace(v.say("${field} ${value}"))), "set maxUnavailable: 1 instead"
		},
		"down-after-loss": says("${workload}: losing one ${kind} can take down all of its pods (${pods})",
			"add a topologySpreadConstraint with topologyKey: ${key} and whenUnsatisfiable: DoNotSchedule"),
		"no-disruption-budget": says("${workload} runs ${pods} pods without a PodDisruptionBudget", "add a PodDisruptionBudget with maxUnavailable: 1 that selects its pods"),
		"not-restored-after-loss": func(v *values) (string, string) {
			leaves := v.choice("outcome", map[string]string{"never": " leaves", "sometimes": " can leave", "unknown": ""})
			if leaves == "" {
				return v.say("${workload}: unknown whether all ${least} pods run again after the loss of one ${kind}"), ""
			}
			return v.say("${workload}: losing ") + lost(v) + leaves + v.say(" ${pending} of ${pods} pods Pending"),
				"add nodes outside the lost domain, or relax the rule that keeps pods off the other nodes"
		},
		"stays-on-lost-node": says("${workload} tolerates ${taints| and } without tolerationSeconds, so its pods never leave a lost node", "set tolerationSeconds: 300"),
		"preferred-spread-only": says("${workload}: only preferred rules keep its ${pods} pods apart, as on ${key}",
			"require the rule: whenUnsatisfiable: DoNotSchedule, or requiredDuringSchedulingIgnoredDuringExecution"),
		"quorum-in-one-zone": says("${workload}: losing one zone can take down ${down} of ${pods} pods, and with them the majority",
			"spread its pods over three zones: a topologySpreadConstraint with maxSkew: 1 and whenUnsatisfiable: DoNotSchedule"),

		"budget-without-scale": says("${budget} selects pods of ${workload} by ${field}: ${value}, which needs a number of replicas that machines do not have",
			"use minAvailable with a number of pods"),
		"eviction-strategy-missing": says("${workload} has no evictionStrategy, so the cluster decides what a drain does to it",
			"set evictionStrategy: LiveMigrate, LiveMigrateIfPossible, External or None"),
		"eviction-strategy-not-allowed": says("${workload} has evictionStrategy ${strategy}; expected ${allowed| or }", "set evictionStrategy: ${allowed| or }"),
		"migration-needs-new-node":      says("${workload} can use 1 declared node, so it migrates only after a pool grows: ${pools}", "add a node that the machine may use"),
		"no-spare-node": says("${workload} keeps ${machines machine} on different nodes and can use ${usable}; it needs ${needed} to have ${spare} spare",
			"add ${lacking node} that the machines may use"),
		"pinned-to-a-node": says("${workload} has evictionStrategy LiveMigrate and is pinned to node ${node}, so it cannot migrate", "select nodes by a label that several have"),

		"node-name-set":               says("${workload} names its node, ${node}, so the scheduler does not choose one", "select nodes by a nodeSelector or node affinity"),
		"unhealthy-pods-block-drains": says("${budget} lets pods that crash or are not ready block drains", "set unhealthyPodEvictionPolicy: AlwaysAllow"),
		"scale-down-blocked": says("${workload}: its nodes are not removed because of the annotation ${annotations| and }",
			"remove the annotation and protect the pods by a PodDisruptionBudget"),
		"budget-selects-several": says("${budget} selects the pods of ${workloads workload}: ${workloads}", "select the pods of one workload"),
		"drain-unknown":          says("${workload}: unknown whether its pods find another node in a drain", ""),
		"pod-without-controller": says("${workload} has no controller, so a drain of its node is refused or loses it", "run it as a Deployment or a StatefulSet"),
		"single-node-pool":       says("pool ${pool} has one node, and ${workloads workload} can use no other: ${workloads}", "add a node to the pool, or let it grow"),
		"single-pod":             says("${workload} runs 1 pod, so it is down while its node is drained", "run two pods"),

		"namespace-without-label": says("Namespace ${namespace} of tenant ${tenant} has no label ${label}", "add the label ${label} to the Namespace"),
		"outside-own-pools": func(v *values) (string, string) {
			outside := v.list("pools")
			for i := range outside {
				outside[i] = "pool " + outside[i]
			}
			outside = append(outside, when(v.count("poolless") > 0, v.say("nodes without a pool (${poolless})")))
			return v.say("${workload} can use nodes outside the pools of tenant ${tenant}: ") + upTo(dropEmpty(outside...), maxNamed),
				"add a nodeSelector or required node affinity for a label that only the tenant's pools have"
		},
		"placement-unknown": says("${workload}: which pools it can use is unknown, so the isolation of tenants is not proved", ""),
		"pool-shared-by-tenants": says("pool ${pool} can be used by ${tenants tenant}: ${tenants}",
			"taint the pool for one tenant and keep the others off it with required node affinity"),
		"tenant-pool-untainted": says("pool ${pool} of tenant ${tenants} has no taint that keeps other pods off", "add a taint with effect NoSchedule to the pool"),
		"tolerates-every-taint": func(v *values) (string, string) {
			every := v.choice("effect", map[string]string{"": "every taint", "NoSchedule": "every NoSchedule taint"})
			return v.say("${workload} tolerates ") + every + ", so taints keep it off no pool", "name the key of the taints that the pods have to tolerate"
		},
		"toleration-opens-foreign-pool": says("${workload} has a toleration that opens ${pools pool} of other tenants: ${pools}",
			"remove the toleration or limit it to the taint of its own pools"),
		"uses-foreign-pool": says("${workload} can use ${pools pool} of other tenants: ${pools}", "taint the pool so that only pods of its tenant tolerate it"),

		"device-pods-tolerate-more": says("${workload} requests ${device} and tolerates the taints of pools without it: ${pools}",
			"tolerate the taint of the pool with the device only"),
		"device-pool-open": func(v *values) (string, string) {
			return v.say("pool ${pool} offers ${device}, and ${workloads workload} that ") + verb(v.count("workloads"), "does", "do") +
				v.say(" not request it can use it: ${workloads}"), "taint the pool so that only pods that request the device tolerate it"
		},
		"pool-lacks-label":         says("pool ${pool} lacks ${labels required label}: ${labels}", "add the label to all nodes of the pool"),
		"pool-of-one-namespace":    says("pool ${pool} can be used by 1 namespace alone: ${namespace}", "merge the pool with another one, or list it in the parameter except"),
		"pool-spans-too-few-zones": says("pool ${pool} spans ${zones zone} (${zones}); expected at least ${least}", "add nodes in ${lacking other zone}"),
		"pool-without-workloads": says("pool ${pool} can be used by no declared workload but DaemonSets",
			"remove the pool, or add its toleration and labels to the workloads that it is for"),
		"preference-matches-no-node": func(v *values) (string, string) {
			return v.say("${workload} prefers nodes by ${key} ${operator}") + aside(v.say("${wanted|, }")) + ", which no declared node meets",
				"correct the label or remove the preference"
		},
		"undocumented-taint": says("pool ${pool} has the taint ${key}, which the list of taints does not have", "use a documented key, or add this one to the parameter taints"),

		"daemonset-misses-pool": says("${workload} runs on no node of ${pools pool} because of taints: ${pools}", "tolerate the taints, or name its pools by node affinity"),

		"tolerates-forbidden-taint": says("${workload} tolerates the taint ${key}", "remove the toleration"),
		"tolerates-every-key": func(v *values) (string, string) {
			effect := strings.TrimLeft(v.text("effect")+" ", " ")
			return v.say("${workload} tolerates every ") + effect + v.say("taint, and so ${keys}"), "tolerate only the taints that the pods need, by their keys"
		},
		"tolerates-all-taints": says("${workload} tolerates every taint", "tolerate only the taints that the pods need, by their keys"),
		"headroom": func(v *values) (string, string) {
			where := strings.TrimSpace(v.say("${scope} ${name}")) + ": pods "
			left := v.say(" of the ${resource}") + when(v.text("after") != "none", v.say(" left without ${after} ${domain}")) +
				when(v.is("grown"), even)
			if v.text("outcome") == "unknown" {
				return where + v.say("may request ${limit}% or more") + strings.TrimSuffix(left, even), ""
			}
			return where + v.say("request at least ${percent}%") + left, fewerRequests
		},
		"image-of-other-registry": says("${workload}: container ${container} runs ${image} from ${registry}; allowed: ${allowed}", "copy the image to an allowed registry"),
		"image-without-version":   says("${workload}: container ${container} runs ${image} without the tag of a version", "set the tag of a version"),
		"image-without-digest":    says("${workload}: container ${container} runs ${image} without a digest", "add the digest"),
		"outside-required-pool": func(v *values) (string, string) {
			others := append(v.list("others"), when(v.is("poolless"), "nodes without a pool"))
			return v.say("${workload} has to run in pool ${pools} but can use ") + upTo(dropEmpty(others...), maxNamed),
				"add a nodeSelector with a label that only these pools have"
		},
		"pool-set-aside": says("${workload} can use pool ${pools}, which is set aside for namespace ${namespaces}",
			"taint the pool, and tolerate the taint in these namespaces only"),
		"require-answer": answer,
		"label-missing":  label("no label ${label}"),
		"label-mismatch": label("the label ${label}=${value}, which does not match ${pattern}"),
		"skew-too-large": says("${workload}: the spread on ${key} has maxSkew ${skew}; expected at most ${limit}", "set maxSkew: ${limit}"),
		"require-term": func(v *values) (string, string) {
			term := when(v.is("hard"), "required ") + strings.ReplaceAll(v.text("use"), "spread", "topology spread") + v.say(" on ${key}")
			return v.say("${workload} runs ${pods} pods without ") + term + " between them", "add " + term + " with a labelSelector that selects the pods"
		},
	}
}

// Advice shared by several findings.
const (
	smallerAgents = "use larger nodes, or keep DaemonSets off those that do not need them"
	fewerRequests = "add a node, or lower the requests"
	even          = ", even with all pools at their largest size"
)

// daemonSets returns a function that says what part of a node DaemonSets request. The node may be
// one that the pool can add.
func daemonSets(part string) valueWords {
	return func(v *values) (headline, help string) {
		node := v.say("node ${node}")
		if v.text("node") == "" {
			node = "a node that the pool can add"
		}
		return v.say("pool ${pool}: DaemonSets request "+part+" of ") + node + v.say(" (limit ${limit}%)"), smallerAgents
	}
}

// shortAfterLoss compares the requests of pods with the capacity that remains after a loss.
func shortAfterLoss(v *values) (headline, help string) {
	where := v.choice("scope", map[string]string{"cluster": "cluster", "pool": v.say("pool ${name}")}) + ": without " + lost(v)
	grown := when(v.is("grown"), " with all pools at their largest size")
	switch {
	case v.text("outcome") == "unknown":
		return where + v.say(" pods may request more than ${limit}% of the ${resource} that is left") + grown, ""
	case v.is("some_left"):
		return where + v.say(" pods request ${percent}% of the ${resource} that is left") + grown + v.say(" (limit ${limit}%)"), fewerRequests
	}
	return where + v.say(" pods request ${resource}, and none is left") + grown + v.say(" (limit ${limit}%)"), fewerRequests
}

// lost names the lost node or domain. It also states how many others have the same result.
func lost(v *values) string {
	return v.say("${kind} ${domain}") + when(v.count("like") > 0, v.say(" (the same for ${like} more)"))
}

// label returns a function that describes a problem with a label.
func label(problem string) valueWords {
	return func(v *values) (string, string) {
		has := v.choice("on", map[string]string{"object": "it has", "pods": "its pods have", "namespace": "its namespace has"})
		return v.say("${workload}: ") + has + " " + v.say(problem), v.say("set the label ${label}")
	}
}

// answer describes the answer to whether a workload's pods fit, or to a question about a change.
func answer(v *values) (headline, help string) {
	claim := v.choice("claim", map[string]string{
		"fits": "fit", "rolls": "complete a rollout", "drains": "leave a drained node", "migrates": "migrate", "autoscales": "reach its maximum",
		"afterwards": v.say("run all pods again after it loses one ${lost}"), "meanwhile": v.say("keep a pod running when it loses one ${lost}"),
	})
	help = "run schedlint explain on this line to see what is in the way"
	if v.text("claim") == "meanwhile" {
		help = "run at least 2 pods and require them to run apart"
	}
	can := v.choice("outcome", map[string]string{"never": "can never ", "sometimes": "cannot always ", "unknown": ""})
	if can == "" {
		return v.say("${workload} may be unable to ") + claim, ""
	}
	return v.say("${workload} ") + when(v.count("pods") > 0, v.say("(pods: ${pods}) ")) + can + claim, help
}

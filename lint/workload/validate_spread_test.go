package workload

import "testing"

func TestValidateSpread(t *testing.T) {
	const list, path = "topologySpreadConstraints:\n", "topologySpreadConstraints[0]."
	check(t, inDeployment, []row{
		{"R-V24 zero", sequence(list, `{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "maxSkew", "maxSkew is 0: must be at least 1"},
		{"R-V24 missing", sequence(list, `{topologyKey: zone, whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "maxSkew", "maxSkew is missing"},
		{"R-V24 type", sequence(list, `{maxSkew: "1", topologyKey: zone, whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "maxSkew", "expected a whole number"},
		{"R-V24 unknown", sequence(list, `{maxSkew: "${SKEW}", topologyKey: zone, whenUnsatisfiable: DoNotSchedule}`), "", "", ""},
		{"R-V25 empty", sequence(list, `{maxSkew: 1, topologyKey: "", whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "topologyKey", `topologyKey is ""`},
		{"R-V25 form", sequence(list, `{maxSkew: 1, topologyKey: "not a label!!", whenUnsatisfiable: DoNotSchedule}`), "", "", ""},
		{"R-V26 missing", sequence(list, `{maxSkew: 1, topologyKey: zone} # here`), StageObject, path + "whenUnsatisfiable", "whenUnsatisfiable is missing: must be DoNotSchedule or ScheduleAnyway"},
		{"R-V26 unknown", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: doNotSchedule, minDomains: 2} # here`), StageObject, path + "whenUnsatisfiable", `whenUnsatisfiable is "doNotSchedule"`},
		{"R-V27", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}`, `{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule} # here`), StageObject, "topologySpreadConstraints[1].topologyKey", "the pair must be unique"},
		{"R-V27 hard and soft", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}`, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}`), "", "", ""},
		{"R-V27 unknown", sequence(list, `{maxSkew: 1, topologyKey: "${KEY}", whenUnsatisfiable: DoNotSchedule}`, `{maxSkew: 1, topologyKey: "${KEY}", whenUnsatisfiable: DoNotSchedule}`), "", "", ""},
		{"R-V28 zero", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 0} # here`), StageObject, path + "minDomains", "minDomains is 0: must be at least 1"},
		{"R-V28 soft", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 3} # here`), StageObject, path + "minDomains", "minDomains is set with whenUnsatisfiable ScheduleAnyway"},
		{"R-V28 good", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}`), "", "", ""},
		{"R-V29 affinity", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: honor} # here`), StageObject, path + "nodeAffinityPolicy", `nodeAffinityPolicy is "honor": must be Honor or Ignore`},
		{"R-V29 taints", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: ""} # here`), StageObject, path + "nodeTaintsPolicy", `nodeTaintsPolicy is ""`},
		{"R-V29 good", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore}`), "", "", ""},
		{"R-V30", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: a, operator: In}]}} # here`), StageObject, path + "labelSelector.matchExpressions[0].values", "values is missing"},
		{"R-V30 good", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}`), "", "", ""},
		{"R-V21", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [app]} # here`), StageObject, path + "matchLabelKeys", "matchLabelKeys is set without labelSelector"},
		{"R-V22", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [app]} # here`), StagePods, path + "matchLabelKeys[0]", "appear twice"},
		{"R-V22 good", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}`), "", "", ""},
	})
}

func TestValidateTolerations(t *testing.T) {
	const list, path = "tolerations:\n", "tolerations[0]."
	check(t, inDeployment, []row{
		{"R-V14", sequence(list, `{key: "a b", operator: Exists} # here`), StageObject, path + "key", `key is "a b"`},
		{"R-V14 good", sequence(list, `{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}`), "", "", ""},
		{"R-V15 empty", sequence(list, `{} # here`), StageObject, path + "operator", "operator is missing: must be Exists when key is empty"},
		{"R-V15 Equal without key", sequence(list, `{operator: Equal, value: x} # here`), StageObject, path + "operator", `operator is "Equal": must be Exists`},
		{"R-V15 all", sequence(list, `{operator: Exists}`), "", "", ""},
		{"R-V15 value", sequence(list, `{key: a, operator: Exists, value: x} # here`), StageObject, path + "value", `value is "x": must be empty when operator is Exists`},
		{"R-V15 label value", sequence(list, `{key: a, value: "x y"} # here`), StageObject, path + "value", `value is "x y"`},
		{"R-V15 unknown", sequence(list, `{key: a, operator: exists} # here`), StageObject, path + "operator", `operator is "exists": must be Equal or Exists`},
		{"R-V15 Gt", sequence(list, `{key: a, operator: Gt, value: "1"} # here`), StageObject, path + "operator", "unless the feature gate TaintTolerationComparisonOperators is enabled"},
		{"R-V15 good", sequence(list, `{key: a}`, `{key: a, operator: Equal, value: x}`, `{key: a, operator: Exists, value: ""}`), "", "", ""},
		{"R-V15 key of a wrong type", sequence(list, `{key: 5, effect: NoSchedule} # here`), StageObject, path + "key", "expected a string, found the number 5"},
		{"R-V16 R-V15 unknown key", sequence(list, `{key: "${KEY}", operator: Equal, value: "{{ v }}", effect: "$(E)"}`), "", "", ""},
		{"R-V17 effect", sequence(list, `{key: a, effect: Nope} # here`), StageObject, path + "effect", `effect is "Nope": must be NoSchedule, PreferNoSchedule or NoExecute`},
		{"R-V17 seconds", sequence(list, `{key: a, effect: NoSchedule, tolerationSeconds: 3} # here`), StageObject, path + "effect", `effect is "NoSchedule": must be NoExecute when tolerationSeconds is set`},
		{"R-V17 seconds without effect", sequence(list, `{key: a, tolerationSeconds: 3} # here`), StageObject, path + "tolerationSeconds", "effect is missing: must be NoExecute"},
		{"R-V17 seconds of a wrong type", sequence(list, `{key: a, tolerationSeconds: "3"} # here`), StageObject, path + "tolerationSeconds", "expected a whole number"},
		{"R-V17 good", sequence(list, `{key: a, effect: NoExecute, tolerationSeconds: 0}`, `{key: b, effect: ""}`), "", "", ""},
	})
}

// TestValidateMachine checks the stage at which each problem of a virtual machine is refused
// (R-W28).
func TestValidateMachine(t *testing.T) {
	const list, path = "topologySpreadConstraints:\n", "topologySpreadConstraints[0]."
	check(t, inMachine, []row{
		{"R-V35", sequence(hardPod, `{topologyKey: zone, matchLabelKeys: [tenant]} # here`), StagePods, hardPodPath + "matchLabelKeys", "is set without labelSelector"},
		{"R-V22", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {tenant: a}}, matchLabelKeys: [tenant]} # here`), StagePods, hardPodPath + "matchLabelKeys[0]", "appear twice"},
		{"R-V22 added", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {kubevirt.io: virt-launcher}}, matchLabelKeys: [kubevirt.io]} # here`), StagePods, hardPodPath + "matchLabelKeys[0]", "appear twice"},
		{"R-V23", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, matchLabelKeys: [x], mismatchLabelKeys: [x]} # here`), StagePods, hardPodPath + "matchLabelKeys[0]", "mismatchLabelKeys"},
		{"R-W26 cure", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, mismatchLabelKeys: [kubevirt.io/created-by]}`), "", "", ""},
		{"R-V11", sequence(hardPod, `{topologyKey: "", labelSelector: {}} # here`), StageObject, hardPodPath + "topologyKey", "must name a node label"},
		{"R-V7", sequence(hardNode, `matchExpressions: [{key: zone, operator: In, values: ["-1"]}] # here`), StagePods, hardNodePath + "nodeSelectorTerms[0].matchExpressions[0].values[0]", `value is "-1"`},
		{"R-V5", sequence(hardNode, `matchExpressions: [{key: zone, operator: In}] # here`), StageObject, hardNodePath + "nodeSelectorTerms[0].matchExpressions[0].values", "values is missing"},
		{"R-V25", sequence(list, `{maxSkew: 1, topologyKey: "not a label!!", whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "topologyKey", "not a label!!"},
		{"R-V24", sequence(list, `{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule} # here`), StageObject, path + "maxSkew", "at least 1"},
		{"R-V28", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2} # here`), StagePods, path + "minDomains", "minDomains is set"},
		{"R-V29", sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: x} # here`), StagePods, path + "nodeTaintsPolicy", "must be Honor or Ignore"},
		{"R-V1", `nodeSelector: {"a b": c} # here`, StagePods, "nodeSelector.a b", "nodeSelector key"},
		{"R-V17", `tolerations: [{key: a, effect: Nope}] # here`, StagePods, "tolerations[0].effect", "Nope"},
		{"R-V19", `priorityClassName: High # here`, StagePods, "priorityClassName", "High"},
		{"good", "nodeSelector: {a: b}\ntolerations: [{operator: Exists}]\n" + sequence(list, `{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {}}`), "", "", ""},
	})
	const machine = "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: db, labels: "
	check(t, asIs, []row{
		{"labels of an instance", machine + "{app: \"a b\"}} # here\nspec: {domain: {}}", StageObject, "metadata.labels.app", `label app is "a b"`},
		{"cpu above", machine + "{}}\nspec:\n  domain:\n    resources: {requests: {cpu: 2}, limits: {cpu: 1}} # here", StageObject, "spec.domain.resources.requests.cpu", "request of 2 cpu exceeds its limit of 1"},
		{"memory negative", machine + "{}}\nspec:\n  domain:\n    resources: {requests: {memory: -1Gi}} # here", StageObject, "spec.domain.resources.requests.memory", "must not be negative"},
		{"size", machine + "{}}\nspec: {domain: {resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: \"${MEM}\"}}}}", "", "", ""},
	})
	check(t, asIs, []row{{"labels of a template", `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: db}
spec:
  runStrategy: Always
  template:
    metadata: {labels: {app: "a b"}} # here
    spec: {domain: {}}`, StagePods, "spec.template.metadata.labels.app", `label app is "a b"`}})
}

package workload

import "testing"

const (
	hardNode = "affinity:\n  nodeAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution:\n      nodeSelectorTerms:\n"
	softNode = "affinity:\n  nodeAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n"
	hardPod  = "affinity:\n  podAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution:\n"
	softPod  = "affinity:\n  podAntiAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n"

	hardNodePath = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	softNodePath = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	hardPodPath  = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	softPodPath  = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
)

// sequence indents items below one of the prefixes above.
func sequence(prefix string, items ...string) string {
	for _, item := range items {
		prefix += "        - " + item + "\n"
	}
	return prefix
}

func TestValidateNodeAffinity(t *testing.T) {
	const expression = hardNodePath + "nodeSelectorTerms[0].matchExpressions[0]."
	const fields = hardNodePath + "nodeSelectorTerms[0].matchFields[0]."
	check(t, inDeployment, []row{
		{"R-V3 empty", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}} # here",
			StageObject, hardNodePath + "nodeSelectorTerms", "nodeSelectorTerms is empty"},
		{"R-V3 missing", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}} # here",
			StageObject, hardNodePath + "nodeSelectorTerms", "nodeSelectorTerms is missing"},
		{"R-V3 empty term", sequence(hardNode, "{}"), "", "", ""},
		{"R-V3 null", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: }}", "", "", ""},
		{"R-V3 list", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}} # here",
			StageObject, hardNodePath[:len(hardNodePath)-1], "expected a map, found a list"},
		{"R-V4 unknown", sequence(hardNode, `matchExpressions: [{key: zone, operator: in, values: [a]}] # here`), StageObject, expression + "operator", `operator is "in": must be In, NotIn, Exists, DoesNotExist, Gt or Lt`},
		{"R-V4 missing", sequence(hardNode, `matchExpressions: [{key: zone, values: [a]}] # here`), StageObject, expression + "operator", "operator is missing"},
		{"R-V4 type", sequence(hardNode, `matchExpressions: [{key: zone, operator: 5, values: [a]}] # here`), StageObject, expression + "operator", "expected a string"},
		{"R-V5 none", sequence(hardNode, `matchExpressions: [{key: zone, operator: In}] # here`), StageObject, expression + "values", "values is missing: operator In needs at least one value"},
		{"R-V5 forbidden", sequence(hardNode, `matchExpressions: [{key: zone, operator: Exists, values: ["a b"]}] # here`), StageObject, expression + "values", "values has 1 entry: operator Exists takes no values"},
		{"R-V5 not a list", sequence(hardNode, `matchExpressions: [{key: zone, operator: In, values: a}] # here`), StageObject, expression + "values", "expected a list"},
		{"R-V6 key", sequence(hardNode, `matchExpressions: [{key: "bad key!", operator: Exists}] # here`), StageObject, expression + "key", `key is "bad key!"`},
		{"R-V6 missing", sequence(hardNode, `matchExpressions: [{operator: Exists}] # here`), StageObject, expression + "key", "key is missing"},
		{"R-V7 value", sequence(hardNode, `matchExpressions: [{key: zone, operator: Gt, values: ["-1"]}] # here`), StageObject, expression + "values[0]", `value is "-1"`},
		{"R-V7 preferred", sequence(softNode, `{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: ["-1"]}]}}`), "", "", ""},
		{"R-V8 key", sequence(hardNode, `matchFields: [{key: spec.x, operator: In, values: [a]}] # here`), StageObject, fields + "key", `key is "spec.x": must be metadata.name`},
		{"R-V8 operator", sequence(hardNode, `matchFields: [{key: metadata.name, operator: Exists}] # here`), StageObject, fields + "operator", "must be In or NotIn"},
		{"R-V8 values", sequence(hardNode, `matchFields: [{key: metadata.name, operator: In, values: [a, b]}] # here`), StageObject, fields + "values", "values has 2 entries: operator In needs exactly one value"},
		{"R-V8 node name", sequence(hardNode, `matchFields: [{key: metadata.name, operator: NotIn, values: [A_b]}] # here`), StageObject, fields + "values[0]", `node name is "A_b"`},
		{"R-V8 good", sequence(hardNode, `matchFields: [{key: metadata.name, operator: In, values: [n1.example.com]}]`), "", "", ""},
		{"R-V9 two", sequence(hardNode, `matchExpressions: [{key: cpu, operator: Gt, values: ["1", "2"]}] # here`), StageObject, expression + "values", "operator Gt needs exactly one value"},
		{"R-V9 no number", sequence(hardNode, `matchExpressions: [{key: cpu, operator: Gt, values: [abc]}]`), "", "", ""},
		{"R-V10 zero", sequence(softNode, `{weight: 0, preference: {}} # here`), StageObject, softNodePath + "weight", "weight is 0: must be in the range 1-100"},
		{"R-V10 missing", sequence(softNode, `{preference: {}} # here`), StageObject, softNodePath + "weight", "weight is missing"},
		{"R-V10 type", sequence(softNode, `{weight: "1", preference: {}} # here`), StageObject, softNodePath + "weight", "expected a whole number"},
		{"R-V10 good", sequence(softNode, `{weight: 100, preference: {}}`, `{weight: 1}`), "", "", ""},
	})
}

func TestValidatePodAffinity(t *testing.T) {
	check(t, inDeployment, []row{
		{"R-V10 above", sequence(softPod, `{weight: 101, podAffinityTerm: {topologyKey: zone}} # here`), StageObject, softPodPath + "weight", "weight is 101"},
		{"R-V10 shallow", sequence(softPod, `{topologyKey: zone, labelSelector: {}} # here`), StageObject, softPodPath + "podAffinityTerm", "podAffinityTerm is missing"},
		{"R-V11 empty", sequence(hardPod, `{topologyKey: "", labelSelector: {}} # here`), StageObject, hardPodPath + "topologyKey", `topologyKey is "": must name a node label`},
		{"R-V11 missing", sequence(hardPod, `{labelSelector: {}} # here`), StageObject, hardPodPath + "topologyKey", "topologyKey is missing"},
		{"R-V11 form", sequence(softPod, `{weight: 1, podAffinityTerm: {topologyKey: not a label}} # here`), StageObject, softPodPath + "podAffinityTerm.topologyKey", `topologyKey is "not a label"`},
		{"R-V12 value", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {app: "a b"}}} # here`), StageObject, hardPodPath + "labelSelector.matchLabels.app", `label app is "a b"`},
		{"R-V12 key", sequence(hardPod, `{topologyKey: zone, namespaceSelector: {matchLabels: {"a b": c}}} # here`), StageObject, hardPodPath + "namespaceSelector.matchLabels.a b", `label key is "a b"`},
		{"R-V12 operator", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}} # here`), StageObject, hardPodPath + "labelSelector.matchExpressions[0].operator", `operator is "Gt": must be In, NotIn, Exists or DoesNotExist`},
		{"R-V12 type", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {on: yes}}} # here`), StageObject, hardPodPath + "labelSelector.matchLabels.on", "expected a string, found the boolean yes"},
		{"R-V12 good", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: [""]}]}, namespaceSelector: {}}`), "", "", ""},
		{"R-V13 namespace", sequence(hardPod, `{topologyKey: zone, namespaces: [ok, a.b]} # here`), StageObject, hardPodPath + "namespaces[1]", `namespace is "a.b"`},
		{"R-V13 good", sequence(hardPod, `{topologyKey: zone, namespaces: [a-b]}`), "", "", ""},
		{"R-V36", sequence(hardPod, `{topologyKey: topology.kubernetes.io/hostname, labelSelector: {}}`), "", "", ""},
		{"null selector", sequence(hardPod, `{topologyKey: zone, labelSelector: null}`), "", "", ""},
		{"null list", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: null}}", "", "", ""},
		{"null term", sequence(hardPod, `null # here`), StageObject, hardPodPath + "topologyKey", "topologyKey is missing"},
		{"term of a wrong type", sequence(hardPod, `zone # here`), StageObject, hardPodPath[:len(hardPodPath)-1], "expected a map"},
	})
}

func TestValidateLabelKeys(t *testing.T) {
	const keys = hardPodPath + "matchLabelKeys"
	check(t, inDeployment, []row{
		{"R-V21 R-V35", sequence(hardPod, `{topologyKey: zone, matchLabelKeys: [tenant]} # here`), StageObject, keys, "matchLabelKeys is set without labelSelector"},
		{"R-V21 mismatch", sequence(hardPod, `{topologyKey: zone, labelSelector: null, mismatchLabelKeys: [tenant]} # here`), StageObject, hardPodPath + "mismatchLabelKeys", "mismatchLabelKeys is set without labelSelector"},
		{"R-V21 key", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, matchLabelKeys: ["a b"]} # here`), StageObject, keys + "[0]", `key is "a b"`},
		{"R-V21 mismatch key", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, mismatchLabelKeys: ["a b"]} # here`), StageObject, hardPodPath + "mismatchLabelKeys[0]", `key is "a b"`},
		{"R-V21 good", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [tenant, pod-template-hash], mismatchLabelKeys: [version]}`), "", "", ""},
		{"R-V22 label", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {tenant: b}}, matchLabelKeys: [tenant]} # here`), StagePods, keys + "[0]", `key "tenant" is in both matchLabelKeys and labelSelector: it would appear twice in the merged selector`},
		{"R-V22 expression", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchExpressions: [{key: tenant, operator: Exists}]}, matchLabelKeys: [app, tenant]} # here`), StagePods, keys + "[1]", "it would appear twice in the merged selector"},
		{"R-V22 added by the controller", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchExpressions: [{key: pod-template-hash, operator: Exists}]}, matchLabelKeys: [pod-template-hash]} # here`), StagePods, keys + "[0]", "it would appear twice in the merged selector"},
		{"R-V22 not carried", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {other: b}}, matchLabelKeys: [other]}`), "", "", ""},
		{"R-V22 set at bind", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {topology.kubernetes.io/zone: b}}, matchLabelKeys: [topology.kubernetes.io/zone]}`), "", "", ""},
		{"R-V22 on the template", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {other: b}, matchExpressions: [{key: other, operator: Exists}]}, matchLabelKeys: [other]} # here`), StageObject, keys + "[0]", `key "other" is in matchLabelKeys and appears 2 times in labelSelector`},
		{"R-V22 doubled", sequence(softPod, `{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {}, matchLabelKeys: [tenant, tenant]}} # here`), StagePods, softPodPath + "podAffinityTerm.matchLabelKeys[1]", "in matchLabelKeys: it would appear twice in the merged selector"},
		{"R-V22 doubled, not carried", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, matchLabelKeys: [other, other]}`), "", "", ""},
		{"R-V22 doubled and selected", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {tenant: b}}, matchLabelKeys: [tenant, tenant]} # here`), StagePods, keys + "[0]", "in both matchLabelKeys and labelSelector"},
		{"R-V22 mismatch is allowed", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {tenant: b}}, mismatchLabelKeys: [tenant, tenant]}`), "", "", ""},
		{"R-V23", sequence(hardPod, `{topologyKey: zone, labelSelector: {}, matchLabelKeys: [x], mismatchLabelKeys: [x]} # here`), StageObject, keys + "[0]", `key "x" is in both matchLabelKeys and mismatchLabelKeys`},
	})
	check(t, inPod, []row{
		{"R-V22 of a pod", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {tenant: b}}, matchLabelKeys: [tenant]} # here`), StageObject, keys + "[0]", "it would appear twice in the merged selector"},
		{"R-V22 hash of a pod", sequence(hardPod, `{topologyKey: zone, labelSelector: {matchLabels: {pod-template-hash: b}}, matchLabelKeys: [pod-template-hash]}`), "", "", ""},
	})
	check(t, asIs, []row{
		{"R-V22 merged already", `
apiVersion: v1
kind: Pod
metadata: {name: web-1, uid: 8b2c, labels: {tenant: a}}
spec:
  nodeName: n1
  containers: [{name: main}]
  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, matchLabelKeys: [tenant], labelSelector: {matchExpressions: [{key: tenant, operator: In, values: [a]}]}}]}}`, "", "", ""},
	})
}

package workload

import (
	"strings"
	"testing"
)

func TestValidatePod(t *testing.T) {
	check(t, inDeployment, []row{
		{"R-V1 key", `nodeSelector: {"bad key!": v} # here`, StageObject, "nodeSelector.bad key!", `nodeSelector key is "bad key!": must be`},
		{"R-V1 value", `nodeSelector: {k: "bad value!"} # here`, StageObject, "nodeSelector.k", `nodeSelector k is "bad value!": must be at most 63`},
		{"R-V1 type", `nodeSelector: {k: true} # here`, StageObject, "nodeSelector.k", "expected a string, found the boolean true"},
		{"R-V1 good", `nodeSelector: {kubernetes.io/os: linux, empty: ""}`, "", "", ""},
		{"R-V2 name", `nodeName: Node_1 # here`, StageObject, "nodeName", `nodeName is "Node_1": must be`},
		{"R-V2 good", `nodeName: node-1.example.com`, "", "", ""},
		{"R-V2 gates", "schedulingGates: [{name: a}]\nnodeName: n1 # here", StagePods, "nodeName", "cannot be set until all schedulingGates are removed"},
		{"R-V18 name", `schedulingGates: [{name: "bad gate!"}] # here`, StageObject, "schedulingGates[0].name", `name is "bad gate!"`},
		{"R-V18 missing", `schedulingGates: [{}] # here`, StageObject, "schedulingGates[0].name", "name is missing"},
		{"R-V18 twice", "schedulingGates:\n- name: a.b/c\n- name: a.b/c # here", StageObject, "schedulingGates[1].name", `duplicate scheduling gate "a.b/c"`},
		{"R-V18 good", `schedulingGates: [{name: a.b/c}, {name: d}]`, "", "", ""},
		{"R-V19 class", `priorityClassName: High # here`, StageObject, "priorityClassName", `priorityClassName is "High"`},
		{"R-V19 runtime", `runtimeClassName: "" # here`, StageObject, "runtimeClassName", `runtimeClassName is ""`},
		{"R-V19 preemption", `preemptionPolicy: never # here`, StageObject, "preemptionPolicy", `preemptionPolicy is "never": must be PreemptLowerPriority or Never`},
		{"R-V19 good", "priorityClassName: high\nruntimeClassName: gvisor\npreemptionPolicy: Never", "", "", ""},
		{"R-V19 null", "priorityClassName:\nruntimeClassName: null\npreemptionPolicy: ~", "", "", ""},
	})
	check(t, inPod, []row{
		{"R-V2 gates of a pod", "schedulingGates: [{name: a}]\nnodeName: n1 # here", StageObject, "nodeName", "cannot be set until all schedulingGates are removed"},
	})
}

func TestValidatePorts(t *testing.T) {
	check(t, inDeployment.bare(), []row{
		{"R-V20 unequal", `
hostNetwork: true
containers:
- name: a
  ports:
  - containerPort: 80
    hostPort: 8080 # here`, StageObject, "containers[0].ports[0].hostPort", "hostPort is 8080 and containerPort is 80: must match when hostNetwork is true"},
		{"R-V20 unequal without hostNetwork", `containers: [{name: a, ports: [{containerPort: 80, hostPort: 8080}]}]`, "", "", ""},
		{"R-V20 twice", `
containers:
- {name: a, ports: [{containerPort: 80, hostPort: 80}]}
- {name: b, ports: [{containerPort: 81, hostPort: 80}]} # here`, StageObject, "containers[1].ports[0].hostPort", `host port 80/TCP is taken by container "a" already`},
		{"R-V20 other protocol", `containers: [{name: a, ports: [{containerPort: 53, hostPort: 53}, {containerPort: 53, hostPort: 53, protocol: UDP}]}]`, "", "", ""},
		{"R-V20 other address", `containers: [{name: a, ports: [{containerPort: 53, hostPort: 53, hostIP: 10.0.0.1}, {containerPort: 53, hostPort: 53}]}]`, "", "", ""},
		{"R-V20 by default", `
hostNetwork: true
containers:
- {name: a, ports: [{containerPort: 80}]}
- {name: b, ports: [{containerPort: 80}]} # here`, StagePods, "containers[1].ports[0].containerPort", "hostNetwork makes every containerPort a host port"},
		{"R-V20 init containers", `
hostNetwork: true
initContainers: [{name: i, ports: [{containerPort: 80}]}, {name: j, ports: [{containerPort: 80, hostPort: 81}]}]
containers: [{name: a, ports: [{containerPort: 80}]}]`, "", "", ""},
		{"R-V20 range", `containers: [{name: a, ports: [{containerPort: 80, hostPort: 65536}]}] # here`, StageObject, "containers[0].ports[0].hostPort", "hostPort is 65536: must be between 1 and 65535"},
		{"R-V20 missing", `containers: [{name: a, ports: [{hostPort: 80}]}] # here`, StageObject, "containers[0].ports[0].containerPort", "containerPort is missing"},
		{"R-V20 protocol", `containers: [{name: a, ports: [{containerPort: 80, protocol: tcp}]}] # here`, StageObject, "containers[0].ports[0].protocol", `protocol is "tcp": must be TCP, UDP or SCTP`},
		{"R-V20 type", `containers: [{name: a, ports: [{containerPort: "80", hostPort: 80}]}] # here`, StageObject, "containers[0].ports[0].containerPort", "expected a whole number"},
	})
	check(t, inPod.bare(), []row{
		{"R-V20 by default in a pod", `
hostNetwork: true
containers:
- {name: a, ports: [{containerPort: 80}]}
- {name: b, ports: [{containerPort: 80}]} # here`, StageObject, "containers[1].ports[0].containerPort", "is taken by"},
	})
}

func TestValidateResources(t *testing.T) {
	check(t, inDeployment.bare(), []row{
		{"R-V32 name", `containers: [{name: a, resources: {limits: {gpu: 1}}}] # here`, StageObject, "containers[0].resources.limits.gpu", `resource is "gpu": must be cpu, memory`},
		{"R-V32 name of a quota", `containers: [{name: a, resources: {limits: {requests.example.com/x: 1}}}] # here`, StageObject, "containers[0].resources.limits.requests.example.com/x", "must not start with requests."},
		{"R-V32 form", `containers: [{name: a, resources: {limits: {"a b": 1}}}] # here`, StageObject, "containers[0].resources.limits.a b", `resource is "a b"`},
		{"R-V32 negative", `initContainers: [{name: a, resources: {requests: {cpu: -1}}}] # here`, StageObject, "initContainers[0].resources.requests.cpu", "cpu is -1: must not be negative"},
		{"R-V32 fraction", `containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1500m}}}] # here`, StageObject, "containers[0].resources.limits.nvidia.com/gpu", "must be an integer"},
		{"R-V32 above", `
containers:
- name: a
  resources:
    limits: {memory: 1Gi}
    requests:
      memory: 2Gi # here`, StageObject, "containers[0].resources.requests.memory", "request of 2Gi memory exceeds its limit of 1Gi"},
		{"R-V32 equal", `containers: [{name: a, resources: {limits: {cpu: 1}, requests: {cpu: 1000m}}}]`, "", "", ""},
		{"R-V32 no limit", `containers: [{name: a, resources: {requests: {nvidia.com/gpu: 1}}}] # here`, StageObject, "containers[0].resources.requests.nvidia.com/gpu", "nvidia.com/gpu is requested without a limit"},
		{"R-V32 unequal", `containers: [{name: a, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}}] # here`, StageObject, "containers[0].resources.requests.nvidia.com/gpu", "must be equal"},
		{"R-V32 limit alone", `containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1, kubernetes.io/batman: 1}}}]`, "", "", ""},
		{"R-V32 unknown limit", `containers: [{name: a, resources: {limits: {nvidia.com/gpu: "${GPUS}"}, requests: {nvidia.com/gpu: 1}}}]`, "", "", ""},
		{"R-V32 huge pages alone", `containers: [{name: a, resources: {limits: {hugepages-2Mi: 4Mi}}}] # here`, StageObject, "containers[0].resources.limits.hugepages-2Mi", "HugePages require cpu or memory"},
		{"R-V32 huge pages uneven", `containers: [{name: a, resources: {limits: {cpu: 1, hugepages-2Mi: 3Mi}}}] # here`, StageObject, "containers[0].resources.limits.hugepages-2Mi", "must be a multiple of the page size"},
		{"R-V32 huge pages", `containers: [{name: a, resources: {limits: {cpu: 1, hugepages-2Mi: 4Mi}, requests: {hugepages-2Mi: 4Mi}}}]`, "", "", ""},
		{"R-V32 no quantity", `containers: [{name: a, resources: {limits: {cpu: lots}, requests: {cpu: 5}}}] # here`, StageObject, "containers[0].resources.limits.cpu", "expected a quantity"},
		{"R-V32 overhead", "containers: [{name: a}]\noverhead: {gpu: 1} # here", StageObject, "overhead.gpu", `resource is "gpu"`},
		{"R-V33 sum", `
containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 1}}}]
resources: {requests: {cpu: 1}} # here`, StageObject, "resources.requests.cpu", "pod request of 1 cpu is lower than its containers' requests of 2"},
		{"R-V33 sum by default", `
containers: [{name: a, resources: {limits: {cpu: 2}}}]
resources: {requests: {cpu: 1}} # here`, StagePods, "resources.requests.cpu", "pod request of 1 cpu is lower than its containers' requests of 2"},
		{"R-V33 limit", `
containers: [{name: a, resources: {limits: {cpu: 2}}}]
resources: {limits: {cpu: 1}} # here`, StageObject, "resources.limits.cpu", `pod limit of 1 cpu is lower than the limit of container "a", 2`},
		{"R-V33 limit of requests", `
containers: [{name: a, resources: {requests: {cpu: 600m}}}, {name: b, resources: {requests: {cpu: 600m}}}]
resources: {limits: {cpu: 1}} # here`, StagePods, "resources.limits.cpu", "pod limit of 1 cpu is lower than its containers' requests of 1.2"},
		{"R-V33 limit is the requests", `
containers: [{name: a, resources: {requests: {cpu: 500m}}}, {name: b, resources: {requests: {cpu: 500m}}}]
resources: {limits: {cpu: 1}}`, "", "", ""},
		{"R-V33 name", "containers: [{name: a}]\nresources: {limits: {nvidia.com/gpu: 1}} # here", StageObject, "resources.limits.nvidia.com/gpu", "at pod level"},
		{"R-V33 claims", "containers: [{name: a}]\nresources: {claims: [{name: x}]} # here", StageObject, "resources.claims", "claims is set at pod level"},
		{"R-V33 windows", "containers: [{name: a}]\nos: {name: windows}\nresources: {limits: {cpu: 1}} # here", StageObject, "resources", "Windows pod"},
		{"R-V33 huge pages alone", "containers: [{name: a, resources: {requests: {cpu: 1}}}]\nresources: {limits: {hugepages-2Mi: 4Mi}} # here", StageObject, "resources.limits.hugepages-2Mi", "HugePages require cpu or memory"},
		{"R-V33 good", `
containers: [{name: a, resources: {requests: {cpu: 500m}, limits: {cpu: 2}}}]
resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 1Gi}}`, "", "", ""},
	})
	check(t, inPod.bare(), []row{
		{"R-V33 huge pages in a pod, whose requests are set by default", "containers: [{name: a, resources: {requests: {cpu: 1}}}]\nresources: {limits: {hugepages-2Mi: 4Mi}}", "", "", ""},
		{"R-V33 sum by default in a pod", `
containers: [{name: a, resources: {limits: {cpu: 2}}}]
resources: {requests: {cpu: 1}} # here`, StageObject, "resources.requests.cpu", "its containers' requests of 2"},
	})
}

// TestUnwieldyQuantities uses quantities on which the quantity library would compute for hours.
func TestUnwieldyQuantities(t *testing.T) {
	const must = "expected a quantity of at most 64 characters with an exponent from -100 to 100"
	check(t, inPod.bare(), []row{
		{"limit", `containers: [{name: a, resources: {limits: {cpu: "1e-100000000"}}}] # here`, StageObject, "containers[0].resources.limits.cpu", must},
		{"request", `containers: [{name: a, resources: {requests: {memory: 1e999999999}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"number", `containers: [{name: a, resources: {requests: {memory: 1e300}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"digits", `containers: [{name: a, resources: {requests: {memory: 0.` + strings.Repeat("1", 100) + `}}}]`, "", "", ""}, // the API server receives a number with 17 digits
		{"digits as text", `containers: [{name: a, resources: {requests: {memory: "0.` + strings.Repeat("1", 100) + `"}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"init container", "containers: [{name: a}]\ninitContainers: [{name: b, resources: {requests: {cpu: 1E-9999999}}}]", "", "", ""}, // the number is 0
		{"init container's text", "containers: [{name: a}]\ninitContainers: [{name: b, resources: {requests: {cpu: '1E-9999999'}}}] # here", StageObject, "initContainers[0].resources.requests.cpu", must},
		{"pod", "containers: [{name: a}]\nresources: {limits: {cpu: '1e-100000000'}} # here", StageObject, "resources.limits.cpu", must},
		{"overhead", "containers: [{name: a}]\noverhead: {cpu: '1e-100000000'} # here", StageObject, "overhead.cpu", must},
		{"page size", `containers: [{name: a, resources: {limits: {cpu: 1, hugepages-1e-100000000: 4Mi}}}] # here`, StageObject, "containers[0].resources.limits.hugepages-1e-100000000", "must be a multiple of the page size"},
		{"page size of no value", `containers: [{name: a, resources: {limits: {cpu: 1, hugepages-1e50: 4Mi}}}] # here`, StageObject, "containers[0].resources.limits.hugepages-1e50", "must be a multiple of the page size"},
		{"large", `containers: [{name: a, resources: {limits: {cpu: "1e100", memory: 8Ei}, requests: {cpu: "1e-100"}}}]`, "", "", ""},
	})
	machine := inMachine
	machine.text = strings.Replace(machine.text, "domain: {memory: {guest: 2Gi}}\n      ", "", 1)
	check(t, machine, []row{
		{"guest", "domain: {memory: {guest: '1e-100000000'}} # here", StageObject, "domain.memory.guest", must},
		{"limit of a machine", "domain: {resources: {limits: {memory: '1e-100000000'}, requests: {memory: 1}}} # here", StageObject, "domain.resources.limits.memory", must},
		{"request of a machine", "domain: {resources: {requests: {cpu: '1e100000000'}, limits: {cpu: 2}}} # here", StageObject, "domain.resources.requests.cpu", must},
	})
}

// TestLongValues checks that long values are shortened in messages.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("1", 1_000_000)
	for _, yaml := range []string{"nodeName: '" + long + "'", "nodeSelector: {a: " + long + "}", "tolerations: [{key: a, effect: '" + long + "'}]"} {
		for _, p := range load(t, inPod.fill(yaml))[0].Problems {
			if len(p.Message)+len(p.Fix) > 1000 || !strings.Contains(p.Message, "(1000000 bytes)") {
				t.Errorf("%.60s: a message of %d bytes", yaml, len(p.Message))
			}
		}
	}
}

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

// TestValidateMachine checks the stage of each problem of a virtual machine (R-W28).
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

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
		{"R-V33 name", "containers: [{name: a}]\nresources: {limits: {nvidia.com/gpu: 1}} # here", StageObject, "resources.limits.nvidia.com/gpu", "at pod level"},
		{"R-V33 claims", "containers: [{name: a}]\nresources: {claims: [{name: x}]} # here", StageObject, "resources.claims", "claims is set at pod level"},
		{"R-V33 windows", "containers: [{name: a}]\nos: {name: windows}\nresources: {limits: {cpu: 1}} # here", StageObject, "resources", "Windows pod"},
		{"R-V33 good", `
containers: [{name: a, resources: {requests: {cpu: 500m}, limits: {cpu: 2}}}]
resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 1Gi}}`, "", "", ""},
	})
	check(t, inPod.bare(), []row{
		{"R-V33 sum by default in a pod", `
containers: [{name: a, resources: {limits: {cpu: 2}}}]
resources: {requests: {cpu: 1}} # here`, StageObject, "resources.requests.cpu", "its containers' requests of 2"},
	})
}

// TestUnwieldyQuantities uses quantities that would keep the library busy for hours.
func TestUnwieldyQuantities(t *testing.T) {
	const must = "expected a quantity of at most 64 characters with an exponent from -100 to 100"
	check(t, inPod.bare(), []row{
		{"limit", `containers: [{name: a, resources: {limits: {cpu: "1e-100000000"}}}] # here`, StageObject, "containers[0].resources.limits.cpu", must},
		{"request", `containers: [{name: a, resources: {requests: {memory: 1e999999999}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"number", `containers: [{name: a, resources: {requests: {memory: 1e300}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"digits", `containers: [{name: a, resources: {requests: {memory: 0.` + strings.Repeat("1", 100) + `}}}]`, "", "", ""}, // the API server gets a number of 17 digits
		{"digits as text", `containers: [{name: a, resources: {requests: {memory: "0.` + strings.Repeat("1", 100) + `"}}}] # here`, StageObject, "containers[0].resources.requests.memory", must},
		{"init container", "containers: [{name: a}]\ninitContainers: [{name: b, resources: {requests: {cpu: 1E-9999999}}}]", "", "", ""}, // a number that is 0
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

// TestLongValues shows no more of a value than fits into a message.
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

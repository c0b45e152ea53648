package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/source"
)

// rich uses every checked field of a pod's spec.
const rich = `
nodeSelector: {kubernetes.io/os: linux, pool: ""}
schedulerName: default-scheduler
priorityClassName: system-cluster-critical
tolerations:
- {operator: Exists}
- {key: node-role.kubernetes.io/control-plane, effect: NoSchedule}
- {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
- {key: dedicated, operator: Equal, value: web-1.x, effect: PreferNoSchedule}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  minDomains: 3
  nodeAffinityPolicy: Honor
  nodeTaintsPolicy: Ignore
  labelSelector: {matchLabels: {app: web}}
  matchLabelKeys: [pod-template-hash]
- {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
        - {key: cpu-count, operator: Gt, values: ["8"]}
        - {key: example.com/old, operator: DoesNotExist}
        matchFields: [{key: metadata.name, operator: NotIn, values: [node-1]}]
      - {}
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 1, preference: {matchExpressions: [{key: disk, operator: In, values: ["not a label value"]}]}}
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      namespaces: [default, kube-system]
      namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: Exists}]}
      labelSelector: {matchLabels: {app: cache}}
      matchLabelKeys: [other]
      mismatchLabelKeys: [app]
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm: {topologyKey: example.com/rack, labelSelector: {}}
`

// richPod has the fields that pods have and machines do not.
const richPod = `
hostNetwork: true
runtimeClassName: gvisor
preemptionPolicy: PreemptLowerPriority
overhead: {cpu: 50m, memory: 64Mi}
resources: {requests: {cpu: "4"}, limits: {cpu: "8", memory: 16Gi}}
initContainers:
- {name: proxy, restartPolicy: Always, ports: [{containerPort: 15090}], resources: {requests: {cpu: 100m}}}
containers:
- name: web
  image: example.com/web:1
  ports: [{containerPort: 8080}, {containerPort: 8443, hostPort: 8443, protocol: TCP}, {containerPort: 8443, protocol: UDP}]
  resources:
    requests: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Gi}
    limits: {cpu: "1", memory: 1Gi, nvidia.com/gpu: 1, hugepages-2Mi: 100Mi}
- {name: side, image: example.com/side:1}
`

// healthy has manifests of all kinds, with @ in place of the pod's spec.
func healthy() []frame {
	pod := func(indent int, text string) frame { return frame{indent: indent, text: text} }
	const meta = "metadata: {name: web, labels: {app: web, version: \"1\"}}\n"
	const labels = "metadata: {labels: {app: web, tier: front}}"
	return []frame{
		pod(2, "apiVersion: v1\nkind: Pod\n"+meta+"spec:\n  @"),
		pod(6, "apiVersion: apps/v1\nkind: Deployment\n"+meta+`spec:
  replicas: 3
  selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [front]}]}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 25%}}
  template:
    `+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: apps/v1\nkind: ReplicaSet\n"+meta+"spec:\n  replicas: 0\n  selector: {matchLabels: {app: web}}\n  template:\n    "+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: v1\nkind: ReplicationController\n"+meta+"spec:\n  selector: {app: web}\n  template:\n    "+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: apps/v1\nkind: StatefulSet\n"+meta+`spec:
  serviceName: web
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1, maxUnavailable: 100%}}
  template:
    `+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: apps/v1\nkind: DaemonSet\n"+meta+`spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}
  template:
    `+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: batch/v1\nkind: Job\n"+meta+"spec:\n  completions: 3\n  parallelism: 2\n  completionMode: Indexed\n  template:\n    "+labels+"\n    spec:\n      restartPolicy: Never\n      @"),
		pod(10, "apiVersion: batch/v1\nkind: CronJob\n"+meta+`spec:
  schedule: "0 * * * *"
  jobTemplate:
    spec:
      template:
        `+labels+"\n        spec:\n          restartPolicy: Never\n          @"),
		pod(6, "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n"+meta+`spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  strategy: {canary: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    `+labels+"\n    spec:\n      @"),
		pod(6, "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n"+meta+"spec:\n  runStrategy: Always\n  template:\n    "+labels+"\n    spec:\n      @"),
		pod(2, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n"+meta+"spec:\n  @"),
		pod(6, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceReplicaSet\n"+meta+"spec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n  template:\n    "+labels+"\n    spec:\n      @"),
		pod(10, "apiVersion: pool.kubevirt.io/v1alpha1\nkind: VirtualMachinePool\n"+meta+`spec:
  replicas: 2
  selector: {matchLabels: {pool: web}}
  virtualMachineTemplate:
    metadata: {labels: {pool: web}}
    spec:
      runStrategy: Always
      template:
        `+labels+"\n        spec:\n          @"),
	}
}

const richMachine = `
domain:
  cpu: {cores: 2}
  memory: {guest: 2Gi}
  resources: {requests: {cpu: 500m, memory: 2Gi}, limits: {cpu: "2", memory: 4Gi}}
`

// fillHealthy returns a manifest without problems.
func fillHealthy(f frame, machine bool) string {
	if machine {
		return f.fill(rich + richMachine)
	}
	return f.fill(rich + richPod)
}

func TestHealthy(t *testing.T) {
	missing := map[string]bool{}
	for _, k := range ownKinds() {
		missing[k.Kind] = true
	}
	for i, f := range healthy() {
		manifest := fillHealthy(f, i > 8)
		found := load(t, manifest)
		if len(found) != 1 {
			t.Errorf("%d workloads in\n%s", len(found), manifest)
			continue
		}
		w := found[0]
		delete(missing, w.Object.Kind)
		if w.Kind.VM != (i > 8) {
			t.Errorf("%s stands in the wrong place", w)
		}
		for _, p := range w.Problems {
			t.Errorf("%s: %s: %s", w, p.Field, p.Message)
		}
		for _, u := range w.Unknown {
			t.Errorf("%s: unknown %s", w, u.Field)
		}
	}
	for k := range missing {
		t.Errorf("no healthy %s", k)
	}
}

// TestVariables replaces each string of a healthy manifest by a tool variable, one at a time, and
// checks that unknown values are not judged.
func TestVariables(t *testing.T) {
	t.Parallel()
	all := healthy()
	if trials.Few(t) {
		all = all[:2]
	}
	for i, f := range all {
		manifest := fillHealthy(f, i > 8)
		for _, word := range []string{"DoNotSchedule", "Exists", "NoSchedule", "amd64", "kubernetes.io/hostname", "500m", "kube-system", "topology.kubernetes.io/zone",
			"cache", "25%", "Parallel", "RollingUpdate", "PreemptLowerPriority", "gvisor", "TCP", "metadata.name", "default", "Honor", "system-cluster-critical", "1Gi", "16Gi"} {
			for _, variable := range []string{`"${X}"`, `"{{ x }}"`, `"$(X)"`} {
				for _, w := range load(t, replaceWord(manifest, word, variable)) {
					for _, p := range w.Problems {
						t.Errorf("%s, %s for %s: %s: %s", w, variable, word, p.Field, p.Message)
					}
				}
			}
		}
	}
}

// replaceWord replaces a word where it is a complete value.
func replaceWord(text, word, by string) string {
	out := []byte{}
	for i := 0; i < len(text); i++ {
		end := i + len(word)
		if end < len(text) && text[i:end] == word && i > 1 && slices.Contains([]byte(" ["), text[i-1]) && slices.Contains([]byte(",}]\n"), text[end]) {
			out = append(out, by...)
			i = end - 1
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// TestSpoiled gives each scalar of a healthy manifest a wrong type or value, one at a time. One
// fault must cause at most one problem, and a wrong type must have no consequences for other
// fields.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	all := []int{0, 1, 4, 7, 8, 9, 12}
	if trials.Few(t) {
		all = all[:1]
	}
	for _, i := range all {
		manifest := fillHealthy(healthy()[i], i > 8)
		w := load(t, manifest)[0]
		lines := strings.Split(manifest, "\n")
		scalars(w.Object.Root, func(n *source.Node) {
			for i, wrong := range []string{"[1]", "{a: b}", "true", "1.5", "word"} {
				s, line := w.File().Span(n), lines[n.Line-1]
				lines[n.Line-1] = line[:s.Column-1] + wrong + line[s.EndColumn-1:]
				text := strings.Join(lines, "\n")
				lines[n.Line-1] = line
				for _, spoiled := range load(t, text) {
					for _, p := range spoiled.Problems {
						inside(t, spoiled.File(), p)
					}
					if p := spoiled.Problems; len(p) > 1 || i < 3 && len(p) == 1 && !strings.HasPrefix(p[0].Message, "expected a ") {
						t.Errorf("%s instead of %s in line %d: %+v", wrong, n.Value, n.Line, p)
					}
				}
			}
		})
	}
}

// scalars visits all scalars except those that identify the object.
func scalars(n *source.Node, visit func(*source.Node)) {
	for k, v := range n.Fields() {
		if k.Value != "apiVersion" && k.Value != "kind" {
			scalars(v, visit)
		}
	}
	for _, item := range n.Items() {
		scalars(item, visit)
	}
	if n.Kind == source.Scalar {
		visit(n)
	}
}

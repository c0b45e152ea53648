package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A sample is a small cluster in two forms: the manifests that are judged, and the pods that the
// enumerator places. In the second form, every pod has the labels that controllers add, with their
// values, so that the enumeration does not depend on the reasoning about labels with unknown
// values.
type sample struct {
	// early is set if zonal volumes are made before their pods are scheduled.
	early   bool
	boxes   []box
	loads   []load
	running []load // running pods, each on its node
}

// box is a node. It lacks the label for an empty zone, rack or pool, and does not declare a
// negative amount.
type box struct {
	name, host, zone, rack, pool string
	taint, cordon, drained       bool
	cpu, pods                    int
	memory                       int    // in KiB, or 0 if not declared
	more                         string // additional labels
}

func (b box) String() string {
	labels := keys[host] + ": " + b.host
	for _, l := range [][2]string{{keys[zone], b.zone}, {keys[rack], b.rack}, {"pool", b.pool}} {
		if l[1] != "" {
			labels += ", " + l[0] + ": " + l[1]
		}
	}
	labels += b.more
	var room, spec []string
	if b.cpu >= 0 {
		room = append(room, fmt.Sprintf("cpu: %q", strconv.Itoa(b.cpu)))
	}
	if b.memory > 0 {
		room = append(room, fmt.Sprintf("memory: %dKi", b.memory))
	}
	if b.pods >= 0 {
		room = append(room, fmt.Sprintf("pods: %q", strconv.Itoa(b.pods)))
	}
	var taints []string
	if b.taint {
		taints = append(taints, "{key: t, value: v, effect: NoSchedule}")
	}
	if b.drained { // as the node controller marks it
		taints = append(taints, "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}")
	}
	spec = append(spec, "taints: ["+strings.Join(taints, ", ")+"]")
	if b.cordon || b.drained {
		spec = append(spec, "unschedulable: true")
	}
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s}}, spec: {%s}, status: {allocatable: {%s}}}\n",
		b.name, labels, strings.Join(spec, ", "), strings.Join(room, ", "))
}

// takes applies the filters that depend only on the node.
func (b box) takes(l load) bool {
	return (!b.taint || l.tolerates) && (!b.cordon || l.kind == "DaemonSet") && (l.pool == "" || l.pool == b.pool)
}

// rule is a hard term. It selects pods by a label and, if match or mismatch is set, also by the
// label that distinguishes revisions or machines.
type rule struct {
	use, key, labels string
	match, mismatch  bool
	skew             int
	more             string // additional fields of a spread constraint
}

// selects reports whether the rule selects another workload's pods by their labels.
func (r rule) selects(l load) bool {
	return (r.labels == "app: "+l.name || r.labels == "all: pods" || r.labels == "kubevirt.io: virt-launcher" && l.machine()) && !r.match
}

// load is a workload with its pods.
type load struct {
	kind, name      string
	replicas        int
	strategy        string // the field strategy, or updateStrategy
	rules           []rule
	pool            string
	tolerates, port bool
	cpu, memory     int    // in cores and MiB
	node            string // of a running pod
	// hashed identifies the revision with the hash that a rule asks for: "old" for the revision
	// in place, "new" for the next one, or "" for neither.
	hashed string
	// guarded is set if a budget allows only `allowed` of the pods to be missing.
	guarded bool
	allowed int
	// hidden names a field in the pod spec that excludes the workload from decisions. It is
	// "count" if the number of pods is unknown.
	hidden string
	// pin is the label of the domain in which the volumes of a StatefulSet's pods are made, or empty.
	pin string
	// bound describes the existing volumes of the pods of a StatefulSet.
	bound bound
	// claim is the class of a claim that all pods use, or empty.
	claim string
	// once is the name of a claim that one pod can use at a time, or empty.
	once string
}

// bound has, by ordinal, the value of the label key of the nodes that can use the existing volume of a
// pod. It is empty if the volume does not exist. ordered is set if the pods are created in order.
type bound struct {
	key     string
	to      []string
	ordered bool
}

// volumes returns the PersistentVolumes of a workload's pods.
func (l load) volumes() (text string) {
	for i, value := range l.bound.to {
		if value != "" {
			text += fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: %[1]s-%[2]d}, spec: {storageClassName: %[3]s, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: %[4]s, volumeHandle: %[1]s-%[2]d}, claimRef: {namespace: default, name: data-%[1]s-%[2]d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %[5]s, operator: In, values: [%[6]s]}]}]}}}}\n",
				l.name, i, classes[l.pin][0], classes[l.pin][1], l.bound.key, value)
		}
	}
	return text
}

// askedHash is the template hash that rules ask for. Only the cluster knows which pods have it.
const askedHash = "6c9f7d8b5"

// hash returns the value by which the enumerator distinguishes a revision.
func (l load) hash(told string) string {
	is := "old"
	if told == "new" {
		is = told
	}
	if is == l.hashed {
		return askedHash
	}
	return told
}

// tells maps kinds to the label by which their controllers distinguish revisions or machines.
var tells = map[string]string{
	"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash", "DaemonSet": "controller-revision-hash", "Rollout": "rollouts-pod-template-hash",
	"VirtualMachine": "kubevirt.io/created-by", "VirtualMachineInstanceReplicaSet": "kubevirt.io/created-by", "Pod": "nothing",
}

func (l load) machine() bool { return strings.HasPrefix(l.kind, "Virtual") }

// spec returns the pod spec fields that both forms share.
func (l load) spec() string {
	by := map[string][]string{}
	for _, r := range l.rules {
		text := fmt.Sprintf("{topologyKey: %s, labelSelector: {matchLabels: {%s}}", r.key, r.labels)
		if r.match {
			text += ", matchLabelKeys: [" + tells[l.kind] + "]"
		}
		if r.mismatch {
			text += ", mismatchLabelKeys: [" + tells[l.kind] + "]"
		}
		if r.use == "spread" {
			text += fmt.Sprintf(", maxSkew: %d, whenUnsatisfiable: DoNotSchedule%s", r.skew, r.more)
		}
		by[r.use] = append(by[r.use], text+"}")
	}
	hard := func(use string) string {
		return fmt.Sprintf("{requiredDuringSchedulingIgnoredDuringExecution: [%s]}", strings.Join(by[use], ", "))
	}
	var fields []string
	switch anti, aff := len(by["anti"]) > 0, len(by["aff"]) > 0; {
	case anti && aff:
		fields = append(fields, fmt.Sprintf("affinity: {podAntiAffinity: %s, podAffinity: %s}", hard("anti"), hard("aff")))
	case anti:
		fields = append(fields, fmt.Sprintf("affinity: {podAntiAffinity: %s}", hard("anti")))
	case aff:
		fields = append(fields, fmt.Sprintf("affinity: {podAffinity: %s}", hard("aff")))
	}
	if spreads := by["spread"]; len(spreads) > 0 {
		fields = append(fields, "topologySpreadConstraints: ["+strings.Join(spreads, ", ")+"]")
	}
	if l.pool != "" {
		fields = append(fields, "nodeSelector: {pool: "+l.pool+"}")
	}
	if l.tolerates {
		fields = append(fields, "tolerations: [{key: t, operator: Exists}]")
	}
	if l.hidden != "" && l.hidden != "count" {
		fields = append(fields, l.hidden)
	}
	return strings.Join(fields, ", ")
}

// container returns the containers of the pods, with ports and requests.
func (l load) container() string {
	text := ", containers: [{name: c, image: c"
	if l.port {
		text += ", ports: [{containerPort: 80, hostPort: 80}]"
	}
	if l.cpu > 0 || l.memory > 0 {
		text += fmt.Sprintf(", resources: {requests: {cpu: %d, memory: %dMi}}", l.cpu, l.memory)
	}
	return text + "}]"
}

// labels returns the labels in the template. No selector of another load selects the load named
// stranger.
func (l load) labels() string {
	if l.name == "stranger" {
		return "app: " + l.name
	}
	return "app: " + l.name + ", all: pods"
}

// manifest returns the workload in the form that is judged.
func (l load) manifest() string {
	version := map[string]string{"Rollout": "argoproj.io/v1alpha1", "VirtualMachine": "kubevirt.io/v1", "VirtualMachineInstanceReplicaSet": "kubevirt.io/v1"}[l.kind]
	if version == "" {
		version = "apps/v1"
	}
	head := fmt.Sprintf("replicas: %d, selector: {matchLabels: {app: %s}}", l.replicas, l.name)
	if l.hidden == "count" {
		head = fmt.Sprintf("replicas: \"${REPLICAS}\", selector: {matchLabels: {app: %s}}", l.name)
	}
	switch l.kind {
	case "DaemonSet":
		head = fmt.Sprintf("selector: {matchLabels: {app: %s}}", l.name)
	case "VirtualMachine":
		head = "runStrategy: Always"
	}
	if l.strategy != "" {
		head += ", " + l.strategy
	}
	if len(l.bound.to) > 0 && !l.bound.ordered {
		head += ", podManagementPolicy: Parallel"
	}
	if l.pin != "" {
		head += fmt.Sprintf(", volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]", classes[l.pin][0])
	}
	body, claim := strings.TrimPrefix(l.spec()+l.container(), ", "), ""
	if l.claim != "" {
		body += fmt.Sprintf(", volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]", l.name)
		claim = fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n", l.name, l.claim)
	}
	if l.once != "" {
		body += ", volumes: [{name: once, persistentVolumeClaim: {claimName: " + l.once + "}}]"
	}
	if l.machine() {
		body = strings.TrimPrefix(fmt.Sprintf("%s, domain: {resources: {requests: {cpu: %q}}}", l.spec(), strconv.Itoa(max(1, l.cpu))), ", ")
	}
	return claim + l.volumes() + fmt.Sprintf("---\n{apiVersion: %s, kind: %s, metadata: {name: %s}, spec: {%s, template: {metadata: {labels: {%s}}, spec: {%s}}}}\n", version, l.kind, l.name, head, l.labels(), body)
}

// classes has the StorageClass and the provisioner of volumes by the label of their domain.
var classes = map[string][2]string{keys[zone]: {"zonal", "ebs.csi.aws.com"}, keys[host]: {"local", "rancher.io/local-path"}, "": {"free", "driver.longhorn.io"}}

// attached reports whether a claim of all pods has a volume that is attached to one node at a time.
func (l load) attached() bool { return l.claim == "zonal" || l.claim == "free" }

// finds reports whether the volume of a claim of all pods can be used on a node. The row was has the
// pods of the state before.
func (l load) finds(w *world, before grid, n, was int) bool {
	key := map[string]string{"zonal": keys[zone], "local": keys[host]}[l.claim]
	if key == "" {
		return true
	}
	nodes := w.m.Topology.Nodes
	for o := range nodes {
		if w.on(before, was, o) > 0 && nodes[o].Labels[key] == nodes[n].Labels[key] {
			return true
		}
	}
	return false
}

// mayUse reports whether one more pod of a row can use its volume on a node. Each pod stays in the
// domain where it was before the change, so a domain never has more pods than it had then.
func (l load) mayUse(w *world, before, g grid, n int, was int, rows ...int) bool {
	if l.pin == "" {
		return true
	}
	nodes := w.m.Topology.Nodes
	had, has := 0, 0
	for o := range nodes {
		if nodes[o].Labels[l.pin] != nodes[n].Labels[l.pin] || l.pin == keys[host] && o != n {
			continue
		}
		had += w.on(before, was, o)
		for _, r := range rows {
			has += w.on(g, r, o)
		}
	}
	return has < had
}

// pod returns one pod of the workload with additional labels, or a DaemonSet for pods bound to
// nodes.
func (l load) pod(name, told, meta, status string) string {
	labels := fmt.Sprintf("%s, %s: %s", l.labels(), tells[l.kind], l.hash(told))
	if l.machine() {
		l.cpu = max(1, l.cpu)
		labels += ", kubevirt.io: virt-launcher"
	}
	spec := strings.TrimPrefix(l.spec()+l.container(), ", ")
	if l.node != "" {
		spec += ", nodeName: " + l.node
	}
	if l.kind == "DaemonSet" && meta == "" {
		return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %s}, spec: {selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {%s}}, spec: {%s}}}}\n", name, l.name, labels, spec)
	}
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}%s}, spec: {%s}%s}\n", name, labels, meta, spec, status)
}

// nodes and manifests return the input that is judged.
func (s sample) nodes() string {
	text := ""
	for _, b := range s.boxes {
		text += b.String()
	}
	return text
}

func (s sample) manifests() string {
	text := s.inPlace()
	for _, key := range slices.Sorted(maps.Keys(classes)) {
		c := classes[key]
		if slices.ContainsFunc(s.loads, func(l load) bool { return l.pin != "" || l.claim != "" }) {
			mode := "WaitForFirstConsumer"
			if elsewhere := func(b box) bool { return b.zone != s.boxes[0].zone }; c[0] == "zonal" && (s.early || !slices.ContainsFunc(s.boxes, elsewhere)) {
				mode = "Immediate" // in any zone, or in the only one
			}
			text += fmt.Sprintf("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s, volumeBindingMode: %s}\n", c[0], c[1], mode)
		}
	}
	if slices.ContainsFunc(s.loads, func(l load) bool { return l.once != "" }) {
		text += "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: free}, provisioner: nfs.csi.k8s.io, volumeBindingMode: WaitForFirstConsumer}\n"
		text += "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: once}, spec: {storageClassName: free, accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}}\n"
	}
	for _, l := range s.loads {
		text += l.manifest()
		if l.guarded {
			text += fmt.Sprintf("---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %[1]s}, spec: {maxUnavailable: %[2]d, selector: {matchLabels: {app: %[1]s}}}}\n", l.name, l.allowed)
		}
	}
	return text
}

func (s sample) inPlace() string {
	text := ""
	for _, l := range s.running {
		text += l.pod(l.name, "x", "", ", status: {phase: Running}")
	}
	return text
}

func (s sample) String() string { return "\n" + s.nodes() + s.manifests() }

// clone returns a copy that shares no data that tests change.
func (s sample) clone() sample {
	s.boxes, s.loads, s.running = slices.Clone(s.boxes), slices.Clone(s.loads), slices.Clone(s.running)
	for _, list := range [][]load{s.loads, s.running} {
		for i := range list {
			list[i].rules = slices.Clone(list[i].rules)
		}
	}
	return s
}

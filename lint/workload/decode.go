package workload

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// read decodes and validates an object that has its own pod template.
func (l *loader) read(o *source.Object, kind *Kind) *Workload {
	if l.once {
		w := l.decode(o, kind)
		if w.SpecNode == o.Root.At(kind.Template...).Get("spec") { // nothing was dropped
			w.Object.Fold(&asked)
			w.TemplateNode = w.Object.Folded(w.TemplateNode)
			if k, v := w.Object.Root.Get("spec").Field("replicas"); k != nil && w.Count.Key != nil && *k == *w.Count.Key {
				w.Count.Key, w.Count.Value = k, v
			} else {
				w.Count.Key, w.Count.Value = w.Object.Folded(w.Count.Key), w.Object.Folded(w.Count.Value)
			}
			w.SpecNode = w.TemplateNode.Get("spec")
		}
		return w
	}
	if l.known[o] == nil {
		l.known[o] = l.decode(o, kind)
	}
	w := *l.known[o] // each set adds data from other objects to its own copy
	w.Problems, w.Unknown = slices.Clip(w.Problems), slices.Clip(w.Unknown)
	return &w
}

// asked lists the fields of a workload that every run needs after decoding.
var asked = source.Kept{Through: "spec", Names: []string{
	"metadata",                                                                                           // of the object and of its template
	"ordinals", "paused", "podManagementPolicy", "replicas", "strategy", "updateStrategy", "workloadRef", // of the object's spec
	"affinity", "nodeSelector", "restartPolicy", "tolerations", "topologySpreadConstraints", // of the pod's spec
}}

func (l *loader) decode(o *source.Object, kind *Kind) *Workload {
	w := &Workload{Object: o, Kind: kind, Count: kind.Count(o), TemplateNode: o.Root.At(kind.Template...), Kubernetes: l.Kubernetes}
	w.SpecNode = w.TemplateNode.Get("spec")
	w.dropFields((&place{base: kind.Template, value: w.TemplateNode}).field("spec"))
	l.labels(w)
	l.spec(w)
	w.Claims, w.OpenVolume, w.InlineDisks = w.readClaims(), w.readInline(), w.readInlineDisks()
	w.Running = kind.Kind == "Pod" && w.Spec.NodeName != "" && o.Root.At("status", "phase").Text() == "Running"
	c := checker{w: w, unchecked: StageObject, created: StagePods, fromTemplate: StageObject}
	if w.Kind.VM {
		c.unchecked = StagePods
		if len(w.Kind.Template) > 0 {
			c.fromTemplate = StagePods
		}
	} else if len(w.Kind.Template) == 0 {
		c.created = StageObject
	}
	c.object()
	template := &place{base: w.Kind.Template, value: w.TemplateNode}
	before := len(w.Problems)
	c.labels(c.fromTemplate, template.field("metadata").field("labels"), "label")
	c.pod(template.field("spec"))
	if w.Kind.Kind == rolloutKind { // the API server validates the template only when the controller creates pods from it
		for i := range w.Problems[before:] {
			w.Problems[before+i].Stage = StagePods
		}
	}
	return w
}

// isManifest reports whether an object is a complete manifest. A strategic merge patch, by
// contrast, contains only the name of the object and the fields to change.
func isManifest(o *source.Object, kind *Kind) bool {
	template := o.Root.At(kind.Template...)
	spec := template.Get("spec")
	labelled := template.At("metadata", "labels").Len() > 0
	selects := !o.Root.At("spec", "selector").IsNull() // an empty selector is rejected (R-V37), but patches have no selector at all
	holds := spec.Get("containers").Len() > 0
	if kind.VM {
		domain, _ := spec.Field("domain")
		return spec.Len() > 0 && (domain != nil || labelled || selects || o.Root.At("spec", "instancetype") != nil)
	}
	if kind.Selects {
		imaged := slices.ContainsFunc(spec.Get("containers").Items(), func(c *source.Node) bool { return c.Get("image") != nil }) // patches rarely set an image
		return spec != nil && (selects || labelled && imaged)
	}
	return holds
}

// labels collects the pod labels with known values.
func (l *loader) labels(w *Workload) {
	node := w.TemplateNode.At("metadata", "labels")
	w.Labels = make(map[string]string, node.Len()+len(w.Kind.Fixed))
	path := w.Kind.path("metadata.labels")
	if node.Placeholder() {
		w.Open = append(w.Open, "metadata.labels")
		return
	}
	if !node.IsNull() && node.Kind != source.Map {
		k, v := w.TemplateNode.Get("metadata").Field("labels")
		w.refuse(path, w.File().FieldSpan(k, v), "expected a map", "")
	}
	for k, v := range node.Fields() {
		if k.Placeholder() {
			w.Open = append(w.Open, "metadata.labels")
		}
		if v.Kind != source.Scalar || v.Type != source.String && v.Type != source.Null {
			w.mistyped(path+"."+k.Value, k, v, "string")
			continue
		}
		w.Labels[k.Value] = v.Text()
	}
	maps.Copy(w.Labels, w.Kind.Fixed)
	if w.Object.Root.At("metadata", "generateName") == nil {
		for _, k := range w.Kind.NameLabels {
			w.Labels[k] = w.Object.Name
		}
	}
}

// path returns the path of a field in the pod template, from the root of the object.
func (k *Kind) path(field string) string {
	return strings.Join(append(slices.Clone(k.Template), field), ".")
}

// spec decodes the pod spec and records values of the wrong type.
func (l *loader) spec(w *Workload) {
	var found []source.Mismatch
	if w.Kind.VM {
		var vmi vmiSpec
		found = l.decoder.Decode(w.SpecNode, &vmi)
		w.Spec = vmi.pod()
	} else {
		found = l.decoder.Decode(w.SpecNode, &w.Spec)
	}
	prefix := w.Kind.path("spec")
	for _, m := range found {
		field := prefix + "." + m.Path
		switch {
		case m.Unknown:
			w.unknown(field, m)
		case m.Placeholder:
			w.Open = append(w.Open, m.Path)
			w.numeral(m.Value)
		default:
			w.Open = append(w.Open, m.Path)
			w.mistyped(field, m.Key, m.Value, m.Want)
		}
	}
	// The scheduler of the cluster may not count the ports of sidecars. If that depends on the patch release, their
	// host ports are not known.
	keeps := versions.SidecarPorts().Keeps(w.Kubernetes)
	for i := range w.Spec.InitContainers {
		c := &w.Spec.InitContainers[i]
		switch {
		case keeps == diag.Always || c.RestartPolicy != "Always":
		case keeps == diag.Never:
			c.Ports = nil
		case slices.ContainsFunc(c.Ports, func(p ContainerPort) bool { return p.HostPort > 0 || w.Spec.HostNetwork }):
			w.Open = append(w.Open, fmt.Sprintf("initContainers[%d].ports", i))
		}
	}
	l.lists.share(&w.Spec)
	// The decoder does not report placeholders in string fields, because they are valid strings.
	held := placeholders{pod: w.SpecNode}
	held.find("", w.Object.Root)
	w.Placeholders = append(w.Placeholders, held.named()...)
	w.openFields()
	l.envelope(w)
}

// unknown records a field that does not exist. The complete type of a virtual machine's spec is not
// available. Unknown fields in it are therefore recorded only inside fields that pods also have.
func (w *Workload) unknown(field string, m source.Mismatch) {
	w.Unknown = append(w.Unknown, UnknownField{Field: field, Suggestion: m.Suggestion, Span: w.File().FieldSpan(m.Key, m.Value), KeySpan: w.File().Span(m.Key)})
}

// refuse records a field that the API server rejects.
func (w *Workload) refuse(field string, at diag.Span, message, fix string) {
	w.Problems = append(w.Problems, Problem{Stage: StageObject, Field: field, Span: at, Message: message, Fix: fix})
}

// mistyped records a value of the wrong type, which the API server cannot decode.
func (w *Workload) mistyped(field string, key, value *source.Node, want string) {
	span := w.File().Span(value)
	if key != nil {
		span = w.File().FieldSpan(key, value)
	}
	if value.Kind != source.Scalar {
		w.refuse(field, span, "expected a "+want+", found a "+value.Kind.String(), "")
		return
	}
	message, fix := "expected a "+want+", found the "+value.Type.String()+" "+clipped(value.Value), ""
	if want == "string" && !value.Quoted && value.Type != source.Null && len(value.Value) <= maxShown {
		fix = `quote it: "` + value.Value + `"`
	}
	w.refuse(field, span, message, fix)
}

// PodSpec holds the pod spec fields that affect placement.
type PodSpec struct {
	NodeName                  string                            `json:"nodeName"`
	NodeSelector              map[string]string                 `json:"nodeSelector"`
	Affinity                  *corev1.Affinity                  `json:"affinity"`
	Tolerations               []corev1.Toleration               `json:"tolerations"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	SchedulerName             string                            `json:"schedulerName"`
	SchedulingGates           []corev1.PodSchedulingGate        `json:"schedulingGates"`
	PriorityClassName         string                            `json:"priorityClassName"`
	RuntimeClassName          string                            `json:"runtimeClassName"`
	PreemptionPolicy          string                            `json:"preemptionPolicy"`
	Priority                  *int32                            `json:"priority"`
	HostNetwork               bool                              `json:"hostNetwork"`
	Containers                []Container                       `json:"containers"`
	InitContainers            []Container                       `json:"initContainers"`
	Overhead                  corev1.ResourceList               `json:"overhead"`
	Resources                 *Resources                        `json:"resources"`
	OS                        *corev1.PodOS                     `json:"os"`
}

// Container holds the container fields that affect pod placement.
type Container struct {
	Name          string          `json:"name"`
	Ports         []ContainerPort `json:"ports"`
	Resources     Resources       `json:"resources"`
	RestartPolicy string          `json:"restartPolicy"`
}

type ContainerPort struct {
	HostPort      int32  `json:"hostPort"`
	ContainerPort int32  `json:"containerPort"`
	Protocol      string `json:"protocol"`
	HostIP        string `json:"hostIP"`
}

// Resources holds requests and limits. Claims are not decoded, because static checks cannot know
// which devices exist.
type Resources struct {
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
}

// vmiSpec holds the VirtualMachineInstance spec fields that affect pod placement (R-W20).
type vmiSpec struct {
	fragment
	SchedulerName     string    `json:"schedulerName"`
	PriorityClassName string    `json:"priorityClassName"`
	Architecture      string    `json:"architecture"`
	Domain            vmiDomain `json:"domain"`
}

type vmiDomain struct {
	Resources Resources `json:"resources"`
	CPU       struct {
		Cores                 int64 `json:"cores"`
		Sockets               int64 `json:"sockets"`
		Threads               int64 `json:"threads"`
		DedicatedCPUPlacement bool  `json:"dedicatedCpuPlacement"`
	} `json:"cpu"`
	Memory struct {
		Guest *resource.Quantity `json:"guest"`
	} `json:"memory"`
}

// newDecoder returns a decoder that knows all API fields, including those that this package does
// not read. It needs them to recognize misspelled fields.
func newDecoder() *source.Decoder {
	return &source.Decoder{
		Full: map[reflect.Type]reflect.Type{
			reflect.TypeFor[PodSpec](): reflect.TypeFor[corev1.PodSpec](),
		},
		Open: map[reflect.Type]bool{
			reflect.TypeFor[Container]():       true,
			reflect.TypeFor[ContainerPort]():   true,
			reflect.TypeFor[Resources]():       true,
			reflect.TypeFor[corev1.PodOS]():    true,
			reflect.TypeFor[vmiSpec]():         true,
			reflect.TypeFor[vmiDomain]():       true,
			reflect.TypeOf(vmiDomain{}.CPU):    true,
			reflect.TypeOf(vmiDomain{}.Memory): true,
		},
	}
}

// KVM is the device that KubeVirt requests for the hardware virtualization of every machine. A node
// may have the device without listing it among its resources.
const KVM = corev1.ResourceName("devices.kubevirt.io/kvm")

// pod returns the spec of a machine's launcher pod. The computed resource amounts are lower bounds,
// because KubeVirt adds overhead to them (R-W23).
func (s *vmiSpec) pod() PodSpec {
	requests := corev1.ResourceList{KVM: resource.MustParse("1")}
	maps.Copy(requests, s.Domain.Resources.Limits)
	maps.Copy(requests, s.Domain.Resources.Requests)
	if _, ok := requests[corev1.ResourceCPU]; !ok {
		// KubeVirt requests a tenth of a CPU per virtual CPU (its default allocation ratio), or a
		// whole CPU if the CPUs are dedicated.
		c := s.Domain.CPU
		n := max(1, min(c.Cores, 1<<16)) * max(1, min(c.Sockets, 1<<16)) * max(1, min(c.Threads, 1<<16))
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(n*100, resource.DecimalSI)
		if c.DedicatedCPUPlacement {
			requests[corev1.ResourceCPU] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	if guest := s.Domain.Memory.Guest; guest != nil {
		if _, ok := requests[corev1.ResourceMemory]; !ok {
			requests[corev1.ResourceMemory] = *guest
		}
	}
	return PodSpec{
		NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, SchedulerName: s.SchedulerName, PriorityClassName: s.PriorityClassName,
		Containers: []Container{{Name: "compute", Resources: Resources{Requests: requests}}},
	}
}

// sharedLists holds one copy of each distinct resource list. Sharing saves memory, because most
// lists occur many times and a map with two quantities takes 600 bytes.
type sharedLists map[listKey]corev1.ResourceList

// listKey is a resource list of up to four entries, sorted by name.
type listKey [4]listed

type listed struct {
	name   corev1.ResourceName
	amount resource.Quantity
}

// share replaces each resource list in the spec with the shared copy of an equal list.
func (s sharedLists) share(spec *PodSpec) {
	for _, containers := range [...][]Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			r := &containers[i].Resources
			r.Requests, r.Limits = s.known(r.Requests), s.known(r.Limits)
		}
	}
}

func (s sharedLists) known(list corev1.ResourceList) corev1.ResourceList {
	var key listKey
	if len(list) == 0 || len(list) > len(key) {
		return list
	}
	i := 0
	for name, amount := range list {
		at := i
		for ; at > 0 && key[at-1].name > name; at-- {
			key[at] = key[at-1]
		}
		key[at] = listed{name, amount}
		i++
	}
	if same, ok := s[key]; ok {
		return same
	}
	s[key] = list
	return list
}

// EvictionStrategy returns the eviction strategy of a virtual machine, for example LiveMigrate, and
// its location (R-W29). It returns "" if the object is not a virtual machine, or if the machine
// uses the strategy of the cluster. Placeholders are returned unchanged.
func (w *Workload) EvictionStrategy() (strategy string, at diag.Span) {
	k, v := w.SpecNode.Field("evictionStrategy")
	if !w.Kind.VM || v.Text() == "" {
		return "", diag.Span{}
	}
	return v.Text(), w.File().FieldSpan(k, v)
}

// OuterLabel is a label outside the pod template, with its location.
type OuterLabel struct {
	Value string
	Span  diag.Span
}

// outerLabels maps virtual machine kinds to the paths of labels that are not copied to the pods.
var outerLabels = map[string][]string{
	"VirtualMachine":                   {"metadata", "labels"},
	"VirtualMachineInstanceReplicaSet": {"metadata", "labels"},
	"VirtualMachinePool":               {"spec", "virtualMachineTemplate", "metadata", "labels"},
}

// OuterLabels returns the labels of a virtual machine that are outside the instance template. They
// are not copied to the pods (R-W21). It omits labels that the pods have anyway. For other kinds of
// objects, it returns nil.
func (w *Workload) OuterLabels() map[string]OuterLabel {
	path, ok := outerLabels[w.Kind.Kind]
	if !ok {
		return nil
	}
	all := map[string]OuterLabel{}
	for k, v := range w.Object.Root.At(path...).Fields() {
		if inner, carried := w.Labels[k.Value]; !carried || inner != v.Text() {
			all[k.Value] = OuterLabel{Value: v.Text(), Span: w.Object.File.FieldSpan(k, v)}
		}
	}
	return all
}

// placeholder reports whether a field's value is a placeholder. HOSTNAME counts as a placeholder in
// fields that name a node.
func placeholder(field string, n *source.Node) bool {
	return n.Placeholder() || n.Text() == "HOSTNAME" && (field == "nodeName" || field == "hostname" || strings.HasSuffix(field, "/hostname"))
}

// passedBy lists fields that no check reads, in addition to those for which Unread returns true.
var passedBy = setOf("annotations image imagePullPolicy imagePullSecrets status")

// askedOfPods lists the fields that checks read from the spec of a pod or machine.
// askedOfContainers lists the fields that they read from a container.
var (
	askedOfPods = strings.Fields(`affinity architecture containers domain evictionStrategy hostNetwork initContainers nodeName nodeSelector os overhead
		preemptionPolicy priorityClassName resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates
		serviceAccountName tolerations topologySpreadConstraints`)
	askedOfContainers = []string{"name", "ports", "resources", "restartPolicy"}
)

// placeholders collects the placeholders of an object.
type placeholders struct {
	// pod is the pod's spec, or nil. Only the fields that askedOfPods lists are searched in it.
	pod *source.Node
	// any is set if the object contains any placeholder, including tool variables.
	any bool
	// whole makes find search all fields, including those that no check reads.
	whole bool
	// texts holds the placeholders, excluding tool variables.
	texts map[string]bool
}

// named returns the placeholders in texts, in sorted order.
func (p *placeholders) named() []string { return sorting.Keys(p.texts) }

// find looks for placeholders in the value of a field.
func (p *placeholders) find(field string, n *source.Node) {
	if n == nil || n.Kind == source.Scalar {
		p.add(field, n)
		return
	}
	for k, v := range n.Fields() {
		if !p.whole && (passedBy[k.Value] || Unread(k.Value)) {
			continue
		}
		p.add("", k)
		read := true
		switch { // n is the value of the field, or one of its items
		case p.whole:
		case n == p.pod:
			read = slices.Contains(askedOfPods, k.Value)
		case field == "containers" || field == "initContainers":
			read = slices.Contains(askedOfContainers, k.Value)
		}
		if read {
			p.find(valueOf(n, k), v)
		}
	}
	for _, item := range n.Items() {
		p.find(field, item)
	}
}

func (p *placeholders) add(field string, n *source.Node) {
	if !placeholder(field, n) {
		return
	}
	p.any = true
	if !source.IsVariable(n.Value) {
		if p.texts == nil {
			p.texts = map[string]bool{}
		}
		p.texts[n.Value] = true
	}
}

// placeholders records the placeholders found in an object.
func (l *loader) placeholders(o *source.Object, texts []string) {
	if len(texts) > 0 {
		l.set.Placeholders[o] = append(l.set.Placeholders[o], texts...)
	}
}

// valueOf returns the name of the field that contains a value. For a value in a label requirement,
// it returns the key of the requirement.
func valueOf(n, k *source.Node) string {
	if key := n.Get("key").Text(); k.Value == "values" && key != "" {
		return key
	}
	return k.Value
}

// openFields records the placement fields that contain placeholders.
func (w *Workload) openFields() {
	w.openResources("resources", w.SpecNode.Get("resources"))
	for _, list := range []string{"containers", "initContainers"} {
		for i, c := range w.SpecNode.Get(list).Items() {
			at := fmt.Sprintf("%s[%d].", list, i)
			w.openResources(at+"resources", c.Get("resources"))
			for j, port := range c.Get("ports").Items() {
				if port.Get("hostIP").Placeholder() {
					w.Open = append(w.Open, fmt.Sprintf("%sports[%d].hostIP", at, j))
				}
			}
		}
	}
	for _, field := range []string{"affinity", "nodeName", "nodeSelector", "runtimeClassName", "tolerations", "topologySpreadConstraints"} {
		n := w.SpecNode.Get(field)
		placing := placeholders{whole: true}
		if placing.find(field, n); placing.any {
			w.variable(field, field, n)
		}
	}
}

// openResources marks requests or limits as unknown if any resource name in them is a placeholder.
func (w *Workload) openResources(path string, resources *source.Node) {
	for _, list := range []string{"requests", "limits"} {
		for k := range resources.Get(list).Fields() {
			if k.Placeholder() {
				w.Open = append(w.Open, path+"."+list)
			}
		}
	}
}

// numeral records an upper-case word in a numeric field as a placeholder. In other fields, such a
// word is ordinary text.
func (w *Workload) numeral(n *source.Node) {
	if n.Kind == source.Scalar && !n.Placeholder() {
		w.Placeholders = append(w.Placeholders, n.Value)
	}
}

func (w *Workload) variable(path, field string, n *source.Node) {
	if placeholder(field, n) {
		w.Open = append(w.Open, path)
	}
	for k, v := range n.Fields() {
		at := path + "." + k.Value
		if k.Placeholder() {
			w.Open = append(w.Open, at)
		}
		switch k.Value {
		case "labelSelector", "namespaceSelector": // selector matching handles unknown values
		default:
			w.variable(at, valueOf(n, k), v)
		}
	}
	for i, item := range n.Items() {
		w.variable(path+"["+strconv.Itoa(i)+"]", field, item)
	}
}

package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var preemptions = []string{"PreemptLowerPriority", "Never"}

// names checks fields that contain one name (R-V2, R-V19), and the names of containers.
func (c podChecker) names(spec *place) {
	c.containerNames(spec)
	node := spec.field("nodeName")
	if s, _ := node.text(); s != "" {
		c.form(StageObject, &node, "", subdomain)
	}
	if runtime := spec.field("runtimeClassName"); !runtime.absent() {
		c.form(StageObject, &runtime, "", subdomain)
	}
	if policy := spec.field("preemptionPolicy"); !policy.absent() {
		c.oneOf(StageObject, &policy, false, preemptions)
	}
}

// containerNames checks that each container has a unique name, including init containers
// (validateContainerCommon, validateInitContainers).
func (c podChecker) containerNames(spec *place) {
	seen := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		containers := spec.field(list)
		for i := range containers.len() {
			container := containers.item(i)
			name := container.field("name")
			s, ok := name.text()
			switch {
			case container.broken() || !ok:
			case s == "":
				c.refuse(StageObject, &name, "the container has no name", "give it a name")
			case c.named(&name, dnsLabel, false) && seen[s]:
				c.refuse(StageObject, &name, fmt.Sprintf("duplicate container name %q", s), "rename one of them")
			}
			seen[s] = true
		}
	}
}

// gates checks schedulingGates (R-V18), and that the pod has no node yet (R-V2), which only the
// creation of the pod reveals.
func (c podChecker) gates(spec *place) {
	gates, node := spec.field("schedulingGates"), spec.field("nodeName")
	if s, _ := node.text(); s != "" && gates.len() > 0 {
		c.refuse(c.created, &node, fmt.Sprintf("nodeName is %q: cannot be set until all schedulingGates are removed", s), "remove nodeName")
	}
	seen := map[string]bool{}
	for i := range gates.len() {
		gate := gates.item(i)
		name := gate.field("name")
		s, ok := name.text()
		if gate.broken() || !ok {
			continue
		}
		if c.form(StageObject, &name, "", labelKey) && seen[s] {
			c.refuse(StageObject, &name, fmt.Sprintf("duplicate scheduling gate %q", s), "remove one of them")
		}
		seen[s] = true
	}
}

var protocols = []string{"TCP", "UDP", "SCTP"}

// hostPort is a port that a container takes on its node.
type hostPort struct {
	protocol, ip string
	port         int64
	// container is the name of its container; declared is false if only hostNetwork makes it a host
	// port.
	container string
	declared  bool
}

// ports checks the ports of containers (R-V20). Containers run together, so their host ports must
// differ; init containers are checked one by one.
func (c podChecker) ports(spec *place) {
	taken := map[socket]hostPort{}
	containers, inits := spec.field("containers"), spec.field("initContainers")
	for i := range containers.len() {
		container := containers.item(i)
		c.containerPorts(&container, taken, c.w.Spec.HostNetwork)
	}
	for i := range inits.len() {
		container := inits.item(i)
		c.containerPorts(&container, map[socket]hostPort{}, false)
	}
}

// containerPorts adds the host ports of one container to those taken. Under hostNetwork, the host
// ports of a regular container must equal its container ports.
func (c podChecker) containerPorts(container *place, taken map[socket]hostPort, equal bool) {
	ports, name := container.field("ports"), container.field("name")
	owner, _ := name.text()
	for i := range ports.len() {
		port := ports.item(i)
		if port.broken() {
			continue
		}
		want, ok := c.hostPort(&port, equal)
		if !ok {
			continue
		}
		want.container = owner
		at := socket{want.protocol, want.ip, want.port}
		if t, both := taken[at]; both {
			c.refuseTakenPort(&port, want, t)
		} else {
			taken[at] = want
		}
	}
}

// socket identifies a port that only one port of a pod may take.
type socket struct {
	protocol, ip string
	port         int64
}

// hostPort checks one port by itself; ok is false if it takes no known port of the host. With
// hostNetwork every port without hostPort gets its containerPort (R-P3).
func (c podChecker) hostPort(port *place, equal bool) (h hostPort, ok bool) {
	host, inner := port.field("hostPort"), port.field("containerPort")
	protocol, ip := port.field("protocol"), port.field("hostIP")
	hostValid, innerValid := c.portNumber(&host, true), c.portNumber(&inner, false)
	h.protocol, ok = c.oneOf(StageObject, &protocol, true, protocols)
	if h.protocol == "" {
		h.protocol = "TCP"
	}
	var known bool
	h.ip, known = ip.text()
	h.port, _ = host.number()
	h.declared = h.port != 0
	n, _ := inner.number()
	switch {
	case !hostValid || !innerValid:
		return h, false
	case equal && h.declared && h.port != n:
		c.refuse(StageObject, &host, fmt.Sprintf("hostPort is %d and containerPort is %d: must match when hostNetwork is true", h.port, n), "remove hostPort")
	case c.w.Spec.HostNetwork && !h.declared:
		h.port = n
	}
	return h, ok && known && h.port != 0
}

// portNumber checks the number of a port; optional ports may be 0.
func (c podChecker) portNumber(p *place, optional bool) bool {
	n, ok := p.number()
	switch {
	case !ok || n == 0 && optional:
		return ok
	case n < 1 || n > 65535:
		c.refuse(StageObject, p, found(p, p.name)+": must be between 1 and 65535", "")
		return false
	}
	return true
}

// refuseTakenPort reports a host port that is used twice.
func (c podChecker) refuseTakenPort(port *place, want, by hostPort) {
	stage, at := StageObject, port.field("hostPort")
	if !want.declared {
		at = port.field("containerPort")
	}
	if !want.declared || !by.declared {
		stage = c.created
	}
	message := fmt.Sprintf("host port %d/%s is taken by container %q already", want.port, want.protocol, by.container)
	if !want.declared {
		message += " (hostNetwork makes every containerPort a host port)"
	}
	c.refuse(stage, &at, message, "")
}

const (
	hardTerms = "requiredDuringSchedulingIgnoredDuringExecution"
	softTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks the three kinds of affinity.
func (c podChecker) affinity(spec *place) {
	affinity := spec.field("affinity")
	if affinity.absent() {
		return
	}
	node, pod, anti := affinity.field("nodeAffinity"), affinity.field("podAffinity"), affinity.field("podAntiAffinity")
	c.nodeAffinity(&node)
	typed := c.w.Spec.Affinity
	if typed != nil && typed.PodAffinity != nil {
		c.podAffinity(&pod, typed.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, typed.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if typed != nil && typed.PodAntiAffinity != nil {
		c.podAffinity(&anti, typed.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, typed.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// nodeAffinity checks required terms (R-V3 to R-V9) and preferred ones, whose values may be
// anything (R-V7).
func (c podChecker) nodeAffinity(p *place) {
	hard, soft := p.field(hardTerms), p.field(softTerms)
	terms := hard.field("nodeSelectorTerms")
	if !hard.absent() && !hard.broken() && !terms.brokenList() && terms.len() == 0 { // R-V3
		message := "nodeSelectorTerms is empty: must have at least one node selector term"
		if terms.absent() {
			message = "nodeSelectorTerms is missing: must have at least one node selector term"
		}
		c.refuse(StageObject, &terms, message, "")
	}
	for i := range terms.len() {
		term := terms.item(i)
		c.nodeTerm(&term, true)
	}
	for i := range soft.len() {
		item := soft.item(i)
		if item.broken() {
			continue
		}
		c.weight(&item)
		term := item.field("preference")
		c.nodeTerm(&term, false)
	}
}

// weight checks the weight of a preferred term (R-V10).
func (c podChecker) weight(item *place) {
	weight := item.field("weight")
	if n, ok := weight.number(); ok && (n < 1 || n > 100) {
		c.refuse(StageObject, &weight, found(&weight, "weight")+": must be in the range 1-100", "")
	}
}

func (c podChecker) nodeTerm(term *place, labelValues bool) {
	expressions, fields := term.field("matchExpressions"), term.field("matchFields")
	for i := range expressions.len() {
		e := expressions.item(i)
		c.requirement(&e, &nodeOperators, labelValues, c.unchecked)
	}
	for i := range fields.len() {
		f := fields.item(i)
		c.fieldRequirement(&f)
	}
}

// operators has the operators of one kind of requirement, with the number of values that each
// takes.
type operators struct {
	names []string
	arity []arity
}

// arity is the number of values that an operator takes.
type arity struct {
	min, max int
	must     string
}

var (
	some = arity{1, 1 << 30, "needs at least one value"}
	one  = arity{1, 1, "needs exactly one value"}
	none = arity{0, 0, "takes no values"}

	labelOperators = operators{[]string{"In", "NotIn", "Exists", "DoesNotExist"}, []arity{some, some, none, none}}
	nodeOperators  = operators{[]string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}, []arity{some, some, none, none, one, one}}
	fieldOperators = operators{[]string{"In", "NotIn"}, []arity{one, one}}
)

// requirement checks one matchExpressions entry of a node or label selector (R-V4 to R-V7, R-V9,
// R-V12). Like the API server, it does not check whether Gt and Lt compare with a number.
func (c *checker) requirement(e *place, of *operators, labelValues bool, values Stage) {
	if e.broken() {
		return
	}
	key := e.field("key")
	c.form(StageObject, &key, "", labelKey)
	if !c.arity(e, of) || !labelValues {
		return
	}
	list := e.field("values")
	for i := range list.len() {
		item := list.item(i)
		c.form(values, &item, "value", labelValue)
	}
}

// arity checks the operator and the number of values.
func (c *checker) arity(e *place, of *operators) bool {
	operator, values := e.field("operator"), e.field("values")
	word, ok := c.oneOf(StageObject, &operator, false, of.names)
	if !ok || values.brokenList() {
		return ok
	}
	takes := of.arity[slices.Index(of.names, word)]
	n := values.len()
	if n >= takes.min && n <= takes.max {
		return true
	}
	count := fmt.Sprintf("has %d entries", n)
	switch {
	case values.absent():
		count = "is missing"
	case n == 1:
		count = "has 1 entry"
	}
	c.refuse(StageObject, &values, fmt.Sprintf("values %s: operator %s %s", count, word, takes.must), "")
	return false
}

// fieldRequirement checks one matchFields entry (R-V8).
func (c podChecker) fieldRequirement(f *place) {
	if f.broken() {
		return
	}
	key := f.field("key")
	s, ok := key.text()
	if ok && s != metav1.ObjectNameField {
		c.refuse(StageObject, &key, found(&key, "key")+": must be "+metav1.ObjectNameField, "")
	}
	if !c.arity(f, &fieldOperators) || !ok || s != metav1.ObjectNameField {
		return
	}
	list := f.field("values")
	for i := range list.len() {
		item := list.item(i)
		c.form(StageObject, &item, "node name", subdomain)
	}
}

// podAffinity checks podAffinity or podAntiAffinity; hard and soft are its decoded terms.
func (c podChecker) podAffinity(p *place, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) {
	terms, weighted := p.field(hardTerms), p.field(softTerms)
	for i := range min(terms.len(), len(hard)) {
		term := terms.item(i)
		c.podTerm(&term, &hard[i])
	}
	for i := range min(weighted.len(), len(soft)) {
		item := weighted.item(i)
		term := item.field("podAffinityTerm")
		if item.broken() {
			continue
		}
		if inner := item.field("topologyKey"); term.absent() && !inner.absent() {
			c.refuse(StageObject, &term, "podAffinityTerm is missing: a preferred term needs weight and podAffinityTerm",
				"nest the term's fields under podAffinityTerm")
			continue
		}
		c.weight(&item)
		c.podTerm(&term, &soft[i].PodAffinityTerm)
	}
}

// podTerm checks one term of pod (anti-)affinity.
func (c podChecker) podTerm(term *place, typed *corev1.PodAffinityTerm) {
	if term.broken() {
		return
	}
	key := term.field("topologyKey")
	if s, ok := key.text(); ok && s == "" { // R-V11
		c.refuse(StageObject, &key, found(&key, "topologyKey")+": must name a node label", "set topologyKey, for example kubernetes.io/hostname")
	} else if ok {
		c.form(StageObject, &key, "", labelKey)
	}
	labels, namespaces, names := term.field("labelSelector"), term.field("namespaceSelector"), term.field("namespaces")
	c.selector(&labels, typed.LabelSelector)         // R-V12
	c.selector(&namespaces, typed.NamespaceSelector) // R-V12
	for i := range names.len() {                     // R-V13
		item := names.item(i)
		c.form(StageObject, &item, "namespace", dnsLabel)
	}
	mismatch := term.field("mismatchLabelKeys")
	c.labelKeys(term, &mismatch, typed.LabelSelector)
}

var (
	whenUnsatisfiable = []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}
	inclusionPolicies = []string{string(corev1.NodeInclusionPolicyHonor), string(corev1.NodeInclusionPolicyIgnore)}
)

// spread checks topologySpreadConstraints (R-V24 to R-V30).
func (c podChecker) spread(spec *place) {
	constraints, typed := spec.field("topologySpreadConstraints"), c.w.Spec.TopologySpreadConstraints
	pairs := map[[2]string]int{}
	for i := range min(constraints.len(), len(typed)) {
		t := constraints.item(i)
		if t.broken() {
			continue
		}
		c.spreadKey(&t)
		c.spreadAction(&t)
		for _, name := range [...]string{"nodeAffinityPolicy", "nodeTaintsPolicy"} { // R-V29
			if policy := t.field(name); !policy.absent() {
				c.oneOf(c.unchecked, &policy, false, inclusionPolicies)
			}
		}
		selector := t.field("labelSelector")
		c.selector(&selector, typed[i].LabelSelector)
		c.labelKeys(&t, &place{}, typed[i].LabelSelector)
		c.repeated(&t, pairs, i)
	}
}

// spreadKey checks maxSkew (R-V24) and topologyKey (R-V25). Only virt-api checks the form of the
// key.
func (c podChecker) spreadKey(t *place) {
	skew, key := t.field("maxSkew"), t.field("topologyKey")
	if n, ok := skew.number(); ok && n <= 0 {
		c.refuse(StageObject, &skew, found(&skew, "maxSkew")+": must be at least 1", "set maxSkew: 1")
	}
	s, ok := key.text()
	switch {
	case ok && s == "":
		c.refuse(StageObject, &key, found(&key, "topologyKey")+": must name a node label", "set topologyKey, for example topology.kubernetes.io/zone")
	case ok && c.w.Kind.VM:
		c.form(StageObject, &key, "", labelKey)
	}
}

// spreadAction checks whenUnsatisfiable (R-V26) and minDomains (R-V28).
func (c podChecker) spreadAction(t *place) {
	action, domains := t.field("whenUnsatisfiable"), t.field("minDomains")
	word, ok := c.oneOf(StageObject, &action, false, whenUnsatisfiable)
	if domains.absent() {
		return
	}
	switch n, known := domains.number(); {
	case ok && word == string(corev1.ScheduleAnyway):
		c.refuse(c.unchecked, &domains, "minDomains is set with whenUnsatisfiable ScheduleAnyway: can only be set with DoNotSchedule", "remove minDomains")
	case known && n <= 0:
		c.refuse(c.unchecked, &domains, found(&domains, "minDomains")+": must be at least 1", "remove minDomains")
	}
}

// repeated finds a pair of topologyKey and whenUnsatisfiable that an earlier constraint has
// (R-V27).
func (c podChecker) repeated(t *place, seen map[[2]string]int, i int) {
	key, action := t.field("topologyKey"), t.field("whenUnsatisfiable")
	k, ok := key.text()
	a, known := action.text()
	if !ok || !known || k == "" || a == "" {
		return
	}
	pair := [2]string{k, a}
	if j, both := seen[pair]; both {
		c.refuse(StageObject, &key, fmt.Sprintf("same topologyKey %[2]q and whenUnsatisfiable %[3]s as constraint [%[1]d]: the pair must be unique", j, k, a), "remove one of them")
	} else {
		seen[pair] = i
	}
}

var (
	tolerationOperators = []string{string(corev1.TolerationOpEqual), string(corev1.TolerationOpExists)}
	taintEffects        = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
)

// tolerations checks tolerations (R-V14 to R-V17).
func (c podChecker) tolerations(spec *place) {
	list := spec.field("tolerations")
	for i := range list.len() {
		t := list.item(i)
		if t.broken() {
			continue
		}
		key := t.field("key")
		if s, _ := key.text(); s != "" {
			c.form(c.unchecked, &key, "", labelKey) // R-V14
		}
		c.tolerationOperator(&t, &key)
		c.tolerationEffect(&t)
	}
}

// tolerationOperator checks the operator against key and value (R-V15). Gt and Lt need a feature
// gate that is off, so R-V16 cannot apply.
func (c podChecker) tolerationOperator(t, key *place) {
	operator, value := t.field("operator"), t.field("value")
	if s, _ := operator.text(); s == string(corev1.TolerationOpGt) || s == string(corev1.TolerationOpLt) {
		c.refuse(c.unchecked, &operator, fmt.Sprintf("operator is %q: must be Equal or Exists unless the feature gate TaintTolerationComparisonOperators is enabled", s), "")
		return
	}
	word, ok := c.oneOf(c.unchecked, &operator, true, tolerationOperators)
	if !ok {
		return
	}
	name, known := key.text()
	switch {
	case word == string(corev1.TolerationOpExists):
		if v, ok := value.text(); ok && v != "" {
			c.refuse(c.unchecked, &value, fmt.Sprintf("value is %q: must be empty when operator is Exists", v), "remove value, or set operator: Equal")
		}
	case known && name == "":
		c.refuse(c.unchecked, &operator, found(&operator, "operator")+": must be Exists when key is empty", "set operator: Exists, or add a key")
	default:
		c.form(c.unchecked, &value, "", labelValue)
	}
}

// tolerationEffect checks the effect, alone and with tolerationSeconds (R-V17).
func (c podChecker) tolerationEffect(t *place) {
	effect, seconds := t.field("effect"), t.field("tolerationSeconds")
	word, ok := c.oneOf(c.unchecked, &effect, true, taintEffects)
	if _, set := seconds.value.Int(); !ok || !set || word == string(corev1.TaintEffectNoExecute) {
		return
	}
	at := effect
	if word == "" {
		at = seconds
	}
	c.refuse(c.unchecked, &at, found(&effect, "effect")+": must be NoExecute when tolerationSeconds is set", "set effect: NoExecute, or remove tolerationSeconds")
}

package workload

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var preemptions = []string{"PreemptLowerPriority", "Never"}

// names checks that each container, including init containers, has a unique name
// (validateContainerCommon, validateInitContainers). It also checks other fields of the pod spec
// that contain a single word (R-V2, R-V19).
func (c *checker) names(spec *place) {
	seen := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		containers := spec.field(list)
		for i, n := range containers.value.Items() {
			container := containers.item(i, n)
			name := container.field("name")
			s, ok := name.text()
			switch {
			case container.broken() || !ok:
			case s == "":
				c.refuse(StageObject, name, "the container has no name", "give it a name")
			case c.named(name, dnsLabel, false) && seen[s]:
				c.refuse(StageObject, name, fmt.Sprintf("duplicate container name %q", s), "rename one of them")
			}
			seen[s] = true
		}
	}
	node := spec.field("nodeName")
	if s, _ := node.text(); s != "" {
		c.form(StageObject, node, "", subdomain)
	}
	if runtime := spec.field("runtimeClassName"); !runtime.absent() {
		c.form(StageObject, runtime, "", subdomain)
	}
	if policy := spec.field("preemptionPolicy"); !policy.absent() {
		c.oneOf(StageObject, policy, false, preemptions)
	}
}

// gates checks schedulingGates (R-V18). A pod with gates must not have a node yet (R-V2). A
// template that sets both is accepted, but pods created from it are rejected.
func (c *checker) gates(spec *place) {
	gates, node := spec.field("schedulingGates"), spec.field("nodeName")
	if s, _ := node.text(); s != "" && gates.len() > 0 {
		c.refuse(c.created, node, fmt.Sprintf("nodeName is %q: cannot be set until all schedulingGates are removed", s), "remove nodeName")
	}
	seen := map[string]bool{}
	for i, n := range gates.value.Items() {
		gate := gates.item(i, n)
		name := gate.field("name")
		s, ok := name.text()
		if gate.broken() || !ok {
			continue
		}
		if c.form(StageObject, name, "", labelKey) && seen[s] {
			c.refuse(StageObject, name, fmt.Sprintf("duplicate scheduling gate %q", s), "remove one of them")
		}
		seen[s] = true
	}
}

var protocols = []string{"TCP", "UDP", "SCTP"}

// socket is a host port with its protocol and address. Only one container in a pod can use it.
type socket struct {
	protocol, ip string
	port         int64
}

// holder is the container that uses a socket. declared is set if the container sets hostPort.
// Otherwise, the container uses the socket only because of hostNetwork.
type holder struct {
	container string
	declared  bool
}

// ports checks container ports (R-V20). Regular containers run at the same time, so their host
// ports must differ. Init containers run one after another and may share ports.
func (c *checker) ports(spec *place) {
	taken := map[socket]holder{}
	containers, inits := spec.field("containers"), spec.field("initContainers")
	for i, n := range containers.value.Items() {
		c.containerPorts(containers.item(i, n), taken, c.w.Spec.HostNetwork)
	}
	for i, n := range inits.value.Items() {
		c.containerPorts(inits.item(i, n), map[socket]holder{}, false)
	}
}

// containerPorts checks the ports of one container and adds its host ports to taken. equal is set
// for a regular container with hostNetwork, whose host ports must equal its container ports.
func (c *checker) containerPorts(container *place, taken map[socket]holder, equal bool) {
	ports := container.field("ports")
	owner, _ := container.field("name").text()
	for i, n := range ports.value.Items() {
		port := ports.item(i, n)
		if port.broken() {
			continue
		}
		want, declared, ok := c.hostPort(port, equal)
		by, both := taken[want]
		switch {
		case !ok:
			continue
		case !both:
			taken[want] = holder{owner, declared}
			continue
		}
		stage, at := StageObject, port.field("hostPort")
		message := fmt.Sprintf("host port %d/%s is taken by container %q already", want.port, want.protocol, by.container)
		if !declared {
			at = port.field("containerPort")
			message += " (hostNetwork makes every containerPort a host port)"
		}
		if !declared || !by.declared {
			stage = c.created
		}
		c.refuse(stage, at, message, "")
	}
}

// hostPort checks a single port. ok is false if there is no host port or its number is unknown.
// With hostNetwork, a port without hostPort uses the number in containerPort on the host (R-P3).
func (c *checker) hostPort(port *place, equal bool) (s socket, declared, ok bool) {
	host, inner := port.field("hostPort"), port.field("containerPort")
	hostValid, innerValid := c.portNumber(host, true), c.portNumber(inner, false)
	s.protocol, ok = c.oneOf(StageObject, port.field("protocol"), true, protocols)
	s.protocol = cmp.Or(s.protocol, "TCP")
	var known bool
	s.ip, known = port.field("hostIP").text()
	s.port, _ = host.number()
	declared = s.port != 0
	n, _ := inner.number()
	switch {
	case !hostValid || !innerValid:
		return s, declared, false
	case equal && declared && s.port != n:
		c.refuse(StageObject, host, fmt.Sprintf("hostPort is %d and containerPort is %d: must match when hostNetwork is true", s.port, n), "remove hostPort")
	case c.w.Spec.HostNetwork && !declared:
		s.port = n
	}
	return s, declared, ok && known && s.port != 0
}

// portNumber checks a port number. An optional port may be 0.
func (c *checker) portNumber(p *place, optional bool) bool {
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

const (
	hardTerms = "requiredDuringSchedulingIgnoredDuringExecution"
	softTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks node affinity, pod affinity and pod anti-affinity.
func (c *checker) affinity(spec *place) {
	affinity := spec.field("affinity")
	if affinity.absent() {
		return
	}
	// The API server does not check the label values in preferred terms (R-V7).
	p := affinity.field("nodeAffinity")
	hard, soft := p.field(hardTerms), p.field(softTerms)
	terms := hard.field("nodeSelectorTerms")
	if !hard.absent() && !hard.broken() && !terms.brokenList() && terms.len() == 0 { // R-V3
		how := "empty"
		if terms.absent() {
			how = "missing"
		}
		c.refuse(StageObject, terms, "nodeSelectorTerms is "+how+": must have at least one node selector term", "")
	}
	for i, n := range terms.value.Items() {
		c.nodeTerm(terms.item(i, n), true)
	}
	for i, n := range soft.value.Items() {
		if item := soft.item(i, n); !item.broken() {
			c.weight(item)
			c.nodeTerm(item.field("preference"), false)
		}
	}
	typed := c.w.Spec.Affinity
	if typed != nil && typed.PodAffinity != nil {
		pod := typed.PodAffinity
		c.podAffinity(affinity.field("podAffinity"), pod.RequiredDuringSchedulingIgnoredDuringExecution, pod.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if typed != nil && typed.PodAntiAffinity != nil {
		anti := typed.PodAntiAffinity
		c.podAffinity(affinity.field("podAntiAffinity"), anti.RequiredDuringSchedulingIgnoredDuringExecution, anti.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// weight checks the weight of a preferred term (R-V10).
func (c *checker) weight(item *place) {
	weight := item.field("weight")
	if n, ok := weight.number(); ok && (n < 1 || n > 100) {
		c.refuse(StageObject, weight, found(weight, "weight")+": must be in the range 1-100", "")
	}
}

func (c *checker) nodeTerm(term *place, labelValues bool) {
	expressions, fields := term.field("matchExpressions"), term.field("matchFields")
	for i, n := range expressions.value.Items() {
		c.requirement(expressions.item(i, n), &nodeOperators, labelValues, c.unchecked)
	}
	for i, n := range fields.value.Items() { // R-V8
		f := fields.item(i, n)
		if f.broken() {
			continue
		}
		key := f.field("key")
		s, ok := key.text()
		if ok && s != metav1.ObjectNameField {
			c.refuse(StageObject, key, found(key, "key")+": must be "+metav1.ObjectNameField, "")
		}
		if c.arity(f, &fieldOperators) && ok && s == metav1.ObjectNameField {
			c.forms(StageObject, f.field("values"), "node name", subdomain)
		}
	}
}

// operators lists the operators that one kind of requirement allows, and how many values each
// operator takes.
type operators struct {
	names []string
	arity []arity
}

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
// R-V12). Like the API server, it does not check that the values of Gt and Lt are numbers.
func (c *checker) requirement(e *place, of *operators, labelValues bool, values Stage) {
	if e.broken() {
		return
	}
	c.form(StageObject, e.field("key"), "", labelKey)
	if c.arity(e, of) && labelValues {
		c.forms(values, e.field("values"), "value", labelValue)
	}
}

// arity checks the operator of a requirement and the number of its values.
func (c *checker) arity(e *place, of *operators) bool {
	values := e.field("values")
	word, ok := c.oneOf(StageObject, e.field("operator"), false, of.names)
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
	c.refuse(StageObject, values, fmt.Sprintf("values %s: operator %s %s", count, word, takes.must), "")
	return false
}

// podAffinity checks podAffinity or podAntiAffinity. hard holds the decoded required terms, and
// soft the preferred ones.
func (c *checker) podAffinity(p *place, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) {
	terms, weighted := p.field(hardTerms), p.field(softTerms)
	for i, n := range terms.value.Items()[:min(terms.len(), len(hard))] {
		c.podTerm(terms.item(i, n), &hard[i])
	}
	for i, n := range weighted.value.Items()[:min(weighted.len(), len(soft))] {
		item := weighted.item(i, n)
		term := item.field("podAffinityTerm")
		if item.broken() {
			continue
		}
		if inner := item.field("topologyKey"); term.absent() && !inner.absent() {
			c.refuse(StageObject, term, "podAffinityTerm is missing: a preferred term needs weight and podAffinityTerm",
				"nest the term's fields under podAffinityTerm")
			continue
		}
		c.weight(item)
		c.podTerm(term, &soft[i].PodAffinityTerm)
	}
}

func (c *checker) podTerm(term *place, typed *corev1.PodAffinityTerm) {
	if term.broken() {
		return
	}
	key := term.field("topologyKey")
	if s, ok := key.text(); ok && s == "" { // R-V11
		c.refuse(StageObject, key, found(key, "topologyKey")+": must name a node label", "set topologyKey, for example kubernetes.io/hostname")
	} else if ok {
		c.form(StageObject, key, "", labelKey)
	}
	c.selector(term.field("labelSelector"), typed.LabelSelector)          // R-V12
	c.selector(term.field("namespaceSelector"), typed.NamespaceSelector)  // R-V12
	c.forms(StageObject, term.field("namespaces"), "namespace", dnsLabel) // R-V13
	c.labelKeys(term, term.field("mismatchLabelKeys"), typed.LabelSelector)
}

var (
	whenUnsatisfiable = []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}
	inclusionPolicies = []string{string(corev1.NodeInclusionPolicyHonor), string(corev1.NodeInclusionPolicyIgnore)}
)

// spread checks topologySpreadConstraints (R-V24 to R-V30).
func (c *checker) spread(spec *place) {
	constraints, typed := spec.field("topologySpreadConstraints"), c.w.Spec.TopologySpreadConstraints
	first := map[[2]string]int{} // the first constraint with each pair of topologyKey and whenUnsatisfiable
	for i, n := range constraints.value.Items()[:min(constraints.len(), len(typed))] {
		t := constraints.item(i, n)
		if t.broken() {
			continue
		}
		skew, key, action, domains := t.field("maxSkew"), t.field("topologyKey"), t.field("whenUnsatisfiable"), t.field("minDomains")
		if n, ok := skew.number(); ok && n <= 0 { // R-V24
			c.refuse(StageObject, skew, found(skew, "maxSkew")+": must be at least 1", "set maxSkew: 1")
		}
		keyText, keyKnown := key.text()
		switch { // R-V25
		case keyKnown && keyText == "":
			c.refuse(StageObject, key, found(key, "topologyKey")+": must name a node label", "set topologyKey, for example topology.kubernetes.io/zone")
		case keyKnown && c.w.Kind.VM: // only virt-api checks the form
			c.form(StageObject, key, "", labelKey)
		}
		word, ok := c.oneOf(StageObject, action, false, whenUnsatisfiable) // R-V26
		switch n, known := domains.number(); {                             // R-V28
		case domains.absent():
		case ok && word == string(corev1.ScheduleAnyway):
			c.refuse(c.unchecked, domains, "minDomains is set with whenUnsatisfiable ScheduleAnyway: can only be set with DoNotSchedule", "remove minDomains")
		case known && n <= 0:
			c.refuse(c.unchecked, domains, found(domains, "minDomains")+": must be at least 1", "remove minDomains")
		}
		for _, name := range [...]string{"nodeAffinityPolicy", "nodeTaintsPolicy"} { // R-V29
			if policy := t.field(name); !policy.absent() {
				c.oneOf(c.unchecked, policy, false, inclusionPolicies)
			}
		}
		c.selector(t.field("labelSelector"), typed[i].LabelSelector)
		c.labelKeys(t, &place{}, typed[i].LabelSelector)
		a, _ := action.text()
		pair := [2]string{keyText, a}
		switch before, both := first[pair]; { // R-V27
		case keyText == "" || a == "":
		case both:
			c.refuse(StageObject, key, fmt.Sprintf("same topologyKey %[2]q and whenUnsatisfiable %[3]s as constraint [%[1]d]: the pair must be unique", before, keyText, a), "remove one of them")
		default:
			first[pair] = i
		}
	}
}

var (
	tolerationOperators = []string{string(corev1.TolerationOpEqual), string(corev1.TolerationOpExists)}
	taintEffects        = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
)

// tolerations checks tolerations (R-V14 to R-V17).
func (c *checker) tolerations(spec *place) {
	list := spec.field("tolerations")
	for i, n := range list.value.Items() {
		t := list.item(i, n)
		if t.broken() {
			continue
		}
		key := t.field("key")
		if s, _ := key.text(); s != "" {
			c.form(c.unchecked, key, "", labelKey) // R-V14
		}
		c.tolerationOperator(t, key)
		effect, seconds := t.field("effect"), t.field("tolerationSeconds") // R-V17
		word, ok := c.oneOf(c.unchecked, effect, true, taintEffects)
		if _, set := seconds.value.Int(); !ok || !set || word == string(corev1.TaintEffectNoExecute) {
			continue
		}
		at := effect
		if word == "" {
			at = seconds
		}
		c.refuse(c.unchecked, at, found(effect, "effect")+": must be NoExecute when tolerationSeconds is set", "set effect: NoExecute, or remove tolerationSeconds")
	}
}

// tolerationOperator checks a toleration's operator against its key and value (R-V15). Gt and Lt
// need a feature gate that is off by default, so R-V16 cannot apply.
func (c *checker) tolerationOperator(t, key *place) {
	operator, value := t.field("operator"), t.field("value")
	if s, _ := operator.text(); s == string(corev1.TolerationOpGt) || s == string(corev1.TolerationOpLt) {
		c.refuse(c.unchecked, operator, fmt.Sprintf("operator is %q: must be Equal or Exists unless the feature gate TaintTolerationComparisonOperators is enabled", s), "")
		return
	}
	word, ok := c.oneOf(c.unchecked, operator, true, tolerationOperators)
	if !ok {
		return
	}
	name, known := key.text()
	switch {
	case word == string(corev1.TolerationOpExists):
		if v, ok := value.text(); ok && v != "" {
			c.refuse(c.unchecked, value, fmt.Sprintf("value is %q: must be empty when operator is Exists", v), "remove value, or set operator: Equal")
		}
	case known && name == "":
		c.refuse(c.unchecked, operator, found(operator, "operator")+": must be Exists when key is empty", "set operator: Exists, or add a key")
	default:
		c.form(c.unchecked, value, "", labelValue)
	}
}

package workload

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// admits maps each kind that can change or reject pods at admission to its API group. The labels of
// a Namespace can also cause rejections and are in Set.Namespaces.
var admits = map[string]string{"LimitRange": "", "PriorityClass": "scheduling.k8s.io", "ResourceQuota": "", "RuntimeClass": "node.k8s.io"}

// Priority is the priority of a workload's pods.
type Priority struct {
	Value int64
	// Known is false if the PriorityClass is not declared or its value is a placeholder.
	Known bool
	// Waits is set if the pods never preempt other pods.
	Waits bool
	// Declared says whether the PriorityClass exists. It is unknown if the name of the class, or
	// that of a declared one, is a placeholder.
	Declared diag.Outcome
}

// AtLeast reports whether pods with priority p certainly have at least the other priority.
func (p Priority) AtLeast(o Priority) bool {
	return p.Known && o.Known && p.Value >= o.Value
}

// MayPreempt reports whether pods of w may preempt pods of o (R-Q6).
func (w *Workload) MayPreempt(o *Workload) bool {
	return !w.Priority.Waits && w.Spec.PriorityClassName != o.Spec.PriorityClassName && !o.Priority.AtLeast(w.Priority)
}

// priorityOf returns the priority of a workload's pods, given the declared classes by name. The
// entry for "" is the global default. Without one, pods without a class have priority 0. The
// classes named system-* exist in every cluster (pkg/apis/scheduling/v1/helpers.go).
func priorityOf(w *Workload, declared map[string]*source.Object) Priority {
	name := w.Spec.PriorityClassName
	p := Priority{Waits: w.Spec.PreemptionPolicy == "Never", Declared: diag.Always}
	switch o := declared[name]; {
	case name == "system-cluster-critical":
		p.Value, p.Known = 2_000_000_000, true
	case name == "system-node-critical":
		p.Value, p.Known = 2_000_001_000, true
	case o != nil:
		p.Value, p.Known = o.Root.Get("value").Int()
		p.Waits = p.Waits || o.Root.Get("preemptionPolicy").Text() == "Never"
	case name == "" && !slices.Contains(w.Open, "priorityClassName"):
		p.Known = true
	case name == "" || source.Placeholder(name):
		p.Known, p.Declared = name == "", diag.Unknown
	default:
		p.Declared = diag.Never
	}
	return p
}

func admitsPods(apiVersion, kind string) bool {
	group, known := admits[kind]
	return known && groupOf(apiVersion) == group && apiVersion != ""
}

// enforce is the Namespace label that sets the Pod Security level for pods in the namespace.
const enforce = "pod-security.kubernetes.io/enforce"

// admission sets Admission and the related fields of each workload. It looks for objects in the set
// that may change or reject the pods (R-P9 to R-P11, R-N39). An object with an unclear effect
// counts as well.
func (l *loader) admission() {
	var limits bySpace[*limitRange]
	var quotas bySpace[*source.Object]
	classes, priorities := map[string]*source.Object{}, map[string]*source.Object{}
	anyClass := "" // set if the name of a RuntimeClass is a placeholder
	anyPriority := false
	for _, o := range l.admitting {
		switch o.Kind {
		case "LimitRange":
			r := &limitRange{object: o, name: nameOf(o)}
			r.open = len(l.decoder.Decode(o.Root.Get("spec"), &r.spec)) > 0 || r.invalid()
			limits.add(o.Namespace, r)
		case "ResourceQuota":
			quotas.add(o.Namespace, o)
		case "PriorityClass":
			priorities[o.Name] = o
			anyPriority = anyPriority || source.Placeholder(o.Name)
			if is, _ := o.Root.Get("globalDefault").Bool(); is {
				priorities[""] = o
			}
		default:
			if classes[o.Name] = o; source.Placeholder(o.Name) {
				anyClass = nameOf(o)
			}
		}
	}
	enforced := bySpace[string]{}
	for _, ns := range slices.Sorted(maps.Keys(l.set.Namespaces)) {
		if _, set := l.set.Namespaces[ns][enforce]; set {
			enforced.add(ns, ns)
		}
	}
	for _, w := range l.set.Workloads {
		if all := limits.of(w.Object.Namespace); len(all) == 1 && len(limits.open) == 0 && !source.Placeholder(w.Object.Namespace) && !w.Running {
			all[0].setDefaults(w)
		}
	}
	exceeded, tight := map[string]string{}, map[string]string{}
	if len(quotas.all) > 0 {
		var members bySpace[*Workload]
		for _, w := range l.set.Workloads {
			members.add(w.Object.Namespace, w)
		}
		for _, w := range l.set.Workloads {
			ns := w.Object.Namespace
			if _, known := exceeded[ns]; known {
				continue
			}
			exceeded[ns], tight[ns] = "", ""
			for _, o := range quotas.of(ns) {
				if exceeded[ns] == "" && l.mayExceed(o, members.of(ns), 1) {
					exceeded[ns] = nameOf(o)
				}
				if tight[ns] == "" && l.mayExceed(o, members.of(ns), 2) {
					tight[ns] = nameOf(o)
				}
			}
		}
	}
	for _, w := range l.set.Workloads {
		if w.Priority = priorityOf(w, priorities); anyPriority && w.Priority.Declared == diag.Never {
			w.Priority.Declared = diag.Unknown
		}
		if w.Running {
			w.PlainClass = true
			continue // the pod has already been admitted
		}
		ns := w.Object.Namespace
		for _, by := range enforced.of(ns) {
			if level := l.set.Namespaces[by][enforce]; level == "" || w.mayViolate(level) {
				w.Admission = "Namespace " + by + " (" + enforce + ": " + level + ")"
			}
		}
		all := limits.of(ns)
		for _, r := range all {
			if w.Admission == "" && r.concerns(w, len(all) == 1) {
				w.Admission = r.name
			}
			w.Defaulted = w.Defaulted || r.open || slices.ContainsFunc(r.spec.Limits, func(item corev1.LimitRangeItem) bool {
				return item.Type == corev1.LimitTypeContainer && len(item.Default)+len(item.DefaultRequest)+len(item.Max)+len(item.Min) > 0
			})
		}
		switch o := classes[w.Spec.RuntimeClassName]; {
		case w.Spec.RuntimeClassName == "":
			if len(w.Spec.Overhead) > 0 && w.Admission == "" { // it refuses overhead without a class
				w.Admission = "the plugin RuntimeClass"
			}
		case o != nil:
			if w.PlainClass = l.merged(w, o); !w.PlainClass && w.Admission == "" {
				w.Admission = nameOf(o)
			}
		case anyClass != "" && w.Admission == "":
			w.Admission = anyClass
		}
		if w.Admission == "" {
			w.Admission = exceeded[ns]
		}
		w.TightQuota = tight[ns]
	}
}

// bySpace groups items by namespace. An item whose namespace is a placeholder may belong to any
// namespace.
type bySpace[T any] struct {
	in   map[string][]T
	open []T
	all  []T
}

func (b *bySpace[T]) add(ns string, x T) {
	b.all = append(b.all, x)
	if source.Placeholder(ns) {
		b.open = append(b.open, x)
		return
	}
	if b.in == nil {
		b.in = map[string][]T{}
	}
	ns = Space(ns)
	b.in[ns] = append(b.in[ns], x)
}

// of returns the items that may belong to a namespace.
func (b *bySpace[T]) of(ns string) []T {
	if source.Placeholder(ns) {
		return b.all
	}
	return slices.Concat(b.in[Space(ns)], b.open)
}

// OpenClass reports whether the pods' RuntimeClass may add tolerations, a node selector or overhead
// (R-N39).
func (w *Workload) OpenClass() bool { return w.Spec.RuntimeClassName != "" && !w.PlainClass }

func nameOf(o *source.Object) string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// limitRange is a decoded LimitRange. open is set if part of the spec is unknown.
type limitRange struct {
	object *source.Object
	name   string
	spec   corev1.LimitRangeSpec
	open   bool
}

// invalid reports whether the API server may reject a LimitRange, which then changes no pods
// (pkg/apis/core/validation/validation.go, ValidateLimitRange).
func (r *limitRange) invalid() bool {
	types := map[corev1.LimitType]bool{}
	for _, item := range r.spec.Limits {
		if types[item.Type] || item.Type != corev1.LimitTypeContainer && len(item.Default)+len(item.DefaultRequest) > 0 {
			return true
		}
		types[item.Type] = true
		rising := []corev1.ResourceList{item.Min, item.DefaultRequest, item.Default, item.Max}
		for i, low := range rising {
			for _, high := range rising[i+1:] {
				for name, least := range low {
					if most, has := high[name]; has && least.Cmp(most) > 0 {
						return true
					}
				}
			}
		}
		for name, request := range item.DefaultRequest {
			if limit, has := item.Default[name]; has && !overcommits(name) && limit.Cmp(request) != 0 {
				return true
			}
		}
	}
	return false
}

// overcommits reports whether the request for a resource may differ from the limit
// (pkg/apis/core/v1/helper/helpers.go, IsOvercommitAllowed).
func overcommits(name corev1.ResourceName) bool {
	return name == corev1.ResourceEphemeralStorage || !strings.ContainsAny(string(name), "/-")
}

// setDefaults sets the requests and limits that the only LimitRange of a namespace gives to pods
// without them. It leaves pods alone that the API server might reject (R-P9).
func (r *limitRange) setDefaults(w *Workload) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range r.spec.Limits {
		if len(item.MaxLimitRequestRatio) > 0 {
			return
		}
		if item.Type == corev1.LimitTypeContainer {
			own := mergeResources(item.Default, item.Max)
			maps.Copy(limits, own)
			maps.Copy(requests, mergeResources(mergeResources(item.DefaultRequest, own), item.Min))
		}
	}
	var lists [2][]Container
	for i, list := range [][]Container{w.Spec.Containers, w.Spec.InitContainers} {
		for _, c := range list {
			with := effectiveResources(&c)
			with = Resources{Requests: mergeResources(with.Requests, requests), Limits: mergeResources(with.Limits, limits)}
			for name, request := range with.Requests {
				if limit, limited := with.Limits[name]; limited && request.Cmp(limit) > 0 || !overcommits(name) && request.Cmp(limit) != 0 {
					return
				}
			}
			c.Resources = with
			lists[i] = append(lists[i], c)
		}
	}
	open := func(path string) bool {
		return strings.Contains(path, "ontainers") || strings.Contains(path, "resources")
	}
	if len(requests) > 0 && !r.open && !w.Kind.VM && w.Spec.Resources == nil && !slices.ContainsFunc(w.Open, open) {
		w.Spec.Containers, w.Spec.InitContainers, w.LimitRange = lists[0], lists[1], r.object
	}
}

// merged adds what a RuntimeClass adds to pods (R-N39). It returns false if that is not known, or if
// the pods may be rejected. The DaemonSet controller chooses nodes before admission.
func (l *loader) merged(w *Workload, class *source.Object) bool {
	var overhead struct {
		PodFixed corev1.ResourceList `json:"podFixed"`
	}
	var scheduling struct {
		NodeSelector map[string]string   `json:"nodeSelector"`
		Tolerations  []corev1.Toleration `json:"tolerations"`
	}
	found := append(l.decoder.Decode(class.Root.Get("overhead"), &overhead), l.decoder.Decode(class.Root.Get("scheduling"), &scheduling)...)
	selector := maps.Clone(scheduling.NodeSelector)
	for key, value := range w.Spec.NodeSelector {
		if other, both := selector[key]; both && other != value {
			return false
		}
	}
	placed := len(scheduling.NodeSelector)+len(scheduling.Tolerations) > 0
	if len(found) > 0 || len(w.Spec.Overhead) > 0 || placed && (w.Kind.PerNode() || len(w.Open) > 0) {
		return false
	}
	if placed {
		w.Class = class
	}
	w.Spec.Overhead = overhead.PodFixed
	w.Spec.Tolerations = append(slices.Clip(w.Spec.Tolerations), scheduling.Tolerations...)
	if len(selector) > 0 {
		maps.Copy(selector, w.Spec.NodeSelector)
		w.Spec.NodeSelector = selector
	}
	return true
}

// concerns reports whether a LimitRange may set a workload's container requests or reject its pods
// (plugin/pkg/admission/limitranger/admission.go; defaults in pkg/apis/core/v1/defaults.go). If
// only is false, another LimitRange in the namespace might set the limits that this one checks.
func (r *limitRange) concerns(w *Workload, only bool) bool {
	containers := slices.Concat(w.Spec.Containers, w.Spec.InitContainers)
	for _, item := range r.spec.Limits {
		// The LimitRange sets default limits and requests. checked holds every resource with a
		// minimum, maximum or ratio.
		limits := mergeResources(item.Default, item.Max)
		requests := mergeResources(mergeResources(item.DefaultRequest, limits), item.Min)
		checked := mergeResources(mergeResources(item.Max, item.Min), item.MaxLimitRequestRatio)
		switch item.Type {
		case corev1.LimitTypeContainer:
			if w.Kind.VM && len(requests)+len(checked) > 0 {
				return true
			}
			for i := range containers {
				c := effectiveResources(&containers[i])
				for name := range requests {
					request, has := c.Requests[name]
					_, limited := c.Limits[name]
					limit, given := limits[name]
					if !has || given && !limited && (!only || request.Cmp(limit) > 0) {
						return true
					}
				}
				if refuses(&item, c.Requests, mergeResources(c.Limits, limits)) {
					return true
				}
			}
		case corev1.LimitTypePod:
			if len(checked) > 0 && (w.Kind.VM || len(w.Spec.InitContainers) > 0 || w.Spec.Resources != nil) {
				return true
			}
			sum := Resources{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
			for i := range containers {
				c := effectiveResources(&containers[i])
				for name := range checked {
					request, has := c.Requests[name]
					limit, limited := c.Limits[name]
					if !has || !limited {
						return true
					}
					request.Add(sum.Requests[name])
					limit.Add(sum.Limits[name])
					sum.Requests[name], sum.Limits[name] = request, limit
				}
			}
			if refuses(&item, sum.Requests, sum.Limits) {
				return true
			}
		default:
			if w.claims() {
				return true
			}
		}
	}
	return r.open
}

// refuses reports whether a LimitRange may reject the given requests and limits.
func refuses(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range item.Min {
		request, has := requests[name]
		if limit, limited := limits[name]; !has || request.Cmp(least) < 0 || limited && limit.Cmp(least) < 0 {
			return true
		}
	}
	for name, most := range item.Max {
		request := requests[name]
		if limit, limited := limits[name]; !limited || limit.Cmp(most) > 0 || request.Cmp(most) > 0 {
			return true
		}
	}
	for name, ratio := range item.MaxLimitRequestRatio {
		request, limit := requests[name], limits[name]
		if request.Sign() <= 0 || limit.Sign() <= 0 || limit.AsApproximateFloat64() > ratio.AsApproximateFloat64()*request.AsApproximateFloat64() {
			return true
		}
	}
	return false
}

// effectiveResources returns a container's resources. Unset requests default to the limits (R-P3).
func effectiveResources(c *Container) Resources {
	return Resources{Requests: mergeResources(c.Resources.Requests, c.Resources.Limits), Limits: c.Resources.Limits}
}

// mergeResources merges two lists. If a resource is in both, the amount in a wins.
func mergeResources(a, b corev1.ResourceList) corev1.ResourceList {
	all := make(corev1.ResourceList, len(a)+len(b))
	maps.Copy(all, b)
	maps.Copy(all, a)
	return all
}

// claims reports whether the workload has volumeClaimTemplates. Each pod may then need additional
// volume claims.
func (w *Workload) claims() bool {
	return slices.ContainsFunc(w.Claims, func(c *Claim) bool { return c.Template })
}

// mayExceed reports whether the workloads in a namespace may need more than a ResourceQuota allows,
// including the extra pods that autoscalers and rollouts create. It ignores quota scopes, because
// they only exclude pods from the quota (pkg/quota/v1/evaluator/core/pods.go). Pod counts are
// multiplied by times. While nodes are unreachable, times is 2, because replacements exist in
// addition to the old pods. Otherwise, times is 1.
func (l *loader) mayExceed(o *source.Object, members []*Workload, times int) bool {
	var spec corev1.ResourceQuotaSpec
	for _, m := range l.decoder.Decode(o.Root.Get("spec"), &spec) {
		if !strings.HasPrefix(m.Path, "scope") {
			return true
		}
	}
	for name, hard := range spec.Hard {
		sum := 0.0
		for _, w := range members {
			each, known := w.counts(string(name))
			if !known {
				return true
			}
			if each == 0 || w.Copy || w.Superseded {
				continue
			}
			most := w.Count.N
			if w.Scale != nil {
				most = max(most, w.Scale.Max)
			}
			how := w.Rollout(most)
			if how.Way == BothWhole {
				how.Surge = most
			}
			if !w.Count.Known || w.Kind.PerNode() || w.Kind.Kind == "CronJob" || w.Kind.VM || how.Unknown.Given() {
				return true
			}
			sum += each * float64(times*most+how.Surge)
		}
		if sum > hard.AsApproximateFloat64()*(1+1e-9) {
			return true
		}
	}
	return false
}

// counts returns the maximum amount of a resource that a ResourceQuota counts for one pod. known is
// false if this amount cannot be determined.
func (w *Workload) counts(name string) (each float64, known bool) {
	object, counted := strings.CutPrefix(name, "count/")
	switch {
	case object == "pods":
		return 1, true
	case strings.Contains(object, "storage") && !strings.Contains(object, "ephemeral"), object == "persistentvolumeclaims":
		return 0, !w.claims()
	case slices.Contains([]string{"configmaps", "secrets", "services", "resourcequotas"}, object), strings.HasPrefix(object, "services."):
		return 0, true
	case counted, w.Spec.Resources != nil, w.Spec.RuntimeClassName != "", len(w.Spec.Overhead) > 0:
		return 0, false
	}
	limited := strings.HasPrefix(name, "limits.")
	resource := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(name, "limits."), "requests."))
	for _, list := range [][]Container{w.Spec.Containers, w.Spec.InitContainers} {
		for i := range list {
			c := effectiveResources(&list[i])
			n, has := c.Requests[resource]
			if limited {
				n, has = c.Limits[resource]
			}
			if !has && (resource == corev1.ResourceCPU || resource == corev1.ResourceMemory) {
				return 0, false // the quota rejects pods that do not set it
			}
			each += n.AsApproximateFloat64()
		}
	}
	return each, true
}

// Values that Pod Security allows at the baseline and restricted levels.
var (
	baselineCapabilities = []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
	restrictedVolumes = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "name", "persistentVolumeClaim", "projected", "secret"}
	confined          = []string{"RuntimeDefault", "Localhost"}
)

// mayViolate reports whether Pod Security may reject a workload's pods at the level that its
// namespace enforces (k8s.io/pod-security-admission/policy; R-P11). It treats placeholders, and all
// values in rarely used fields, as violations.
func (w *Workload) mayViolate(level string) bool {
	spec := w.SpecNode
	pod := spec.Get("securityContext")
	switch {
	case level == "privileged":
		return false
	case level != "baseline" && level != "restricted", w.Kind.VM, spec == nil, len(w.Open) > 0:
		return true
	case on(spec, "hostNetwork"), on(spec, "hostPID"), on(spec, "hostIPC"), unusual(pod), pod.Get("sysctls").Len() > 0:
		return true
	}
	for k := range w.TemplateNode.At("metadata", "annotations").Fields() {
		if strings.Contains(k.Value, "apparmor.security") || strings.Contains(k.Value, "seccomp.security") {
			return true
		}
	}
	for _, volume := range spec.Get("volumes").Items() {
		for k := range volume.Fields() {
			if k.Value == "hostPath" || level == "restricted" && !slices.Contains(restrictedVolumes, k.Value) {
				return true
			}
		}
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range spec.Get(list).Items() {
			context := c.Get("securityContext")
			if unusual(context) || on(context, "privileged") || !context.Get("procMount").IsNull() || handlesHosts(c) {
				return true
			}
			if level == "restricted" && !restricted(pod, context) {
				return true
			}
			for _, port := range c.Get("ports").Items() {
				if n := port.Get("hostPort"); !n.IsNull() && n.Value != "0" {
					return true
				}
			}
			for _, add := range context.At("capabilities", "add").Items() {
				if !slices.Contains(baselineCapabilities, add.Text()) || level == "restricted" && add.Text() != "NET_BIND_SERVICE" {
					return true
				}
			}
		}
	}
	return false
}

// on reports whether a boolean field is, or may be, true.
func on(n *source.Node, field string) bool {
	v := n.Get(field)
	off, ok := v.Bool()
	return !v.IsNull() && (!ok || off)
}

// unusual reports whether a security context has fields that schedlint does not examine, or a
// seccomp or AppArmor profile other than RuntimeDefault and Localhost.
func unusual(context *source.Node) bool {
	if !context.Get("seLinuxOptions").IsNull() || !context.Get("windowsOptions").IsNull() {
		return true
	}
	for _, field := range []string{"seccompProfile", "appArmorProfile"} {
		if p := context.Get(field); !p.IsNull() && !slices.Contains(confined, p.Get("type").Text()) {
			return true
		}
	}
	return false
}

// restricted reports whether a container's security context definitely meets the requirements of
// the restricted level. Unset fields default to those of the pod's security context.
func restricted(pod, context *source.Node) bool {
	either := func(field string) *source.Node {
		if v := context.Get(field); !v.IsNull() {
			return v
		}
		return pod.Get(field)
	}
	escalates, said := context.Get("allowPrivilegeEscalation").Bool()
	nonRoot, _ := either("runAsNonRoot").Bool()
	for _, c := range []*source.Node{pod, context} {
		if user := c.Get("runAsUser"); !user.IsNull() {
			if n, ok := user.Int(); !ok || n == 0 {
				return false
			}
		}
	}
	drops := slices.ContainsFunc(context.At("capabilities", "drop").Items(), func(n *source.Node) bool { return n.Text() == "ALL" })
	return said && !escalates && nonRoot && drops && !either("seccompProfile").IsNull()
}

// handlesHosts reports whether any of a container's probes or lifecycle hooks sets a host.
func handlesHosts(container *source.Node) bool {
	for _, path := range [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}} {
		for _, kind := range []string{"httpGet", "tcpSocket"} {
			if !container.At(append(slices.Clip(path), kind, "host")...).IsNull() {
				return true
			}
		}
	}
	return false
}

package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// quota is a decoded ResourceQuota. open is set if part of it is unknown.
type quota struct {
	object *source.Object
	spec   corev1.ResourceQuotaSpec
	open   bool
	// doubts names a quota for each workload whose pods one may reject.
	doubts map[*Workload]string
	// members lists the workloads of the namespace. covered says which of them the scopes include.
	members []*Workload
	covered map[*Workload]diag.Outcome
	counted []counted
}

// counted holds who takes what of one amount of a ResourceQuota. The sums are for the numbers of pods in
// share. They are not known if unclear is set.
type counted struct {
	name                corev1.ResourceName
	shares              []share
	least, most, scaled resource.Quantity
	unclear             bool
}

// scopes returns the scopes of the quota as selectors.
func (q *quota) scopes() []corev1.ScopedResourceSelectorRequirement {
	var all []corev1.ScopedResourceSelectorRequirement
	for _, name := range q.spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.spec.ScopeSelector != nil {
		all = append(all, q.spec.ScopeSelector.MatchExpressions...)
	}
	return all
}

// invalid reports whether the API server may reject the quota, which then rejects no pods
// (pkg/apis/core/validation/validation.go, ValidateResourceQuotaSpec).
func (q *quota) invalid() bool {
	for name, amount := range q.spec.Hard {
		base := string(BaseOf(name))
		switch {
		case amount.Sign() < 0, base != "cpu" && base != "memory" && !strings.Contains(base, "storage") && amount.MilliValue()%1000 != 0:
			return true
		case strings.Contains(string(name), "/"), hugePage(base), strings.HasPrefix(base, "services."):
		case !slices.Contains([]string{"cpu", "memory", "ephemeral-storage", "storage", "pods", "services", "configmaps", "secrets", "replicationcontrollers", "resourcequotas", "persistentvolumeclaims"}, base):
			return true
		}
		for _, scope := range q.scopes() {
			counted := base == "pods" || scope.ScopeName != corev1.ResourceQuotaScopeBestEffort && (base == "cpu" || base == "memory")
			if !counted && !strings.Contains(string(name), "/") {
				return true
			}
		}
	}
	var has []corev1.ResourceQuotaScope
	for _, scope := range q.scopes() {
		in := scope.Operator == corev1.ScopeSelectorOpIn || scope.Operator == corev1.ScopeSelectorOpNotIn
		if in != (len(scope.Values) > 0) || scope.ScopeName != corev1.ResourceQuotaScopePriorityClass && scope.Operator != corev1.ScopeSelectorOpExists {
			return true
		}
		has = append(has, scope.ScopeName)
	}
	both := func(a, b corev1.ResourceQuotaScope) bool { return slices.Contains(has, a) && slices.Contains(has, b) }
	return both(corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort) || both(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating)
}

// QuotaRoom counts the pods of a workload that a ResourceQuota admits beside the other workloads of
// the namespace. Least applies if these have all their pods and their autoscalers add none. Most
// applies if those in Beside have the pods that they certainly have (CertainPods). w may be one of
// them.
type QuotaRoom struct {
	Quota       *source.Object
	Least, Most int
	Beside      []*Workload
}

// Name returns the kind, namespace and name of the quota.
func (r *QuotaRoom) Name() string { return nameOf(r.Quota) }

// share holds the part of an amount of a ResourceQuota that the pods of one workload take: low pods
// for certain, high pods if its autoscaler adds none, and scaled pods at most.
type share struct {
	w                 *Workload
	each              resource.Quantity
	low, high, scaled int
}

// CertainPods returns how many pods exist at all times if a quota has room for them. A StatefulSet may
// create the next pod only when the one before is ready (R-W12).
func (w *Workload) CertainPods() int {
	switch {
	case w.Finite(), w.Paused(), w.Elsewhere:
		return 0
	case w.Scale != nil:
		return min(w.Count.N, w.Scale.Min)
	}
	return w.Count.N
}

func (s *share) times(pods int) resource.Quantity {
	q := s.each.DeepCopy()
	q.Mul(int64(pods))
	return q
}

// cover finds the workloads of a namespace that a ResourceQuota concerns, and rejects the pods that
// lack an amount (R-P10). priorities has the declared classes.
func (q *quota) cover(l *loader, members []*Workload, priorities map[string]*priorityClass) {
	q.members, q.covered = members, map[*Workload]diag.Outcome{}
	for _, w := range members {
		if !w.Copy && !w.Superseded && !w.Refused() {
			if q.covered[w] = q.covers(w, priorities); q.covered[w] == diag.Always && !l.joined(q.object, w) {
				q.covered[w] = diag.Unknown
			}
		}
	}
	names := slices.Sorted(maps.Keys(q.spec.Hard))
	for _, w := range members {
		if q.covered[w] == diag.Always && !q.open && !w.Running && w.amountsKnown() {
			q.demand(w, names)
		}
		for _, name := range names {
			if s, known := q.share(w, name); known && s.each.Cmp(q.spec.Hard[name]) > 0 && !w.Refused() {
				q.exceededBy(&s, name, q.spec.Hard[name]) // no pod exists
			}
		}
	}
}

// share returns what the pods of a workload take of one amount. known is false if this cannot be
// determined.
func (q *quota) share(w *Workload, name corev1.ResourceName) (s share, known bool) {
	if q.covered[w] == "" || q.covered[w] == diag.Never || w.Refused() {
		return s, true
	}
	each, known := w.Counts(name)
	s = share{w: w, each: each, high: w.Count.N, scaled: w.Count.N}
	if w.Scale != nil {
		s.high, s.scaled = max(s.high, w.Scale.Min), max(s.high, w.Scale.Max)
	}
	if s.low = w.CertainPods(); q.covered[w] != diag.Always {
		s.low = 0
	}
	several := w.Kind.Kind == "CronJob" && w.Object.Root.At("spec", "concurrencyPolicy").Text() != "Forbid" // Jobs at once
	return s, known && w.Operator == "" && (each.IsZero() || w.Count.Known && !w.Kind.PerNode() && !several && !w.Kind.VM)
}

// apply holds the pods of a namespace's workloads against a ResourceQuota (R-P10;
// pkg/quota/v1/evaluator/core/pods.go).
func (q *quota) apply(l *loader) {
	for _, name := range slices.Sorted(maps.Keys(q.spec.Hard)) {
		q.count(l, name)
	}
	for _, w := range q.members {
		if q.covered[w] != "" && q.covered[w] != diag.Never && q.open {
			q.doubt(w)
		}
	}
}

// doubt records that the quota may reject some of the workload's pods.
func (q *quota) doubt(w *Workload) {
	if !w.Running { // it has been admitted
		q.doubts[w] = cmp.Or(q.doubts[w], nameOf(q.object))
	}
}

// amountsKnown reports whether the requests and limits of the pods are known.
func (w *Workload) amountsKnown() bool {
	return w.Admission == "" && !w.Kind.VM && !w.OpenClass() && !slices.ContainsFunc(w.Open, func(path string) bool {
		return strings.Contains(path, "ontainers") || strings.Contains(path, "resources") || strings.Contains(path, "overhead")
	})
}

// demand records containers without an amount that a quota counts and therefore demands.
func (q *quota) demand(w *Workload, names []corev1.ResourceName) {
	if w.Spec.Resources != nil && len(w.Spec.Resources.Requests)+len(w.Spec.Resources.Limits) > 0 {
		return
	}
	c := checker{w: w}
	spec := (&place{base: w.Kind.Template, value: w.TemplateNode}).field("spec")
	for k, list := range [][]Container{w.Spec.Containers, w.Spec.InitContainers} {
		at := spec.field([]string{"containers", "initContainers"}[k])
		for i, n := range at.value.Items()[:min(at.len(), len(list))] {
			for _, name := range names {
				field, base := "requests", strings.TrimPrefix(string(name), quotaPrefix)
				amounts := list[i].Requested()
				if limit, limited := strings.CutPrefix(base, "limits."); limited {
					field, base, amounts = "limits", limit, list[i].Resources.Limits
				}
				_, has := amounts[corev1.ResourceName(base)]
				fix := fmt.Sprintf("set %s.%s", field, base)
				p := at.item(i, n).field("resources")
				known := func(o Problem) bool { return o.Fix == fix && o.Field == p.path() } // by another name of the amount
				if has || base != "cpu" && base != "memory" || slices.ContainsFunc(w.Problems, known) {
					continue
				}
				c.refuse(StageQuota, p,
					fmt.Sprintf("no %s %s: every container needs one, as ResourceQuota %s counts %s, so every pod is rejected", base, strings.TrimSuffix(field, "s"), q.object.Name, name), fix)
				c.w.Problems[len(c.w.Problems)-1].By = q.object
			}
		}
	}
}

// claims reports whether the workload has volumeClaimTemplates. Each pod may then need additional
// volume claims.
func (w *Workload) claims() bool {
	return slices.ContainsFunc(w.Claims, func(c *Claim) bool { return c.Template })
}

// count adds up what the pods of all workloads take of one amount.
func (q *quota) count(l *loader, name corev1.ResourceName) {
	hard := q.spec.Hard[name]
	var shares []share
	var none []*Workload
	var least, most, scaled, running resource.Quantity // the sums
	unclear := false
	for _, w := range q.members {
		s, known := q.share(w, name)
		switch {
		case s.w == nil:
			continue
		case !known:
			unclear = true
			q.doubt(w)
			continue
		case s.each.IsZero():
			none = append(none, w)
			continue
		}
		least.Add(s.times(s.low))
		most.Add(s.times(s.high))
		scaled.Add(s.times(s.scaled))
		if w.Running {
			running.Add(s.each)
		}
		shares = append(shares, s)
	}
	if running.Cmp(hard) > 0 { // a request of 0 is more than the quota has left
		for _, w := range none {
			q.doubt(w)
			if q.covered[w] == diag.Always && !q.open {
				w.Quotas = append(w.Quotas, QuotaRoom{Quota: q.object})
			}
		}
	}
	alone := false
	for i := range shares {
		if s := &shares[i]; q.exceededBy(s, name, hard) {
			alone = true
		}
	}
	if least.Cmp(hard) > 0 && !alone && !q.open {
		q.exceeded(l, name, shares, least)
	}
	for i := range shares {
		if unclear || most.Cmp(hard) > 0 || q.open {
			q.doubt(shares[i].w)
		}
	}
	q.counted = append(q.counted, counted{name, shares, least, most, scaled, unclear})
}

// rooms sets Quotas and TightQuota of the workloads. Other pods that may be rejected for another
// reason may leave their part of the quota free.
func (q *quota) rooms() {
	if q.open {
		return
	}
	for _, c := range q.counted {
		hard := q.spec.Hard[c.name]
		var certain resource.Quantity
		var beside []*Workload
		for i := range c.shares {
			if s := &c.shares[i]; s.low > 0 && s.w.Admission == "" {
				certain.Add(s.times(s.low))
				beside = append(beside, s.w)
			}
		}
		for i := range c.shares {
			s := &c.shares[i]
			room := QuotaRoom{Quota: q.object, Least: fit(hard, c.most, s.times(s.high), s.each), Beside: beside}
			own := resource.Quantity{}
			if s.w.Admission == "" {
				own = s.times(s.low)
			}
			room.Most = fit(hard, certain, own, s.each)
			if c.unclear {
				room.Least = 0
			}
			if q.covered[s.w] != diag.Always {
				room.Most = math.MaxInt32
			}
			if room.Least < 2*s.scaled {
				s.w.Quotas = append(s.w.Quotas, room)
			}
			if string(c.name) == "count/pods" && room.Least < 2*s.high {
				s.w.TightQuota = nameOf(q.object)
			}
		}
	}
}

// fit returns how many pods fit into a quota beside the sum of all other pods, which is given with the
// part of it that is the workload's own.
func fit(hard, sum, own, each resource.Quantity) int {
	left := rational(hard)
	left.Sub(left, rational(sum)).Add(left, rational(own)).Quo(left, rational(each))
	n := new(big.Int).Quo(left.Num(), left.Denom())
	if !n.IsInt64() {
		return math.MaxInt32
	}
	return int(max(0, min(n.Int64(), math.MaxInt32)))
}

// exceededBy records that the pods of one workload need more than the quota has.
func (q *quota) exceededBy(s *share, name corev1.ResourceName, hard resource.Quantity) bool {
	need := s.times(s.low)
	if q.open || s.w.Running || need.Cmp(hard) <= 0 {
		return false
	}
	allowed := fit(hard, resource.Quantity{}, resource.Quantity{}, s.each)
	text := fmt.Sprintf("ResourceQuota %s allows %d of %d pods", q.object.Name, allowed, s.low)
	if base := BaseOf(name); base != "pods" {
		texts := Amounts(base, s.each, hard)
		text += fmt.Sprintf(": each needs %s %s of %s", texts[0], name, texts[1])
	}
	p := Problem{Stage: StageQuota, Field: "spec.replicas", Message: text, Span: s.w.CountSpan(), By: q.object, Some: allowed > 0}
	if len(s.w.Kind.Template) == 0 {
		p.Field = "spec"
	}
	s.w.Problems = append(s.w.Problems, p)
	q.doubt(s.w)
	return true
}

// exceeded records that all pods of the namespace together need more than the quota has.
func (q *quota) exceeded(l *loader, name corev1.ResourceName, shares []share, sum resource.Quantity) {
	hard, base := q.spec.Hard[name], BaseOf(name)
	texts := Amounts(base, sum, hard)
	text := fmt.Sprintf("the pods of the namespace need %s %s of %s, so some are rejected: ", texts[0], name, texts[1])
	if base == "pods" {
		text = fmt.Sprintf("the namespace has %s pods of %s, so some are rejected: ", texts[0], texts[1])
	}
	var each []string
	for i := range shares {
		if s := &shares[i]; s.low > 0 {
			of := Amounts(base, s.times(s.low), s.each)
			row := fmt.Sprintf("%s %s %s (%d x %s)", s.w.Object.Kind, s.w.Object.Name, of[0], s.low, of[1])
			if base == "pods" {
				row = fmt.Sprintf("%s %s %s", s.w.Object.Kind, s.w.Object.Name, of[0])
			}
			each = append(each, row)
		}
	}
	if most := 6; len(each) > most {
		each = append(each[:most], fmt.Sprintf("and %d more", len(each)-most))
	}
	c := checker{w: &Workload{Object: q.object, Kind: &Kind{Kind: q.object.Kind}}}
	c.refuse(StageQuota, (&place{value: q.object.Root}).field("spec").field("hard").field(string(name)), text+strings.Join(each, ", "), "")
	l.set.Refusals = append(l.set.Refusals, Refusal{Object: q.object, Problems: c.w.Problems})
}

// BaseOf returns the resource behind the name of an amount, such as cpu for requests.cpu and pods for
// count/pods.
func BaseOf(name corev1.ResourceName) corev1.ResourceName {
	base := strings.TrimPrefix(strings.TrimPrefix(string(name), quotaPrefix), "limits.")
	return corev1.ResourceName(strings.TrimPrefix(base, "count/"))
}

// Counts returns how much of a quota's amount one pod takes. known is false if this cannot be
// determined.
func (w *Workload) Counts(name corev1.ResourceName) (each resource.Quantity, known bool) {
	text, base := string(name), BaseOf(name)
	object, counted := strings.CutPrefix(text, "count/")
	switch {
	case base == "pods":
		return resource.MustParse("1"), true
	case strings.Contains(object, "storage") && base != corev1.ResourceEphemeralStorage, object == "persistentvolumeclaims":
		return each, !w.claims()
	case slices.Contains([]string{"configmaps", "secrets", "services", "resourcequotas", "replicationcontrollers"}, object), strings.HasPrefix(object, "services."):
		return each, w.Kind.Kind != "ReplicationController"
	case counted, strings.Contains(text, ".storageclass.storage.k8s.io/"), strings.Contains(text, "deviceclass.resource.kubernetes.io/"), !w.amountsKnown():
		return each, false
	case strings.HasPrefix(text, "limits."):
		return resourcehelper.PodLimits(w.Spec.Pod(), resourcehelper.PodResourcesOptions{})[base], true
	}
	return resourcehelper.PodRequests(w.Spec.Pod(), resourcehelper.PodResourcesOptions{})[base], true
}

// covers says whether the scopes of a quota include a workload's pods
// (pkg/quota/v1/evaluator/core/pods.go, podMatchesScopeFunc).
func (q *quota) covers(w *Workload, priorities map[string]*priorityClass) diag.Outcome {
	all := diag.Always
	for _, scope := range q.scopes() {
		switch w.within(&scope, priorities) {
		case diag.Never:
			return diag.Never
		case diag.Unknown:
			all = diag.Unknown
		}
	}
	return all
}

// within says whether one scope includes a workload's pods.
func (w *Workload) within(scope *corev1.ScopedResourceSelectorRequirement, priorities map[string]*priorityClass) diag.Outcome {
	is := func(yes bool) diag.Outcome {
		if yes {
			return diag.Always
		}
		return diag.Never
	}
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating:
		deadline := w.SpecNode.Get("activeDeadlineSeconds")
		if n, ok := deadline.Int(); !deadline.IsNull() && (!ok || n < 0) {
			return diag.Unknown
		}
		return is(deadline.IsNull() == (scope.ScopeName == corev1.ResourceQuotaScopeNotTerminating))
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort:
		if !w.amountsKnown() || w.Spec.Resources != nil {
			return diag.Unknown
		}
		asks := slices.ContainsFunc(slices.Concat(w.Spec.Containers, w.Spec.InitContainers), func(c Container) bool {
			r := c.Requested()
			return r.Cpu().Sign() > 0 || r.Memory().Sign() > 0
		})
		return is(asks == (scope.ScopeName == corev1.ResourceQuotaScopeNotBestEffort))
	case corev1.ResourceQuotaScopePriorityClass:
		name := w.Spec.PriorityClassName
		switch c := priorities[""]; {
		case name != "":
		case !c.known:
			return diag.Unknown
		case c.object != nil:
			name = c.object.Name
		}
		if source.Placeholder(name) || slices.Contains(w.Open, "priorityClassName") {
			return diag.Unknown
		}
		switch scope.Operator {
		case corev1.ScopeSelectorOpExists:
			return is(name != "")
		case corev1.ScopeSelectorOpDoesNotExist:
			return is(name == "")
		case corev1.ScopeSelectorOpIn:
			return is(name != "" && slices.Contains(scope.Values, name))
		case corev1.ScopeSelectorOpNotIn:
			return is(!slices.Contains(scope.Values, name) || name == "")
		}
	}
	return diag.Unknown
}

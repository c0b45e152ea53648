package workload

import "github.com/schedlint/schedlint/lint/source"

// loadUncertain reads an object that might not be deployed: only its labels matter, which selectors may
// match.
func (l *loader) loadUncertain(o *source.Object) {
	switch kind := l.table.Find(o.APIVersion, o.Kind); {
	case !l.table.Matters(o):
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy":
		l.budgetElsewhere(o)
	case kind != nil && isManifest(o, kind):
		w := l.read(o, kind)
		w.Elsewhere, w.Count.Known = true, false
		l.set.Elsewhere = append(l.set.Elsewhere, w)
	default:
		l.recordOperated(o)
	}
}

// Matters reports whether an object that might not be deployed can affect any result.
func (t Table) Matters(o *source.Object) bool {
	switch {
	case o.APIVersion == "", o.Hook == source.HookNever:
		return false
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy", t.Find(o.APIVersion, o.Kind) != nil:
		return true
	}
	return !createsNoPods(o) && t.Relevant(o.APIVersion, o.Kind)
}

// budgetElsewhere reads a budget that might not be deployed, once for all sets.
func (l *loader) budgetElsewhere(o *source.Object) {
	b, known := l.Reader.budgets[o]
	if !known && !o.Root.At("spec", "selector").IsNull() {
		b = l.newBudget(o)
	}
	if l.Reader.budgets[o] = b; b != nil {
		l.set.BudgetsElsewhere = append(l.set.BudgetsElsewhere, b)
	}
}

// createsNoPods reports whether an object creates no pods itself and is read only for its effect on
// workloads.
func createsNoPods(o *source.Object) bool {
	switch o.Kind {
	case "Node", "Namespace":
		return core(o)
	case "PodDisruptionBudget":
		return o.Group() == "policy"
	case "NodeTopology":
		return o.Group() == "schedlint.dev"
	}
	return scales(o)
}

// AffectsWorkloads reports whether an object creates no pods itself and affects workloads that other files
// may declare.
func (t Table) AffectsWorkloads(o *source.Object) bool {
	switch o.Kind {
	case "LimitRange", "PodTemplate", "ResourceQuota":
		return core(o)
	case "PodDisruptionBudget":
		return false
	case "PriorityClass", "RuntimeClass":
		return true
	}
	return createsNoPods(o) || claims[o.Kind] && o.Group() == claimGroup
}

// Limits reports whether an object limits the pods of its namespace. If clusters share none of
// their files, it exists in only one of them.
func (t Table) Limits(o *source.Object) bool {
	return (o.Kind == "LimitRange" || o.Kind == "ResourceQuota") && core(o)
}

// Declares reports whether an object is a declaration of its own in its namespace. Patches are not,
// nor are nodes, which no manifest deploys, nor pods that have ended.
func (t Table) Declares(o *source.Object) bool {
	if o.APIVersion == "" || o.Kind == "Node" && core(o) {
		return false
	}
	if kind := t.Find(o.APIVersion, o.Kind); kind != nil {
		return isManifest(o, kind) && !ended(o, kind) || kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull()
	}
	return o.Kind != "PodDisruptionBudget" || !o.Root.At("spec", "selector").IsNull()
}

// Judged reports whether findings may be about the object itself: a workload, a budget or an
// autoscaler.
func (t Table) Judged(o *source.Object) bool {
	return t.Find(o.APIVersion, o.Kind) != nil || scales(o) || o.Kind == "PodDisruptionBudget" && o.Group() == "policy"
}

// ended reports whether an object is a pod that has terminated.
func ended(o *source.Object, kind *Kind) bool {
	if kind.Kind != "Pod" {
		return false
	}
	phase := o.Root.At("status", "phase").Text()
	return phase == "Succeeded" || phase == "Failed"
}

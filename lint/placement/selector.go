package placement

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// Answer is yes, no or maybe.
type Answer int8

// The answers: No < Maybe < Yes, so that And is the smaller and Or the larger.
const (
	No Answer = iota
	Maybe
	Yes
)

// String is the answer in lower case.
func (a Answer) String() string { return [...]string{"no", "unknown", "yes"}[a] }

// Form is what kind of label selector a term has.
type Form string

// The forms: null matches no pod and empty matches every pod (R-A4), except in
// a spread constraint, where an empty one counts none (R-T5).
const (
	FormNull  Form = "null"
	FormEmpty Form = "empty"
	FormSet   Form = "set"
)

// requirement is one condition on a label.
type requirement struct {
	key    string
	op     metav1.LabelSelectorOperator
	values []string
	// own is set for a condition that matchLabelKeys or mismatchLabelKeys makes
	// from a label whose value the controller adds: the value is that of the
	// workload itself (own) or of the very pod (ownPod).
	own, ownPod bool
}

// selector is a label selector as a list of conditions that must all hold.
type selector struct {
	form Form
	reqs []requirement
	// values is how many the conditions have together.
	values int
}

// cost is how many steps it takes to hold the selector against one workload. Whether
// two templates have the same hash takes a look at the whole of them.
func (s *selector) cost() int {
	steps := 1 + (len(s.reqs)+s.values)/2
	for i := range s.reqs {
		if s.reqs[i].own {
			steps += 20
		}
	}
	return steps
}

func newSelector(s *metav1.LabelSelector) selector {
	if s == nil {
		return selector{form: FormNull}
	}
	sel := selector{form: FormEmpty}
	for _, k := range sortedKeys(s.MatchLabels) {
		sel.reqs = append(sel.reqs, requirement{key: k, op: metav1.LabelSelectorOpIn, values: []string{s.MatchLabels[k]}})
	}
	for _, e := range s.MatchExpressions {
		sel.reqs = append(sel.reqs, requirement{key: e.Key, op: e.Operator, values: distinct(e.Values)})
		sel.values += len(e.Values)
	}
	if len(sel.reqs) > 0 {
		sel.form = FormSet
	}
	return sel
}

// distinct are values without repeats: what a selector names twice is there once.
func distinct(values []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// merge adds what the API server makes of matchLabelKeys and mismatchLabelKeys
// at pod creation: keys that the pod does not carry are dropped, and a null
// selector stays null (pkg/registry/core/pod/strategy.go,
// applyMatchLabelKeysAndMismatchLabelKeys; R-A18).
func (s *selector) merge(w *workload.Workload, keys []string, op metav1.LabelSelectorOperator) {
	if s.form == FormNull {
		return
	}
	for _, key := range keys {
		r := requirement{key: key, op: op}
		if v, ok := w.Labels[key]; ok {
			r.values = []string{v}
		} else if added, perPod := w.Added(key); added {
			r.own, r.ownPod = true, perPod
		} else {
			continue
		}
		s.reqs = append(s.reqs, r)
		s.form = FormSet
	}
}

// Placeholder reports whether a text still holds a variable of a later tool.
func Placeholder(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "{{") || strings.Contains(s, "$(")
}

// matches tells whether the selector of a pod of owner selects pods of target.
// The same workload twice asks about two different pods, unless self is set.
func (s *selector) matches(owner, target *workload.Workload, self bool) Answer {
	if s.form == FormNull {
		return No
	}
	answer := Yes
	for i := range s.reqs {
		if answer = min(answer, s.reqs[i].holds(owner, target, self)); answer == No {
			return No
		}
	}
	return answer
}

// doubtful is the label on whose value, known to nobody but the cluster, it
// depends whether the selector selects pods of target, or "". Labels that come
// with the node are known once a pod has one.
func (s *selector) doubtful(owner, target *workload.Workload) string {
	for _, self := range []bool{false, true} {
		answer, key := Yes, ""
		for i := range s.reqs {
			r := &s.reqs[i]
			if !r.own && boundLabel(r.key) {
				continue
			}
			holds := r.holds(owner, target, self)
			if holds == Maybe {
				key = r.key
			}
			answer = min(answer, holds)
		}
		if answer == Maybe {
			return key
		}
	}
	return ""
}

// variable reports whether a label of which nobody knows the value holds a
// variable, in the selector or on the pods.
func (s *selector) variable(target *workload.Workload, key string) bool {
	return Placeholder(target.Labels[key]) || slices.ContainsFunc(s.reqs, func(r requirement) bool {
		return r.key == key && slices.ContainsFunc(r.values, Placeholder)
	})
}

// holds evaluates one condition (apimachinery pkg/labels, Requirement.Matches).
func (r *requirement) holds(owner, target *workload.Workload, self bool) Answer {
	if r.own {
		return r.holdsOwn(owner, target, self)
	}
	if boundLabel(r.key) {
		return Maybe
	}
	value, has := target.Labels[r.key]
	if !has {
		if added, _ := target.Added(r.key); added {
			return r.holdsAdded(target)
		}
	}
	return r.compare(value, has)
}

// compare evaluates the condition on a label that is known, if only to be
// absent.
func (r *requirement) compare(value string, has bool) Answer {
	if !has {
		return truth(r.op == metav1.LabelSelectorOpNotIn || r.op == metav1.LabelSelectorOpDoesNotExist)
	}
	switch r.op {
	case metav1.LabelSelectorOpExists:
		return Yes
	case metav1.LabelSelectorOpDoesNotExist:
		return No
	}
	in := truth(slices.Contains(r.values, value))
	if in == No && (Placeholder(value) || slices.ContainsFunc(r.values, Placeholder)) {
		return Maybe
	}
	if r.op == metav1.LabelSelectorOpNotIn {
		return Yes - in
	}
	return in
}

// boundLabel reports whether pods get a label from their node when they are
// bound (plugin/pkg/admission/podtopologylabels; R-P7): a pod that is coming in
// has another value of it, or none.
func boundLabel(key string) bool {
	return key == corev1.LabelTopologyZone || key == corev1.LabelTopologyRegion
}

// holdsAdded is for a label that the target's controller adds with a value
// that is not known here, but for its form.
func (r *requirement) holdsAdded(target *workload.Workload) Answer {
	switch r.op {
	case metav1.LabelSelectorOpExists:
		return Yes
	case metav1.LabelSelectorOpDoesNotExist:
		return No
	}
	if slices.ContainsFunc(r.values, func(v string) bool { return mayAdd(target, r.key, v) }) {
		return Maybe
	}
	return truth(r.op == metav1.LabelSelectorOpNotIn)
}

// holdsOwn is for a value that belongs to the owner alone: no other workload
// has it, and if it differs from pod to pod no other pod has it either. What
// may be the same all the same is not known.
func (r *requirement) holdsOwn(owner, target *workload.Workload, self bool) Answer {
	one := owner.Object == target.Object // pods that are told apart have one controller
	same := one && !r.ownPod || owner == target && self
	literal, set := target.Labels[r.key]
	added, _ := target.Added(r.key)
	if !one && (set && mayAdd(owner, r.key, literal) || !set && added && mayShare(owner, target, r.key)) {
		return Maybe
	}
	if r.op == metav1.LabelSelectorOpNotIn {
		return truth(!same)
	}
	return truth(same)
}

func truth(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

// String is the selector as kubectl writes it.
func (s *selector) String() string {
	switch s.form {
	case FormNull:
		return "no label selector"
	case FormEmpty:
		return "{}"
	}
	parts := make([]string, len(s.reqs))
	for i, r := range s.reqs {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

func (r *requirement) String() string {
	list := "(" + strings.Join(r.values, ",") + ")"
	if r.own {
		list = "(its own)"
	}
	switch {
	case r.op == metav1.LabelSelectorOpExists:
		return r.key
	case r.op == metav1.LabelSelectorOpDoesNotExist:
		return "!" + r.key
	case r.op == metav1.LabelSelectorOpNotIn:
		return r.key + " notin " + list
	case len(r.values) == 1 && !r.own:
		return r.key + "=" + r.values[0]
	}
	return r.key + " in " + list
}

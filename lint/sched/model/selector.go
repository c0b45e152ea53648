package model

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Answer is No, Maybe or Yes.
type Answer int8

// The answers are ordered No < Maybe < Yes, so min is a logical and, and max is a logical or.
const (
	No Answer = iota
	Maybe
	Yes
)

// String returns the outcome for the answer as a string.
func (a Answer) String() string { return string(a.Outcome()) }

// Outcome converts the answer to an outcome: Never, Unknown or Always.
func (a Answer) Outcome() diag.Outcome {
	return [...]diag.Outcome{No: diag.Never, Maybe: diag.Unknown, Yes: diag.Always}[a]
}

// Form is the kind of a term's label selector.
type Form string

// The forms of selectors. A null selector matches no pod. An empty one matches every pod (R-A4),
// except in a spread constraint, where it counts no pod (R-T5).
const (
	FormNull  Form = "null"
	FormEmpty Form = "empty"
	FormSet   Form = "set"
)

// Requirement is one condition on a label.
type Requirement struct {
	Key    string
	Op     metav1.LabelSelectorOperator
	Values []string
	// Own is set for a condition that matchLabelKeys or mismatchLabelKeys adds on a label whose
	// value a controller sets. The value belongs to the workload. If ownPod is set, it belongs to a
	// single pod.
	Own, ownPod bool
	// Claim is set for a condition on the claims of a pod instead of its labels.
	Claim string
}

// selector is a label selector, represented as a list of conditions that must all hold.
type selector struct {
	Form Form
	Reqs []Requirement
	// values is the total number of values in matchExpressions.
	values int
}

// Cost returns the step cost of matching the selector against one workload. A condition on a
// template hash costs more, because it may require comparing two templates.
func (s *selector) Cost() int {
	steps := 1 + (len(s.Reqs)+s.values)/2
	for i := range s.Reqs {
		if s.Reqs[i].Own {
			steps += 20
		}
	}
	return steps
}

func newSelector(s *metav1.LabelSelector) selector {
	if s == nil {
		return selector{Form: FormNull}
	}
	sel := selector{Form: FormEmpty}
	for _, k := range SortedKeys(s.MatchLabels) {
		sel.Reqs = append(sel.Reqs, Requirement{Key: k, Op: metav1.LabelSelectorOpIn, Values: []string{s.MatchLabels[k]}})
	}
	for _, e := range s.MatchExpressions {
		sel.Reqs = append(sel.Reqs, Requirement{Key: e.Key, Op: e.Operator, Values: distinct(e.Values)})
		sel.values += len(e.Values)
	}
	if len(sel.Reqs) > 0 {
		sel.Form = FormSet
	}
	return sel
}

// distinct removes repeated values.
func distinct(values []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// merge adds the conditions that the API server derives from matchLabelKeys and mismatchLabelKeys
// when it creates a pod. It ignores keys that the pod's labels lack. A null selector stays null
// (pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys; R-A18).
func (s *selector) merge(w *workload.Workload, keys []string, op metav1.LabelSelectorOperator) {
	if s.Form == FormNull {
		return
	}
	for _, key := range keys {
		r := Requirement{Key: key, Op: op}
		if v, ok := w.Labels[key]; ok {
			r.Values = []string{v}
		} else if added, perPod := w.Added(key); added {
			r.Own, r.ownPod = true, perPod
		} else {
			continue
		}
		s.Reqs = append(s.Reqs, r)
		s.Form = FormSet
	}
}

// Matches returns whether the selector in a rule of the owner's pods selects the target's pods. The
// owner and the target can be the same workload. In that case, Matches compares two different pods
// unless self is set.
func (s *selector) Matches(owner, target *workload.Workload, self bool) Answer {
	if s.Form == FormNull {
		return No
	}
	answer := Yes
	for i := range s.Reqs {
		if answer = min(answer, s.Reqs[i].holds(owner, target, self)); answer == No {
			return No
		}
	}
	return answer
}

// Doubtful returns the key of a label that decides whether the selector selects the target's pods.
// Only the cluster knows the label's value. The result is "" if there is no such label. Labels that
// a pod gets from its node do not count, because their values are known after the pod is placed.
func (s *selector) Doubtful(owner, target *workload.Workload) string {
	for _, self := range []bool{false, true} {
		answer, key := Yes, ""
		for i := range s.Reqs {
			r := &s.Reqs[i]
			if !r.Own && BoundLabel(r.Key) {
				continue
			}
			holds := r.holds(owner, target, self)
			if holds == Maybe {
				key = r.Key
			}
			answer = min(answer, holds)
		}
		if answer == Maybe {
			return key
		}
	}
	return ""
}

// Variable reports whether the value of the given label is a placeholder in the selector or on the
// target's pods.
func (s *selector) Variable(target *workload.Workload, key string) bool {
	return source.Placeholder(target.Labels[key]) || slices.ContainsFunc(s.Reqs, func(r Requirement) bool {
		return r.Key == key && slices.ContainsFunc(r.Values, source.Placeholder)
	})
}

// holds evaluates one condition (apimachinery pkg/labels, Requirement.Matches).
func (r *Requirement) holds(owner, target *workload.Workload, self bool) Answer {
	switch {
	case r.Own:
		return r.holdsOwn(owner, target, self)
	case r.Claim != "":
		return truth(slices.Contains(target.OncePod, r.Claim))
	}
	if BoundLabel(r.Key) {
		return Maybe
	}
	value, has := target.Labels[r.Key]
	if !has {
		if target.Operator != "" {
			return Maybe
		}
		if added, _ := target.Added(r.Key); added { // only the format of the value is known
			if slices.ContainsFunc(r.Values, func(v string) bool { return mayAdd(target, r.Key, v) }) {
				return r.among(Maybe)
			}
			return r.among(No)
		}
	}
	return r.compare(value, has)
}

// compare evaluates the condition on a label with a known value. If has is false, the label is
// absent.
func (r *Requirement) compare(value string, has bool) Answer {
	if !has {
		return truth(r.Op == metav1.LabelSelectorOpNotIn || r.Op == metav1.LabelSelectorOpDoesNotExist)
	}
	in := truth(slices.Contains(r.Values, value))
	if in == No && (source.Placeholder(value) || slices.ContainsFunc(r.Values, source.Placeholder)) {
		in = Maybe
	}
	return r.among(in)
}

// among evaluates the condition on an existing label. The argument in says whether the label has
// one of the listed values.
func (r *Requirement) among(in Answer) Answer {
	switch r.Op {
	case metav1.LabelSelectorOpExists:
		return Yes
	case metav1.LabelSelectorOpDoesNotExist:
		return No
	case metav1.LabelSelectorOpNotIn:
		return Yes - in
	}
	return in
}

// BoundLabel reports whether pods get a label from their node when they are bound
// (plugin/pkg/admission/podtopologylabels; R-P7). Before that, a pod has a different value or none.
func BoundLabel(key string) bool {
	return key == corev1.LabelTopologyZone || key == corev1.LabelTopologyRegion
}

// holdsOwn evaluates a condition on a value that belongs to the owner. No other workload has this
// value. If the value belongs to a single pod, no other pod has it. The result is Maybe if another
// workload may have the same value by coincidence.
func (r *Requirement) holdsOwn(owner, target *workload.Workload, self bool) Answer {
	one := owner.Object == target.Object // all pods in a split workload have the same controller
	same := one && !r.ownPod || owner == target && self
	literal, set := target.Labels[r.Key]
	added, _ := target.Added(r.Key)
	if !one && (set && mayAdd(owner, r.Key, literal) || !set && added && mayShare(owner, target, r.Key)) {
		return Maybe
	}
	return r.among(truth(same))
}

func truth(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

// String formats the selector in kubectl notation.
func (s *selector) String() string {
	switch s.Form {
	case FormNull:
		return "no label selector"
	case FormEmpty:
		return "{}"
	}
	parts := make([]string, len(s.Reqs))
	for i, r := range s.Reqs {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// String formats the condition in kubectl notation.
func (r *Requirement) String() string {
	list := "(" + strings.Join(r.Values, ",") + ")"
	if r.Own {
		list = "(its own)"
	}
	switch {
	case r.Claim != "":
		return "claim " + r.Claim
	case r.Op == metav1.LabelSelectorOpExists:
		return r.Key
	case r.Op == metav1.LabelSelectorOpDoesNotExist:
		return "!" + r.Key
	case r.Op == metav1.LabelSelectorOpNotIn:
		return r.Key + " notin " + list
	case len(r.Values) == 1 && !r.Own:
		return r.Key + "=" + r.Values[0]
	}
	return r.Key + " in " + list
}

// The manifests do not contain the label values that controllers add, but the formats of these
// values are known. A controller never adds a value in another format.
var (
	// A hash is a number below 2^32, formatted in decimal, with its digits replaced by safe
	// characters (pkg/controller/controller_utils.go ComputeHash, rand.SafeEncodeString).
	hashForm   = regexp.MustCompile(`^[456789bcdf]{1,10}$`)
	numberForm = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	uidForm    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	forms      = map[string]*regexp.Regexp{
		"pod-template-hash": hashForm, "pod-template-generation": numberForm, "controller-uid": uidForm, "batch.kubernetes.io/controller-uid": uidForm,
		"apps.kubernetes.io/pod-index": numberForm, "batch.kubernetes.io/job-completion-index": numberForm, "kubevirt.io/created-by": uidForm,
	}
	// suffixes holds the formats for the part that follows the object's name and a dash.
	suffixes = map[string]*regexp.Regexp{
		"job-name": numberForm, "batch.kubernetes.io/job-name": numberForm, "statefulset.kubernetes.io/pod-name": numberForm,
	}
)

// mayAdd reports whether a workload's controller may add this value to its pods for the given
// label.
func mayAdd(w *workload.Workload, key, value string) bool {
	if source.Placeholder(value) {
		return true
	}
	rest, own := strings.CutPrefix(value, w.Object.Name+"-")
	if source.Placeholder(w.Object.Name) {
		rest, own = value[strings.LastIndex(value, "-")+1:], true
	}
	switch form := forms[key]; {
	case key == "controller-revision-hash" && w.Kind.Kind == "StatefulSet":
		return own && hashForm.MatchString(rest)
	case key == "controller-revision-hash":
		return hashForm.MatchString(value)
	case form != nil:
		return form.MatchString(value)
	case suffixes[key] != nil:
		return own && suffixes[key].MatchString(rest)
	}
	return true
}

// mayShare reports whether two workloads' controllers may add the same value. The value is then a
// small number or a hash of equal templates.
func mayShare(a, b *workload.Workload, key string) bool {
	return Ordinal(key) || forms[key] == hashForm && a.Kind == b.Kind && maps.Equal(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// Ordinal reports whether a controller sets the label to a small number. Pods in several workloads
// may then have the same value.
func Ordinal(key string) bool {
	return key == podIndex || key == completionIndex
}

const (
	podIndex        = "apps.kubernetes.io/pod-index"
	PodName         = "statefulset.kubernetes.io/pod-name"
	completionIndex = "batch.kubernetes.io/job-completion-index"
)

// Asks describes the situation in which a term is evaluated. Self is set if the target pod itself
// has the term. Incoming is set if the pod with the term has not been placed yet. At is the target
// pod's node, or nil. The target pod has the zone and region labels of that node.
type Asks struct {
	Self, Incoming bool
	At             *topology.Node
}

// Selects is like Peer or Self, but assumes that all objects are declared. An undeclared namespace
// has only its name label.
func (m *Model) Selects(t *Term, owner, target *workload.Workload, when Asks) bool {
	m.run.Spend(t.Sel.Cost())
	if !inNamespace(m, t, owner, target, when.Incoming) {
		return false
	}
	if !t.Sel.Local() {
		return t.Sel.Matches(owner, target, when.Self) == Yes
	}
	answer := Yes
	for i := range t.Sel.Reqs {
		r := &t.Sel.Reqs[i]
		if !BoundLabel(r.Key) || r.Own {
			answer = min(answer, r.holds(owner, target, when.Self))
			continue
		}
		value, has := target.Labels[r.Key]
		if when.At != nil {
			if v, labelled := when.At.Labels[r.Key]; labelled {
				value, has = v, true
			}
		}
		answer = min(answer, r.compare(value, has))
	}
	return answer == Yes
}

// Local reports whether the selector has conditions on labels that pods get from their node. A
// local selector may select a pod on one node and not on another.
func (s *selector) Local() bool {
	return slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return BoundLabel(r.Key) && !r.Own })
}

// inNamespace reports whether a term applies to the target's namespace.
func inNamespace(m *Model, t *Term, owner, target *workload.Workload, incoming bool) bool {
	ns := workload.Space(target.Namespace())
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return ns == workload.Space(owner.Namespace())
	}
	if slices.Contains(t.Namespaces, ns) {
		return true
	}
	if t.ns.Form == FormNull {
		return false
	}
	if incoming && t.ns.negative() {
		return true
	}
	labels, declared := m.Namespaces[ns]
	if !declared {
		labels = map[string]string{metav1NameLabel: ns}
	}
	probe := &workload.Workload{Labels: labels, Kind: &workload.Kind{}}
	return t.ns.Matches(probe, probe, true) == Yes
}

// EveryNamespace reports whether the scheduler treats the term's namespace selector as if it
// matched every namespace.
func (t *Term) EveryNamespace() bool { return t.ns.negative() }

// Unheard reports whether the scheduler does not retry a pod that the required affinity term rejects
// when a pod that it selects is placed: it matches the namespace selector against an empty set of
// labels then (R-Q7).
func (t *Term) Unheard() bool {
	return t.Hard && t.Use == Affinity && len(t.Namespaces) == 0 && t.ns.Form == FormSet && !t.ns.negative()
}

// negative reports whether a namespace selector has only NotIn and DoesNotExist conditions. For an
// incoming pod, Kubernetes 1.36 treats such a selector as if it matched every namespace
// (kubernetes/kubernetes#141526). It looks up the matching namespaces and then matches the selector
// against an empty set of labels (plugins/interpodaffinity/plugin.go,
// mergeAffinityTermNamespacesIfNotEmpty).
func (s *selector) negative() bool {
	return s.Form == FormSet && !slices.ContainsFunc(s.Reqs, func(r Requirement) bool {
		return r.Op != metav1.LabelSelectorOpNotIn && r.Op != metav1.LabelSelectorOpDoesNotExist
	})
}

// Local reports whether any of the terms has a local selector.
func Local(terms []*Term) bool {
	return slices.ContainsFunc(terms, func(t *Term) bool { return t.Sel.Local() })
}

// openNamespaces excludes a workload from decisions if a placeholder in a namespace's name or
// labels decides whether a rule applies. Usually it excludes the owner of the rule. If the only
// placeholder is the namespace of a selected workload, it excludes the selected workload.
func (m *Model) openNamespaces() {
	variable := slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return source.Placeholder(w.Namespace()) })
	for _, labels := range m.Namespaces {
		for _, v := range labels {
			variable = variable || source.Placeholder(v)
		}
	}
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && (variable || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()) {
				open := source.Placeholder
				own := open(w.Namespace()) && len(t.Namespaces) == 0 || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()
				for _, list := range m.Index.Candidates(t, w) {
					m.run.Spend(len(list) * t.Sel.Cost())
					for _, o := range list {
						labels := m.Namespaces[o.Namespace()]
						labelled := t.NamespaceSelector != nil && slices.ContainsFunc(SortedKeys(labels), func(k string) bool { return source.Placeholder(labels[k]) })
						if !own && !labelled && !open(o.Namespace()) || selectsNamespace(m, t, w, o.Namespace()) != Maybe || t.Sel.Matches(w, o, false) == No {
							continue
						}
						g := m.Groups[o]
						if own || labelled {
							g = m.Groups[w]
						}
						if !g.Unknown.Given() {
							g.Unknown = Reason{Cause: ByNamespace}
						}
					}
				}
			}
		}
	}
}

// open reports whether the selector has a placeholder as a value.
func (s *selector) open() bool {
	return slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return slices.ContainsFunc(r.Values, source.Placeholder) })
}

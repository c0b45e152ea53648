package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
)

// termFindings returns the catalogue entries for findings about individual documents, fields,
// terms, labels and suppressions.
func termFindings() map[string]words {
	return map[string]words{
		"alias-bomb":          document("%s", "write out the values instead of using aliases"),
		"alias-cycle":         document("%s, so the document is infinite"),
		"duplicate-key":       of(duplicateKey),
		"nesting-too-deep":    document("the document nests too deeply: %s"),
		"render-failed":       document("rendering fails: %s"),
		"render-refused":      document("schedlint does not render this: %s"),
		"unparsable-document": document("not valid YAML or JSON: %s"),
		"unreadable-file":     document("the file %s"),

		"rejected-by-api":            of(rejected),
		"pods-rejected-by-api":       of(podsRejected),
		"limit-range-refuses-pods":   of(podsRejected),
		"quota-refuses-pods":         of(rejected),
		"rejected-with-feature-gate": of(rejectedWithGate),
		"field-ignored-by-version":   of(ignoredByVersion),
		"unknown-priority-class":     of(unknownPriorityClass),
		"invalid-placement-fields":   of(invalidPlacementFields),
		"unknown-field":              of(unknownField),

		"deprecated-node-label":      of(deprecatedNodeLabel),
		"empty-node-selector-term":   of(emptyNodeTerm),
		"values-match-no-node":       of(valuesMatchNoNode),
		"match-label-key-not-on-pod": of(labelKeyNotOnPod),
		"unknown-topology-key":       of(unknownTopologyKey),
		"topology-key-on-no-node":    of(topologyKeyOnNoNode),
		"topology-key-on-some-nodes": of(topologyKeyOnSomeNodes),
		"affinity-never-satisfied":   of(affinityNeverSatisfied),

		"namespaces-exclude-own":   of(namespacesExcludeOwn),
		"selector-matches-no-pod":  of(selectorMatchesNoPod),
		"selector-misses-own-pods": of(selectorMissesOwnPods),
		"spread-counts-no-pod":     of(spreadCountsNoPod),

		"suppression-expired":        of(suppressionExpired),
		"suppression-names-no-rule":  of(suppressionNamesNoRule),
		"suppression-unused":         of(suppressionUnused),
		"suppression-without-reason": of(suppressionWithoutReason),
	}
}

// document returns a function that describes a problem in a document. The format argument is the
// detail of the problem.
func document(format string, details ...string) words {
	return of(func(r *facts.Document, _ *facts.Facts) Text {
		return Text{Headline: fmt.Sprintf(format, r.Detail), Details: details}
	})
}

func duplicateKey(r *facts.Document, _ *facts.Facts) Text {
	effect := "only one of the two takes effect"
	switch {
	case r.Merged:
		effect = "Flux and the helmCharts of kustomize refuse this"
	case r.LastCounts:
		effect = "Helm uses the last one"
	}
	headline := "duplicate key " + r.Detail
	if r.FirstLine > 0 {
		headline += fmt.Sprintf(" (first defined on line %d)", r.FirstLine)
	}
	return Text{Headline: headline, Details: []string{effect}}
}

func rejected(r *facts.Refusal, _ *facts.Facts) Text {
	return about(r.Object, fmt.Sprintf("%s: %s", r.Field, r.Reason))
}

func podsRejected(r *facts.Refusal, _ *facts.Facts) Text {
	which := "every"
	if strings.HasPrefix(r.Object, "Pod ") {
		which = "the"
	}
	return about(r.Object, fmt.Sprintf("the API server rejects %s pod: %s: %s", which, r.Field, r.Reason))
}

func rejectedWithGate(r *facts.Refusal, in *facts.Facts) Text {
	text := rejected(r, in)
	text.Details = []string{fmt.Sprintf("the API server drops the field, or rejects it if the feature gate %s is enabled", r.Gate)}
	return text
}

func ignoredByVersion(r *facts.Refusal, in *facts.Facts) Text {
	text := rejected(r, in)
	gate := ""
	if r.Gate != "" {
		gate = fmt.Sprintf("the feature gate %s is off by default in this version", r.Gate)
	}
	text.Details = dropEmpty(gate, ofValues(r.Values))
	return text
}

func unknownPriorityClass(r *facts.Refusal, _ *facts.Facts) Text {
	return about(r.Object, r.Reason, "the API server rejects every pod unless a PriorityClass that is not declared allows it")
}

func invalidPlacementFields(r *facts.Refusal, in *facts.Facts) Text {
	text := rejected(r, in)
	text.Details = dropEmpty("the API server rejects pods with this value", ofValues(r.Values))
	return text
}

func unknownField(r *facts.UnknownField, _ *facts.Facts) Text {
	what := fmt.Sprintf("field %s does not exist, so the API server drops it", r.Field)
	if r.Values {
		return about(r.Object, what, nameMeant(r.Suggestion), ofValues(true))
	}
	return Text{Headline: what, Details: dropEmpty(nameMeant(r.Suggestion))}
}

func deprecatedNodeLabel(r *facts.NodeLabel, _ *facts.Facts) Text {
	instead := ""
	if r.Replacement != "" {
		instead = "use " + r.Replacement
	}
	return about(r.Object, fmt.Sprintf("%s uses the deprecated node label %s", r.Where, r.Key), instead, ofValues(r.Values))
}

func emptyNodeTerm(r *facts.NodeTerm, in *facts.Facts) Text {
	what := "the empty nodeSelectorTerm matches no nodes, so "
	switch {
	case !r.Hard:
		what = "the empty preferred node affinity term favors no nodes"
	case r.Others == 0:
		what += "no node satisfies the required node affinity"
	default:
		what += "only the other " + verb(r.Others, "term counts", fmt.Sprintf("%d terms count", r.Others))
	}
	return about(in.Ref(r.W), what)
}

func valuesMatchNoNode(r *facts.NodeMatch, _ *facts.Facts) Text {
	what := "nodeSelector"
	if r.Where == "nodeAffinity" {
		what = "required node affinity"
	}
	node := "the only node does not match"
	if r.Nodes > 1 {
		node = fmt.Sprintf("none of the %d nodes matches", r.Nodes)
	}
	return about(r.Object, fmt.Sprintf("%s the %s%s", node, what, unmetCondition(r)), nameMeant(r.Suggestion), ofValues(true))
}

// unmetCondition returns the condition that no node meets, in parentheses. It returns "" if there
// is none.
func unmetCondition(r *facts.NodeMatch) string {
	switch {
	case r.Key == "":
		return ""
	case r.Where == "nodeSelector":
		return fmt.Sprintf(" (%s=%s)", r.Key, strings.Join(r.Values, ","))
	case len(r.Values) == 0:
		return fmt.Sprintf(" (%s %s)", r.Key, r.Operator)
	}
	return fmt.Sprintf(" (%s %s %s)", r.Key, r.Operator, namesOf(r.Values[:min(maxLabels, len(r.Values))], len(r.Values)))
}

func labelKeyNotOnPod(r *facts.LabelKey, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		fmt.Sprintf("%s lists %s, but its pods do not have that label, so the entry is ignored", r.List, r.Key), nameMeant(r.Nearest))
}

func unknownTopologyKey(r *facts.TopologyKey, _ *facts.Facts) Text {
	use := r.Use
	if use == "spread" {
		use = "topologySpreadConstraint"
	}
	return about(r.Object,
		fmt.Sprintf("the %s uses topologyKey %s, a node label that Kubernetes does not set", use, r.Key), nameMeant(r.Suggestion), ofValues(r.Values))
}

func topologyKeyOnNoNode(r *facts.TopologyKey, _ *facts.Facts) Text {
	effect := "no node satisfies the rule"
	if !r.Hard || r.Use == "anti-affinity" {
		effect = fmt.Sprintf("the %s has no effect", strength(r.Use, r.Hard))
	}
	return about(r.Object, fmt.Sprintf("%s the label %s, so %s", noneHas(r.Usable), r.Key, effect), nameMeant(r.Suggestion), ofValues(r.Values))
}

func topologyKeyOnSomeNodes(r *facts.TopologyKey, _ *facts.Facts) Text {
	lacking := r.Usable - r.With
	effect := "has no effect there"
	if r.Use == "anti-affinity" {
		effect = "does not keep pods apart there"
	}
	nodes := fmt.Sprintf("%d of the %d eligible nodes %s", lacking, r.Usable, verb(lacking, "has", "have"))
	return about(r.Object,
		fmt.Sprintf("%s no label %s (%s), so the %s %s", nodes, r.Key, namesOf(r.Without, lacking), strength(r.Use, r.Hard), effect), nameMeant(r.Suggestion))
}

// ofValues returns a note for a field in chart values. The chart is not part of the input.
func ofValues(values bool) string {
	if !values {
		return ""
	}
	return "the chart is not at hand, so it is unknown which pods get this value"
}

// strength returns the name of a rule with its strength, such as "required affinity" or
// "ScheduleAnyway constraint".
func strength(use string, hard bool) string {
	switch {
	case use == "spread" && hard:
		return "DoNotSchedule constraint"
	case use == "spread":
		return "ScheduleAnyway constraint"
	case hard:
		return "required " + use
	}
	return "preferred " + use
}

// noneHas returns the start of a sentence about a label that no eligible node has.
func noneHas(n int) string {
	if n == 1 {
		return "the only eligible node does not have"
	}
	return fmt.Sprintf("none of the %d eligible nodes has", n)
}

func affinityNeverSatisfied(r *facts.Affinity, in *facts.Facts) Text {
	why := ""
	switch r.Cause {
	case "missing-key":
		why = fmt.Sprintf("%s the label %s, which the required affinity needs", noneHas(r.Usable), r.Key)
	case "null-selector":
		why = fmt.Sprintf("the required affinity on %s has no labelSelector, so it matches no pods", r.Key)
	default:
		why = "no pod can match all required affinity terms: " + strings.Join(r.Between, " and ")
	}
	return about(in.Ref(r.W), why, "every pod stays Pending", nameMeant(r.Suggestion))
}

func namespacesExcludeOwn(r *facts.Selector, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		fmt.Sprintf("the %s selects the labels of its own pods (%s), but not in its own namespace", r.Use, r.Text),
		fmt.Sprintf("the term applies to %s, where no declared pod matches", namespaces(&r.Namespaces)))
}

func selectorMatchesNoPod(r *facts.Selector, in *facts.Facts) Text {
	what := "has no labelSelector, so it matches no pods"
	if r.Form != "null" {
		what = fmt.Sprintf("selects %s, which matches none of the %d declared workloads", r.Text, r.Declared)
	}
	return about(in.Ref(r.W), "the affinity "+what+hint(r.Nearest))
}

func selectorMissesOwnPods(r *facts.Selector, in *facts.Facts) Text {
	what := "has no labelSelector, so it matches no pods"
	if r.Form != "null" {
		what = fmt.Sprintf("selects %s, which matches no declared pods, not even its own", r.Text)
	}
	return about(in.Ref(r.W), "the anti-affinity "+what+hint(r.Nearest))
}

func spreadCountsNoPod(r *facts.Selector, in *facts.Facts) Text {
	what := ""
	switch r.Form {
	case "null":
		what = "has no labelSelector, so it counts no pods"
	case "empty":
		what = "has an empty labelSelector, which counts no pods in Kubernetes v1.36 (kubernetes/kubernetes#141339)"
	default:
		what = fmt.Sprintf("selects %s, which matches no pods in its namespace%s", r.Text, hint(r.Nearest))
	}
	return about(in.Ref(r.W), "the topologySpreadConstraint "+what)
}

func suppressionExpired(r *facts.Suppression, _ *facts.Facts) Text {
	subject := "the baseline"
	if r.By != "baseline" {
		subject = fmt.Sprintf("the %s that suppresses %s", r.By, r.Rule)
	}
	term := fmt.Sprintf("was valid until %s and no longer applies", r.Until)
	if !r.Dated {
		term = fmt.Sprintf("has no effect: until=%s is not a date such as 2027-03-31", r.Until)
	}
	return Text{Headline: fmt.Sprintf("%s%s %s", subject, forTarget(r.Target), term)}
}

func suppressionNamesNoRule(r *facts.Suppression, _ *facts.Facts) Text {
	names := "does not name the rule to suppress"
	if r.Rule != "" {
		names = fmt.Sprintf("suppresses %s, which is not a rule%s", r.Rule, hint(r.Suggestion))
	}
	return Text{Headline: fmt.Sprintf("the %s%s %s", r.By, forTarget(r.Target), names)}
}

func suppressionUnused(r *facts.Suppression, _ *facts.Facts) Text {
	if r.Rule == "" {
		return Text{Headline: fmt.Sprintf("the %s accepts that %s is not rendered, but nothing that is not rendered has this path or name", r.By, r.Target)}
	}
	return Text{Headline: fmt.Sprintf("the %s suppresses %s%s, but the rule reports nothing there", r.By, r.Rule, forTarget(r.Target))}
}

func suppressionWithoutReason(r *facts.Suppression, _ *facts.Facts) Text {
	return Text{Headline: fmt.Sprintf("the %s suppresses %s%s without a reason, so it has no effect", r.By, r.Rule, forTarget(r.Target))}
}

// forTarget turns a suppression's target into a phrase. It returns "" if target is empty.
func forTarget(target string) string {
	if target == "" {
		return ""
	}
	return " for " + target
}

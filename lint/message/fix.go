package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/source"
)

// AddSelector is the repair of a term without a labelSelector.
const AddSelector = "add a labelSelector"

const selectOwnLabels = "select labels that the pods have"

// Set is the repair that writes another value.
func Set(value string) string { return "set " + value }

// LabelEveryNode is the repair of a topology key that only some eligible nodes have.
func LabelEveryNode(key string) string {
	return fmt.Sprintf("label every node with %s, or restrict the pods to nodes that have it", key)
}

// RemoveNodeTerm is the repair of an empty term of a node affinity.
func RemoveNodeTerm(hard bool) string {
	if hard {
		return "remove the empty term, or the whole required node affinity if every node is allowed"
	}
	return "remove the empty preference"
}

// SelectorFix is the repair of a selector that matches no declared pod.
func SelectorFix(r *facts.Selector) string {
	switch {
	case r.MatchesOwn == diag.Always && r.OwnNamespace == diag.Never:
		return "remove namespaces or add the workload's own namespace"
	case r.Nearest != "":
		return "select " + r.Nearest
	case r.Form == "null":
		return AddSelector
	case r.Form != "empty" && r.Use == "affinity":
		return "select labels of the pods to run next to"
	}
	return selectOwnLabels
}

// AddPodLabel is the repair of a key of matchLabelKeys that the pods do not have.
func AddPodLabel(key string) string {
	return fmt.Sprintf("add the label %s to the pod template, or remove the key", key)
}

// AffinityFix is the repair of a required affinity that no pod can satisfy.
func AffinityFix(r *facts.Affinity) string {
	switch r.Cause {
	case "missing-key":
		return fmt.Sprintf("label the nodes with %s, or use a key that they have", r.Key)
	case "null-selector":
		return AddSelector
	}
	return "select one label that all these pods have, or make one of the terms preferred"
}

// suppressionFixes has the repair of each problem of a suppression.
var suppressionFixes = map[accept.Problem]string{
	accept.WithoutReason: "add a reason",
	accept.Expired:       "fix the finding, or renew the suppression with a new reason and date",
	accept.Unused:        "remove it so that it does not hide the next finding of the rule",
}

// SuppressionFix is the repair of a suppression; "" if there is none.
func SuppressionFix(c *accept.Complaint) string {
	if c.Problem == accept.NamesNoRule && c.Near != "" {
		return "use " + c.Near
	}
	return suppressionFixes[c.Problem]
}

// Why an edit that would be safe elsewhere is not safe here.
const (
	WithheldRecoded     = "the file is UTF-16, and edits are written as UTF-8"
	WithheldFragment    = "the controller of the object decides what the key means here"
	WithheldValues      = "the chart, which is not at hand, decides what the key means here"
	WithheldJob         = "Job templates are not edited because existing Jobs are immutable"
	WithheldShared      = "an anchor or merge key provides it, so an edit could change other places"
	WithheldPacked      = "it is in a packed chart: unpack the chart to edit it"
	WithheldComputed    = "the chart computes it"
	WithheldNoPlainText = "it is not a plain scalar"
	WithheldUnwritten   = "its source has different text"
	WithheldElsewhere   = "it is set in another repository"
	WithheldUntried     = "it is set in a part of a GitOps pointer that --fix does not edit, such as a patch"
)

var makers = map[source.Maker]string{
	source.MadeByKustomize: "kustomize rendered the document: its source has to change",
	source.MadeByHelm:      "helm rendered the file: its template has to change",
	source.MadeByGenerator: "a comment says that the file is generated: its source has to change",
	source.MadeByCluster:   "the document is a copy out of a cluster: its source has to change",
}

// WithheldMade is the reason why an edit of a generated text is not safe; "" if its generator is
// unknown.
func WithheldMade(by source.Maker) string { return entry(makers, by) }

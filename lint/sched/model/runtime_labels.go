package model

import (
	"maps"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// The values of labels that controllers add are not in the manifests, but each has
// a form, and a text of another form can never be the value.
var (
	// A hash is a number below 2^32 with its digits replaced by letters
	// (pkg/controller/controller_utils.go ComputeHash, rand.SafeEncodeString).
	hashForm   = regexp.MustCompile(`^[456789bcdf]{1,10}$`)
	numberForm = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	uidForm    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	forms      = map[string]*regexp.Regexp{
		"pod-template-hash": hashForm, "pod-template-generation": numberForm, "controller-uid": uidForm, "batch.kubernetes.io/controller-uid": uidForm,
		"apps.kubernetes.io/pod-index": numberForm, "batch.kubernetes.io/job-completion-index": numberForm, "kubevirt.io/created-by": uidForm,
	}
	// suffixes are the forms of the part after the name of the object and a dash.
	suffixes = map[string]*regexp.Regexp{
		"job-name": numberForm, "batch.kubernetes.io/job-name": numberForm, "statefulset.kubernetes.io/pod-name": numberForm,
	}
)

// mayAdd reports whether the controller of a workload may give its pods this
// value of a label that it adds.
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

// mayShare reports whether the controllers of two workloads may add the same
// value: small numbers, and hashes of equal templates.
func mayShare(a, b *workload.Workload, key string) bool {
	if Ordinal(key) {
		return true
	}
	return forms[key] == hashForm && a.Kind == b.Kind && maps.Equal(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// Ordinal reports whether a label that a controller adds is a small number,
// which pods of several workloads may share.
func Ordinal(key string) bool {
	return key == podIndex || key == completionIndex
}

const (
	podIndex        = "apps.kubernetes.io/pod-index"
	PodName         = "statefulset.kubernetes.io/pod-name"
	completionIndex = "batch.kubernetes.io/job-completion-index"
)

// Package versions says which fields each release of Kubernetes drops (R-V43). Fields that every
// release from Oldest on keeps are not listed, such as minDomains and nodeTaintsPolicy.
//
// Non-goals: feature gates that a cluster sets, and anything else that differs between releases.
package versions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Oldest and Newest are the minor releases between which schedlint knows every field.
const (
	Oldest = 27
	Newest = 36
)

// Version is a release of Kubernetes. The zero Version is not known: it has every field.
type Version struct {
	Minor int
	// Patch is -1 if any patch release is meant.
	Patch int
}

// Parse reads a version such as 1.35, 1.35.2 or v1.35.
func Parse(text string) (Version, error) {
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 15)
		if err != nil || part != strconv.Itoa(int(n)) {
			return Version{}, errForm
		}
		numbers[i] = int(n)
	}
	if numbers = append(numbers, -1); len(parts) < 2 || len(parts) > 3 {
		return Version{}, errForm
	}
	v := Version{numbers[1], numbers[2]}
	if numbers[0] != 1 || v.Minor < Oldest || v.Minor > Newest {
		return Version{}, fmt.Errorf("expected a version from 1.%d to 1.%d", Oldest, Newest)
	}
	return v, nil
}

var errForm = errors.New(`expected a version of Kubernetes such as "1.35" or "1.35.2"`)

// String returns the version as it is written, without a leading v. It returns "" for the zero
// Version.
func (v Version) String() string {
	switch {
	case v == Version{}:
		return ""
	case v.Patch < 0:
		return fmt.Sprintf("1.%d", v.Minor)
	}
	return fmt.Sprintf("1.%d.%d", v.Minor, v.Patch)
}

// Before reports whether the version is known and older than the release 1.minor.
func (v Version) Before(minor int) bool { return v.Minor > 0 && v.Minor < minor }

func (v Version) compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// Field is a field, or several, that not every release keeps when an object is created.
type Field struct {
	// Kind is the kind whose objects have the field, or "" if it is a field of pod specs.
	Kind string
	// Paths lists the paths of the field from the root of the object or of the pod spec. An asterisk
	// stands for any name. Lists add nothing to a path.
	Paths []string
	// Gate is the feature gate without which the API server drops the field. Since is the minor
	// release that added the field and the gate.
	Gate  string
	Since int
	// On and Off are the first releases in which the gate is on by default and off again. Off is zero
	// if it has stayed on.
	On, Off Version
	// So says what follows if the field is dropped.
	So string
}

// Keeps reports whether a version keeps the field, with the feature gates that are on by default.
// The answer is Unknown if it depends on the patch release.
func (f *Field) Keeps(v Version) diag.Outcome {
	first, last := v, v
	if v.Patch < 0 {
		first.Patch, last.Patch = 0, 1<<15
	}
	keeps := func(v Version) bool { return v.compare(f.On) >= 0 && (f.Off == Version{} || v.compare(f.Off) < 0) }
	switch {
	case v == Version{} || keeps(first) && keeps(last):
		return diag.Always
	case keeps(first) || keeps(last):
		return diag.Unknown
	}
	return diag.Never
}

// The fields that code asks about by name.
var (
	affinityKeys = Field{
		Paths: podTerms("matchLabelKeys", "mismatchLabelKeys"), Gate: "MatchLabelKeysInPodAffinity", Since: 29, On: Version{Minor: 31},
		So: "the term counts every pod that its labelSelector matches",
	}
	maxUnavailable = Field{
		Kind: "StatefulSet", Paths: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Gate: "MaxUnavailableStatefulSet", Since: 24, On: Version{Minor: 35}, Off: Version{35, 4},
		So: "a rollout replaces one pod at a time",
	}
	// Every release keeps this field, but the plugin NodePorts reads it from kubernetes#132040 on, which
	// is in 1.34.0 and 1.33.6.
	sidecarPorts = Field{Paths: []string{"initContainers.ports"}, On: Version{33, 6}}
)

// AffinityKeys returns matchLabelKeys and mismatchLabelKeys of pod affinity terms.
func AffinityKeys() *Field { return &affinityKeys }

// MaxUnavailable returns maxUnavailable of the rolling update of a StatefulSet.
func MaxUnavailable() *Field { return &maxUnavailable }

// SidecarPorts returns the host ports of sidecars, which schedulers before 1.33.6 do not count.
func SidecarPorts() *Field { return &sidecarPorts }

// Fields returns the fields that some release from Oldest to Newest drops. The releases are those of
// pkg/features/kube_features.go; kubernetes#137926 turned MaxUnavailableStatefulSet off in 1.35.4.
func Fields() []*Field {
	policy := func(kind, spec string) *Field {
		return &Field{
			Kind: kind, Paths: []string{spec + ".podReplacementPolicy"}, Gate: "JobPodReplacementPolicy", Since: 28, On: Version{Minor: 29},
			So: "pods are replaced while they still terminate",
		}
	}
	return []*Field{
		&affinityKeys, &maxUnavailable, policy("Job", "spec"), policy("CronJob", "spec.jobTemplate.spec"),
		{
			Paths: []string{"initContainers.restartPolicy"}, Gate: "SidecarContainers", Since: 28, On: Version{Minor: 29},
			So: "the container becomes an ordinary init container, and the pod waits for its end",
		},
		{
			Paths: []string{"resources"}, Gate: "PodLevelResources", Since: 32, On: Version{Minor: 34},
			So: "only the requests and limits of the containers count",
		},
		{
			Paths: []string{"resourceClaims"}, Gate: "DynamicResourceAllocation", Since: 26, On: Version{Minor: 34},
			So: "the pods get no devices",
		},
	}
}

// Drops returns the fields that a version drops from objects of a kind and from pod specs.
func (v Version) Drops(kind string) []*Field {
	if v == (Version{}) {
		return nil
	}
	return slices.DeleteFunc(Fields(), func(f *Field) bool {
		return f.Kind != "" && f.Kind != kind || f.Keeps(v) != diag.Never
	})
}

// podTerms returns the paths of fields of pod affinity terms.
func podTerms(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, "affinity.*.requiredDuringSchedulingIgnoredDuringExecution."+name,
			"affinity.*.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm."+name)
	}
	return all
}

package chartutil

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"
)

// Capabilities are what templates see as .Capabilities. Its names and methods are known
// to templates.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
	HelmVersion BuildInfo
}

// String is what templates print of them. It is what a pointer to them prints by itself;
// within a map that would print its address, which is no two times the same.
func (c *Capabilities) String() string {
	type plain Capabilities
	return fmt.Sprint((*plain)(c))
}

// BuildInfo is the version of Helm. The commit and the version of Go, which depend on who
// built Helm, stay empty.
type BuildInfo struct {
	Version, GitCommit, GitTreeState, GoVersion string
}

// KubeVersion is a version of Kubernetes, such as v1.36.0, 1 and 36.
type KubeVersion struct {
	Version, Major, Minor string
}

// String is the version as it is printed.
func (v *KubeVersion) String() string { return v.Version }

// GitVersion is the same.
func (v *KubeVersion) GitVersion() string { return v.Version }

// VersionSet has versions of APIs, such as apps/v1.
type VersionSet []string

// Has is whether an API is in the set, by its exact name.
func (v VersionSet) Has(api string) bool { return slices.Contains(v, api) }

const (
	// HelmVersion is the version of Helm that this package equals.
	HelmVersion = "v3.21.4"
	// DefaultKubeVersion is what helm template takes if it is not told a version.
	DefaultKubeVersion = "v1.36.0"
)

// apiVersions are those that helm template knows. Helm asks the client libraries of
// Kubernetes and has them in any order.
//
//go:embed apiversions.txt
var apiVersions string

// NewCapabilities are those of helm template: kube is the version of Kubernetes, "" for
// the default, and the APIs are added to those that Helm knows.
func NewCapabilities(kube string, apis []string) (*Capabilities, error) {
	v, err := version.ParseGeneric(cmp.Or(kube, DefaultKubeVersion))
	if err != nil {
		return nil, err
	}
	return &Capabilities{
		KubeVersion: KubeVersion{
			Version: "v" + v.String(),
			Major:   strconv.FormatUint(uint64(v.Major()), 10),
			Minor:   strconv.FormatUint(uint64(v.Minor()), 10),
		},
		APIVersions: append(strings.Fields(apiVersions), apis...),
		HelmVersion: BuildInfo{Version: HelmVersion},
	}, nil
}

// IsReleaseName is whether Helm takes a name for a release. Its length leaves room for what charts
// append to make names of objects.
func IsReleaseName(name string) bool {
	return len(name) <= 53 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// Release is what templates see as .Release, but for what never differs in helm template.
type Release struct{ Name, Namespace string }

// Top is what the templates of a chart have as their dot, without what depends on the
// chart and the template.
func Top(r Release, caps *Capabilities, values Values) Values {
	return Values{
		"Capabilities": caps,
		"Release": map[string]any{
			"Name":      r.Name,
			"Namespace": r.Namespace,
			"IsUpgrade": false,
			"IsInstall": true,
			"Revision":  1,
			"Service":   "Helm",
		},
		"Values": values,
	}
}

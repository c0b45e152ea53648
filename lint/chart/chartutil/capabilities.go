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

// Capabilities is the value of .Capabilities in templates, which may use its names and methods.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
	HelmVersion BuildInfo
}

// String returns the text that templates print. A pointer prints the same by itself; within a map
// it would print its address, which differs in each run.
func (c *Capabilities) String() string {
	type plain Capabilities
	return fmt.Sprint((*plain)(c))
}

// BuildInfo is the version of Helm. The commit and the Go version depend on the build of Helm, so
// they stay empty.
type BuildInfo struct {
	Version, GitCommit, GitTreeState, GoVersion string
}

// KubeVersion is a version of Kubernetes, such as v1.36.0, 1 and 36.
type KubeVersion struct {
	Version, Major, Minor string
}

// String returns the version.
func (v *KubeVersion) String() string { return v.Version }

// GitVersion returns the version.
func (v *KubeVersion) GitVersion() string { return v.Version }

// VersionSet holds API versions, such as apps/v1.
type VersionSet []string

// Has reports whether an API is in the set, by its exact name.
func (v VersionSet) Has(api string) bool { return slices.Contains(v, api) }

const (
	// HelmVersion is the version of Helm that this package reproduces.
	HelmVersion = "v3.21.4"
	// DefaultKubeVersion is the version that helm template uses by default.
	DefaultKubeVersion = "v1.36.0"
)

// apiVersions lists the API versions that helm template knows. Helm asks the client libraries of
// Kubernetes, which return them in random order.
//
//go:embed apiversions.txt
var apiVersions string

// NewCapabilities returns the capabilities of helm template. kube is the version of Kubernetes, or
// "" for the default; apis are added to the API versions that Helm knows.
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

// IsReleaseName reports whether Helm accepts a name for a release. Its length leaves room for
// suffixes in the names of objects.
func IsReleaseName(name string) bool {
	return len(name) <= 53 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// Release is the value of .Release in templates, without the fields that are constant in helm
// template.
type Release struct{ Name, Namespace string }

// Top returns the dot of the templates of a chart, without the parts that depend on the chart and
// the template.
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

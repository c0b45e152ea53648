package chartutil

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"
)

// Capabilities is the value of .Capabilities in templates. Templates use its fields and methods, so
// these have the same names as in Helm.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
	HelmVersion BuildInfo
}

// String returns the string that templates print for the capabilities. Without it, templates could
// print the address of a pointer, which differs between runs.
func (c *Capabilities) String() string {
	type plain Capabilities
	return fmt.Sprint((*plain)(c))
}

// BuildInfo describes the version of Helm. The commit and the Go version are empty, because they
// depend on how Helm was built.
type BuildInfo struct {
	Version, GitCommit, GitTreeState, GoVersion string
}

// KubeVersion is a Kubernetes version as a string and as major and minor numbers, such as v1.36.0,
// 1 and 36.
type KubeVersion struct {
	Version, Major, Minor string
}

// String returns the version.
func (v *KubeVersion) String() string { return v.Version }

// GitVersion returns the version.
func (v *KubeVersion) GitVersion() string { return v.Version }

// VersionSet is a list of API versions, such as apps/v1.
type VersionSet []string

// Has reports whether the set contains an API with exactly this name.
func (v VersionSet) Has(api string) bool { return slices.Contains(v, api) }

const (
	// DefaultHelmVersion is the version of Helm that this package imitates.
	DefaultHelmVersion = "v3.21.4"
	// DefaultKubeVersion is the Kubernetes version that helm template assumes by default.
	DefaultKubeVersion = "v1.36.0"
)

// apiVersions lists the API versions that helm template assumes by default. Helm gets them from the
// Kubernetes client libraries in random order.
//
//go:embed apiversions.txt
var apiVersions string

// NewCapabilities returns the capabilities that helm template assumes. kube is the Kubernetes
// version, or "" for the default. apis are added to the API versions that Helm assumes.
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
		HelmVersion: BuildInfo{Version: DefaultHelmVersion},
	}, nil
}

// HelmVersion returns a version as templates see it, such as v4.0.0 for 4. Templates are rendered as
// Helm 3 renders them, so charts for versions other than 3 and 4 may render differently.
func HelmVersion(text string) (string, error) {
	v, err := semver.NewVersion(text)
	if err != nil || v.Major() != 3 && v.Major() != 4 {
		return "", errors.New("expected a version of Helm 3 or 4, such as 4.0.0")
	}
	return "v" + v.String(), nil
}

// IsNamespace reports whether a namespace can have this name.
func IsNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// IsReleaseName reports whether Helm accepts a release name. The maximum length allows for suffixes
// in object names.
func IsReleaseName(name string) bool {
	return len(name) <= 53 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// Release is the value of .Release in templates, without fields that are always the same in helm
// template.
type Release struct{ Name, Namespace string }

// Top returns the part of the dot that is the same for all templates and charts.
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

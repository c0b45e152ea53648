package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"

	"github.com/schedlint/schedlint/fixtures/charts"
)

// answer is the result of one side for a case: the text of each template that is not a partial, or
// the error.
type answer struct {
	texts map[string]string
	err   error
}

// helm renders a case. It writes the case into a directory first, because only loading from a
// directory applies .helmignore.
func helm(c *charts.Case) (a answer) {
	dir, err := os.MkdirTemp("", "chart")
	if err != nil {
		panic(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root := filepath.Join(dir, "chart")
	for _, f := range c.Files {
		write(filepath.Join(root, filepath.FromSlash(f.Name)), f.Data)
	}
	o := options{Name: c.Name, Namespace: c.Namespace, KubeVersion: c.KubeVersion, APIVersions: c.APIVersions}
	o.Values.Values, o.Values.StringValues = c.Set, c.SetString
	for i, v := range c.Values {
		name := filepath.Join(dir, fmt.Sprintf("values-%d.yaml", i))
		write(name, v.Data)
		o.Values.ValueFiles = append(o.Values.ValueFiles, name)
	}
	return templates(root, o)
}

func write(name string, data []byte) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
		panic(err)
	}
}

// options holds flags of helm template.
type options struct {
	Values                       values.Options
	Name, Namespace, KubeVersion string
	APIVersions                  []string
}

// templates performs the steps of helm template in order, up to the texts of the templates.
func templates(dir string, o options) answer {
	vals, err := o.Values.MergeValues(nil)
	if err != nil {
		return answer{err: err}
	}
	c, err := loader.LoadDir(dir)
	if err != nil {
		return answer{err: err}
	}
	if err := check(c); err != nil {
		return answer{err: err}
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, vals); err != nil {
		return answer{err: err}
	}
	caps, err := capabilities(o)
	if err != nil {
		return answer{err: err}
	}
	release := chartutil.ReleaseOptions{Name: o.Name, Namespace: o.Namespace, Revision: 1, IsInstall: true}
	if release.Name == "" {
		release.Name = "release-name"
	}
	if release.Namespace == "" {
		release.Namespace = "default"
	}
	if err := chartutil.ValidateReleaseName(release.Name); err != nil {
		return answer{err: err}
	}
	top, err := chartutil.ToRenderValues(c, vals, release, caps)
	if err != nil {
		return answer{err: err}
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return answer{err: fmt.Errorf("kubeVersion %s does not allow %s", want, caps.KubeVersion.String())}
	}
	return rendered(c, top)
}

// check returns an error for a chart that helm template rejects before it reads values.
func check(c *chart.Chart) error {
	if t := c.Metadata.Type; t != "" && t != "application" {
		return fmt.Errorf("a chart of type %s cannot be installed", t)
	}
	return action.CheckDependencies(c, c.Metadata.Dependencies)
}

// capabilities returns those of the command helm, whose build sets versions, including those of its
// dependencies.
func capabilities(o options) (*chartutil.Capabilities, error) {
	caps := chartutil.DefaultCapabilities.Copy()
	if o.KubeVersion == "" {
		o.KubeVersion = "v1.36.0"
	}
	v, err := chartutil.ParseKubeVersion(o.KubeVersion)
	if err != nil {
		return nil, err
	}
	caps.KubeVersion = *v
	caps.HelmVersion.Version = "v3.21.4"
	caps.APIVersions = append(caps.APIVersions, o.APIVersions...)
	return caps, nil
}

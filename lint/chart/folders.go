package chart

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	helm "helm.sh/helm/v3/pkg/chart"
	helmload "helm.sh/helm/v3/pkg/chart/loader"

	"github.com/schedlint/schedlint/lint/limits"
)

// folderScheme begins the repository of a dependency that is in a folder. The rest is the path of
// the folder, relative to the chart that has the dependency.
const folderScheme = "file://"

// folder is a chart that the release is built from: the chart itself, or a dependency in a folder.
type folder struct {
	chart *helm.Chart
	// dir is relative to the chart of the release. inside is the prefix that Helm has for its files.
	dir, inside string
	// above holds the folders of the charts that depend on this one, from the top.
	above []*folder
}

// folders adds the dependencies of a chart that are in folders and not in its charts/. Each is added
// as helm dependency build packs it, after the same was done for its own dependencies (helm:
// pkg/downloader/manager.go, tarFromLocalDir).
func (l *loader) folders(f *folder) error {
	added := map[string]*folder{}
	for i, want := range f.chart.Metadata.Dependencies {
		if want == nil || hasDependency(f.chart, want.Name) {
			continue
		}
		to, ok := strings.CutPrefix(want.Repository, folderScheme)
		if !ok {
			continue
		}
		p := l.dependencyAt(f.chart, f.dir, i)
		switch {
		case l.in.Folder == nil:
			p.Detail = fmt.Sprintf("dependency %s %s is not in charts/: run helm dependency build and commit charts/", want.Name, want.Version)
			return p
		case strings.HasPrefix(to, "/"):
			p.Detail = fmt.Sprintf("dependency %s: %s is an absolute path: use a path relative to the chart, inside the repository", want.Name, cut(want.Repository))
			return p
		}
		dir := path.Join(f.dir, to)
		d := added[dir]
		if d == nil {
			var err error
			if d, err = l.folder(f, want.Name, dir, p); err != nil {
				return err
			}
			added[dir] = d
			if err := l.folders(d); err != nil {
				return err
			}
		}
		if p.Detail = asks(want, d); p.Detail != "" {
			return p
		}
	}
	return nil
}

// folder adds the files of a dependency in a folder. Its name is the one that the chart f asks for.
// A problem with the folder is reported as p.
func (l *loader) folder(f *folder, name, dir string, p *Problem) (*folder, error) {
	above := append(slices.Clip(f.above), f)
	if i := slices.IndexFunc(above, func(a *folder) bool { return path.Join(l.in.Dir, a.dir) == path.Join(l.in.Dir, dir) }); i >= 0 {
		p.Detail = "dependencies form a cycle: "
		for _, a := range above[i:] {
			p.Detail += a.chart.Name() + " needs "
		}
		p.Detail += above[i].chart.Name()
		return nil, p
	}
	if len(above) > limits.ChartDepth {
		p.Detail = fmt.Sprintf("dependencies in folders are limited to a depth of %d", limits.ChartDepth)
		return nil, p
	}
	files, absent, err := l.in.Folder(dir)
	if err != nil {
		p.Detail = fmt.Sprintf("dependency %s: %v", name, err)
		return nil, p
	}
	if l.text(path.Join(dir, chartFile)) == nil { // the first time, so that problems find their lines
		for _, file := range files {
			l.in.Files = append(slices.Clip(l.in.Files), File{path.Join(dir, file.Name), file.Data})
		}
	}
	l.packed++
	d := &folder{dir: dir, inside: fmt.Sprintf("%scharts/%d.folder/", f.inside, l.packed), above: above}
	start := len(l.files)
	if err := l.take(files, absent, dir, d.inside); err != nil {
		return nil, err
	}
	var own []*helmload.BufferedFile
	for _, file := range l.files[start:] {
		own = append(own, &helmload.BufferedFile{Name: strings.TrimPrefix(file.Name, d.inside), Data: file.Data})
	}
	if d.chart, err = helmload.LoadFiles(own); err != nil {
		return nil, l.unloaded(dir, err)
	}
	return d, nil
}

// asks returns what is wrong if a dependency asks for another chart or version than that in a
// folder, or "".
func asks(want *helm.Dependency, d *folder) string {
	is := d.chart.Metadata
	if is.Name != want.Name {
		return fmt.Sprintf("dependency %s: the chart in %s is %s", want.Name, d.dir, is.Name)
	}
	constraint, err := semver.NewConstraint(want.Version)
	if err != nil {
		return fmt.Sprintf("dependency %s asks for version %q, which is neither a version nor a range", want.Name, cut(want.Version))
	}
	if version, err := semver.NewVersion(is.Version); err != nil || !constraint.Check(version) {
		return fmt.Sprintf("dependency %s asks for version %s, and the chart in %s has version %s", want.Name, want.Version, d.dir, is.Version)
	}
	return ""
}

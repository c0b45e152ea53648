package chartutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	helm "helm.sh/helm/v3/pkg/chart"
)

// ProcessDependencies changes a chart into the chart that Helm installs with the user's values. It
// renames dependencies to their aliases, removes disabled dependencies, and adds imported values.
// It keeps null values.
//
// A dependency with an alias is a copy of the chart. All copies share the list of dependencies in
// Chart.yaml. Therefore only the first copy resolves names and imports, as in Helm.
func ProcessDependencies(c *helm.Chart, user map[string]any, charge func(steps int)) (err error) {
	defer stopped(&err)
	m := merger{charge, true}
	if err := m.enable(c, user, "", 0); err != nil {
		return err
	}
	return merger{charge, false}.imports(c, 0)
}

// IsCompatible reports whether a version satisfies a constraint. It returns false if either string
// is malformed.
func IsCompatible(constraint, version string) bool {
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	allowed, err := semver.NewConstraint(constraint)
	return err == nil && allowed.Check(v)
}

// enable recursively resolves the dependencies of a chart. path is the path from the root to the
// values of the chart. It ends with a dot unless it is empty.
func (m merger) enable(c *helm.Chart, user map[string]any, path string, depth int) error {
	m.enter(chartSteps, depth)
	if c.Metadata.Dependencies == nil {
		return nil
	}
	c.SetDependencies(m.resolved(c)...)
	values, err := m.all(c, user)
	if err != nil {
		return err
	}
	m.tags(c.Metadata.Dependencies, values)
	// The first condition with a boolean value decides.
	for _, d := range c.Metadata.Dependencies {
		for condition := range strings.SplitSeq(strings.TrimSpace(d.Condition), ",") {
			m.charge(1 + len(path) + len(condition))
			if condition == "" {
				continue
			}
			value, err := Values(values).PathValue(path + condition)
			if enabled, ok := value.(bool); ok && err == nil {
				d.Enabled = enabled
				break
			}
		}
	}
	off := map[string]bool{}
	for _, d := range c.Metadata.Dependencies {
		if !d.Enabled {
			off[d.Name] = true
		}
	}
	var charts []*helm.Chart
	for _, d := range c.Dependencies() {
		if !off[d.Name()] {
			charts = append(charts, d)
		}
	}
	var wanted []*helm.Dependency
	for _, d := range c.Metadata.Dependencies {
		if !off[d.Name] {
			wanted = append(wanted, d)
		}
	}
	for _, d := range charts {
		if err := m.enable(d, values, path+d.Metadata.Name+".", depth+1); err != nil {
			return err
		}
	}
	c.Metadata.Dependencies = wanted
	c.SetDependencies(charts...)
	return nil
}

// resolved returns the charts that a chart depends on. Charts in charts/ that Chart.yaml does not
// list come first. Then there is one chart for each entry of Chart.yaml for which a chart exists.
// An alias in the entry becomes the name of the chart.
func (m merger) resolved(c *helm.Chart) []*helm.Chart {
	var all []*helm.Chart
	for _, d := range c.Dependencies() {
		if !slices.ContainsFunc(c.Metadata.Dependencies, func(want *helm.Dependency) bool { return m.fits(d, want) }) {
			all = append(all, d)
		}
	}
	for _, want := range c.Metadata.Dependencies {
		for _, d := range c.Dependencies() {
			if m.fits(d, want) {
				all = append(all, m.aliased(d, want.Alias))
				break
			}
		}
		if want.Alias != "" {
			want.Name = want.Alias
		}
	}
	return all
}

// fits reports whether a chart matches an entry of Chart.yaml.
func (m merger) fits(d *helm.Chart, want *helm.Dependency) bool {
	m.charge(1)
	if d.Name() != want.Name {
		return false
	}
	m.charge(chartSteps + len(want.Version))
	return IsCompatible(want.Version, d.Metadata.Version)
}

// aliased returns a copy of a chart. A nonempty alias becomes the name of the copy.
func (m merger) aliased(d *helm.Chart, alias string) *helm.Chart {
	m.charge(chartSteps)
	chart, about := *d, *d.Metadata
	if alias != "" {
		about.Name = alias
	}
	chart.Metadata = &about
	return &chart
}

// tags disables every entry with a tag that is false and no tag that is true. It enables all other
// entries.
func (m merger) tags(all []*helm.Dependency, values Values) {
	tags, err := values.Table("tags")
	for _, d := range all {
		d.Enabled = true
		if err != nil {
			continue
		}
		m.charge(len(d.Tags))
		on := func(tag string) bool { return tags[tag] == true }
		off := func(tag string) bool { return tags[tag] == false }
		d.Enabled = slices.ContainsFunc(d.Tags, on) || !slices.ContainsFunc(d.Tags, off)
	}
}

// imports adds the values that each chart imports from its dependencies. It processes the innermost
// charts first. The merger must keep nulls.
func (m merger) imports(c *helm.Chart, depth int) error {
	m.enter(chartSteps, depth)
	for _, d := range c.Dependencies() {
		if err := m.imports(d, depth+1); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	values, err := m.all(c, nil)
	if err != nil {
		return err
	}
	imported := map[string]any{}
	for _, d := range c.Metadata.Dependencies {
		var resolved []any
		for _, item := range d.ImportValues {
			var from, to string // path of a table in the dependency, and of its target in the chart
			switch item := item.(type) {
			case string:
				from, to = "exports."+item, "."
			case map[string]any:
				from, to = fmt.Sprint(item["child"]), fmt.Sprint(item["parent"])
			default:
				continue
			}
			resolved = append(resolved, map[string]string{"child": from, "parent": to})
			m.charge(tableSteps + len(d.Name) + len(from) + len(to))
			if table, err := Values(values).Table(d.Name + "." + from); err == nil {
				m.charge(tableSteps * strings.Count(to, "."))
				imported = m.under(imported, at(to, table.AsMap()), 0)
			}
		}
		d.ImportValues = resolved
	}
	// Other values still use the imported tables, so the merge must not change these tables.
	c.Values = m.under(m.copiedTable(values, 0), imported, 0)
	return nil
}

// at returns a table nested below a path. The path "." leads to the table itself.
func at(path string, table map[string]any) map[string]any {
	if path == "." {
		return table
	}
	for _, key := range slices.Backward(strings.Split(path, ".")) {
		table = map[string]any{key: table}
	}
	return table
}

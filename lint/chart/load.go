package chart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	helm "helm.sh/helm/v3/pkg/chart"
	helmload "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
	"helm.sh/helm/v3/pkg/strvals"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/lint/archive"
	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/sorting"
)

// loader loads a chart from Input with Helm's loader.
type loader struct {
	in Input
	// files holds the files in Input.Files that .helmignore does not match. Archives are unpacked.
	files []*helmload.BufferedFile
	// names maps the address of a file's first byte to the file name for messages and origins. Helm
	// does not copy the contents, so the address stays the same. Helm's own file names are relative
	// to the subchart.
	names map[*byte]string
	// budget limits the cost of rendering the chart.
	budget budget
	notes  []Note
	// absent holds the names in Input.Absent that .helmignore does not match.
	absent []string
	left   unpacked
	// packed counts the dependencies that were added from folders.
	packed int
}

// load unpacks, checks and loads the chart.
func (l *loader) load() (*helm.Chart, error) {
	if err := l.collect(); err != nil {
		return nil, err
	}
	c, err := helmload.LoadFiles(l.files)
	if err != nil {
		return nil, l.unloaded(".", err)
	}
	sortDependencies(c, 0)
	if kind := c.Metadata.Type; kind != "" && kind != "application" {
		return nil, l.at(chartFile, "type", "a chart of type %q cannot be installed: render a chart that depends on it", kind)
	}
	if err := l.meets(c.Metadata); err != nil {
		return nil, err
	}
	if c, err = l.complete(c); err != nil {
		return nil, err
	}
	if n := min(l.in.Defaults, len(l.in.Values)); n > 0 {
		if c.Values, err = l.merge(l.in.Values[:n]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// unloaded returns the problem for a chart that Helm cannot load. Its directory is relative to the
// chart of the release.
func (l *loader) unloaded(dir string, err error) error {
	file := chartFile
	for _, name := range []string{"requirements.lock", requirementsFile, "Chart.lock", valuesFile} {
		if strings.Contains(err.Error(), "cannot load "+name) {
			file = name
		}
	}
	return l.at(path.Join(dir, file), "", "%v", err)
}

// meets checks that the chart has the requested name and version. A version is accepted if it equals
// the request or satisfies it as a constraint, as in Helm.
func (l *loader) meets(m *helm.Metadata) error {
	if l.in.Chart != "" && l.in.Chart != m.Name {
		p := l.at(chartFile, "name", "chart %s is here, the release asks for %s", m.Name, cut(l.in.Chart))
		p.Refused = true
		return p
	}
	asked := withoutUnderscores(l.in.Version)
	if asked == "" || asked == m.Version {
		return nil
	}
	want, err := semver.NewConstraint(asked)
	if err != nil {
		return limitAt(chartFile, "the release asks for version %q, which is neither a version nor a range", cut(l.in.Version))
	}
	if has, err := semver.NewVersion(m.Version); err != nil || !want.Check(has) {
		p := l.at(chartFile, "version", "chart %s is %s here, the release asks for %s", m.Name, m.Version, cut(l.in.Version))
		p.Refused = true
		return p
	}
	return nil
}

// withoutUnderscores returns a version as it is in Chart.yaml. OCI tags have an underscore instead of
// a plus.
func withoutUnderscores(version string) string { return strings.ReplaceAll(version, "_", "+") }

// IsVersion reports whether what a release asks for is a version or, if it may be, a range. A tag
// such as 20240131 is neither.
func IsVersion(asked string, ranges bool) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(withoutUnderscores(asked), "v"))
	if ranges {
		_, err = semver.NewConstraint(withoutUnderscores(asked))
	}
	return err == nil
}

// collect applies .helmignore, checks names and sizes, and unpacks archives.
func (l *loader) collect() error {
	l.left = unpacked{bytes: limits.Counter{Most: limits.ChartBytes}, files: limits.Counter{Most: limits.ChartFiles}}
	if a := l.in.Archive; a != nil {
		return l.unpack(packed{"", a.Name, a.Data}, 0)
	}
	return l.take(l.in.Files, l.in.Absent, ".", "")
}

// take adds the files of the chart in a directory, except those that its .helmignore excludes. The
// names of the files are relative to this directory, which is relative to the chart of the release.
// inside is the prefix that Helm has for them.
func (l *loader) take(files []File, absent []Note, dir, inside string) error {
	rules, err := ignore.Empty(), error(nil)
	known := func(name string) string { return path.Join(dir, name) }
	if text := l.text(known(ignore.HelmIgnore)); text != nil {
		if rules, err = ignore.Parse(bytes.NewReader(text)); err != nil {
			return l.at(known(ignore.HelmIgnore), "", "%v", err)
		}
	}
	rules.AddDefaults()
	for _, a := range absent {
		switch {
		case isIgnored(rules, a.File):
		case !spare(a.File):
			return limitAt(known(a.File), "%s", a.Detail)
		default:
			l.absent = append(l.absent, known(a.File))
		}
	}
	in := slices.Clone(files)
	sorting.Stable(in, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range in {
		if !fs.ValidPath(f.Name) || f.Name == "." {
			return limitAt(chartFile, "the file name %q leads outside the chart or is not in its shortest form", f.Name)
		}
		if i > 0 && in[i-1].Name == f.Name {
			return limitAt(known(f.Name), "there are two files of this name")
		}
		if isIgnored(rules, f.Name) {
			continue
		}
		if isArchive(f.Name) {
			err = l.unpack(packed{insideOf(inside + f.Name), known(f.Name), f.Data}, 0)
		} else if err = l.left.take(known(f.Name), len(f.Data)); err == nil {
			l.keep(inside+f.Name, known(f.Name), bytes.TrimPrefix(f.Data, bom))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spare reports whether only templates read a file of a chart or dependency.
func spare(name string) bool {
	dir, rest, in := strings.Cut(name, "/")
	if in && dir == "charts" {
		_, rest, in = strings.Cut(rest, "/")
		return in && spare(rest)
	}
	return !slices.Contains([]string{
		"charts", "templates", "crds", chartFile, "Chart.lock", valuesFile, schemaFile, requirementsFile, "requirements.lock", ignore.HelmIgnore,
	}, dir)
}

var bom = []byte{0xEF, 0xBB, 0xBF}

// keep adds a file. name is Helm's name for it, and known is the name for messages and origins.
func (l *loader) keep(name, known string, data []byte) {
	data = slices.Clone(data) // each file must have its own address
	if len(data) > 0 {
		l.names[&data[0]] = known
	}
	l.files = append(l.files, &helmload.BufferedFile{Name: name, Data: data})
}

// nameOf returns the name of a file for messages and origins.
func (l *loader) nameOf(data []byte, otherwise string) string {
	if len(data) > 0 {
		if name, ok := l.names[&data[0]]; ok {
			return name
		}
	}
	return otherwise
}

// text returns the contents of a chart file, given its name for messages and origins.
func (l *loader) text(name string) []byte {
	for _, f := range l.in.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// isIgnored reports whether a rule matches the file itself or a directory that contains the file.
func isIgnored(rules *ignore.Rules, name string) bool {
	for at, c := range name {
		if c == '/' && rules.Ignore(name[:at], entry{dir: true}) {
			return true
		}
	}
	return rules.Ignore(name, entry{})
}

// entry implements the parts of fs.FileInfo that ignore rules use.
type entry struct {
	fs.FileInfo
	dir bool
}

func (e entry) IsDir() bool { return e.dir }

// sortDependencies sorts the dependencies of a chart, because Helm loads directories in random
// order.
func sortDependencies(c *helm.Chart, depth int) {
	if depth > limits.ChartDepth {
		return
	}
	all := slices.Clone(c.Dependencies())
	slices.SortFunc(all, func(a, b *helm.Chart) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(all...)
	for _, d := range all {
		sortDependencies(d, depth+1)
	}
}

// hasDependency reports whether a chart has a dependency of this name in charts/.
func hasDependency(c *helm.Chart, name string) bool {
	return slices.ContainsFunc(c.Dependencies(), func(d *helm.Chart) bool { return d.Name() == name })
}

// dependencyAt returns a problem with a dependency of a chart, without its detail. The chart's
// directory is relative to the chart of the release.
func (l *loader) dependencyAt(c *helm.Chart, dir string, i int) *Problem {
	file := path.Join(dir, chartFile)
	if old := path.Join(dir, requirementsFile); c.Metadata.APIVersion == helm.APIVersionV1 && l.text(old) != nil {
		file = old
	}
	return &Problem{File: file, Line: lineOfPath(l.text(file), "dependencies", i), Refused: true}
}

// complete adds the dependencies in Chart.yaml that are not in charts/, including disabled ones, and
// loads the chart again. It does not add dependencies of dependencies, which Helm does not require.
func (l *loader) complete(c *helm.Chart) (*helm.Chart, error) {
	if err := l.folders(&folder{chart: c, dir: "."}); err != nil {
		return nil, err
	}
	added := map[string]bool{}
	var asked []func(c *helm.Chart) error // say that an archive is another chart
	for i, want := range c.Metadata.Dependencies {
		if want == nil || hasDependency(c, want.Name) || strings.HasPrefix(want.Repository, folderScheme) {
			continue
		}
		locked := ""
		if c.Lock != nil && i < len(c.Lock.Dependencies) && c.Lock.Dependencies[i].Name == want.Name {
			locked = c.Lock.Dependencies[i].Version
		}
		p := l.dependencyAt(c, ".", i)
		var f *File
		err := error(nil)
		if l.in.Dependency != nil {
			f, err = l.in.Dependency(want.Repository, want.Name, locked, want.Version)
		}
		advice := diag.Vendor
		if want.Repository == "" {
			advice = "run helm dependency build and commit charts/"
		}
		switch {
		case err != nil:
			p.Detail = fmt.Sprintf("dependency %s: %v", want.Name, err)
			return nil, p
		case f == nil || !isArchive(f.Name):
			p.Detail = fmt.Sprintf("dependency %s %s is not in charts/: %s", want.Name, want.Version, advice)
			return nil, p
		}
		asked = append(asked, func(c *helm.Chart) error {
			if slices.ContainsFunc(c.Dependencies(), func(d *helm.Chart) bool {
				return d.Name() == want.Name && (d.Metadata.Version == locked || want.Version == "" || chartutil.IsCompatible(want.Version, d.Metadata.Version))
			}) {
				return nil
			}
			p.Detail = fmt.Sprintf("dependency %s %s: %s is another chart or version", want.Name, want.Version, f.Name)
			return p
		})
		if added[f.Name] {
			continue
		}
		added[f.Name] = true
		if err := l.unpack(packed{insideOf(f.Name), f.Name, f.Data}, 0); err != nil {
			return nil, err
		}
	}
	if len(added)+l.packed == 0 {
		return c, nil
	}
	c, err := helmload.LoadFiles(l.files)
	if err != nil {
		return nil, l.at(chartFile, "dependencies", "%v", err)
	}
	for _, check := range asked {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	sortDependencies(c, 0)
	return c, nil
}

const requirementsFile = "requirements.yaml"

// unpacked counts the bytes and files that unpacking a chart yields.
type unpacked struct{ bytes, files limits.Counter }

// take adds a file to the counts and checks the limits.
func (u *unpacked) take(name string, size int) error {
	fits, few := u.bytes.Add(size), u.files.Add(1)
	switch {
	case size > limits.ChartFile:
		return limitAt(name, "the file has %d bytes; files of charts are limited to %d", size, limits.ChartFile)
	case !fits:
		return limitAt(name, "the files of the chart are limited to %d bytes in all", limits.ChartBytes)
	case !few:
		return limitAt(name, "the chart is limited to %d files", limits.ChartFiles)
	}
	return nil
}

// isArchive reports whether Helm treats a file as a packed dependency. Such a file is directly in
// charts/, either in the chart or in an unpacked dependency.
func isArchive(name string) bool {
	for {
		rest, ok := strings.CutPrefix(name, "charts/")
		if !ok || strings.IndexAny(rest, "_.") == 0 {
			return false
		}
		_, name, ok = strings.Cut(rest, "/")
		if !ok {
			return path.Ext(rest) == ".tgz"
		}
	}
}

// packed is an archive. The field inside is the prefix that Helm adds to the names of files in the
// archive. The field known is the name of the archive in messages and origins.
type packed struct {
	inside, known string
	data          []byte
}

// insideOf returns the virtual directory that represents a packed dependency.
func insideOf(name string) string { return strings.TrimSuffix(name, ".tgz") + ".unpacked/" }

// unpack adds the files of an archive as if they were in a directory.
func (l *loader) unpack(p packed, depth int) error {
	if depth > limits.ChartDepth {
		return limitAt(p.known, "archives in archives are limited to a depth of %d", limits.ChartDepth)
	}
	if err := weigh(p, l.left); err != nil {
		return err
	}
	files, err := helmload.LoadArchiveFiles(bytes.NewReader(p.data))
	if err != nil {
		return unreadable(p, err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		known := p.known + ":" + f.Name
		if seen[f.Name] {
			return &Problem{File: known, Line: 1, Refused: true, Detail: "the archive has two files of this name"}
		}
		seen[f.Name] = true
		if err := l.left.take(known, len(f.Data)); err != nil {
			return err
		}
		if isArchive(f.Name) {
			err = l.unpack(packed{insideOf(p.inside + f.Name), known, f.Data}, depth+1)
		} else {
			l.keep(p.inside+f.Name, known, f.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unreadable(p packed, err error) error {
	return &Problem{File: p.known, Line: 1, Detail: "the archive cannot be read: " + err.Error()}
}

// weigh reads an archive to its end and returns an error if the contents exceed the limits.
func weigh(p packed, left unpacked) error {
	most := archive.Limits{Bytes: limits.ChartBytes, File: limits.ChartFile, Entries: limits.ChartFiles}
	err := archive.Read(bytes.NewReader(p.data), most, func(e archive.Entry) error {
		return left.take(p.known+":"+e.Name, int(e.Size))
	})
	var own *Problem
	var limit *archive.LimitError
	var kind *archive.KindError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &limit):
		at := p.known
		if limit.Entry != "" {
			at += ":" + limit.Entry
		}
		return limitAt(at, "%v", limit)
	case errors.As(err, &kind):
		return &Problem{File: p.known + ":" + kind.Entry, Line: 1, Refused: true, Detail: "the archive has an entry that is neither a file nor a directory: links in archives are not followed"}
	}
	return unreadable(p, err)
}

// merge returns the merged values of several files.
func (l *loader) merge(files []File) (map[string]any, error) {
	all := map[string]any{}
	for _, f := range files {
		if len(f.Data) > limits.ValuesFile {
			return nil, limitAt(f.Name, "the values file has %d bytes; values files are limited to %d", len(f.Data), limits.ValuesFile)
		}
		one := map[string]any{}
		if err := yaml.Unmarshal(f.Data, &one); err != nil {
			line := 1
			if _, after, ok := strings.Cut(err.Error(), "line "); ok {
				_, _ = fmt.Sscanf(after, "%d", &line) // it remains 1 if there is no number
			}
			return nil, &Problem{File: f.Name, Line: line, Detail: fmt.Sprintf("the values cannot be read: %v", err)}
		}
		all = merged(all, one)
	}
	return all, nil
}

const (
	setName       = "--set"
	setStringName = "--set-string"
)

// merged merges a and b. Tables are merged recursively. Any other value in b replaces the value in
// a.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for key, value := range b {
		if table, ok := value.(map[string]any); ok {
			if under, ok := out[key].(map[string]any); ok {
				out[key] = merged(under, table)
				continue
			}
		}
		out[key] = value
	}
	return out
}

// CheckSet returns an error if --set cannot parse the argument. If text is true, it checks the
// argument for --set-string instead.
func CheckSet(argument string, text bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%.200v", r)
		}
	}()
	if text {
		return strvals.ParseIntoString(argument, map[string]any{})
	}
	return strvals.ParseInto(argument, map[string]any{})
}

// CheckKubeVersion returns an error for an invalid Kubernetes version.
func CheckKubeVersion(version string) error {
	_, err := chartutil.NewCapabilities(version, nil)
	return err
}

// CheckHelmVersion returns an error for a version of Helm that templates cannot be told.
func CheckHelmVersion(version string) error {
	_, err := chartutil.HelmVersion(version)
	return err
}

// Problem is the reason why a chart cannot be rendered. Its strings may contain text from the
// chart. This text is shortened but not escaped.
type Problem struct {
	// File is a file of the chart, named as in Origin.Template, or one of Input.Values. For a
	// problem in an argument, File is "--set" or "--set-string", and Line is the number of the
	// argument.
	File string
	// Line counts from 1. It is 1 if the line is unknown.
	Line int
	// Detail describes the problem and, if known, how to fix it.
	Detail string
	// Refused is set if Helm might render the chart. For instance, the chart may exceed a limit of
	// schedlint or need files outside its directory.
	Refused bool
	// Steps is the number of steps taken before the problem occurred.
	Steps int
}

// Error returns the position and the detail.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

const (
	chartFile  = "Chart.yaml"
	valuesFile = "values.yaml"
)

// problem converts an error to a Problem. Without a position in the error, the Problem is about the
// whole chart.
func (l *loader) problem(err error) *Problem {
	var p *Problem
	if !errors.As(err, &p) {
		p = &Problem{File: chartFile, Line: 1, Detail: err.Error()}
	}
	p.Detail = cut(p.Detail)
	p.Steps = l.budget.Spent
	return p
}

// maxDetail is the maximum length of a message in bytes. Libraries may quote whole templates and
// values in their messages.
const maxDetail = 2000

func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return s[:maxDetail/2] + " ... " + s[len(s)-maxDetail/2:]
}

// at returns a problem in a chart file. The line is the first one that begins with the key.
func (l *loader) at(file, key, format string, args ...any) *Problem {
	p := &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...)}
	if key != "" {
		line := 0
		for text := range bytes.Lines(l.text(file)) {
			if line++; bytes.HasPrefix(text, []byte(key+":")) {
				p.Line = line
				break
			}
		}
	}
	return p
}

// lineOfPath returns the line of a list item in a YAML file, or 1 if it is not found.
func lineOfPath(text []byte, key string, index int) int {
	var doc kyaml.Node
	if kyaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key && index < len(root.Content[i+1].Content) {
			return root.Content[i+1].Content[index].Line
		}
	}
	return 1
}

// located splits a parser message into the line number in the named file and the rest. The line
// number is 0 if the message has none.
func located(name, said string) (int, string) {
	rest, ok := strings.CutPrefix(said, "template: "+name+":")
	if !ok {
		return 0, said
	}
	number, rest, _ := strings.Cut(rest, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return 0, said
	}
	if column, after, ok := strings.Cut(rest, ": "); ok {
		if _, err := strconv.Atoi(column); err == nil {
			rest = after
		}
	}
	return line, strings.TrimSpace(rest)
}

// executionProblem returns a problem at the template in which an execution error occurred. This is
// the innermost template that the error names. If a limit was exceeded, or fail or required was
// called, the detail is only the message of that cause.
func (e *engine) executionProblem(s *source, err error) error {
	p := &Problem{File: s.file, Line: 1}
	inner := err
	for at := err; at != nil; at = errors.Unwrap(at) {
		failed, ok := at.(*template.Error)
		if !ok {
			continue
		}
		if in := e.templates[failed.Template.Source.Name]; in != nil {
			p.File, p.Line = in.file, failed.Line
			inner = failed
		}
	}
	var over limit
	var why failure
	var failed *template.Error
	switch {
	case errors.As(inner, &over):
		p.Detail, p.Refused = string(over), true
	case errors.As(inner, &why):
		p.Detail = string(why)
	case errors.As(inner, &failed):
		p.Detail, p.Refused = failed.Detail(), len(e.l.absent) > 0 // the failure may be due to a missing file
	default:
		p.Detail = fmt.Sprint(inner)
	}
	return p
}

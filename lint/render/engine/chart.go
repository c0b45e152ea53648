package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
)

// charting renders one chart.
type charting struct {
	root render.Root
	tree *tree
	in   chart.Input
	left int // number of directory entries that can still be read
	used used
}

// buildChart renders the chart of a root. The output records the origin of each line.
func buildChart(r render.Root, t *tree) *render.Output {
	c := &charting{root: r, tree: t, left: r.Left.Entries, used: used{}}
	c.in.Dependency = c.elsewhere
	if r.Chart.Archive == "" {
		c.in.Dir, c.in.Folder = r.Dir, c.folder
	}
	out := &render.Output{Used: c.used}
	if out.Problem = c.read(); out.Problem == nil {
		c.render(out)
	}
	out.Cost.Steps += leastSteps
	out.Cost.Entries = len(c.in.Files)
	out.Cost.Bytes = r.Left.Bytes - t.left + len(out.Text) - c.spared()
	return out
}

// leastSteps is the minimum cost of a chart. It corresponds to about 2 ms. Without it, many small
// charts would cost too little.
const leastSteps = 4_000

// spared returns the number of bytes in chart files that are not charged. The byte limit is meant
// for YAML, which is parsed at about 4 MB per second. Templates are parsed faster, and their
// execution is charged separately. Most other files are not parsed at all.
func (c *charting) spared() (n int) {
	for _, f := range c.in.Files {
		base, one := path.Base(f.Name), limits.PassedOver // number of bytes that cost as much as one byte of YAML
		switch {
		case slices.Contains([]string{".json", ".tgz", ".lock"}, path.Ext(base)), slices.Contains([]string{chartFile, "values.yaml", "requirements.yaml"}, base):
			one = 1
		case strings.HasPrefix(f.Name, "templates/"), strings.Contains(f.Name, "/templates/"):
			one = limits.TemplateBytes
		}
		n += len(f.Data) - len(f.Data)/one
	}
	return n
}

// read reads the files of the chart and its values files.
func (c *charting) read() *render.Problem {
	r := c.root.Chart
	if name := r.Archive; name != "" {
		f := c.file(name)
		if f.err != nil {
			return c.problem(chartFile, 1, fmt.Errorf("%s %w", shown(name), f.err))
		}
		c.in.Archive = &chart.File{Name: path.Base(name), Data: f.text}
	} else {
		switch dir := c.tree.read(c.root.Dir); {
		case dir.err != nil:
			return c.problem(chartFile, 1, fmt.Errorf("%s %w", shown(c.root.Dir), dir.err))
		case !dir.dir:
			return c.problem(chartFile, 1, fmt.Errorf("%s is not a directory", shown(c.root.Dir)))
		}
		if p := c.walk("", 0); p != nil {
			return p
		}
	}
	for i, v := range r.Values {
		if p := c.values(i, v); p != nil {
			return p
		}
		if i < r.Defaults {
			c.in.Defaults = len(c.in.Values)
		}
	}
	if r.Defaults > 0 && c.in.Defaults == 0 { // all of these files are missing and optional, so the chart has no default values
		c.in.Values, c.in.Defaults = slices.Insert(c.in.Values, 0, chart.File{Name: "/none"}), 1
	}
	c.in.Chart, c.in.Version = r.Chart, r.Version
	c.in.Name, c.in.Namespace, c.in.KubeVersion, c.in.APIVersions = r.Name, r.Namespace, r.KubeVersion, r.APIVersions
	c.in.HelmVersion = r.HelmVersion
	c.in.Set, c.in.SetString, c.in.Unknown = r.Set, r.SetString, r.Unknown
	return nil
}

// elsewhere returns the archive of a dependency that Root.Remotes lists.
func (c *charting) elsewhere(repository, name string, versions ...string) (*chart.File, error) {
	for _, key := range remoteKeys(repository, name, versions...) {
		to, ok := c.root.Remotes[key]
		if !ok {
			continue
		}
		known := path.Base(to)
		if !strings.HasPrefix(known, name+"-") {
			known = name + "-" + known
		}
		known = "charts/" + known
		at, _ := c.dependency(strings.TrimSuffix(known, ".tgz"))
		c.used.add(to, &render.Problem{File: at.File, Line: at.Line, Column: at.Column})
		f := c.file(to)
		if f.err != nil {
			return nil, fmt.Errorf("remotes: %s %w", shown(to), f.err)
		}
		return &chart.File{Name: known, Data: f.text}, nil
	}
	return nil, nil
}

// folder returns the files of a dependency in a directory of the repository. The directory is
// relative to the chart.
func (c *charting) folder(dir string) (files []chart.File, absent []chart.Note, err error) {
	at := path.Join(c.root.Dir, dir)
	switch f := c.tree.read(at); {
	case f.err != nil:
		return nil, nil, fmt.Errorf("%s %w", shown(at), f.err)
	case !f.dir:
		return nil, nil, fmt.Errorf("%s is not a directory", shown(at))
	}
	read, missing := len(c.in.Files), len(c.in.Absent)
	if p := c.walk(dir, 0); p != nil {
		return nil, nil, p
	}
	for _, f := range c.in.Files[read:] {
		files = append(files, chart.File{Name: within(dir, f.Name), Data: f.Data})
	}
	for _, n := range c.in.Absent[missing:] {
		absent = append(absent, chart.Note{File: within(dir, n.File), Detail: n.Detail})
	}
	return files, absent, nil
}

// within returns a name in a directory, relative to the directory.
func within(dir, name string) string { return strings.TrimPrefix(name, path.Clean(dir)+"/") }

// file reads a file. It fails if name is a directory.
func (c *charting) file(name string) *file {
	f := c.tree.read(name)
	if f.err == nil && f.dir {
		return &file{err: errors.New("is a directory")}
	}
	return f
}

// values passes values to package chart as a file. The file name contains i, the index of the
// values in Root.Chart.Values.
func (c *charting) values(i int, v render.Values) *render.Problem {
	f := &file{text: v.Text}
	if v.Text == nil {
		f = c.file(v.File)
	} else if c.tree.left -= len(v.Text); c.tree.left < 0 {
		return c.problem(chartFile, 1, refusal("the values of the release are beyond the limit of bytes"))
	}
	switch {
	case v.Optional && errors.Is(f.err, errMissing):
		return nil
	case f.err != nil:
		p := c.problem(chartFile, 1, fmt.Errorf("values file %s %w", shown(v.File), f.err))
		p.Setting = fmt.Sprintf("values[%d]", i)
		return p
	}
	c.in.Values = append(c.in.Values, chart.File{Name: fmt.Sprintf("/%d", i), Data: f.text})
	return nil
}

// valuesAt maps a position in package chart to the position at which the value was written.
func (c *charting) valuesAt(at chart.Place) (render.Place, bool) {
	number, ok := strings.CutPrefix(at.File, "/")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i >= len(c.root.Chart.Values) {
		return render.Place{}, false
	}
	v := c.root.Chart.Values[i]
	switch {
	case v.Text == nil:
		return render.Place{File: v.File, Line: at.Line, Column: at.Column}, true
	case at.Line < 1 || at.Line > len(v.Places):
		return render.Place{File: v.File}, true
	}
	return v.Places[at.Line-1], true
}

const (
	chartFile     = "Chart.yaml"
	helmHook      = "helm.sh/hook"
	notesTemplate = "NOTES.txt"
)

// walk reads a directory of the chart. dir is relative to the chart. walk follows only links that
// stay in the repository.
func (c *charting) walk(dir string, depth int) *render.Problem {
	if depth > limits.ChartFolders {
		return c.problem(dir, 1, refusal(fmt.Sprintf("the chart has more than %d directories in one another", limits.ChartFolders)))
	}
	names, err := c.tree.list(path.Join(c.root.Dir, dir))
	if err != nil {
		return c.problem(dir, 1, reason(err))
	}
	for _, base := range names {
		name := path.Join(dir, base)
		if base == ".git" {
			continue
		}
		if c.left--; c.left < 0 {
			return c.problem(name, 1, refusal(fmt.Sprintf("the chart has more than %d files and directories", c.root.Left.Entries)))
		}
		f := c.tree.read(path.Join(c.root.Dir, name))
		var p *render.Problem
		var r refusal
		switch {
		case errors.As(f.err, &r) && c.tree.isLink(path.Join(c.root.Dir, name)):
			c.in.Absent = append(c.in.Absent, chart.Note{File: name, Detail: fmt.Sprintf("%s %v", shown(path.Join(c.root.Dir, name)), f.err)})
		case f.err != nil:
			p = c.problem(name, 1, fmt.Errorf("%s %w", shown(path.Join(c.root.Dir, name)), f.err))
		case f.dir:
			p = c.walk(name, depth+1)
		default:
			c.in.Files = append(c.in.Files, chart.File{Name: name, Data: f.text})
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// problem returns a problem at a line of a chart file. If the file is in an archive, the message
// names the file. The position is then the chart's dependency entry for the archive, or the archive
// itself if there is no such entry.
func (c *charting) problem(name string, line int, err error) *render.Problem {
	p := &render.Problem{Kind: render.Failed, File: c.confined(name), Line: line, Column: 1, Detail: err.Error()}
	var r refusal
	if errors.As(err, &r) {
		p.Kind = render.Refused
	}
	if at, ok := c.valuesAt(chart.Place{File: name, Line: line, Column: 1}); ok && at.File != "" {
		p.File, p.Line, p.Column = at.File, max(1, at.Line), max(1, at.Column)
	}
	if p.File == "" {
		p.File, p.Line = cmp.Or(c.root.Chart.Archive, c.confined(chartFile)), 1
		if archive, inside, ok := strings.Cut(name, archiveSign); ok {
			p.Detail = fmt.Sprintf("%s:%d: %s", shown(inside), line, p.Detail)
			switch at, listed := c.dependency(archive); {
			case c.root.Chart.Archive != "":
			case listed:
				p.File, p.Line, p.Column = at.File, at.Line, at.Column
			default:
				p.File = c.confined(archive + ".tgz")
			}
		}
	}
	return p
}

// confined returns the name of a chart file relative to the confinement directory. It returns ""
// for files in an archive and for names that do not refer to files.
func (c *charting) confined(name string) string {
	if c.root.Chart.Archive != "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "--") || strings.Contains(name, ".tgz:") {
		return ""
	}
	return c.tree.read(path.Join(c.root.Dir, name)).nameOr(path.Join(c.root.Dir, name))
}

// nameOr returns the file's name with symbolic links resolved, or the given name if the file does
// not exist.
func (f *file) nameOr(name string) string {
	if f.err != nil {
		return name
	}
	return f.name
}

// render renders the chart and sorts the output in Helm's install order.
func (c *charting) render(out *render.Output) {
	result, err := chart.Render(c.in)
	if err != nil {
		var p *chart.Problem
		errors.As(err, &p)
		out.Cost.Steps = p.Steps
		out.Problem = c.problem(p.File, p.Line, errors.New(p.Detail))
		if p.Refused {
			out.Problem.Kind = render.Refused
		}
		if word, ok := strings.CutPrefix(p.File, "--"); ok {
			out.Problem.Line, out.Problem.Setting = 1, fmt.Sprintf("%s[%d]", word, p.Line-1)
		}
		return
	}
	docs, problem := c.documents(result)
	if problem != nil {
		out.Problem = problem
		return
	}
	if most := c.root.Left.Objects; len(docs) > most {
		out.Problem = c.problem(chartFile, 1, refusal(fmt.Sprintf("the chart prints %d objects, more than the limit of %d", len(docs), most)))
		return
	}
	out.Cost.Steps, out.Cost.Objects = result.Steps, len(docs)
	for _, n := range result.Notes {
		out.Unchecked = append(out.Unchecked, c.problem(n.File, 1, errors.New(n.Detail)))
	}
	w := &chartOutput{c: c, out: out, index: map[string]int{}, names: map[string]string{}, inside: map[string]archived{}, conditions: map[*chart.Condition]int{}, known: map[string]int{}}
	for i, d := range docs {
		if i > 0 {
			w.line("---", chart.Origin{Template: d.from[0].Template, Line: d.from[0].Line})
		}
		out.Documents = append(out.Documents, render.Document{Line: len(out.Lines) + 1, File: w.file(d.from[0].Template), Index: d.index, Template: d.template})
		for k, line := range d.lines {
			w.line(line, d.from[k])
		}
	}
	for _, o := range result.Omitted {
		if places := w.places(o.Places); len(places) > 0 {
			out.Omitted = append(out.Omitted, render.Omission{Template: w.file(o.Template), Places: places})
		}
	}
	for _, crd := range result.CRDs {
		if name := c.confined(crd.Name); name != "" {
			out.Plain = append(out.Plain, name)
		}
	}
	for _, f := range c.in.Files { // only the rendered form of templates and values is checked, so they count as sources
		name := c.confined(f.Name)
		base := filepath.Base(f.Name)
		if strings.HasPrefix(f.Name, "templates/") || strings.Contains(f.Name, "/templates/") || base == chartFile || base == "values.yaml" {
			out.Sources = append(out.Sources, name)
		} else {
			out.Data = append(out.Data, name)
		}
	}
	if a := c.root.Chart.Archive; a != "" {
		out.Data = append(out.Data, c.tree.read(a).nameOr(a))
	}
	for _, v := range c.root.Chart.Values {
		if f := c.tree.files[path.Clean(v.File)]; v.Text == nil && f != nil && f.err == nil {
			out.Sources = append(out.Sources, v.File)
		}
	}
	slices.Sort(out.Sources)
	slices.Sort(out.Data)
	out.Sources, out.Data = slices.Compact(out.Sources), slices.Compact(out.Data)
}

// printed is an object printed by a template.
type printed struct {
	lines []string
	from  []chart.Origin
	index int // index in the output of the template
	// template is Helm's name for the template.
	template string
	kind     string
	hook     bool
	// test is set for a helm test hook. unknown is set for a hook that Helm does not recognize and
	// therefore omits.
	test, unknown bool
	// about is the object's metadata. deployTo can add a namespace to it.
	about *yaml.Node
}

// documents returns the objects printed by all templates in Helm's install order, with hooks last.
func (c *charting) documents(result *chart.Result) ([]printed, *render.Problem) {
	var all []printed
	for _, m := range result.Manifests {
		if strings.HasSuffix(m.Template, notesTemplate) {
			continue
		}
		objects, problem := c.objects(m, "what the template prints")
		if problem != nil {
			return nil, problem
		}
		for _, d := range objects {
			if d.unknown || d.hook && c.root.Chart.NoHooks || d.test && c.root.Chart.NoTests {
				continue
			}
			if o := c.root.Overlay; o != nil {
				d.deployTo(o.Namespace)
			}
			all = append(all, d)
		}
	}
	sorting.Stable(all, func(a, b printed) int {
		switch {
		case a.hook != b.hook && a.hook:
			return 1
		case a.hook != b.hook:
			return -1
		}
		return cmp.Or(installRank(a.kind)-installRank(b.kind), strings.Compare(a.kind, b.kind))
	})
	if !c.root.Chart.CRDs {
		return all, nil
	}
	var crds []printed // Helm prints them first and unchanged
	for _, f := range result.CRDs {
		m := chart.Manifest{Template: f.Name, Text: f.Data}
		for i := range bytes.Count(f.Data, []byte("\n")) + 1 {
			m.Lines = append(m.Lines, chart.Origin{Template: f.Name, Line: i + 1, Exact: true})
		}
		objects, problem := c.objects(m, "the file")
		if problem != nil {
			return nil, problem
		}
		crds = append(crds, objects...)
	}
	return append(crds, all...), nil
}

// objects splits the output of a template into objects. The argument what describes the output in
// messages.
func (c *charting) objects(m chart.Manifest, what string) ([]printed, *render.Problem) {
	all := split(m, c.root.Whole)
	for i := range all {
		d := &all[i]
		d.index, d.template = i, m.Template
		if d.empty() {
			continue
		}
		if err := d.head(); err != nil {
			line, _ := lineSaid(err)
			at := d.from[min(line, len(d.from))-1]
			return nil, c.problem(at.Template, at.Line, fmt.Errorf("%s is not an object: %w", what, err))
		}
	}
	return all, nil
}

// blank reports whether a line contains only white space.
func blank(line string) bool { return strings.TrimSpace(line) == "" }

// empty reports whether a part of the output contains only white space and comments.
func (d *printed) empty() bool {
	return !slices.ContainsFunc(d.lines, func(line string) bool { return !blank(line) && strings.TrimSpace(line)[0] != '#' })
}

// split splits the output of a template at lines that begin with three dashes, as Helm does. It
// drops parts that contain only white space and, unless whole is set, those that contain only
// comments.
func split(m chart.Manifest, whole bool) []printed {
	var all []printed
	var now printed
	end := func() {
		for len(now.lines) > 0 && blank(now.lines[0]) {
			now.lines, now.from = now.lines[1:], now.from[1:]
		}
		for n := len(now.lines); n > 0 && blank(now.lines[n-1]); n-- {
			now.lines, now.from = now.lines[:n-1], now.from[:n-1]
		}
		if n := len(now.lines); n > 0 {
			now.lines[0] = strings.TrimSpace(now.lines[0])
			now.lines[n-1] = strings.TrimRightFunc(now.lines[n-1], unicode.IsSpace)
		}
		if whole && len(now.lines) > 0 || !now.empty() {
			all = append(all, now)
		}
		now = printed{}
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(m.Text), "\n"), "\n") {
		if i >= len(m.Lines) {
			break
		}
		if rest, ok := strings.CutPrefix(line, "---"); ok {
			end()
			line = strings.TrimSpace(rest)
		}
		now.lines, now.from = append(now.lines, line), append(now.from, m.Lines[i])
	}
	end()
	return all
}

// head reads the fields that determine the install order.
func (d *printed) head() error {
	doc, err := parse([]byte(strings.Join(d.lines, "\n") + "\n"))
	switch {
	case err != nil:
		return err
	case doc.err != nil:
		return doc.err
	case len(doc.docs) != 1 || doc.docs[0] == nil || doc.docs[0].Kind != yaml.MappingNode:
		return errors.New("it is not a mapping")
	}
	fields := fieldsOf(doc.docs[0])
	if kind := fields["kind"]; kind != nil {
		d.kind = kind.Value
	}
	if about := target(fields["metadata"]); about != nil && about.Kind == yaml.MappingNode {
		if version := fields["apiVersion"]; version != nil && fieldsOf(about)["namespace"] == nil {
			if group, version := resid.ParseGroupVersion(version.Value); !resid.NewGvk(group, version, d.kind).IsClusterScoped() {
				d.about = about
			}
		}
		if all := target(fieldsOf(about)["annotations"]); all != nil && all.Kind == yaml.MappingNode {
			if on := fieldsOf(all)[helmHook]; on != nil {
				d.hook = true
				for event := range strings.SplitSeq(text(on), ",") { // split as in releaseutil, SortManifests
					event = strings.ToLower(strings.TrimSpace(event))
					when, what, _ := strings.Cut(event, "-")
					known := (when == "pre" || when == "post") && slices.Contains([]string{"install", "delete", "upgrade", "rollback"}, what)
					test := event == "test" || event == "test-success"
					d.test, d.unknown = d.test || test, d.unknown || !known && !test // unknown events include Helm 2's crd-install
				}
			}
		}
	}
	return nil
}

// deployTo sets a namespace on an object without one, as a controller would.
func (d *printed) deployTo(namespace string) {
	if namespace == "" || d.about == nil || len(d.about.Content) == 0 {
		return
	}
	first := d.about.Content[0]
	i := first.Line - 1
	if i < 0 || i >= len(d.lines) {
		return
	}
	line := []rune(d.lines[i])
	at := min(first.Column-1, len(line))
	field, from := "namespace: "+strconv.Quote(namespace), chart.Origin{Template: d.from[i].Template, Line: d.from[i].Line}
	switch {
	case d.about.Style&yaml.FlowStyle != 0:
		d.lines[i] = string(line[:at]) + field + ", " + string(line[at:])
	case strings.TrimSpace(string(line[:at])) == "":
		d.lines = slices.Insert(d.lines, i, string(line[:at])+field)
		d.from = slices.Insert(d.from, i, from)
	}
}

// installOrder lists kinds in Helm's install order. All other kinds come later, sorted by name.
var installOrder = strings.Fields(`PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy
	PodDisruptionBudget ServiceAccount Secret SecretList ConfigMap StorageClass PersistentVolume PersistentVolumeClaim
	CustomResourceDefinition ClusterRole ClusterRoleList ClusterRoleBinding ClusterRoleBindingList Role RoleList
	RoleBinding RoleBindingList Service DaemonSet Pod ReplicationController ReplicaSet Deployment
	HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService`)

func installRank(kind string) int {
	if i := slices.Index(installOrder, kind); i >= 0 {
		return i
	}
	return len(installOrder)
}

// chartOutput builds the Output of a chart.
type chartOutput struct {
	c     *charting
	out   *render.Output
	index map[string]int    // index of each name in Output.Files
	names map[string]string // names relative to the confinement directory, by package chart's file names
	// inside holds the files in packed dependencies, keyed by the names that package chart uses.
	inside map[string]archived
	// conditions holds the numbers of conditions, and known those of conditions with the same places.
	conditions map[*chart.Condition]int
	known      map[string]int
}

func (w *chartOutput) line(text string, from chart.Origin) {
	w.out.Text = append(append(w.out.Text, text...), '\n')
	file, line := from.Template, from.Line
	if isDependency(file) && from.Call.Line > 0 && from.Call.File != file { // a library serves many templates
		file, line = from.Call.File, from.Call.Line
	}
	at := render.Line{Template: w.file(file), At: line, Values: -1, Item: -1, Library: -1, Condition: w.condition(from.Condition)}
	if i := from.Item; i.Line > 0 {
		at.Item, at.ItemAt, at.ItemColumn = w.values(i)
	}
	if v := from.Values; v.Line > 0 {
		at.Values, at.ValuesAt, at.ValuesColumn = w.values(v)
	}
	if a, packed := w.archived(file); packed {
		at.Template, at.At, at.Inside, at.InsideAt = w.confined(a.File), a.Line, a.inside, line
	} else if file != from.Template {
		at.LibraryAt = from.Line
		if a, packed := w.archived(from.Template); packed {
			at.Inside, at.InsideAt = a.inside, from.Line
		} else {
			at.Library = w.file(from.Template)
		}
	}
	w.out.Lines = append(w.out.Lines, at)
}

// isDependency reports whether a chart file belongs to a dependency.
func isDependency(name string) bool {
	return strings.HasPrefix(name, "charts/") || strings.Contains(name, archiveSign)
}

// condition returns the number of a condition in Output.Conditions, counted from 1, or 0.
func (w *chartOutput) condition(c *chart.Condition) int {
	if c == nil {
		return 0
	}
	return lazy.Cached(w.conditions, c, func() int {
		told := render.Condition{Outer: w.condition(c.Outer), Places: w.places(c.Places)}
		if len(told.Places) == 0 {
			return told.Outer
		}
		return lazy.Cached(w.known, fmt.Sprint(told), func() int {
			w.out.Conditions = append(w.out.Conditions, told)
			return len(w.out.Conditions)
		})
	})
}

// places returns the positions that are in files.
func (w *chartOutput) places(from []chart.Place) (all []render.ValuesPlace) {
	for _, p := range from {
		if file, line, column := w.values(p); file >= 0 && line > 0 {
			all = append(all, render.ValuesPlace{File: file, Line: line, Column: column})
		}
	}
	return all
}

// values returns the position at which a value was set. The file is a chart file or one of
// Chart.Values.
func (w *chartOutput) values(v chart.Place) (file, line, column int) {
	at, ok := w.c.valuesAt(v)
	switch {
	case !ok:
		return w.file(v.File), v.Line, v.Column
	case at.Line < 1:
		return -1, 0, 0
	}
	return w.confined(at.File), at.Line, max(1, at.Column)
}

// file returns the index of a chart file, or -1 if there is no such file.
func (w *chartOutput) file(name string) int {
	return w.confined(lazy.Cached(w.names, name, func() string { return w.c.confined(name) }))
}

// confined returns the index of a file, given its name relative to the confinement directory.
func (w *chartOutput) confined(known string) int {
	if known == "" {
		return -1
	}
	return lazy.Cached(w.index, known, func() int {
		w.out.Files = append(w.out.Files, known)
		return len(w.out.Files) - 1
	})
}

// archived describes a file in a packed dependency or chart. It holds the position at which the chart
// lists the dependency, and the number of the file in Output.Inside, counted from 1.
type archived struct {
	render.Place
	inside int
}

// archiveSign separates the name of an archive from the name of a file in the archive. Package
// chart uses it in file names.
const archiveSign = ".tgz:"

// archived returns a file in a packed dependency or chart. name is its name in package chart.
func (w *chartOutput) archived(name string) (a archived, ok bool) {
	archive, _, ok := strings.Cut(name, archiveSign)
	whole := w.c.root.Chart.Archive // with the chart itself
	if !ok || strings.HasPrefix(name, "/") {
		return a, false
	}
	if a, ok = w.inside[name]; ok {
		return a, true
	}
	if whole == "" {
		a.Place, _ = w.c.dependency(archive)
	}
	w.out.Inside = append(w.out.Inside, path.Join(path.Dir(whole), name))
	a.inside = len(w.out.Inside)
	w.inside[name] = a
	return a, true
}

// dependency returns the position at which the enclosing chart lists an archive as a dependency. If
// the chart does not list the archive, dependency returns the first line of Chart.yaml.
func (c *charting) dependency(archive string) (at render.Place, listed bool) {
	dir, base := path.Split(archive)
	dir = path.Dir(path.Clean(dir)) // removes charts/
	for _, name := range []string{chartFile, "requirements.yaml"} {
		name = path.Join(dir, name)
		at := slices.IndexFunc(c.in.Files, func(f chart.File) bool { return f.Name == name })
		if at < 0 {
			continue
		}
		if line, column := dependencyLine(c.in.Files[at].Data, base); line > 0 {
			return render.Place{File: c.confined(name), Line: line, Column: column}, true
		}
	}
	return render.Place{File: c.confined(path.Join(dir, chartFile)), Line: 1, Column: 1}, false
}

// dependencyLine returns the position at which Chart.yaml or requirements.yaml lists the dependency
// in an archive. Archives are named name-version.tgz. If several dependency names fit,
// dependencyLine chooses the longest.
func dependencyLine(chart []byte, archive string) (line, column int) {
	doc, err := parse(chart)
	if err != nil || doc.err != nil || len(doc.docs) != 1 {
		return 0, 0
	}
	list, longest := target(field(doc.docs[0], "dependencies")), ""
	if list == nil || list.Kind != yaml.SequenceNode {
		return 0, 0
	}
	for _, item := range list.Content {
		at := field(target(item), "name")
		name := text(at)
		if name == "" || len(name) <= len(longest) || archive != name && !strings.HasPrefix(archive, name+"-") {
			continue
		}
		longest, line, column = name, at.Line, at.Column
	}
	return line, column
}

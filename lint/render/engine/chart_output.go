package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/render"
)

// printed is one object in the output of a template.
type printed struct {
	lines []string
	from  []chart.Origin
	index int // index in the output of the template
	kind  string
	hook  bool
	// test is set for a hook of helm test, unknown for one that Helm leaves out.
	test, unknown bool
	// about is the metadata of an object that may get a namespace.
	about *yaml.Node
}

// documents returns the objects of all templates in the order in which Helm installs them, hooks
// last.
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
	slices.SortStableFunc(all, func(a, b printed) int {
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
	var crds []printed // Helm prints them unchanged, before everything else
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

// objects returns the objects of one text; what is its name in messages.
func (c *charting) objects(m chart.Manifest, what string) ([]printed, *render.Problem) {
	all := split(m)
	for i := range all {
		d := &all[i]
		d.index = i
		if err := d.head(); err != nil {
			line, _ := lineSaid(err)
			at := d.from[min(line, len(d.from))-1]
			return nil, c.problem(at.Template, at.Line, fmt.Errorf("%s is not an object: %w", what, err))
		}
	}
	return all, nil
}

// split splits the output of a template at lines that begin with three dashes, like Helm, and
// leaves out parts that are empty or only comments.
func split(m chart.Manifest) []printed {
	var all []printed
	var now printed
	end := func() {
		blank := func(line string) bool { return strings.TrimSpace(line) == "" }
		for len(now.lines) > 0 && blank(now.lines[0]) {
			now.lines, now.from = now.lines[1:], now.from[1:]
		}
		for n := len(now.lines); n > 0 && blank(now.lines[n-1]); n-- {
			now.lines, now.from = now.lines[:n-1], now.from[:n-1]
		}
		if len(now.lines) > 0 {
			now.lines[0] = strings.TrimSpace(now.lines[0])
		}
		if slices.ContainsFunc(now.lines, func(line string) bool { return !blank(line) && strings.TrimSpace(line)[0] != '#' }) {
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

// head reads the fields that Helm sorts by.
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
				for event := range strings.SplitSeq(text(on), ",") { // as Helm reads them (releaseutil: SortManifests)
					event = strings.ToLower(strings.TrimSpace(event))
					when, what, _ := strings.Cut(event, "-")
					known := (when == "pre" || when == "post") && slices.Contains([]string{"install", "delete", "upgrade", "rollback"}, what)
					test := event == "test" || event == "test-success"
					d.test, d.unknown = d.test || test, d.unknown || !known && !test // such as crd-install of Helm 2
				}
			}
		}
	}
	return nil
}

// deployTo writes a namespace into an object that has none, because controllers deploy it there.
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

// installOrder is the order in which Helm installs kinds; other kinds follow by name.
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

// chartOutput writes the text of an output.
type chartOutput struct {
	c     *charting
	out   *render.Output
	index map[string]int    // into Output.Files
	names map[string]string // relative to the root of confinement, by the names of package chart
	// inside holds files of packed dependencies, by their names in package chart.
	inside map[string]archived
}

func (w *chartOutput) line(text string, from chart.Origin) {
	w.out.Text = append(append(w.out.Text, text...), '\n')
	at := render.Line{Template: w.file(from.Template), At: from.Line, Values: -1, Item: -1}
	if i := from.Item; i.Line > 0 {
		at.Item, at.ItemAt, at.ItemColumn = w.values(i)
	}
	if v := from.Values; v.Line > 0 {
		at.Values, at.ValuesAt, at.ValuesColumn = w.values(v)
	}
	if a, ok := w.archived(from.Template); ok {
		at.Template, at.At, at.Inside, at.InsideAt = w.confined(a.File), a.Line, a.inside, from.Line
	}
	w.out.Lines = append(w.out.Lines, at)
}

// values returns the place where a value was set: in a file of the chart or in one of Chart.Values.
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

// file returns the index of a file of the chart, or -1 if it is not one.
func (w *chartOutput) file(name string) int {
	known, ok := w.names[name]
	if !ok {
		known = w.c.confined(name)
		w.names[name] = known
	}
	return w.confined(known)
}

// confined returns the index of a file, given its name relative to the root of confinement.
func (w *chartOutput) confined(known string) int {
	if known == "" {
		return -1
	}
	at, ok := w.index[known]
	if !ok {
		at = len(w.out.Files)
		w.index[known] = at
		w.out.Files = append(w.out.Files, known)
	}
	return at
}

// archived is a file in a packed dependency: the place that names the dependency, and the index of
// its name in Output.Inside, counted from 1.
type archived struct {
	render.Place
	inside int
}

// archiveSign separates the name of an archive from that of a file in it (package chart).
const archiveSign = ".tgz:"

// archived finds a file in a packed dependency by its name in package chart.
func (w *chartOutput) archived(name string) (a archived, ok bool) {
	archive, _, ok := strings.Cut(name, archiveSign)
	if !ok || w.c.root.Chart.Archive != "" || strings.HasPrefix(name, "/") {
		return a, false
	}
	if a, ok = w.inside[name]; ok {
		return a, true
	}
	a.Place, _ = w.c.dependency(archive)
	w.out.Inside = append(w.out.Inside, name)
	a.inside = len(w.out.Inside)
	w.inside[name] = a
	return a, true
}

// dependency returns the place where the chart around an archive names it: the entry of its
// dependencies, or the first line of its Chart.yaml if it is not listed.
func (c *charting) dependency(archive string) (at render.Place, listed bool) {
	dir, base := path.Split(archive)
	dir = path.Dir(path.Clean(dir)) // leaves charts/
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

// dependencyLine returns the place of the dependency whose name is the longest prefix of the name
// of an archive: helm dependency build writes name-version.tgz.
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

package roots

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
)

// use is a way in which kustomize uses a name.
type use int

const (
	resource  use = iota // a file, or a directory with a kustomization
	directory            // a directory with a kustomization
	plugin               // a file or directory like resource, or inline text
	patch                // a file, or inline text
	data                 // a file
)

// entry is a file, directory or chart that a kustomization names.
type entry struct {
	field, text string
	line        int
	use         use
	// repo and version are set for a chart of a chart repository.
	repo, version string
}

// parsed is the content of a file named like a kustomization file.
type parsed struct {
	// foreign is set if the file contains an object that does not belong to kustomize, such as a
	// Flux Kustomization.
	foreign, component bool
	// broken says why the file cannot be used. It is empty for a usable file.
	broken  string
	line    int
	entries []entry
	// charts holds the helmCharts entries. home is the directory that contains these charts.
	charts []entry
	home   string
}

// group is the required prefix of a kustomization's apiVersion. The apiVersion may be absent.
const group = "kustomize.config.k8s.io/"

// parse parses a file named like a kustomization file.
func parse(file *source.File) parsed {
	docs := file.Roots()
	p := parsed{line: 1, foreign: len(docs) > 0}
	for _, doc := range docs {
		version := doc.Get("apiVersion").Text()
		p.foreign = p.foreign && version != "" && !strings.HasPrefix(version, group)
	}
	switch {
	case p.foreign:
		return p
	case len(docs) == 0:
		p.broken = "has no YAML that can be read"
		return p
	case len(docs) > 1:
		p.line = max(int(docs[1].Line), 1)
		p.broken = "has more than one document"
		return p
	case docs[0].Kind != source.Map:
		p.broken = "is no map"
		return p
	}
	switch kind := docs[0].Get("kind"); kind.Text() {
	case "Component":
		p.component = true
	case "Kustomization":
	default:
		if !kind.IsNull() {
			p.line = int(kind.Line)
			p.broken = "has another kind than Kustomization or Component"
		}
	}
	p.gather(docs[0])
	return p
}

// lists describes the kustomization fields that list files or directories. If the items of a list
// are maps, member is the key of the name.
var lists = []struct {
	field, member string
	use           use
}{
	{"resources", "", resource}, {"bases", "", directory}, {"components", "", directory},
	{"generators", "", plugin}, {"transformers", "", plugin}, {"validators", "", plugin},
	{"crds", "", data}, {"configurations", "", data}, {"patchesStrategicMerge", "", patch},
	{"patches", "path", patch}, {"patchesJson6902", "path", patch}, {"replacements", "path", data},
}

// gather collects the names in a kustomization (kustomize: api/types/kustomization.go).
func (p *parsed) gather(root *source.Node) {
	for _, f := range lists {
		for _, item := range root.Get(f.field).Items() {
			if f.member != "" {
				item = item.Get(f.member)
			}
			p.add(f.field, item, item.Text(), f.use)
		}
	}
	openapi := root.At("openapi", "path")
	p.add("openapi", openapi, openapi.Text(), data)
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, item := range root.Get(field).Items() {
			for _, file := range item.Get("files").Items() {
				name := file.Text()
				if _, after, ok := strings.Cut(name, "="); ok { // written as key=name
					name = after
				}
				p.add(field, file, name, data)
			}
			for _, file := range append(item.Get("envs").Items(), item.Get("env")) {
				p.add(field, file, file.Text(), data)
			}
		}
	}
	p.home = cmp.Or(root.At("helmGlobals", "chartHome").Text(), "charts")
	for _, field := range []string{"helmCharts", "helmChartInflationGenerator"} {
		for _, item := range root.Get(field).Items() {
			name := item.Get("name").Text() + item.Get("chartName").Text()
			if len(p.charts) == limits.Render.Entries {
				return
			}
			repo, version := item.Get("repo").Text()+item.Get("chartRepo").Text(), item.Get("version").Text()+item.Get("chartVersion").Text()
			p.charts = append(p.charts, entry{field: field, text: name, line: int(item.Line), repo: repo, version: version})
		}
	}
}

// add records a name. It ignores empty names and inline content.
func (p *parsed) add(field string, at *source.Node, text string, as use) {
	inline := (as == patch || as == plugin) && strings.ContainsAny(text, "\n{")
	switch {
	case text == "" || inline:
	case len(p.entries) == limits.Render.Entries:
		p.line, p.broken = int(at.Line), fmt.Sprintf("names more than %d files and directories", limits.Render.Entries)
	default:
		p.entries = append(p.entries, entry{field: field, text: text, line: int(at.Line), use: as})
	}
}

// mentions reports whether a file may declare an object that Find looks for. It searches the text
// without parsing it.
func (f *finder) mentions(text []byte) bool {
	has := func(mark string) bool { return bytes.Contains(text, []byte(mark)) }
	return has("kustomize.toolkit.fluxcd.io/") || has("helm.toolkit.fluxcd.io/") || has("source.toolkit.fluxcd.io/") || has("source.extensions.fluxcd.io/") ||
		has("argoproj.io/") && has("Application") || !f.opts.OnlyRenderable && (has("schedlint.dev/") || mentionsNode(text)) || f.opts.Offers != nil && f.opts.Mentions(text) ||
		f.opts.Defines != nil && has("CustomResourceDefinition")
}

// mentionsNode reports whether a file's text may contain a Node.
func mentionsNode(text []byte) bool {
	for {
		before, after, found := bytes.Cut(text, []byte("Node"))
		if !found {
			return false
		}
		before, colon := bytes.CutSuffix(bytes.TrimRight(before, " \t\"'"), []byte(":"))
		if colon && bytes.HasSuffix(bytes.TrimRight(before, " \t\"'"), []byte("kind")) && (len(after) == 0 || after[0]|0x20 < 'a' || after[0]|0x20 > 'z') {
			return true
		}
		text = after
	}
}

// manifest examines an input file and records what it declares. It skips kustomizations, because
// load reads them. It does not skip other files with the name of a kustomization file.
func (f *finder) manifest(in source.Input) {
	base, dir := path.Base(in.Name), path.Dir(in.Name)
	if source.IsKustomizationFile(base) || base == chartName {
		f.testData(in.Name)
	}
	if in.Problem == "" && isYAML(base) {
		f.yaml[dir] = append(f.yaml[dir], in.Name)
	}
	switch {
	case in.Problem != "":
		f.unread(in.Name, "%s", in.Problem)
		return
	case source.IsKustomizationFile(base):
		if n := f.kustomizationFile(in.Name); n != nil && n.foreign {
			f.objects(n.file, n.file.Roots())
		}
		return
	case base == chartName:
		f.chartFile(in.Name)
		return
	case path.Ext(base) == ".gotmpl" && !pointers.IsHelmfile(in.Name):
		return
	}
	file := f.read(in.Name)
	if file == nil {
		return
	}
	if pointers.IsHelmfile(in.Name) && f.mayParse(file) {
		for _, o := range pointers.NewHelmfile(file) {
			f.found.Pointers = append(f.found.Pointers, Pointer{string(pointers.Helmfile), o.Name, in.Name, max(int(o.Root.Line), 1), o})
		}
		return
	}
	if bytes.Contains(file.Text, []byte("ConfigMap")) || bytes.Contains(file.Text, []byte("Secret")) {
		f.found.Settings = append(f.found.Settings, file.Name)
	}
	if bytes.Contains(file.Text, []byte("apiVersion")) {
		f.testData(in.Name)
	}
	if f.mentions(file.Text) && f.mayParse(file) {
		f.objects(file, file.Roots())
	}
}

// objects records the pointers, repositories and nodes in a file.
func (f *finder) objects(file *source.File, docs []*source.Node) {
	once := func(all *[]string) {
		if n := len(*all); n == 0 || (*all)[n-1] != file.Name {
			*all = append(*all, file.Name)
		}
	}
	for _, root := range docs {
		objects := file.ObjectsOf(root)
		if f.opts.Offers != nil && f.opts.Offers(root, objects) {
			f.testData(file.Name)
			once(&f.found.Offered)
		}
		for _, o := range objects {
			if kind, ok := pointers.KindOf(o.Group(), o.Kind); ok {
				f.found.Pointers = append(f.found.Pointers, Pointer{string(kind), o.Name, o.File.Name, max(o.NameSpan().Line, 1), o})
			}
			if o.Group() == "source.toolkit.fluxcd.io" || o.Group() == "source.extensions.fluxcd.io" {
				f.found.Repositories = append(f.found.Repositories, o)
			}
			if f.opts.Defines != nil && f.opts.Defines(o) {
				f.found.Definitions = append(f.found.Definitions, o)
			}
			if f.opts.Declares != nil && f.opts.Declares(o) {
				once(&f.found.Topologies)
			}
		}
	}
}

// chartName is the file that makes a directory a chart.
const chartName = "Chart.yaml"

// chartFile reads a Chart.yaml.
func (f *finder) chartFile(name string) {
	file := f.read(name)
	if file == nil || !f.mayParse(file) {
		return
	}
	docs := file.Roots()
	if len(docs) != 1 || docs[0].Get("name").Text() == "" || !docs[0].Get("kind").IsNull() {
		return
	}
	dir := path.Dir(name)
	f.charts[dir] = true
	for _, d := range docs[0].Get("dependencies").Items() {
		if at, local := strings.CutPrefix(d.Get("repository").Text(), "file://"); local && path.Join(dir, at) != dir {
			f.depended[path.Join(dir, at)] = true
		}
	}
	f.found.Charts = append(f.found.Charts, Chart{Dir: dir, Name: docs[0].Get("name").Text(), Library: docs[0].Get("type").Text() == "library"})
}

// testNames lists directory names that usually mean test input or output.
var testNames = map[string]bool{
	"testdata": true, "test-data": true, "test_data": true, "fixtures": true, "test-fixtures": true, "__fixtures__": true,
	"golden": true, "goldens": true, "__snapshots__": true,
}

// testData records the outermost test data directory that contains a file.
func (f *finder) testData(name string) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if dir := name[:i]; testNames[path.Base(dir)] {
			if !slices.Contains(f.found.TestData, dir) {
				f.found.TestData = append(f.found.TestData, dir)
			}
			return
		}
	}
}

// isTemplate reports whether a file is a template of one of the charts. Objects in templates are
// not declared until the chart is rendered.
func (f *finder) isTemplate(name string) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if path.Base(at) == "templates" && f.charts[path.Dir(at)] {
			return true
		}
	}
	return false
}

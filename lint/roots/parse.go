package roots

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// use is the way in which kustomize uses a name.
type use int

const (
	resource  use = iota // a file, or a directory with a kustomization
	directory            // a directory with a kustomization
	plugin               // like resource, or inline text
	patch                // a file, or inline text
	data                 // a file
)

// entry is one name in a kustomization.
type entry struct {
	field, text string
	line        int
	use         use
}

// parsed is the content of a file with the name of a kustomization.
type parsed struct {
	// foreign is set if the file contains something else, such as a Flux Kustomization.
	foreign, component bool
	// broken says why the file cannot be used, or is "".
	broken  string
	line    int
	entries []entry
	// charts holds the entries of helmCharts, and home is their directory.
	charts []entry
	home   string
}

// group is the prefix of the apiVersion of a kustomization, which may also have no apiVersion.
const group = "kustomize.config.k8s.io/"

// parse parses a file with the name of a kustomization.
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

// lists are those of names, or of maps with a name in one member.
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
				if _, after, ok := strings.Cut(name, "="); ok { // the name follows a key
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
			p.charts = append(p.charts, entry{field: field, text: name, line: int(item.Line)})
		}
	}
}

// add records a name, unless it is empty or inline content.
func (p *parsed) add(field string, at *source.Node, text string, as use) {
	inline := (as == patch || as == plugin) && strings.ContainsAny(text, "\n{")
	switch {
	case text == "" || inline:
	case len(p.entries) == limits.Render.Entries:
		p.line, p.broken = int(at.Line), fmt.Sprintf("names more than %d files and directories", limits.Render.Entries)
	default:
		p.entries = append(p.entries, entry{field, text, int(at.Line), as})
	}
}

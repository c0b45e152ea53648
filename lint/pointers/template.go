package pointers

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
)

// params are the parameters of one Application of a set, by their names with dots:
// cluster, path, path.basename, path.segments, values.region.
type params struct {
	texts map[string]string
	lists map[string][]string
	// goTemplate is set for Go templates; else {{name}} stands for a parameter.
	goTemplate bool
	// made counts the bytes that templates of the run have made.
	made *int
}

var (
	action    = regexp.MustCompile(`\{\{(.*?)\}\}`)
	fastName  = regexp.MustCompile(`^[\w.-]+(?:\[\d+\])?$`)
	goName    = regexp.MustCompile(`^\.([\w.]+)$`)
	goIndex   = regexp.MustCompile(`^index \.([\w.]+) (\d+)$`)
	fastIndex = regexp.MustCompile(`^([\w.-]+)\[(\d+)\]$`)
)

// fill puts values in place of parameters; ok is false if something is not simple or not
// given. Argo CD leaves such text as it is, or fails.
func (p *params) fill(text string) (string, bool) {
	ok := true
	if *p.made += len(text); *p.made > limits.Templated {
		return "", false
	}
	filled := action.ReplaceAllStringFunc(text, func(all string) string {
		inner := all[2 : len(all)-2]
		if p.goTemplate {
			inner = strings.TrimSuffix(strings.TrimPrefix(inner, "-"), "-")
		}
		value, known := p.value(strings.TrimSpace(inner))
		if *p.made += len(value); !known || *p.made > limits.Templated {
			ok = false
			return ""
		}
		return value
	})
	if !ok {
		return text, false
	}
	return filled, !strings.Contains(filled, "{{") && !strings.Contains(filled, "${")
}

func (p *params) value(name string) (string, bool) {
	index := fastIndex
	if p.goTemplate {
		index = goIndex
	}
	if m := index.FindStringSubmatch(name); m != nil {
		i, err := strconv.Atoi(m[2])
		list := p.lists[m[1]]
		if err != nil || i >= len(list) {
			return "", false
		}
		return list[i], true
	}
	if p.goTemplate {
		m := goName.FindStringSubmatch(name)
		if m == nil {
			return "", false
		}
		name = m[1]
	} else if !fastName.MatchString(name) {
		return "", false
	}
	value, known := p.texts[name]
	return value, known
}

// pathParams are the parameters of a directory (argo-cd: applicationset/generators/git.go).
// A Go template finds the directory under .path.path, else under path.
func (p *params) pathParams(prefix, dir string) {
	if prefix != "" {
		prefix += "."
	}
	segments := strings.Split(dir, "/")
	base := segments[len(segments)-1]
	whole := prefix + "path"
	if p.goTemplate {
		whole += ".path"
	}
	p.texts[whole] = dir
	p.texts[prefix+"path.basename"] = base
	normalized := notInNames.ReplaceAllString(strings.ToLower(base), "-") // argo-cd: SanitizeName
	p.texts[prefix+"path.basenameNormalized"] = strings.Trim(normalized[:min(len(normalized), 253)], "-.")
	if p.goTemplate {
		p.lists[prefix+"path.segments"] = segments
	} else {
		p.lists[prefix+"path"] = segments
	}
}

var notInNames = regexp.MustCompile(`[^-a-z0-9.]+`)

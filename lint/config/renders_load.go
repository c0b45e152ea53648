package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// renders checks conditions on the list that types do not express.
func (l *loader) renders(list *source.Node, c *Config) {
	first := map[string]int{}
	for i, item := range list.Items() {
		r, key := &c.Renders[i], renderKey(i)
		c.entries[key] = l.at(item)
		if item.Kind != source.Map || !l.render(item, r, c, key) {
			if item.IsNull() {
				l.fail(l.at(item), "%s: %s", key, expectedRender)
			}
			continue
		}
		name := r.NameOf()
		if before, twice := first[name]; twice && !r.several() {
			l.fail(l.at(item), "%s: %s is the name of %s as well: give one of them another name", key, name, renderKey(before))
		}
		if !r.several() {
			first[name] = i
		}
	}
}

// render checks one entry; ok is false if it cannot be used.
func (l *loader) render(item *source.Node, r *Render, c *Config, key string) (ok bool) {
	k, directory := item.Field("kustomize")
	h, chart := item.Field("helm")
	f, files := item.Field("files")
	g, pointers := item.Field("pointers")
	var given []string
	for _, what := range renderKinds() {
		if !item.Get(what).IsNull() {
			given = append(given, what)
		}
	}
	switch {
	case len(given) == 0:
		l.fail(l.at(item), "%s: %s", key, expectedRender)
		return false
	case len(given) > 1:
		l.fail(l.at(item), "%s: expected one of %s, found %s: make them %d entries", key, strings.Join(renderKinds(), ", "), strings.Join(given, " and "), len(given))
		return false
	case !chart.IsNull():
		l.helm(h, item, r, c, key)
		l.renderName(item, r, key)
		return true
	}
	l.noHelm(item, key)
	switch {
	case !pointers.IsNull():
		l.pointers(g, item, r, c, key)
		return true
	case !directory.IsNull():
		l.kustomize(k, item, r, c, key)
	case !files.IsNull():
		l.rendered(f, item, c, key)
	}
	l.renderName(item, r, key)
	return true
}

// renderKinds returns the keys of which an entry has exactly one.
func renderKinds() []string { return []string{"kustomize", "helm", "files", "pointers"} }

// expectedRender describes the required keys of an entry.
const expectedRender = "expected kustomize or helm, a directory or a glob, files, or pointers, a glob"

// kustomize checks an entry for kustomizations.
func (l *loader) kustomize(k, item *source.Node, r *Render, c *Config, key string) {
	if source.IsKustomizationFile(path.Base(r.Kustomize)) {
		l.fail(l.at(k), "%s.kustomize: expected a directory, found the file %s: name the directory that holds it", key, r.Kustomize)
	} else {
		l.directory("kustomize", "-k", k, item, c, key)
	}
	if w, word := item.Field("load-restrictor"); !word.IsNull() && !slices.Contains(LoadRestrictors(), r.LoadRestrictor) {
		l.fail(l.at(w), "%s.load-restrictor: expected one of %s, found %q", key, strings.Join(LoadRestrictors(), ", "), r.LoadRestrictor)
	}
	l.remotes(item, c, key)
	if s, root := item.Field("source-root"); !root.IsNull() {
		l.fail(l.at(s), "%s.source-root: belongs to files: kustomize knows where its input is", key)
	}
}

// remotes checks the directories that an entry uses in place of URLs.
func (l *loader) remotes(item *source.Node, c *Config, key string) {
	for url, to := range item.Get("remotes").Fields() {
		if url.Value == "" {
			l.fail(l.at(url), "%s.remotes: expected a URL, found nothing", key)
		}
		l.namedFile(to, l.at(url), c, key+".remotes."+url.Value, "", true)
	}
}

// rendered checks an entry for the output of another tool.
func (l *loader) rendered(k, item *source.Node, c *Config, key string) {
	files := item.Get("files")
	if files.Kind == source.Sequence && files.Len() == 0 {
		l.fail(l.at(k), "%s.files: expected a file", key)
	}
	for i, file := range files.Items() {
		l.namedFile(file, l.at(file), c, fmt.Sprintf("%s.files[%d]", key, i), "", true)
	}
	if s, root := item.Field("source-root"); !root.IsNull() {
		l.namedFile(root, l.at(s), c, key+".source-root", "--source-root", true)
	}
	for _, word := range []string{"load-restrictor", "remotes"} {
		if k, v := item.Field(word); !v.IsNull() {
			l.fail(l.at(k), "%s.%s: belongs to kustomize: files are read as they are", key, word)
		}
	}
}

// renderName checks the name that an entry sets. A name with glob characters could not be
// distinguished from a glob in a cluster.
func (l *loader) renderName(item *source.Node, r *Render, key string) {
	k, name := item.Field("name")
	switch {
	case name.IsNull():
	case r.IsGlob():
		l.fail(l.at(k), "%s.name: a glob may stand for several renders: remove the name, or name one directory", key)
	case name.Kind == source.Scalar && name.Type == source.String && !renderForm.MatchString(r.Name):
		l.fail(l.at(k), "%s.name: expected a name without control characters and any of %s]}, found %q", key, globMeta, r.Name)
	}
}

// renderPattern is the form of the name of a render. schema.json has the same.
const renderPattern = `^[^*?\[\]{}\\\x00-\x1f\x7f]+$`

var renderForm = regexp.MustCompile(renderPattern)

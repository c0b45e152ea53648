package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// loader reads one file and gathers all mistakes in it.
type loader struct {
	path    string
	overlay func(string) ([]byte, bool) // replaces the content of the file; nil to read it
	file    *source.File
	found   []mistake
}

// load fills a configuration from its file.
func (l *loader) load(c *Config) error {
	if root := l.read(filepath.Join(c.Dir, filepath.Base(c.file))); root != nil {
		l.decode(root, c)
	}
	return l.err()
}

type mistake struct {
	at   diag.Span // zero for the whole file
	text string
}

// fail records a mistake. Later mistakes at the same location are consequences of the first one.
func (l *loader) fail(at diag.Span, format string, args ...any) {
	if at.IsZero() || !slices.ContainsFunc(l.found, func(m mistake) bool { return m.at == at }) {
		l.found = append(l.found, mistake{at, fmt.Sprintf(format, args...)})
	}
}

// err joins the mistakes in the order of the file.
func (l *loader) err() error {
	slices.SortStableFunc(l.found, func(a, b mistake) int { return a.at.Compare(b.at) })
	var errs []error
	for _, m := range l.found {
		errs = append(errs, fmt.Errorf("%s: %s", place(l.path, m.at), m.text))
	}
	return errors.Join(errs...)
}

// at returns the location of a node.
func (l *loader) at(n *source.Node) diag.Span { return l.file.Span(n) }

// read returns the only document of the file; nil if it is empty or unreadable. A text that
// source.Load skips in a tree of manifests, such as a template, must not be mistaken for an empty
// configuration.
func (l *loader) read(abs string) *source.Node {
	info, err := os.Stat(abs)
	switch {
	case os.IsNotExist(err):
		l.fail(diag.Span{}, "there is no such configuration file")
		return nil
	case err == nil && info.IsDir():
		l.fail(diag.Span{}, "is a directory, expected a configuration file")
		return nil
	}
	dir := string(os.PathSeparator)
	set, err := source.Load(source.Options{Dir: dir, Root: dir, Strict: true, Overlay: l.overlay}, []string{abs})
	if err != nil {
		l.fail(diag.Span{}, "%v", err)
		return nil
	}
	for _, p := range set.Problems {
		l.fail(p.Span, "%s: %s", strings.ReplaceAll(string(p.Kind), "-", " "), p.Detail)
	}
	root, file := set.Plain()
	switch {
	case len(l.found) > 0 || set.Documents == 0:
		return nil
	case set.Documents > 1:
		l.fail(diag.Span{}, "expected one document, found %d", set.Documents)
		return nil
	case root == nil:
		l.fail(diag.Span{}, "expected a configuration, found %s", held(set))
		return nil
	}
	l.file = file
	return root
}

// held names the content of a file that is not a configuration.
func held(set *source.Set) string {
	if len(set.Objects) > 0 {
		return set.Objects[0].Kind + " " + set.Objects[0].Name
	}
	return set.Skipped[0].Reason
}

// decode fills the configuration and checks its values.
func (l *loader) decode(root *source.Node, c *Config) {
	c.text = l.file.Text
	for k, v := range root.Fields() {
		c.fields[k.Value] = l.file.FieldSpan(k, v)
	}
	for k := range root.Get("rules").Fields() {
		c.places[k.Value] = l.at(k)
	}
	decoder := source.Decoder{}
	for _, m := range decoder.Decode(root, c) {
		l.mismatch(m, decoder.Names(reflect.TypeFor[Config]()))
	}
	l.check(root, c)
}

func (l *loader) mismatch(m source.Mismatch, keys []string) {
	at := l.at(m.Value)
	if m.Key != nil {
		at = l.at(m.Key)
	}
	switch {
	case m.Path == "":
		l.fail(at, "expected a map with the keys %s", strings.Join(keys, ", "))
	case m.Unknown && m.Suggestion != "":
		l.fail(at, "unknown key %s; did you mean %s?", m.Path, m.Suggestion)
	case m.Unknown && !strings.Contains(m.Path, "."):
		l.fail(at, "unknown key %s; there are %s", m.Path, strings.Join(keys, ", "))
	case m.Unknown:
		l.fail(at, "unknown key %s", m.Path)
	case m.Want == "level":
		l.fail(at, "%s: expected one of %s", m.Path, strings.Join(levels(), ", "))
	default:
		l.fail(at, "%s: expected a %s", m.Path, m.Want)
	}
}

// check checks conditions that types do not express.
func (l *loader) check(root *source.Node, c *Config) {
	if k, word := root.Field("fail-on"); !word.IsNull() && !slices.Contains(FailLevels(), c.FailOn) {
		l.fail(l.at(k), "fail-on: expected one of %s, found %q", strings.Join(FailLevels(), ", "), c.FailOn)
	}
	if k, word := root.Field("extended-resources"); !word.IsNull() && c.ExtendedResources != complete {
		l.fail(l.at(k), "extended-resources: expected %s, found %q", complete, c.ExtendedResources)
	}
	l.policies(root, c)
	ids := map[string]string{}
	for i, item := range root.Get("custom").Items() {
		l.custom(item, &c.Custom[i], fmt.Sprintf("custom[%d]", i), ids)
	}
	l.rules(root, c)
	l.scopes(root, c)
	if k, file := root.Field("baseline"); !file.IsNull() {
		l.namedFile(file, l.at(k), c, "baseline", "--baseline", false)
	}
	l.topologies(root.Get("topology"), c, "topology")
	l.globs(root.Get("ignore"), "ignore")
	l.renders(root.Get("renders"), c)
	l.names(root.Get("repositories"), "repositories", "the address of a repository")
	seen := map[string]bool{}
	for i, item := range root.Get("clusters").Items() {
		l.cluster(item, &c.Clusters[i], fmt.Sprintf("clusters[%d]", i), seen)
		for j, render := range item.Get("renders").Items() {
			c.entries[fmt.Sprintf("clusters[%d].renders[%d]", i, j)] = l.at(render)
		}
		l.topologies(item.Get("topology"), c, fmt.Sprintf("clusters[%d].topology", i))
	}
	for i, item := range root.Get("survive").Items() {
		l.survive(item, fmt.Sprintf("survive[%d]", i))
	}
	for i, item := range root.Get("suppress").Items() {
		l.suppress(item, &c.Suppress[i], fmt.Sprintf("suppress[%d]", i))
	}
}

func (l *loader) cluster(item *source.Node, c *Cluster, path string, seen map[string]bool) {
	switch {
	case c.Name == "":
		l.fail(l.at(item), "%s: a cluster needs a name", path)
	case seen[c.Name]:
		l.fail(l.at(item.Get("name")), "%s: cluster %s is declared twice", path, c.Name)
	}
	k, paths := item.Field("paths")
	if isEmpty(paths) && isEmpty(item.Get("renders")) && isEmpty(item.Get("pointers")) && isEmpty(item.Get("destinations")) {
		l.fail(l.at(cmp.Or(k, item)), "%s: a cluster needs paths, renders, pointers or destinations", path)
	}
	seen[c.Name] = true
	l.globs(item.Get("pointers"), path+".pointers")
	l.names(item.Get("destinations"), path+".destinations", "the name or address of a cluster")
	l.globs(item.Get("paths"), path+".paths")
	l.globs(item.Get("renders"), path+".renders")
}

// isEmpty reports whether a list is absent or has no items.
func isEmpty(list *source.Node) bool {
	return list.IsNull() || list.Kind == source.Sequence && list.Len() == 0
}

// names checks that a list has no empty items: an empty path would be the directory of the
// configuration.
func (l *loader) names(list *source.Node, path, want string) {
	for i, item := range list.Items() {
		if item.Text() == "" {
			l.fail(l.at(item), "%s[%d]: expected %s, found nothing", path, i, want)
		}
	}
}

func (l *loader) globs(list *source.Node, path string) {
	l.names(list, path, "a glob")
	for i, item := range list.Items() {
		if !doublestar.ValidatePattern(item.Text()) {
			l.fail(l.at(item), "%s[%d]: %q is not a valid glob", path, i, item.Value)
		}
	}
}

package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Helm holds the settings in a renders entry that apply only to Helm charts. The entry's name is
// also the release name.
type Helm struct {
	Namespace string `json:"namespace"`
	// Values lists values files. Paths are relative to the chart or, if there is no such file in
	// the chart, to the configuration. Later files take precedence.
	Values []string `json:"values"`
	// EachValues is a path that matches values files. {name} stands for the part that varies. The
	// chart is rendered once for each matching file, which takes precedence over the files in
	// Values.
	EachValues string `json:"each-values"`
	// SetNodes and SetStringNodes are the undecoded YAML for SetArgs and SetStringArgs.
	SetNodes       map[string]*source.Node `json:"set"`
	SetStringNodes map[string]*source.Node `json:"set-string"`
	KubeVersion    string                  `json:"kube-version"`
	APIVersions    []string                `json:"api-versions"`
	// HelmVersion is the version of Helm that templates see.
	HelmVersion string `json:"helm-version"`

	setPlaces, setStringPlaces []diag.Span

	// SetArgs and SetStringArgs are the arguments for --set and --set-string, in file order. String
	// values from the set key are in SetStringArgs, so that they stay strings.
	SetArgs       []string `json:"-"`
	SetStringArgs []string `json:"-"`
}

// helmKeys returns the keys that only chart entries have.
func helmKeys() []string { return (&source.Decoder{}).Names(reflect.TypeFor[Helm]()) }

// nameMark is the placeholder for the variable part of an each-values path.
const nameMark = "{name}"

// Patterns for strings that Helm accepts. schema.json has the same patterns.
const (
	releasePattern     = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	namespacePattern   = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	kubeVersionPattern = `^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+][-+.0-9A-Za-z]+)?$`
	helmVersionPattern = `^v?[34](\.[0-9]+){0,2}([-+][-+.0-9A-Za-z]+)?$`
	setKeyPattern      = `^[^=,{}\x00-\x1f\x7f]*[^=,{}\\\x00-\x1f\x7f]$`
	eachPattern        = `^[^*?\[\]{}\\]*\{name\}[^*?\[\]{}\\]*$`
	longestRelease     = 53
)

var (
	releaseForm     = lazy.Regexp(releasePattern)
	namespaceForm   = lazy.Regexp(namespacePattern)
	kubeVersionForm = lazy.Regexp(kubeVersionPattern)
	helmVersionForm = lazy.Regexp(helmVersionPattern)
	setKeyForm      = lazy.Regexp(setKeyPattern)
	eachForm        = lazy.Regexp(eachPattern)
)

// helm checks a renders entry for Helm charts.
func (l *loader) helm(k, item *source.Node, r *Render, c *Config, key string) {
	if base := path.Base(r.Chart); base == "Chart.yaml" || strings.HasSuffix(base, ".tgz") {
		l.fail(l.at(k), "%s.helm: expected the directory of a chart, found the file %s", key, r.Chart)
	} else {
		l.directory("helm", "--helm", k, item, c, key)
	}
	for i, file := range item.Get("values").Items() {
		at := valuesKey(key, i)
		if c.entries[at] = l.at(file); file.Text() == "" {
			l.fail(l.at(file), "%s: expected a file, found nothing", at)
		}
	}
	l.names(item.Get("api-versions"), key+".api-versions", "an API version such as monitoring.coreos.com/v1")
	for _, text := range []struct {
		word string
		form *regexp.Regexp
		want string
	}{
		{"namespace", namespaceForm(), "a namespace"},
		{"kube-version", kubeVersionForm(), `a version of Kubernetes such as "1.36"`},
		{"each-values", eachForm(), "a path with one {name} and no glob, such as env/{name}.yaml"},
	} {
		if k, v := item.Field(text.word); isString(v) && !text.form.MatchString(v.Value) {
			l.fail(l.at(k), "%s.%s: expected %s, found %q", key, text.word, text.want, v.Value)
		}
	}
	if k, v := item.Field("kube-version"); isString(v) && kubeVersionForm().MatchString(v.Value) {
		if err := chart.CheckKubeVersion(v.Value); err != nil {
			l.fail(l.at(k), "%s.kube-version: %v", key, err)
		}
	}
	if k, v := item.Field("helm-version"); isString(v) {
		if err := chart.CheckHelmVersion(v.Value); err != nil || !helmVersionForm().MatchString(v.Value) {
			l.fail(l.at(k), `%s.helm-version: expected a version of Helm 3 or 4, such as "4.0.0", found %q`, key, v.Value)
		}
	}
	if k, name := item.Field("name"); isString(name) && (len(r.Name) > longestRelease || !releaseForm().MatchString(r.Name)) && !r.IsGlob() {
		l.fail(l.at(k), "%s.name: expected the name of a Helm release, found %q", key, r.Name)
	}
	if k, _ := item.Field("each-values"); k != nil {
		c.entries[key+".each-values"] = l.at(k)
	}
	l.set(item, r, key)
	l.without(item, key, "cannot be combined with helm", "load-restrictor", "remotes", "source-root")
}

func valuesKey(key string, i int) string { return fmt.Sprintf("%s.values[%d]", key, i) }

func isString(n *source.Node) bool {
	return !n.IsNull() && n.Kind == source.Scalar && n.Type == source.String
}

// set collects the arguments for --set and --set-string.
func (l *loader) set(item *source.Node, r *Render, key string) {
	for _, word := range []string{"set", "set-string"} {
		for k, v := range item.Get(word).Fields() {
			arg := k.Value + "="
			switch {
			case !setKeyForm().MatchString(k.Value):
				l.fail(l.at(k), `%s.%s: expected a key as --set takes it, without any of =,{} and no \ at the end, found %q`, key, word, k.Value)
			case !v.IsNull() && v.Kind != source.Scalar:
				l.fail(l.at(k), "%s.%s.%s: expected one value; write nested keys with dots, as in --set", key, word, k.Value)
			case v.IsNull() && word == "set-string":
				l.fail(l.at(k), "%s.%s.%s: expected a text, found nothing", key, word, k.Value)
			default:
				args, places, text := &r.SetArgs, &r.setPlaces, word == "set-string" || v.Type == source.String && !v.IsNull()
				if text {
					args, places = &r.SetStringArgs, &r.setStringPlaces
					arg += escaped(v.Value)
				} else {
					arg += plain(v)
				}
				if err := chart.CheckSet(arg, text); err != nil {
					l.fail(l.at(k), "%s.%s: %q cannot be read: %v", key, word, k.Value, err)
				}
				*args, *places = append(*args, arg), append(*places, l.at(k))
			}
		}
	}
}

// SettingPlace returns the location of a chart setting in the configuration. setting is the
// setting's name in render problems, for example set[0]. ok is false if the setting is not in the
// configuration.
func (c *Config) SettingPlace(x Chosen, setting string) (at diag.Span, ok bool) {
	i := 0
	for i < len(c.Renders) && &c.Renders[i] != x.Entry {
		i++
	}
	word, rest, _ := strings.Cut(setting, "[")
	n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if i == len(c.Renders) || err != nil || n < 0 {
		return at, false
	}
	r := x.Entry
	switch {
	case word == "set" && n < len(r.setPlaces):
		return r.setPlaces[n], true
	case word == "set-string" && n < len(r.setStringPlaces):
		return r.setStringPlaces[n], true
	case word == "values" && n < len(r.Values):
		return c.entries[valuesKey(renderKey(i), n)], true
	case word == "values" && r.EachValues != "":
		return c.entries[renderKey(i)+".each-values"], true
	}
	return at, false
}

// escaped returns a value that --set-string reads literally, rather than as several values or as a
// list.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(text)
	if strings.HasPrefix(text, "{") {
		return `\` + text
	}
	return text
}

// plain formats a number, boolean or null as --set expects it.
func plain(n *source.Node) string {
	if n.IsNull() {
		return "null"
	}
	if b, ok := n.Bool(); ok {
		return fmt.Sprint(b)
	}
	if i, ok := n.Int(); ok {
		return fmt.Sprint(i)
	}
	return n.Value
}

// otherSettings returns the keys of a chart entry whose values differ from those in an earlier
// version of the entry.
func (h *Helm) otherSettings(was *Helm) (words []string) {
	for _, key := range []struct{ word, is, was string }{
		{"namespace", h.Namespace, was.Namespace},
		{"values", strings.Join(h.Values, "\n"), strings.Join(was.Values, "\n")},
		{"each-values", h.EachValues, was.EachValues},
		{"set", strings.Join(h.SetArgs, "\n"), strings.Join(was.SetArgs, "\n")},
		{"set-string", strings.Join(h.SetStringArgs, "\n"), strings.Join(was.SetStringArgs, "\n")},
		{"kube-version", h.KubeVersion, was.KubeVersion},
		{"helm-version", h.HelmVersion, was.HelmVersion},
		{"api-versions", strings.Join(h.APIVersions, "\n"), strings.Join(was.APIVersions, "\n")},
	} {
		if key.is != key.was {
			words = append(words, key.word)
		}
	}
	return words
}

// mostEach is the maximum number of values files that each-values may match. mostEntries is the
// maximum number of entries in the directory of these files.
const (
	mostEach    = 500
	mostEntries = 20_000
	// mostLooks is the maximum number of files and directory entries that are examined for all
	// renders together.
	mostLooks = 200_000
)

// look records that n files or directory entries are examined, and returns an error if the total
// exceeds mostLooks.
func (t Tree) look(n int) error {
	if *t.looks -= n; *t.looks < 0 {
		return fmt.Errorf("the values files of all renders take more than %d look-ups: name fewer charts", mostLooks)
	}
	return nil
}

// GlobsCharts reports whether any renders entry is a glob of charts.
func (c *Config) GlobsCharts() bool {
	return slices.ContainsFunc(c.Renders, func(r Render) bool { return r.Chart != "" && r.IsGlob() })
}

// charts returns the renders for a chart entry.
func (c *Config) charts(i int, t Tree) (all []Chosen, err error) {
	r, key := &c.Renders[i], renderKey(i)
	for _, one := range r.expand(t.Charts) {
		for j, name := range r.Values {
			file, err := c.valuesFile(one.Dir, name, t)
			if err != nil {
				return nil, c.wrong(valuesKey(key, j), "%w", err)
			}
			one.Values = append(one.Values, file)
		}
		if r.EachValues == "" {
			all = append(all, one)
			continue
		}
		each, err := c.each(one, r.EachValues, t)
		if err != nil {
			return nil, c.wrong(key+".each-values", "%w", err)
		}
		all = append(all, each...)
	}
	if len(all) == 0 {
		return nil, c.wrong(key, "%s matches no chart that installs anything by itself: library charts and charts in charts/ of another one do not count", r.Chart)
	}
	return all, nil
}

// candidates returns the two possible locations of a file named in a chart entry. The first is
// relative to the chart, the second is relative to the configuration.
func (c *Config) candidates(chart, name string) (all []string, err error) {
	all = slices.Compact([]string{path.Join(chart, name), path.Clean(name)})
	all = slices.DeleteFunc(all, func(at string) bool {
		_, inside := worktree.Below(c.bound, c.absolute(at))
		return !inside && c.bound != ""
	})
	if len(all) == 0 {
		return nil, c.leadsOut(name)
	}
	return all, nil
}

// valuesFile returns the path of a chart's values file, relative to the configuration's directory.
func (c *Config) valuesFile(chart, name string, t Tree) (string, error) {
	if err := t.look(1); err != nil {
		return "", err
	}
	places, err := c.candidates(chart, name)
	if err != nil {
		return "", err
	}
	for _, at := range places {
		info, err := os.Lstat(c.absolute(at))
		switch {
		case err != nil:
			continue
		case info.IsDir():
			return "", fmt.Errorf("%s is a directory, expected a file", at)
		}
		return at, c.check(at, false)
	}
	return "", fmt.Errorf("there is no %s: paths count from the chart, or else from the configuration", strings.Join(places, " and no "))
}

// each returns a copy of a chart render for each values file that a pattern matches.
func (c *Config) each(one Chosen, pattern string, t Tree) (all []Chosen, err error) {
	places, err := c.candidates(one.Dir, pattern)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		names, err := c.matching(at, t)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			x := one
			x.Name, x.Values = one.Name+"="+name, append(slices.Clip(one.Values), strings.Replace(at, nameMark, name, 1))
			all = append(all, x)
		}
		if len(all) > 0 {
			return all, nil
		}
	}
	return nil, fmt.Errorf("there is no file %s: paths count from the chart, or else from the configuration", strings.Join(places, " and no "))
}

// matching returns the {name} parts of all files that match a pattern, in sorted order.
func (c *Config) matching(pattern string, t Tree) (names []string, err error) {
	before, after, _ := strings.Cut(pattern, nameMark)
	dir, prefix := path.Split(before)
	suffix, rest, _ := strings.Cut(after, "/")
	dir = path.Clean(dir)
	if err := t.look(1); err != nil {
		return nil, err
	}
	if err := c.check(dir, true); err != nil {
		return nil, err
	}
	entries, err := c.entriesOf(dir)
	if err == nil {
		err = t.look(len(entries))
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, begins := strings.CutPrefix(entry, prefix)
		name, ends := strings.CutSuffix(name, suffix)
		file := path.Join(dir, entry, rest)
		if !begins || !ends || name == "" || strings.HasPrefix(entry, ".") || !c.isFile(file, t) {
			continue
		}
		if !renderForm().MatchString(name) {
			return nil, fmt.Errorf("%q cannot be a part of the name of a render: rename the file", name)
		}
		if err := c.check(file, false); err != nil {
			return nil, err
		}
		if names = append(names, name); len(names) > mostEach {
			return nil, fmt.Errorf("%s matches more than %d files", pattern, mostEach)
		}
	}
	return names, nil
}

// isFile reports whether a path is a tracked file rather than a directory.
func (c *Config) isFile(name string, t Tree) bool {
	at := c.absolute(filepath.FromSlash(name))
	info, err := os.Lstat(at)
	if err != nil || info.IsDir() || t.Tracked == nil {
		return err == nil && !info.IsDir()
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(at))
	return err == nil && t.Tracked(filepath.Join(dir, filepath.Base(at)))
}

// entriesOf returns the sorted names of a directory's entries, or nil if the directory cannot be
// opened.
func (c *Config) entriesOf(dir string) ([]string, error) {
	d, err := os.Open(c.absolute(filepath.FromSlash(dir)))
	if err != nil {
		return nil, nil // the caller reports the missing file with all locations that were tried
	}
	defer func() { _ = d.Close() }() // a directory that was only read
	names, err := d.Readdirnames(mostEntries + 1)
	switch {
	case len(names) > mostEntries:
		return nil, fmt.Errorf("%s has more than %d entries", dir, mostEntries)
	case err != nil && !errors.Is(err, io.EOF) && len(names) > 0:
		return nil, fmt.Errorf("%s cannot be read: %w", dir, err)
	}
	slices.Sort(names)
	return names, nil
}

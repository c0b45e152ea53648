package config

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
)

// Suppress accepts a rule's findings for certain objects. A mistake in an entry, such as a missing
// reason, is reported as a finding rather than an error.
type Suppress struct {
	Rule string `json:"rule"`
	// Reason says why the findings are accepted. Until is the last day on which they are accepted,
	// for example 2027-03-31, or empty if there is no last day.
	Reason string `json:"reason"`
	Until  string `json:"until"`
	// Kinds, Namespaces and Names are globs. An object must match at least one glob in each
	// non-empty list.
	Kinds      []string `json:"kinds"`
	Namespaces []string `json:"namespaces"`
	Names      []string `json:"names"`
	// Labels are labels that the object itself must have. Pod labels do not count.
	Labels map[string]string `json:"labels"`

	// Place is the location of the entry in the configuration file.
	Place diag.Span `json:"-"`
}

// Means reports whether the entry applies to an object. An object without a namespace counts as
// being in the default namespace.
func (s *Suppress) Means(o diag.Object, labels map[string]string) bool {
	return holds(s.Labels, labels) && anyGlob(s.Kinds, o.Kind) && anyGlob(s.Namespaces, cmp.Or(o.Namespace, "default")) && anyGlob(s.Names, o.Name)
}

func anyGlob(globs []string, name string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := doublestar.Match(glob, name)
		return ok
	})
}

// Target describes the objects that the entry applies to.
func (s *Suppress) Target() string {
	parts := words(s.Labels, selected{"kind", s.Kinds}, selected{"namespace", s.Namespaces}, selected{"name", s.Names})
	return cmp.Or(strings.Join(parts, ", "), "all objects")
}

// selected pairs a property of objects, such as namespace, with the globs that it must match.
type selected struct {
	property string
	globs    []string
}

// words describes the objects that labels and globs select, one condition at a time.
func words(labels map[string]string, by ...selected) (parts []string) {
	for _, s := range by {
		if len(s.globs) > 0 {
			parts = append(parts, s.property+" "+strings.Join(s.globs, " or "))
		}
	}
	for _, k := range sorting.Keys(labels) {
		parts = append(parts, "label "+k+"="+labels[k])
	}
	return parts
}

// suppress checks the constraints that the Suppress type cannot express.
func (l *loader) suppress(item *source.Node, s *Suppress, path string) {
	s.Place = l.at(item)
	if k, v := item.Field("rule"); k != nil {
		s.Place = l.file.FieldSpan(k, v)
	}
	if s.Rule == "" {
		l.fail(l.at(item), "%s: expected a rule", path)
	}
	l.selection(item, path, "expected a glob, or nothing at all for all", "kinds", "namespaces", "names")
}

// Unrendered accepts that some inputs are not rendered.
type Unrendered struct {
	// Pattern is a glob that matches the path or the name of an input.
	Pattern string `json:"pattern"`
	// Reason says why these inputs may stay unrendered.
	Reason string `json:"reason"`

	// Place is the location of the entry in the configuration file.
	Place diag.Span `json:"-"`
}

// Means reports whether the entry applies to an input with the given path and names.
func (u *Unrendered) Means(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return matchesAny([]string{u.Pattern}, name) })
}

// Loosened returns the changes since an earlier configuration that may make findings disappear. ids
// lists all rule ids. level returns a rule's level in a given configuration, or "" if the rule does
// not exist there.
func (c *Config) Loosened(before *Config, ids []string, level func(c *Config, rule string) diag.Level) []diag.Silence {
	var all []diag.Silence
	add := func(at diag.Span, format string, args ...any) {
		all = append(all, diag.Silence{Message: fmt.Sprintf(format, args...), Location: at})
	}
	for _, id := range ids {
		if !c.Mentions(id) && !before.Mentions(id) {
			continue
		}
		if was, is := level(before, id), level(c, id); is != "" && is.Rank() < was.Rank() {
			add(c.rulePlace(id), "rule %s: %s instead of %s", id, is, was)
		}
	}
	if was, is := cmp.Or(before.FailOn, "error"), cmp.Or(c.FailOn, "error"); failRank(is) > failRank(was) {
		add(c.fieldPlace("fail-on"), "fail-on: %s instead of %s", is, was)
	}
	for _, glob := range without(c.Ignore, before.Ignore) {
		add(c.fieldPlace("ignore"), "files are ignored: %s", glob)
	}
	if was, is := cmp.Or(before.Vendor, thirdparty.Dir), cmp.Or(c.Vendor, thirdparty.Dir); path.Clean(is) != path.Clean(was) {
		add(c.fieldPlace("vendor"), "copies of what is elsewhere are in another folder: %s instead of %s", is, was)
	}
	if c.OwnOnly() && !before.OwnOnly() {
		add(c.fieldPlace("ignore-defaults"), "package directories are ignored: node_modules, and vendor with modules.txt")
	}
	for _, was := range before.Survive {
		same := func(is Survive) bool {
			return slices.Equal(is.Keys, was.Keys) && slices.Equal(is.Namespaces, was.Namespaces) && maps.Equal(is.Labels, was.Labels)
		}
		if !slices.ContainsFunc(c.Survive, same) {
			add(c.fieldPlace("survive"), "a loss need not be survived any more: %s", strings.Join(was.Keys, ", "))
		}
	}
	for _, file := range without(before.Topology, c.Topology) {
		add(c.fieldPlace("topology"), "a topology is not declared any more: %s", file)
	}
	if len(before.Topology) > 0 {
		for _, file := range without(c.Topology, before.Topology) {
			add(c.fieldPlace("topology"), "one more topology is declared, and its nodes may take pods: %s", file)
		}
	}
	for _, is := range c.Unrendered {
		if !slices.ContainsFunc(before.Unrendered, func(was Unrendered) bool { return was.Pattern == is.Pattern }) {
			add(is.Place, "inputs may stay unrendered: %s: %s", is.Pattern, is.Reason)
		}
	}
	c.loosenedPolicies(before, add)
	c.loosenedScopes(before, add)
	c.loosenedRenders(before, add)
	c.loosenedClusters(before, add)
	return all
}

// without returns the items of list that are not in other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
}

// adder records a change that may make findings disappear.
type adder func(at diag.Span, format string, args ...any)

// loosenedClusters reports clusters that were removed, or whose nodes or contents have changed. It
// also reports new clusters, because their files are no longer judged together with other files.
func (c *Config) loosenedClusters(before *Config, add adder) {
	about := func(name, text string) { add(c.fieldPlace("clusters"), "cluster %s %s", name, text) }
	for _, was := range before.Clusters {
		switch is := c.cluster(was.Name); {
		case is == nil:
			about(was.Name, "is not declared any more")
		case !slices.Equal(is.Topology, was.Topology):
			about(was.Name, "has another topology")
		case !slices.Equal(is.Paths, was.Paths):
			about(was.Name, "has other paths")
		case !slices.Equal(is.Renders, was.Renders):
			about(was.Name, "has other renders")
		case !slices.Equal(is.Pointers, was.Pointers), !slices.Equal(is.Destinations, was.Destinations):
			about(was.Name, "has other pointers or destinations")
		case is.Server != was.Server, !maps.Equal(is.Labels, was.Labels), !maps.Equal(is.Annotations, was.Annotations):
			about(was.Name, "has another server, other labels or other annotations")
		}
	}
	for _, is := range c.Clusters {
		if before.cluster(is.Name) == nil {
			about(is.Name, "is declared, and is checked apart from the rest: "+strings.Join(slices.Concat(is.Paths, is.Renders, is.Pointers, is.Destinations), ", "))
		}
	}
}

// cluster returns the cluster with the given name, or nil.
func (c *Config) cluster(name string) *Cluster {
	at := slices.IndexFunc(c.Clusters, func(of Cluster) bool { return of.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Clusters[at]
}

// failRank returns the rank of a fail-on value. A higher rank means that fewer findings make the
// run fail.
func failRank(level string) int { return slices.Index([]string{"warning", "error", "none"}, level) }

// fieldPlace returns the location of a top-level field, or the first line of the configuration if
// the field is not set.
func (c *Config) fieldPlace(field string) diag.Span {
	if at, ok := c.fields[field]; ok {
		return at
	}
	return diag.Span{Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
}

// Survive requires that workloads survive the loss of any one domain of the given topology keys.
type Survive struct {
	// Keys lists topology keys. An entry can also be "node", "zone" or "region". Each of these
	// words stands for a topology key that most clusters have.
	Keys []string `json:"keys"`
	// Namespaces lists globs that select workloads by namespace. If it is empty, all namespaces
	// match.
	Namespaces []string `json:"namespaces"`
	// Labels are labels that the pod template must have.
	Labels map[string]string `json:"labels"`
}

// Asks returns topology keys in sorted order and without duplicates. A workload must survive the
// loss of any one domain of each of these keys. labels holds the workload's pod labels. A workload
// without a namespace counts as being in the default namespace.
func (c *Config) Asks(namespace string, labels map[string]string) []string {
	keys := []string{}
	for _, s := range c.Survive {
		if holds(s.Labels, labels) && anyGlob(s.Namespaces, cmp.Or(namespace, "default")) {
			keys = append(keys, lists.Of(s.Keys, func(word string) string { return cmp.Or(domains[word], word) })...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// domains maps the words node, zone and region to topology keys that most clusters have.
var domains = map[string]string{
	"node": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone", "region": "topology.kubernetes.io/region",
}

func domainWords() []string { return sorting.Keys(domains) }

// Patterns for label keys and values that the API server accepts (kubernetes:
// apimachinery/pkg/api/validate/content/kube.go, IsLabelKey and IsLabelValue). A single expression
// cannot check both the form of a key and the length of its domain, so the length is checked
// separately. schema.json has the same patterns.
const (
	keyPattern   = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	valuePattern = `^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`
	maxDomain    = 253
)

var keyForm, valueForm = lazy.Regexp(keyPattern), lazy.Regexp(valuePattern)

func isKey(s string) bool {
	domain, _, _ := strings.Cut(s, "/")
	return keyForm().MatchString(s) && len(domain) <= maxDomain
}

// TopologyKey returns the topology key for a word such as node or zone. It returns any other valid
// label key unchanged.
func TopologyKey(word string) (string, error) {
	if key, ok := domains[word]; ok {
		return key, nil
	}
	if !isKey(word) {
		return "", fmt.Errorf("expected %s or the key of a node label", strings.Join(domainWords(), ", "))
	}
	return word, nil
}

// NearDomain returns the topology key that was probably meant, or the word for one, such as zone.
// It returns "" if nothing similar exists.
func NearDomain(key string) string {
	return diag.Nearest(key, slices.Concat(domainWords(), slices.Sorted(maps.Values(domains))))
}

// survive checks the constraints that the Survive type cannot express.
func (l *loader) survive(item *source.Node, path string) {
	if k, keys := item.Field("keys"); isEmpty(keys) {
		l.fail(l.at(cmp.Or(k, item)), "%s: expected keys whose domains may be lost, such as node or zone", path)
	}
	for i, n := range item.Get("keys").Items() {
		if _, err := TopologyKey(n.Text()); err != nil {
			l.fail(l.at(n), "%s.keys[%d]: %v, found %q", path, i, err, n.Value)
		}
	}
	l.selection(item, path, "expected a glob, or nothing at all for all namespaces", "namespaces")
}

// selection checks the labels and globs of an entry. A glob list that is set must not be empty.
func (l *loader) selection(item *source.Node, path, wrong string, lists ...string) {
	for _, field := range lists {
		if k, list := item.Field(field); list.Len() == 0 && !list.IsNull() {
			l.fail(l.at(k), "%s.%s: %s", path, field, wrong)
		}
		l.globs(item.Get(field), path+"."+field)
	}
	for k, v := range item.Get("labels").Fields() {
		switch {
		case !isKey(k.Value):
			l.fail(l.at(k), "%s.labels: %q cannot be the key of a label", path, k.Value)
		case v.IsNull() || !valueForm().MatchString(v.Value):
			l.fail(l.at(k), "%s.labels.%s: %q cannot be the value of a label", path, k.Value, v.Value)
		}
	}
}

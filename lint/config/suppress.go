package config

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Suppress accepts the findings of a rule about some objects. A defect of an entry, such as a
// missing reason, is a finding and not an error of the file.
type Suppress struct {
	Rule string `json:"rule"`
	// Reason is the reason for accepting them, Until the last day on which they are accepted, for
	// example 2027-03-31; empty for no limit.
	Reason string `json:"reason"`
	Until  string `json:"until"`
	// Kinds, Namespaces and Names are globs, one of which an object must match; without globs every
	// object matches.
	Kinds      []string `json:"kinds"`
	Namespaces []string `json:"namespaces"`
	Names      []string `json:"names"`
	// Labels are labels that the object itself must have.
	Labels map[string]string `json:"labels"`

	// Place is the location of the entry in the configuration file.
	Place diag.Span `json:"-"`
}

// Means reports whether the entry applies to an object. An object without a namespace counts as one
// in default.
func (s *Suppress) Means(o diag.Object, labels map[string]string) bool {
	for k, v := range s.Labels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return anyGlob(s.Kinds, o.Kind) && anyGlob(s.Namespaces, cmp.Or(o.Namespace, "default")) && anyGlob(s.Names, o.Name)
}

func anyGlob(globs []string, name string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := doublestar.Match(glob, name)
		return ok
	})
}

// Target describes in words the objects that the entry applies to.
func (s *Suppress) Target() string {
	var parts []string
	for _, p := range []struct {
		name  string
		globs []string
	}{{"kind", s.Kinds}, {"namespace", s.Namespaces}, {"name", s.Names}} {
		if len(p.globs) > 0 {
			parts = append(parts, p.name+" "+strings.Join(p.globs, " or "))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		parts = append(parts, "label "+k+"="+s.Labels[k])
	}
	return cmp.Or(strings.Join(parts, ", "), "all objects")
}

// suppress checks conditions on one entry that types do not express.
func (l *loader) suppress(item *source.Node, s *Suppress, path string) {
	s.Place = l.at(item)
	if k, v := item.Field("rule"); k != nil {
		s.Place = l.file.FieldSpan(k, v)
	}
	if s.Rule == "" {
		l.fail(l.at(item), "%s: expected a rule", path)
	}
	for _, field := range []string{"kinds", "namespaces", "names"} {
		if k, list := item.Field(field); list.Len() == 0 && !list.IsNull() {
			l.fail(l.at(k), "%s.%s: expected a glob, or nothing at all for all", path, field)
		}
		l.globs(item.Get(field), path+"."+field)
	}
	for k, v := range item.Get("labels").Fields() {
		l.label(k, v, path)
	}
}

// Loosened reports the parts of a configuration that make findings disappear which an earlier
// configuration would report. The function level returns the level of a rule by either
// configuration, "" for a rule that does not exist; ids are those of all rules.
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
	for _, glob := range c.Ignore {
		if !slices.Contains(before.Ignore, glob) {
			add(c.fieldPlace("ignore"), "files are ignored: %s", glob)
		}
	}
	if c.OwnOnly() && !before.OwnOnly() {
		add(c.fieldPlace("ignore-defaults"), "package directories are ignored: node_modules, and vendor with modules.txt")
	}
	for i, n := 0, len(before.Survive); i < n; i++ {
		if !slices.ContainsFunc(c.Survive, before.Survive[i].same) {
			add(c.fieldPlace("survive"), "a loss need not be survived any more: %s", strings.Join(before.Survive[i].Keys, ", "))
		}
	}
	for _, file := range before.Topology {
		if !slices.Contains(c.Topology, file) {
			add(c.fieldPlace("topology"), "a topology is not declared any more: %s", file)
		}
	}
	for _, file := range c.Topology {
		if len(before.Topology) > 0 && !slices.Contains(before.Topology, file) {
			add(c.fieldPlace("topology"), "one more topology is declared, and its nodes may take pods: %s", file)
		}
	}
	return slices.Concat(all, c.loosenedPolicies(before), c.loosenedScopes(before), c.loosenedRenders(before), c.loosenedClusters(before))
}

// loosenedClusters reports clusters that are no longer judged, or are judged against other nodes,
// and new clusters, whose files are no longer judged with the rest.
func (c *Config) loosenedClusters(before *Config) []diag.Silence {
	var all []diag.Silence
	add := func(name, text string) {
		all = append(all, diag.Silence{Message: "cluster " + name + " " + text, Location: c.fieldPlace("clusters")})
	}
	for _, was := range before.Clusters {
		switch is := c.cluster(was.Name); {
		case is == nil:
			add(was.Name, "is not declared any more")
		case !slices.Equal(is.Topology, was.Topology):
			add(was.Name, "has another topology")
		case !slices.Equal(is.Paths, was.Paths):
			add(was.Name, "has other paths")
		case !slices.Equal(is.Renders, was.Renders):
			add(was.Name, "has other renders")
		case !slices.Equal(is.Pointers, was.Pointers), !slices.Equal(is.Destinations, was.Destinations):
			add(was.Name, "has other pointers or destinations")
		}
	}
	for _, is := range c.Clusters {
		if before.cluster(is.Name) == nil {
			add(is.Name, "is declared, and is checked apart from the rest: "+strings.Join(slices.Concat(is.Paths, is.Renders, is.Pointers, is.Destinations), ", "))
		}
	}
	return all
}

// cluster returns the cluster with a name; nil if there is none.
func (c *Config) cluster(name string) *Cluster {
	at := slices.IndexFunc(c.Clusters, func(of Cluster) bool { return of.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Clusters[at]
}

// failRank is higher for a level that fewer findings reach.
func failRank(level string) int { return slices.Index([]string{"warning", "error", "none"}, level) }

func (s *Survive) same(o Survive) bool {
	return slices.Equal(s.Keys, o.Keys) && slices.Equal(s.Namespaces, o.Namespaces) && maps.Equal(s.Labels, o.Labels)
}

// fieldPlace returns the location of a field of the configuration, or its first line.
func (c *Config) fieldPlace(field string) diag.Span {
	if at, ok := c.fields[field]; ok {
		return at
	}
	return diag.Span{Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
}

// Survive requires that workloads survive the loss of any one domain of some topology keys.
type Survive struct {
	// Keys are node, zone, region, or topology keys.
	Keys []string `json:"keys"`
	// Namespaces are globs of the namespaces whose workloads are selected; all if there are none.
	Namespaces []string `json:"namespaces"`
	// Labels are labels that the pod template must have.
	Labels map[string]string `json:"labels"`
}

// Asks returns the topology keys whose domain loss a workload has to survive, sorted and without
// repeats. Labels are those of its pods; a workload without a namespace counts as one in default.
func (c *Config) Asks(namespace string, labels map[string]string) []string {
	keys := []string{}
	for _, s := range c.Survive {
		if !s.means(cmp.Or(namespace, "default"), labels) {
			continue
		}
		for _, word := range s.Keys {
			keys = append(keys, cmp.Or(domains[word], word))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (s *Survive) means(namespace string, labels map[string]string) bool {
	for k, v := range s.Labels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return len(s.Namespaces) == 0 || slices.ContainsFunc(s.Namespaces, func(glob string) bool {
		ok, _ := doublestar.Match(glob, namespace)
		return ok
	})
}

// domains maps words to the topology keys that most clusters have.
var domains = map[string]string{
	"node": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone", "region": "topology.kubernetes.io/region",
}

// domainWords returns the words of domains.
func domainWords() []string { return slices.Sorted(maps.Keys(domains)) }

// The forms that the API server accepts for the key and the value of a label (kubernetes:
// apimachinery/pkg/api/validate/content/kube.go, IsLabelKey and IsLabelValue), except the length of
// the domain of a key, which one expression cannot check besides the form. schema.json has the
// same.
const (
	keyPattern   = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	valuePattern = `^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`
	maxDomain    = 253
)

var keyForm, valueForm = regexp.MustCompile(keyPattern), regexp.MustCompile(valuePattern)

func isKey(s string) bool {
	domain, _, _ := strings.Cut(s, "/")
	return keyForm.MatchString(s) && len(domain) <= maxDomain
}

// TopologyKey returns the topology key for a word such as node or zone, or the word itself if it
// can be the key of a label.
func TopologyKey(word string) (string, error) {
	if key, ok := domains[word]; ok {
		return key, nil
	}
	if !isKey(word) {
		return "", fmt.Errorf("expected %s or the key of a node label", strings.Join(domainWords(), ", "))
	}
	return word, nil
}

// NearDomain returns the word for a topology key, or the topology key, that was probably meant by a
// key; "" if none is near.
func NearDomain(key string) string {
	return diag.Nearest(key, slices.Concat(domainWords(), slices.Sorted(maps.Values(domains))))
}

// survive checks conditions on one entry that types do not express.
func (l *loader) survive(item *source.Node, path string) {
	if k, keys := item.Field("keys"); keys.IsNull() || keys.Kind == source.Sequence && keys.Len() == 0 {
		l.fail(l.at(cmp.Or(k, item)), "%s: expected keys whose domains may be lost, such as node or zone", path)
	}
	for i, n := range item.Get("keys").Items() {
		if _, err := TopologyKey(n.Text()); err != nil {
			l.fail(l.at(n), "%s.keys[%d]: %v, found %q", path, i, err, n.Value)
		}
	}
	if k, list := item.Field("namespaces"); list.Len() == 0 && !list.IsNull() {
		l.fail(l.at(k), "%s.namespaces: expected a glob, or nothing at all for all namespaces", path)
	}
	l.globs(item.Get("namespaces"), path+".namespaces")
	for k, v := range item.Get("labels").Fields() {
		l.label(k, v, path)
	}
}

// label checks one label of a selector.
func (l *loader) label(k, v *source.Node, path string) {
	switch {
	case !isKey(k.Value):
		l.fail(l.at(k), "%s.labels: %q cannot be the key of a label", path, k.Value)
	case v.IsNull() || !valueForm.MatchString(v.Value):
		l.fail(l.at(k), "%s.labels.%s: %q cannot be the value of a label", path, k.Value, v.Value)
	}
}

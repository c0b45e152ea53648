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

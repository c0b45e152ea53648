package config

import (
	"cmp"
	"math"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Scope selects findings by their subject. All keys that are set must match; of a list, one item
// must match.
type Scope struct {
	// Namespaces, Kinds, Names and Clusters are globs. Paths are globs of files and directories,
	// relative to the configuration.
	Namespaces []string `json:"namespaces"`
	Kinds      []string `json:"kinds"`
	Names      []string `json:"names"`
	Clusters   []string `json:"clusters"`
	Paths      []string `json:"paths"`
	// Labels are labels of the object or of its pods.
	Labels map[string]string `json:"labels"`
	// MinPods and MaxPods bound the largest number of pods of a workload; nil for no bound.
	MinPods *int `json:"min-pods"`
	MaxPods *int `json:"max-pods"`
}

// About has the properties of a finding's subject that scopes select by.
type About struct {
	// Object is zero if the subject is not an object, such as a pool or a file.
	Object diag.Object
	// Global is set for objects without a namespace.
	Global bool
	// Labels are those of the object, PodLabels those of its pods.
	Labels, PodLabels map[string]string
	// Workload is set for an object that creates pods; Pods is their largest number, UnknownPods if
	// it is unknown.
	Workload bool
	Pods     int
	// Cluster is its name in the configuration; File is relative to the configuration.
	Cluster, File string
}

// UnknownPods is an unknown number of pods: it is above any bound.
const UnknownPods = math.MaxInt

// Has reports whether a scope selects the subject of a finding. Namespaces, kinds, names, labels
// and pods select objects, so they exclude other subjects. An object without a namespace counts as
// one in default.
func (s *Scope) Has(a *About) bool {
	return (!s.selectsObjects() || a.Object != diag.Object{}) &&
		(len(s.Namespaces) == 0 || !a.Global && anyGlob(s.Namespaces, cmp.Or(a.Object.Namespace, "default"))) &&
		anyGlob(s.Kinds, a.Object.Kind) && anyGlob(s.Names, a.Object.Name) &&
		anyGlob(s.Clusters, a.Cluster) && (len(s.Paths) == 0 || matchesAny(s.Paths, a.File)) &&
		(holds(s.Labels, a.Labels) || holds(s.Labels, a.PodLabels)) &&
		(s.MinPods == nil || a.Workload && a.Pods >= *s.MinPods) &&
		(s.MaxPods == nil || a.Workload && a.Pods <= *s.MaxPods)
}

// selectsObjects reports whether a scope has keys other than clusters and paths.
func (s *Scope) selectsObjects() bool {
	return len(s.Namespaces)+len(s.Kinds)+len(s.Names)+len(s.Labels) > 0 || s.MinPods != nil || s.MaxPods != nil
}

// isEmpty reports whether a scope selects everything.
func (s *Scope) isEmpty() bool { return !s.selectsObjects() && len(s.Clusters)+len(s.Paths) == 0 }

// holds reports whether labels include the wanted ones.
func holds(want, labels map[string]string) bool {
	for k, v := range want {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// scopeKeys names the keys of a scope in messages.
const scopeKeys = "namespaces, kinds, names, clusters, paths, labels, min-pods or max-pods"

// scope checks conditions on a scope that types do not express.
func (l *loader) scope(item *source.Node, s *Scope, path string) {
	if s.isEmpty() {
		l.fail(l.at(item), "%s: the scope selects everything; give one of %s", path, scopeKeys)
	}
	for _, field := range []string{"namespaces", "kinds", "names", "clusters", "paths"} {
		if k, list := item.Field(field); list.Len() == 0 && !list.IsNull() {
			l.fail(l.at(k), "%s.%s: expected a glob; leave the key out to select all", path, field)
		}
		l.globs(item.Get(field), path+"."+field)
	}
	for k, v := range item.Get("labels").Fields() {
		l.label(k, v, path)
	}
	for _, bound := range []struct {
		key string
		n   *int
	}{{"min-pods", s.MinPods}, {"max-pods", s.MaxPods}} {
		if k, _ := item.Field(bound.key); bound.n != nil && *bound.n < 1 {
			l.fail(l.at(k), "%s.%s: expected at least 1, found %d", path, bound.key, *bound.n)
		}
	}
	if s.MinPods != nil && s.MaxPods != nil && *s.MinPods > *s.MaxPods {
		l.fail(l.at(item.Get("max-pods")), "%s: min-pods is %d and max-pods is %d, so the scope selects nothing", path, *s.MinPods, *s.MaxPods)
	}
}

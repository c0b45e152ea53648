package config

import (
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/source"
)

// Deploys reports whether a cluster has a render, by its name, its directory or one of its files.
// The directory of a chart may have a render for each environment, so a chart counts by its name
// only.
func (c *Cluster) Deploys(r Chosen) bool {
	if len(r.Pointers) > 0 && c.points(r) {
		return true
	}
	paths := []string{r.Name}
	if r.Dir != "" && (r.Entry == nil || r.Entry.Chart == "") {
		paths = append(paths, r.Dir)
	}
	if r.Entry != nil {
		paths = append(paths, r.Entry.Files...)
	}
	return slices.ContainsFunc(paths, func(name string) bool { return matchesAny(c.Renders, path.Clean(name)) })
}

// points reports whether the pointers that deploy a render belong to a cluster: if the cluster
// names both globs and destinations, one of each must match.
func (c *Cluster) points(r Chosen) bool {
	if len(c.Pointers)+len(c.Destinations) == 0 {
		return false
	}
	to := func(name string) bool { return slices.Contains(c.Destinations, name) }
	from := func(file string) bool { return matchesAny(c.Pointers, file) }
	return (len(c.Pointers) == 0 || slices.ContainsFunc(r.Pointers, from)) &&
		(len(c.Destinations) == 0 || slices.ContainsFunc(r.Destinations, to))
}

// FollowsPointers reports whether some render or cluster asks for the deployments of GitOps
// pointers, or renders are discovered.
func (c *Config) FollowsPointers() bool {
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool { return r.Pointers != "" }) ||
		slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return len(c.Pointers)+len(c.Destinations) > 0 })
}

// Follows reports the same for one pointer, by its file, the files of the pointers that deploy it,
// and its destinations.
func (c *Config) Follows(files, destinations []string) bool {
	one := Chosen{Pointers: files, Destinations: destinations}
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool {
		return r.Pointers != "" && slices.ContainsFunc(files, func(file string) bool { return matchesAny([]string{r.Pointers}, file) })
	}) || slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return c.points(one) })
}

// pointers checks an entry for GitOps pointers.
func (l *loader) pointers(k, item *source.Node, r *Render, c *Config, key string) {
	glob := item.Get("pointers")
	switch {
	case glob.Kind != source.Scalar || glob.Type != source.String: // already reported
	case r.Pointers == "" || !doublestar.ValidatePattern(r.Pointers):
		l.fail(l.at(k), "%s.pointers: expected a glob of files, found %q", key, r.Pointers)
	}
	l.remotes(item, c, key)
	for _, word := range []string{"name", "load-restrictor", "source-root"} {
		if k, v := item.Field(word); !v.IsNull() {
			l.fail(l.at(k), "%s.%s: cannot be combined with pointers", key, word)
		}
	}
}

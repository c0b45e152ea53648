package config

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// loosenedRenders reports renders that are gone, so that their findings disappear.
func (c *Config) loosenedRenders(before *Config) []diag.Silence {
	var all []diag.Silence
	add := func(key, text string) {
		at, ok := c.entries[key]
		if !ok {
			at = c.fieldPlace("renders")
		}
		all = append(all, diag.Silence{Message: text, Location: at})
	}
	switch {
	case before.Discovers() && !c.Discovers() && len(c.Renders) == 0:
		add("", "nothing is rendered any more: renders is empty")
	case before.Discovers() && !c.Discovers():
		add("", "roots are not discovered any more: only what renders names is rendered")
	}
	for i := range before.Renders {
		was := &before.Renders[i]
		at := c.same(was)
		switch {
		case at >= 0:
			for _, text := range c.Renders[at].loosened(was) {
				add(renderKey(at), text)
			}
		case c.Discovers() && was.IsGlob() && was.Kustomize != "": // every root is rendered, if it can be without the settings of the entry
			for _, text := range (&Render{Kustomize: was.Kustomize}).loosened(was) {
				add("", text)
			}
		default:
			add("", "a render is not asked for any more: "+was.what())
		}
	}
	return all
}

// same returns the index of the entry that asks for the same renders as another one, regardless of
// its name, but with preference for an equal name; -1 if there is none.
func (c *Config) same(was *Render) int {
	found := -1
	for i := range c.Renders {
		is := &c.Renders[i]
		if is.Kustomize != "" != (was.Kustomize != "") || path.Clean(is.Kustomize) != path.Clean(was.Kustomize) {
			continue
		}
		if is.Pointers != was.Pointers || !is.sameChart(was) {
			continue
		}
		if was.pattern() == "" && was.Pointers == "" && !slices.ContainsFunc(was.Files, func(file string) bool { return slices.Contains(is.Files, file) }) {
			continue
		}
		if found < 0 || is.Name == was.Name && c.Renders[found].Name != was.Name {
			found = i
		}
	}
	return found
}

// sameChart reports whether two entries ask for the same render of one chart, with the same name or
// the same values files, or neither entry is for a chart.
func (r *Render) sameChart(was *Render) bool {
	return r.Chart == "" && was.Chart == "" ||
		r.Chart != "" && was.Chart != "" && path.Clean(r.Chart) == path.Clean(was.Chart) && (r.NameOf() == was.NameOf() || r.sameValues(&was.Helm))
}

// loosened lists what an entry no longer renders, or renders differently.
func (r *Render) loosened(was *Render) (all []string) {
	if r.RootOnly() && !was.RootOnly() {
		all = append(all, "kustomizations that read files outside of their directory are not rendered any more: "+r.what())
	}
	for _, url := range slices.Sorted(maps.Keys(was.Remotes)) {
		if to := r.Remotes[url]; to != was.Remotes[url] {
			all = append(all, "another directory is read for "+url+": "+cmp.Or(to, "none")+" instead of "+was.Remotes[url])
		}
	}
	if words := r.otherSettings(&was.Helm); r.Chart != "" && len(words) > 0 {
		all = append(all, "a chart is rendered with other settings ("+strings.Join(words, ", ")+"): "+r.what())
	}
	for _, file := range was.Files {
		if !slices.Contains(r.Files, file) {
			all = append(all, "a rendered file is not read any more: "+file)
		}
	}
	return all
}

// what names an entry in words.
func (r *Render) what() string { return cmp.Or(r.pattern(), r.Pointers, strings.Join(r.Files, ", ")) }

// Widen adds the renders that a change of the configuration asks for additionally, because the
// change may contain the objects to judge. It returns the entries that the change no longer asks
// for; these stay.
func (c *Config) Widen(change *Config) (stays []string) {
	if c.Discovers() {
		return nil // everything is rendered anyway
	}
	for i := range c.Renders {
		if change.same(&c.Renders[i]) < 0 && !change.Discovers() {
			stays = append(stays, c.Renders[i].what())
		}
	}
	for i := range change.Renders {
		if c.same(&change.Renders[i]) < 0 {
			c.Renders = append(c.Renders, change.Renders[i])
		}
	}
	for i := range c.Clusters {
		is := &c.Clusters[i]
		for _, other := range change.Clusters {
			if other.Name != is.Name {
				continue
			}
			for _, name := range other.Renders {
				if !slices.Contains(is.Renders, name) {
					is.Renders = append(is.Renders, name)
				}
			}
		}
	}
	return stays
}

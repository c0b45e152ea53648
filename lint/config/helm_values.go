package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/worktree"
)

// mostEach is the number of values files that each-values may match, and mostEntries the number of
// entries that their directory may have.
const (
	mostEach    = 500
	mostEntries = 20_000
	// mostLooks is the number of files and directory entries that may be examined for all renders.
	mostLooks = 200_000
)

// look counts examined files and entries, and fails beyond the limit.
func (t Tree) look(n int) error {
	if *t.looks -= n; *t.looks < 0 {
		return fmt.Errorf("the values files of all renders take more than %d look-ups: name fewer charts", mostLooks)
	}
	return nil
}

// GlobsCharts reports whether a render is a glob of charts.
func (c *Config) GlobsCharts() bool {
	return slices.ContainsFunc(c.Renders, func(r Render) bool { return r.Chart != "" && r.IsGlob() })
}

// charts returns the renders of an entry for charts.
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

// inBound reports whether a path may be examined.
func (c *Config) inBound(name string) bool {
	_, inside := worktree.Below(c.bound, c.absolute(name))
	return inside || c.bound == ""
}

// candidates returns the possible locations of a path that a chart is rendered with: below the
// chart, or else below the configuration.
func (c *Config) candidates(chart, name string) (all []string, err error) {
	all = slices.Compact([]string{path.Join(chart, name), path.Clean(name)})
	all = slices.DeleteFunc(all, func(at string) bool { return !c.inBound(at) })
	if len(all) == 0 {
		return nil, c.leadsOut(name)
	}
	return all, nil
}

// valuesFile returns the path of a values file of a chart, relative to the directory of the
// configuration.
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

// each returns one render of a chart for each values file that a pattern matches.
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

// matching returns the values of {name} in the paths of the files that a pattern matches, sorted.
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
		if !renderForm.MatchString(name) {
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

// isFile reports whether a path is a file of the tree and not a directory.
func (c *Config) isFile(name string, t Tree) bool {
	at := c.absolute(filepath.FromSlash(name))
	info, err := os.Lstat(at)
	if err != nil || info.IsDir() || t.Tracked == nil {
		return err == nil && !info.IsDir()
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(at))
	return err == nil && t.Tracked(filepath.Join(dir, filepath.Base(at)))
}

// entriesOf returns the names in a directory, sorted; none if there is no such directory.
func (c *Config) entriesOf(dir string) ([]string, error) {
	d, err := os.Open(c.absolute(filepath.FromSlash(dir)))
	if err != nil {
		return nil, nil // the caller reports a missing file with all locations that were tried
	}
	defer func() { _ = d.Close() }() // it was only read
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

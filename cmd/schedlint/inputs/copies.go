package inputs

import (
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// open reads the locks of the repository and of all work trees with paths.
func (c *choosing) open() (err error) {
	c.libraries = map[string]*thirdparty.Library{}
	for _, root := range append(sorting.Keys(c.places()), c.root) {
		if _, known := c.libraries[root]; known {
			continue
		}
		l := c.Library
		if root == c.root && l != nil {
			l = l.At(root, l.Of)
		} else if l, err = c.o.Config.Library(root); err != nil {
			return err
		}
		if c.libraries[root] = l; l != nil && l.Folder != "" {
			c.o.Libraries = append(c.o.Libraries, l)
		}
	}
	return nil
}

func (c *choosing) library(root string) *thirdparty.Library { return c.libraries[root] }

// remotes returns what replaces the addresses in renders that must not leave a directory: what the
// entries say, and else the copies.
func (c *choosing) remotes(root string, entries []config.Render) map[string]string {
	return c.libraries[root].Remotes(explicit(c.o.Config, root, entries))
}

// explicit returns what entries of the configuration put in place of addresses. The names in the
// result are relative to root.
func explicit(conf *config.Config, root string, entries []config.Render) map[string]string {
	all := map[string]string{}
	for _, entry := range entries {
		for url, name := range entry.Remotes {
			all[url] = named(root, under(worktree.Resolved(conf.Dir), name))
		}
	}
	return all
}

// verified replaces the outputs of roots that use a copy that is not what the lock says. It changes
// and returns outs. The argument of returns the copies for a directory that renders must not leave.
func verified(of func(root string) *thirdparty.Library, all []render.Root, outs []*render.Output) []*render.Output {
	for i, out := range outs {
		for _, to := range sorting.Keys(out.Used) {
			if why, changed := of(all[i].Confinement).Refuse(to); why != "" {
				at := out.Used[to]
				out.Problem = &render.Problem{Kind: render.Refused, File: at.File, Line: at.Line, Column: at.Column, Detail: why, Wrong: changed}
				break
			}
		}
	}
	return outs
}

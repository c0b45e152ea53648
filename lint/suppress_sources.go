package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/source"
)

// sourceComments holds the comments in files that declare no object by themselves, such as
// templates, values files, and manifests that renders use. A comment is used if any render that
// reads the file uses it, and unused if all of them are known not to.
type sourceComments struct {
	renders *locate.Renders
	byFile  map[string][]int // indices of the suppressions
	// rules lists the rules that the comments of a file name, and asked what a render decides
	// about each: all comments for one rule share the answer, and there may be many.
	rules map[string][]string
	asked map[*locate.Rendered]map[string]*askedRule
	// partly is set if a cluster was not judged in all its contexts.
	partly bool
}

// askedRule counts the objects of a render for which a rule has complete facts; open is set if
// there are other objects.
type askedRule struct {
	decided int
	open    bool
}

func newSourceComments(r *locate.Renders) *sourceComments {
	return &sourceComments{renders: r, byFile: map[string][]int{}, rules: map[string][]string{}, asked: map[*locate.Rendered]map[string]*askedRule{}}
}

// note records a comment, unless it cannot accept anything.
func (c *sourceComments) note(one *accept.Suppression, i int, o accept.Options) {
	file := one.Location.File
	if !one.Holds(o) {
		return
	}
	c.byFile[file] = append(c.byFile[file], i)
	if !slices.Contains(c.rules[file], one.Rule) {
		c.rules[file] = append(c.rules[file], one.Rule)
	}
}

// of returns the rules to ask about an object: those of comments in files that its render
// reads.
func (c *sourceComments) of(o *source.Object) map[string]*askedRule {
	x := c.renders.Results[o.File.Name]
	if x == nil || len(c.byFile) == 0 {
		return nil
	}
	all, known := c.asked[x]
	if !known {
		all = map[string]*askedRule{}
		for _, name := range x.Out.Sources {
			for _, rule := range c.rules[x.FromRoot(name)] {
				all[rule] = &askedRule{}
			}
		}
		c.asked[x] = all
	}
	return all
}

// applyAnswers copies the answers of the renders to the comments. A render that failed or was not
// requested may use a comment, so the answer stays open.
func (c *sourceComments) applyAnswers(all []accept.Suppression, f *locate.Files) {
	open := c.partly || len(c.renders.Failed) > 0 || !f.Cover(f.Root)
	for _, x := range c.renders.All {
		for _, name := range sourcesOf(x) {
			for _, i := range c.byFile[x.FromRoot(name)] {
				if rule := c.asked[x][all[i].Rule]; rule != nil {
					all[i].Decided += rule.decided
					all[i].Open = all[i].Open || rule.open || open
				}
			}
		}
	}
}

// sourcesOf returns the files that a render uses; none for what another tool rendered.
func sourcesOf(x *locate.Rendered) []string {
	if x.Out == nil {
		return nil
	}
	return x.Out.Sources
}

package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/source"
)

// sourceComments are the comments in files that hold no object by themselves, such as
// templates, values files, and manifests that renders use. One is of use if any render
// that reads the file uses it, and unused if all of them are known not to.
type sourceComments struct {
	renders *renders
	byFile  map[string][]int // their numbers among the suppressions
	// rules are those that the comments in a file name, asked what is known of them in a
	// render: comments of one rule have the same answer, and there may be many.
	rules map[string][]string
	asked map[*rendered]map[string]*askedRule
	// partly is set if not all renders were judged as a whole.
	partly bool
}

// askedRule counts the objects of a render of which a rule knows everything; open is set
// if there are others.
type askedRule struct {
	decided int
	open    bool
}

func newSourceComments(r *renders) *sourceComments {
	return &sourceComments{renders: r, byFile: map[string][]int{}, rules: map[string][]string{}, asked: map[*rendered]map[string]*askedRule{}}
}

// note takes in a comment. Of one that accepts nothing nobody asks whether it is of use.
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

// of are the rules to ask about an object: those of comments that its render reads.
func (c *sourceComments) of(o *source.Object) map[string]*askedRule {
	x := c.renders.results[o.File.Name]
	if x == nil || len(c.byFile) == 0 {
		return nil
	}
	all, known := c.asked[x]
	if !known {
		all = map[string]*askedRule{}
		for _, name := range x.out.Sources {
			for _, rule := range c.rules[x.name(name)] {
				all[rule] = &askedRule{}
			}
		}
		c.asked[x] = all
	}
	return all
}

// answer tells the comments what is known of them. One may be of use to a render that was
// not looked at: one that failed, or one that is not among what was asked for.
func (c *sourceComments) answer(all []accept.Suppression, f *files) {
	open := c.partly || len(c.renders.failed) > 0 || !f.cover(f.root)
	for _, x := range c.renders.all {
		for _, name := range sourcesOf(x) {
			for _, i := range c.byFile[x.name(name)] {
				if rule := c.asked[x][all[i].Rule]; rule != nil {
					all[i].Decided += rule.decided
					all[i].Open = all[i].Open || rule.open || open
				}
			}
		}
	}
}

// sourcesOf are the files that a render uses; none of what another tool rendered.
func sourcesOf(x *rendered) []string {
	if x.out == nil {
		return nil
	}
	return x.out.Sources
}

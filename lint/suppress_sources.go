package lint

import (
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// sourceComments are the comments in files that hold no object by themselves, such as
// templates, values files, and manifests that renders use. One is of use if any render
// that reads the file uses it, and unused if all of them are known not to.
type sourceComments struct {
	renders *renders
	byFile  map[string][]int // their numbers among the suppressions
	read    map[*rendered][]int
	// partly is set if not all renders were judged as a whole.
	partly bool
}

func newSourceComments(r *renders) *sourceComments {
	return &sourceComments{renders: r, byFile: map[string][]int{}, read: map[*rendered][]int{}}
}

func (c *sourceComments) note(file string, i int) { c.byFile[file] = append(c.byFile[file], i) }

// of are the comments in the files that the render of an object reads.
func (c *sourceComments) of(o *source.Object) []int {
	x := c.renders.results[o.File.Name]
	if x == nil || len(c.byFile) == 0 {
		return nil
	}
	all, known := c.read[x]
	if !known {
		for _, name := range x.out.Sources {
			all = append(all, c.byFile[x.name(name)]...)
		}
		c.read[x] = all
	}
	return all
}

// open are the comments that may be of use to a render that was not looked at: one that
// failed, or one that is not among what was asked for.
func (c *sourceComments) open(f *files) (all []int) {
	if !c.partly && len(c.renders.failed) == 0 && f.cover(f.root) {
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(c.byFile)) {
		all = append(all, c.byFile[file]...)
	}
	return all
}

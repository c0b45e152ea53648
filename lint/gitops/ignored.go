package gitops

import (
	"fmt"
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
)

// artifact is what Flux makes of the repository: some files may be left out.
type artifact struct {
	*follower
	ignored *pointers.Ignored
}

// artifactOf is what a source is read from. Argo CD leaves nothing out.
func (f *follower) artifactOf(s *pointers.Source) *artifact {
	if s.Repository.URL != "" {
		return &artifact{f, pointers.NewIgnored()}
	}
	if known := f.artifacts[s.Repository]; known != nil {
		return known
	}
	text := ""
	if f.entry(path.Join(f.opts.Base, sourceIgnore)).Info != nil {
		if file := f.tree.cached(path.Join(f.opts.Base, sourceIgnore)); file != nil {
			text = string(file.Text)
		}
	}
	a := &artifact{f, pointers.NewIgnored(text, f.reader.Repositories.Ignored(s.Repository))}
	if f.artifacts == nil {
		f.artifacts = map[pointers.Repository]*artifact{}
	}
	f.artifacts[s.Repository] = a
	return a
}

const sourceIgnore = ".sourceignore"

// without reports whether a file is left out, by its name from the confinement.
func (a *artifact) without(name string) bool {
	a.looks += a.ignored.Len()
	if base := path.Clean(a.opts.Base); base != "." {
		name = strings.TrimPrefix(name, base+"/")
	}
	return a.ignored.Len() > 0 && a.looks <= limits.Ignored && a.ignored.File(name)
}

// check says that nothing of a directory is left, or that what is left is not known. Of a
// chart nothing may be missing.
func (a *artifact) check(dir string, chart bool) pointers.Reason {
	if a.ignored.Len() == 0 {
		return pointers.Reason{}
	}
	files, left := a.tree.under(dir), 0
	missing := ""
	for _, name := range files {
		if a.without(path.Join(dir, name)) {
			missing = name
		} else {
			left++
		}
	}
	switch {
	case a.ignored.Over:
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("%s has more than %d patterns", sourceIgnore, limits.IgnorePatterns), Refused: true}
	case a.looks > limits.Ignored:
		return pointers.Reason{What: pointers.WhyTooMany, Detail: "too many files are held against the patterns of " + sourceIgnore, Refused: true}
	case len(files) > 0 && left == 0:
		return pointers.Reason{What: pointers.WhyMissing, Detail: dir + ", which " + sourceIgnore + " leaves out"}
	case chart && missing != "":
		return pointers.Reason{What: pointers.WhyMissing, Detail: path.Join(dir, missing) + ", which " + sourceIgnore + " leaves out"}
	}
	return pointers.Reason{}
}

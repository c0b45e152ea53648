package pointers

import (
	"cmp"
	"regexp"
)

// fixedRevision is a full commit hash, or a tag that is a version or a range of them.
var fixedRevision = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[v~^<>=]*\s*\d+\.(?:\d+|[x*])(?:\.(?:\d+|[x*]))?(?:[-+ ].{0,60})?)$`)

// Fixed is the revision that a source of Git is taken from, if that is a commit or a
// version; "" for a branch and what may be one.
func (r *Repositories) Fixed(s *Source) string {
	revision := s.Revision
	if s.Repository.Kind == gitRepository {
		for _, o := range r.find(s.Repository) {
			ref := o.Root.At("spec", "ref")
			revision = cmp.Or(ref.Get("commit").Text(), ref.Get("semver").Text(), ref.Get("tag").Text())
		}
	}
	if !fixedRevision.MatchString(revision) {
		return ""
	}
	return revision
}

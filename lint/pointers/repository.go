package pointers

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// Repositories determines which repositories are this one.
type Repositories struct {
	ours map[string]bool
	// assumed is the address of the only repository that is named, if no other one is known to be
	// ours.
	assumed string
	all     map[Repository][]*source.Object // keys have no URL
}

// NewRepositories takes the known addresses of this repository, the addresses that pointers name,
// and the objects that contain addresses. If none of these is known to be ours and all name the
// same repository, it is assumed to be ours.
func NewRepositories(known, named []string, objects []*source.Object) *Repositories {
	r := &Repositories{ours: map[string]bool{}, all: map[Repository][]*source.Object{}}
	for _, url := range known {
		r.ours[canonical(url)] = true
	}
	var all []string
	for _, url := range named {
		all = append(all, canonical(url))
	}
	for _, o := range objects {
		key := Repository{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		if r.all[key] = append(r.all[key], o); o.Kind == gitRepository {
			all = append(all, canonical(o.Root.At("spec", "url").Text()))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if !slices.ContainsFunc(all, func(url string) bool { return r.ours[url] }) && len(all) == 1 && all[0] != "" {
		r.assumed = all[0]
	}
	return r
}

const gitRepository = "GitRepository"

// find returns the objects that a name in Flux may refer to.
func (r *Repositories) find(named Repository) []*source.Object {
	all := r.all[Repository{Kind: named.Kind, Namespace: named.Namespace, Name: named.Name}]
	if len(all) == 0 { // a kustomization may set the namespace
		all = r.all[Repository{Kind: named.Kind, Name: named.Name}]
	}
	return all
}

// Ignored returns the patterns in spec.ignore of a GitRepository.
func (r *Repositories) Ignored(named Repository) string {
	var all []string
	for _, o := range r.find(named) {
		all = append(all, o.Root.At("spec", "ignore").Text())
	}
	return strings.Join(all, "\n")
}

// String returns the name of an object of Flux.
func (r Repository) String() string {
	return strings.TrimSpace(r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
}

// Assumed returns the address of a repository that is assumed to be this one although nothing
// confirms it, or "".
func (r *Repositories) Assumed() string { return r.assumed }

// Whose says whether a repository is this one.
type Whose int

// Values of Whose. Presumed is this repository if the path exists in it.
const (
	Elsewhere Whose = iota
	Presumed
	Certain
)

// Is reports whether paths may be looked up in this repository.
func (w Whose) Is() bool { return w != Elsewhere }

// Ours determines whether a repository that a pointer names is this one.
func (r *Repositories) Ours(named Repository) Whose {
	if named.Kind != "" || named.URL == "" { // a repository that is not in the tree, such as before Flux is installed, is presumed to be ours
		best := Presumed
		for i, o := range r.find(named) {
			of := Presumed
			if named.Kind == gitRepository {
				of = r.Ours(Repository{URL: canonical(o.Root.At("spec", "url").Text())})
			}
			if i == 0 || of < best {
				best = of
			}
		}
		return best
	}
	switch url := canonical(named.URL); {
	case r.ours[url]:
		return Certain
	case url == r.assumed:
		return Presumed
	}
	return Elsewhere
}

var (
	scheme  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
	shortIn = regexp.MustCompile(`^([^/@:]+@)?([^/:]+):([^/].*)$`)
	secret  = regexp.MustCompile(`//[^/@]*@`)
)

// Masked returns an address without its credentials.
func Masked(url string) string { return secret.ReplaceAllString(url, "//") }

// canonical returns a normal form of an address, which is equal for equal repositories: host and
// path, without scheme, user, port and .git.
func canonical(url string) string {
	url = strings.TrimSpace(url)
	if at := scheme.FindString(url); at != "" {
		url = url[len(at):]
		host, rest, _ := strings.Cut(url, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		host, _, _ = strings.Cut(host, ":")
		url = host + "/" + rest
	} else if m := shortIn.FindStringSubmatch(url); m != nil {
		url = m[2] + "/" + m[3]
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	return strings.ToLower(strings.TrimRight(url, "/"))
}

// fixedRevision matches a full commit hash, or a tag that is a version or a range of versions.
var fixedRevision = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[v~^<>=]*\s*\d+\.(?:\d+|[x*])(?:\.(?:\d+|[x*]))?(?:[-+ ].{0,60})?)$`)

// Fixed returns the revision of a Git source if it is a commit or a version, or "" for a branch and
// anything that may be one.
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

// Ignored holds the patterns by which Flux excludes files of a Git repository, in the syntax of
// .gitignore. The last match counts, even for a file in a directory that another pattern excludes
// (fluxcd/pkg: sourceignore).
type Ignored struct {
	patterns []pattern
	// Over is set if there are more patterns than limits.IgnorePatterns.
	Over bool
}

type pattern struct {
	glob                  string
	keeps, rooted, inside bool // inside matches only what is in such a directory
}

// NewIgnored parses patterns, one per line. Patterns of later texts take precedence.
func NewIgnored(texts ...string) *Ignored {
	i := &Ignored{}
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if len(i.patterns) >= limits.IgnorePatterns {
			i.Over = true
			break
		}
		var p pattern
		line, p.keeps = strings.CutPrefix(line, "!")
		line, p.inside = strings.CutSuffix(line, "/")
		p.rooted = strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		i.patterns = append(i.patterns, p)
	}
	return i
}

// Len returns the number of patterns.
func (i *Ignored) Len() int { return len(i.patterns) }

// File reports whether a file, named relative to the root, is excluded.
func (i *Ignored) File(name string) bool {
	for _, p := range slices.Backward(i.patterns) {
		for at := range len(name) + 1 { // the file and its parent directories
			if at < len(name) && name[at] != '/' || at == len(name) && p.inside {
				continue
			}
			one := name[:at]
			if !p.rooted {
				one = path.Base(one)
			}
			if ok, err := doublestar.Match(p.glob, one); ok && err == nil {
				return !p.keeps
			}
		}
	}
	return false
}

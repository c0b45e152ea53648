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

// Repositories determines whether a repository named in a pointer is this one.
type Repositories struct {
	ours map[string]bool
	// assumed is the address of the only repository that pointers name. It is set only if no
	// pointer names a repository known to be this one.
	assumed string
	all     map[Repository][]*source.Object // keys have no URL
}

// NewRepositories takes this repository's known addresses, the addresses in pointers, the objects
// that contain addresses, and addresses of other repositories. If all pointers use the same unknown
// address, this repository is assumed to have that address.
func NewRepositories(known, named []string, objects []*source.Object, others ...string) *Repositories {
	r := &Repositories{ours: map[string]bool{}, all: map[Repository][]*source.Object{}}
	for _, url := range known {
		r.ours[Canonical(url)] = true
	}
	var all []string
	for _, url := range named {
		all = append(all, Canonical(url))
	}
	for _, o := range objects {
		key := Repository{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		if r.all[key] = append(r.all[key], o); o.Kind == gitRepository {
			all = append(all, Canonical(o.Root.At("spec", "url").Text()))
		}
	}
	elsewhere := map[string]bool{}
	for _, url := range others {
		elsewhere[Canonical(url)] = true
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(url string) bool { return elsewhere[url] })
	if !slices.ContainsFunc(all, func(url string) bool { return r.ours[url] }) && len(all) == 1 && all[0] != "" {
		r.assumed = all[0]
	}
	return r
}

const gitRepository = "GitRepository"

// find returns the objects that a Flux reference may refer to.
func (r *Repositories) find(named Repository) []*source.Object {
	all := r.all[Repository{Kind: named.Kind, Namespace: named.Namespace, Name: named.Name}]
	if len(all) == 0 { // a kustomization may set the namespace later
		all = r.all[Repository{Kind: named.Kind, Name: named.Name}]
	}
	return all
}

// Ignored returns the ignore patterns in a GitRepository's spec.ignore.
func (r *Repositories) Ignored(named Repository) string {
	var all []string
	for _, o := range r.find(named) {
		all = append(all, o.Root.At("spec", "ignore").Text())
	}
	return strings.Join(all, "\n")
}

// String returns the Flux object's kind, namespace and name.
func (r Repository) String() string {
	return strings.TrimSpace(r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
}

// Assumed returns an address that pointers use and that probably belongs to this repository. It
// returns "" if there is none.
func (r *Repositories) Assumed() string { return r.assumed }

// Whose says whether a repository is the one being linted.
type Whose int

// Values of Whose. Presumed means that a repository may be this one. It counts as this one if the
// path in the pointer exists here.
const (
	Elsewhere Whose = iota
	Presumed
	Certain
)

// Is reports whether a source's paths can be looked up in this repository.
func (w Whose) Is() bool { return w != Elsewhere }

// Ours reports whether a repository named in a pointer is this one.
func (r *Repositories) Ours(named Repository) Whose {
	if named.Kind != "" || named.URL == "" { // a Flux object that the tree does not contain, for example because Flux is not installed yet, is presumed to be ours
		best := Presumed
		for i, o := range r.find(named) {
			of := Presumed
			if named.Kind == gitRepository {
				of = r.Ours(Repository{URL: Canonical(o.Root.At("spec", "url").Text())})
			}
			if i == 0 || of < best {
				best = of
			}
		}
		return best
	}
	switch url := Canonical(named.URL); {
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
	secret  = regexp.MustCompile(`(^|:)//[^/@]*@`)
)

// Masked returns an address without its credentials.
func Masked(url string) string { return secret.ReplaceAllString(url, "$1//") }

// Canonical normalizes an address, so that all addresses of one repository are equal. The result is
// the host and path, without scheme, user, port and .git.
func Canonical(url string) string {
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

// fixedRevision matches a full commit hash, or a tag that is a version or version range.
var fixedRevision = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[v~^<>=]*\s*\d+\.(?:\d+|[x*])(?:\.(?:\d+|[x*]))?(?:[-+ ].{0,60})?)$`)

// Fixed returns a Git source's revision if it is a commit or a version. It returns "" for names
// that may be branches.
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

// Ignored holds patterns in .gitignore syntax. Flux excludes the matching files in a Git
// repository. If several patterns match a file, the last one decides. Unlike git, Flux can include
// a file in an excluded directory (fluxcd/pkg: sourceignore).
type Ignored struct {
	patterns []pattern
	// Over is set if there are more than limits.IgnorePatterns patterns.
	Over bool
}

type pattern struct {
	glob                  string
	keeps, rooted, inside bool // inside means that the pattern matches only the contents of a directory
}

// NewIgnored parses patterns, one per line. Patterns in later arguments take precedence.
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

// File reports whether a file is excluded. name is relative to the root of the repository.
func (i *Ignored) File(name string) bool {
	for _, p := range slices.Backward(i.patterns) {
		for at := range len(name) + 1 { // the parent directories and the file itself
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

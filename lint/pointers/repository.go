package pointers

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// Repositories determines whether a repository named in a pointer is this one.
type Repositories struct {
	ours map[string]bool
	// assumed is the address that this repository seems to have, see NewRepositories.
	assumed string
	all     map[Repository][]*source.Object // keys have no URL
	// beside holds the objects in the render that contains the pointer, see Beside.
	beside map[Repository][]*source.Object
	// generators holds the ArtifactGenerators. published maps OCI repositories to the directories
	// here that they seem to hold.
	generators []*source.Object
	published  map[Repository]string
}

// NewRepositories takes this repository's known addresses, the repositories that pointers name, the
// objects that contain addresses, and a function that returns the directories that there are.
//
// A clone may have another address, for example a fork or a mirror. If no pointer names a known
// address, this repository is assumed to have the only address that pointers name. If they name
// several, it is assumed to have the only one whose paths are all here.
//
// Addresses in others belong to other repositories.
//
// An OCI repository that is not in the tree is assumed to hold the only directory that contains all
// paths that pointers take from it.
func NewRepositories(known []string, named []Naming, objects []*source.Object, directories func() []string, others ...string) *Repositories {
	r := &Repositories{ours: map[string]bool{}, all: map[Repository][]*source.Object{}, published: map[Repository]string{}}
	for _, url := range known {
		r.ours[Canonical(url)] = true
	}
	byURL := map[string][]Naming{}
	for _, o := range objects {
		if o.Kind == artifactGenerator {
			r.generators = append(r.generators, o)
			continue
		}
		key := Repository{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		if r.all[key] = append(r.all[key], o); o.Kind == gitRepository {
			byURL[Canonical(o.Root.At("spec", "url").Text())] = nil
		}
	}
	addresses, artifacts := map[Repository]string{}, map[Repository][]string{}
	for _, n := range named {
		if n.Repository.Kind == ociRepository {
			artifacts[n.Repository] = append(artifacts[n.Repository], n.Path)
			continue
		}
		url := lazy.Cached(addresses, n.Repository, func() string {
			var url string
			if n.Repository.URL != "" {
				return Canonical(n.Repository.URL)
			}
			for i, o := range r.find(n.Repository) {
				if one := Canonical(o.Root.At("spec", "url").Text()); i == 0 || one == url {
					url = one
				} else {
					return ""
				}
			}
			return url
		})
		if url != "" {
			byURL[url] = append(byURL[url], n)
		}
	}
	exists := sync.OnceValue(func() map[string]bool { return lists.Set(directories()) })
	for repository, paths := range artifacts {
		if len(r.find(repository)) == 0 {
			if dir, ok := holding(paths, exists); ok {
				r.published[repository] = dir
			}
		}
	}
	elsewhere := lists.SetOf(others, Canonical)
	var found []string
	for url, all := range byURL {
		switch {
		case r.ours[url]:
			return r
		case url != "" && !elsewhere[url] && (len(byURL) == 1 || areHere(all, exists)):
			found = append(found, url)
		}
	}
	if len(found) == 1 {
		r.assumed = found[0]
	}
	return r
}

// holding returns the directory that contains all paths. ok is false if there is none or are
// several, or if there are fewer than two paths.
func holding(paths []string, exists func() map[string]bool) (dir string, ok bool) {
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(name string) bool { return name == "" || name == "." })
	if len(paths) < 2 {
		return "", false
	}
	tries := 0
	for name := range exists() {
		in, ends := strings.CutSuffix("./"+name, "/"+paths[0])
		if !ends {
			continue
		}
		if tries += len(paths); tries > limits.Matches {
			return "", false
		}
		if !slices.ContainsFunc(paths, func(name string) bool { return !exists()[path.Join(in, name)] }) {
			if ok {
				return "", false
			}
			dir, ok = path.Clean(in), true
		}
	}
	return dir, ok
}

// Published returns the OCI repositories that seem to hold a directory of this repository, with
// this directory.
func (r *Repositories) Published() map[Repository]string { return r.published }

// areHere reports whether pointers name at least two directories, and all of them exist. A pointer
// that no other one deploys may be a leftover. It may name a missing directory if others are
// deployed.
func areHere(all []Naming, exists func() map[string]bool) bool {
	paths := map[string]bool{}
	for _, n := range all {
		if n.Path != "" && n.Path != "." {
			paths[n.Path] = exists()[n.Path]
		}
	}
	deployed := func(n Naming) bool {
		for dir := path.Dir(n.File); dir != "."; dir = path.Dir(dir) {
			if paths[dir] {
				return true
			}
		}
		return false
	}
	leftovers, count := slices.ContainsFunc(all, deployed), 0
	for _, here := range paths {
		if here {
			count++
		}
	}
	return count > 1 && !slices.ContainsFunc(all, func(n Naming) bool {
		here, named := paths[n.Path]
		return named && !here && !(leftovers && !deployed(n))
	})
}

const (
	gitRepository = "GitRepository"
	ociRepository = "OCIRepository"
)

// Beside sets the objects in the render that is read. The chart repositories among them have
// precedence over those in the tree, because the build may have patched them.
func (r *Repositories) Beside(objects []*source.Object) {
	r.beside = map[Repository][]*source.Object{}
	for _, o := range objects {
		if o.Group() == "source.toolkit.fluxcd.io" && (o.Kind == "HelmRepository" || o.Kind == ociRepository) {
			key := Repository{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
			r.beside[key] = append(r.beside[key], o)
		}
	}
}

// find returns the objects that a Flux reference may refer to.
func (r *Repositories) find(named Repository) []*source.Object {
	for _, namespace := range []string{named.Namespace, ""} { // a kustomization may set the namespace later
		key := Repository{Kind: named.Kind, Namespace: namespace, Name: named.Name}
		for _, all := range [][]*source.Object{r.beside[key], r.all[key]} {
			if len(all) > 0 {
				return all
			}
		}
	}
	return nil
}

// Ignored returns the ignore patterns in a GitRepository's spec.ignore.
func (r *Repositories) Ignored(named Repository) string {
	all := lists.Of(r.find(named), func(o *source.Object) string { return o.Root.At("spec", "ignore").Text() })
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
	scheme  = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
	shortIn = lazy.Regexp(`^([^/@:]+@)?([^/:]+):([^/].*)$`)
	secret  = lazy.Regexp(`(^|:)//[^/@]*@`)
)

// Masked returns an address without its credentials.
func Masked(url string) string { return secret().ReplaceAllString(url, "$1//") }

// Canonical normalizes an address, so that all addresses of one repository are equal. The result is
// the host and path, without scheme, user, port and .git.
func Canonical(url string) string {
	url = strings.TrimSpace(url)
	if at := scheme().FindString(url); at != "" {
		url = url[len(at):]
		host, rest, _ := strings.Cut(url, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		host, _, _ = strings.Cut(host, ":")
		url = host + "/" + rest
	} else if m := shortIn().FindStringSubmatch(url); m != nil {
		url = m[2] + "/" + m[3]
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	return strings.ToLower(strings.TrimRight(url, "/"))
}

// fixedRevision matches a full commit hash, or a tag that is a version or version range.
var fixedRevision = lazy.Regexp(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[v~^<>=]*\s*\d+\.(?:\d+|[x*])(?:\.(?:\d+|[x*]))?(?:[-+ ].{0,60})?)$`)

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
	if !fixedRevision().MatchString(revision) {
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

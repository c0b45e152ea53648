package pointers

import (
	"cmp"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Wanted is a chart or a directory of another repository.
type Wanted struct {
	// Name is the key of a copy in a mapping such as Options.Remotes of package gitops.
	Name string
	// File and Line are the position at which it is named.
	File string
	Line int
	// URL is the address of the repository, or that of the artifact itself if Chart is empty.
	URL string
	// Git is set for a directory Path in a git repository. Ref is a commit, a full name such as
	// refs/tags/v1, or the short name of a tag or branch. If it is empty, the repository decides.
	// Below is set if Name stands for the repository, so that Path is below its copy.
	Git, Below bool
	Path, Ref  string
	// Semver is set if Ref or Version is a range, and not the name of a tag.
	Semver bool
	// Chart is the chart's name in the repository, and Version a version, a range or empty. Digest
	// takes precedence over Version. Filter is a regular expression that the version must match.
	Chart, Version, Digest, Filter string
	// Insecure is set if a registry is not encrypted.
	Insecure bool
	// Plain is set for what is neither a chart nor a directory of a git repository: a file at an
	// address, or an OCI artifact of manifests.
	Plain bool
}

// RemoteChart returns a chart of a chart repository with its name.
func RemoteChart(url, chart, version string) Wanted {
	url = strings.TrimRight(url, "/")
	return Wanted{Name: versioned(strings.TrimRight(url+"/"+chart, "/"), version), URL: url, Chart: chart, Version: version, Semver: true}
}

func versioned(name, version string) string {
	return strings.TrimSuffix(name+"@"+version, "@")
}

// Wanted returns what a source takes from another repository. It returns false if that is not
// known, for instance because no object has the address.
func (r *Repositories) Wanted(p *Pointer, s *Source) (e Wanted, ok bool) {
	var object *source.Node // of Flux, with the address
	if s.Repository.Kind != "" {
		all := r.find(s.Repository)
		if len(all) == 0 {
			return e, false
		}
		object = all[0].Root.Get("spec") // locate and Ours compare several
	}
	url, ref := strings.TrimSpace(cmp.Or(s.Repository.URL, object.Get("url").Text())), object.Get("ref")
	artifact := s.Repository.Kind == "OCIRepository" || s.Repository.Kind == "" && strings.HasPrefix(url, "oci://")
	switch remote := s.Chart != nil && s.Chart.Remote; {
	case url == "" || source.IsVariable(url) || s.Why.Some() && !(artifact && s.Why.What == WhySource):
		return e, false
	case remote:
		if s.Repository.Kind == "" && !scheme().MatchString(url) { // Argo CD writes no scheme for OCI
			url = "oci://" + url
		}
		e = RemoteChart(url, s.Chart.Name, s.Chart.Version)
		if object != nil && artifact {
			e.Digest, e.Filter, e.Semver = s.Chart.Digest, ref.Get("semverFilter").Text(), ref.Get("semver").Text() != ""
			e.Name = versioned(e.URL, cmp.Or(e.Digest, e.Version))
		}
	case artifact:
		e = Wanted{URL: url, Version: cmp.Or(ref.Get("digest").Text(), ref.Get("semver").Text(), ref.Get("tag").Text(), s.Revision), Plain: true}
		e.Name = versioned(url, e.Version)
	default:
		written, full, semver := s.Revision, s.Revision, false
		if object != nil {
			written, full, semver = fluxRef(ref)
		}
		e = Wanted{Name: versioned(url, written), URL: url, Git: true, Below: true, Path: s.Path, Ref: full, Semver: semver}
	}
	e.File, e.Line, e.Insecure = p.File, p.Line, truth(object.Get("insecure"))
	return e, true
}

// fluxRef returns the revision of a GitRepository as written, and the ref to fetch. Later fields
// are ignored if an earlier one is set (source-controller: GitRepositoryRef).
func fluxRef(ref *source.Node) (written, full string, semver bool) {
	for _, field := range []struct{ name, prefix string }{{"commit", ""}, {"name", ""}, {"semver", ""}, {"tag", "refs/tags/"}, {"branch", "refs/heads/"}} {
		if text := ref.Get(field.name).Text(); text != "" {
			return text, field.prefix + text, field.name == "semver"
		}
	}
	return "", "refs/heads/master", false
}

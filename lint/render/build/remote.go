package build

import (
	"net/url"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
)

var (
	urlScheme   = lazy.Regexp(`(?i)^(?:ssh|https?|file)://`)
	userAtHost  = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9-]*@`)
	githubHost  = lazy.Regexp(`(?i)^github\.com[/:]`)
	credentials = lazy.Regexp(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@\s]+@`)
	secretQuery = lazy.Regexp(`(?i)([?&][^=&\s]*(?:token|password|secret|key|auth|sig)[^=&\s]*=)[^&\s]+`)
)

// downloaded reports whether kustomize downloads what an entry names
// (api/internal/loader: IsRemoteFile).
func downloaded(entry string) bool {
	u, err := url.Parse(entry)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// cloned reports whether kustomize takes an entry for a git repository, or may do so
// (api/internal/git: NewRepoSpecFromURL). A URL that kustomize would not accept counts as
// well, as it names no file either.
func cloned(entry string) bool {
	if strings.HasPrefix(entry, "/") {
		return false
	}
	entry, _, _ = strings.Cut(entry, "?")
	if len(entry) >= 5 && strings.EqualFold(entry[:5], "git::") {
		entry = entry[5:]
	}
	if urlScheme().MatchString(entry) {
		return true
	}
	user := userAtHost().FindString(entry)
	entry = entry[len(user):]
	if user == "" && !githubHost().MatchString(entry) {
		return false
	}
	at, colon := strings.Index(entry, "/"), strings.Index(entry, ":")
	if at < 0 || colon > 0 && colon < at {
		at = colon
	}
	return at >= 0 && namesRepository(entry[at+1:])
}

// namesRepository reports whether the path of a URL has a sign of a repository or two
// segments, as an organisation and its repository.
func namesRepository(path string) bool {
	for _, sign := range []string{"_git/", "//", ".git"} {
		if strings.Contains(path, sign) {
			return true
		}
	}
	return strings.Contains(path, "/")
}

// masked is a URL without its credentials.
func masked(entry string) string {
	entry = credentials().ReplaceAllString(entry, "$1***@")
	return secretQuery().ReplaceAllString(entry, "$1***")
}

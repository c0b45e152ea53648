package roots

import (
	"regexp"
	"strings"
)

// user is what comes before the host in the short form of ssh, as in git@host:path.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// IsRemote reports whether kustomize takes an entry, such as a resource, for a URL
// that it would fetch (kustomize: api/internal/git/repospec.go, NewRepoSpecFromURL,
// and api/internal/loader/fileloader.go, IsRemoteFile). An entry with another scheme,
// which kustomize takes for a file, counts as well: nobody means a file by it.
func IsRemote(entry string) bool {
	text := strings.ToLower(entry)
	text = strings.TrimPrefix(text, "git::")
	for _, prefix := range []string{"http:", "https:", "github.com/", "github.com:"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	scheme, _, ok := strings.Cut(text, "://")
	return ok && !strings.ContainsAny(scheme, "/\n ") || user.MatchString(text)
}

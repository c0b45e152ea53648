package engine

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/render"
)

var (
	urlScheme   = lazy.Regexp(`(?i)^(?:ssh|https?|file)://`)
	userAtHost  = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9-]*@`)
	githubHost  = lazy.Regexp(`(?i)^github\.com[/:]`)
	credentials = lazy.Regexp(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@\s]+@`)
	secretQuery = lazy.Regexp(`(?i)([?&][^=&\s]*(?:token|password|secret|key|auth|sig)[^=&\s]*=)[^&\s]+`)
)

// downloaded reports whether kustomize downloads an entry (api/internal/loader: IsRemoteFile).
func downloaded(entry string) bool {
	u, err := url.Parse(entry)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// cloned reports whether kustomize may treat an entry as a git repository (api/internal/git:
// NewRepoSpecFromURL). A URL that kustomize would not accept counts as well, because it does not
// name a file either.
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
	if at < 0 {
		return false
	}
	path := entry[at+1:] // has a sign of a repository or two segments, such as an organisation and its repository
	return strings.Contains(path, "/") || strings.Contains(path, ".git")
}

// masked returns a URL without its credentials.
func masked(entry string) string {
	entry = credentials().ReplaceAllString(entry, "$1***@")
	return secretQuery().ReplaceAllString(entry, "$1***")
}

// remote replaces the URL of an entry with the directory that Root.Remotes has for it, or rejects
// it. It reports whether the entry is a URL.
func (p *plan) remote(e *entry) (bool, *render.Problem) {
	if !downloaded(e.name) && !cloned(e.name) {
		return false, nil
	}
	if !downloaded(e.name) && e.use != asComponent {
		// Kustomize only clones an entry that is not a file.
		if f := p.tree.read(path.Join(e.k.dir, e.name)); f.err == nil && !f.dir {
			return false, nil
		}
	}
	dir, ok := p.root.Remotes[e.name]
	if !ok {
		return true, e.problem(refusal(e.label() + " is remote, and rendering does not use the network: vendor it and list its directory under remotes"))
	}
	rel, err := filepath.Rel(filepath.FromSlash(e.k.dir), filepath.FromSlash(path.Clean(dir)))
	if err != nil || e.node == nil {
		return true, e.problem(refusal(e.label() + " cannot be replaced with " + shown(dir)))
	}
	name := filepath.ToSlash(rel)
	value := strings.TrimSuffix(e.value, e.name) + name
	p.edits[e.k.name] = append(p.edits[e.k.name], edit{e, value})
	e.name = name
	return true, nil
}

// Seal disables what a build must not use in this process: HTTP, and the commands in PATH, such as
// git and helm. The plan already rejects everything that would use them. Only the main of a worker
// may call Seal, because it cannot be undone.
func Seal() error {
	http.DefaultTransport = offline{}
	http.DefaultClient = &http.Client{Transport: offline{}}
	return os.Setenv("PATH", "")
}

// offline is a transport without a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("rendering does not use the network")
}

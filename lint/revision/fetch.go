package revision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Store is a bare repository in a temporary directory. It holds what was fetched from other
// repositories. Unpack reads it like any other repository.
type Store struct {
	// Dir is the directory that contains the repository.
	Dir string
	// Local also allows repositories on this machine and unencrypted connections.
	Local bool
}

// NewStore creates an empty store. The caller must call Remove.
func NewStore(local bool) (*Store, error) {
	dir, err := os.MkdirTemp("", "schedlint-")
	if err != nil {
		return nil, err
	}
	s := &Store{dir, local}
	if _, err := s.git("init", "--quiet", "--bare", "--template="); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// Remove removes the store.
func (s *Store) Remove() { os.RemoveAll(s.Dir) }

// git runs git in the store. It allows only encrypted protocols and asks for no password. Helpers
// for credentials and the user's configuration apply; hooks do not.
func (s *Store) git(args ...string) (string, error) {
	protocols := "https:ssh"
	if s.Local {
		protocols += ":http:file"
	}
	cmd := gitCommand(s.Dir, append([]string{"--git-dir=" + filepath.Join(s.Dir, ".git")}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL="+protocols)
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		if out, _ := gitOutput(s.Dir, nil, "config", "--get", "core.sshCommand"); len(out) == 0 {
			cmd.Env = append(cmd.Env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
		}
	}
	var out, said printed
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fatal(said.String(), err)
	}
	return out.String(), nil
}

// printed keeps what git prints, which may come from a server.
type printed struct{ strings.Builder }

const maxPrinted = 64 << 20 // in bytes

func (p *printed) Write(text []byte) (int, error) {
	if p.Len()+len(text) > maxPrinted {
		return 0, fmt.Errorf("git prints more than %d MiB", maxPrinted>>20)
	}
	return p.Builder.Write(text)
}

// Ref is a branch or tag of a repository and its commit.
type Ref struct{ Name, Commit string }

// Refs lists the refs of a repository, sorted by name. The first one is HEAD, if the repository has
// one. The address must have been checked.
func (s *Store) Refs(url string) ([]Ref, error) {
	out, err := s.git("ls-remote", "--quiet", "--", url)
	if err != nil {
		return nil, err
	}
	var all []Ref
	for line := range strings.Lines(out) {
		id, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if tag, peeled := strings.CutSuffix(name, "^{}"); peeled && len(all) > 0 && all[len(all)-1].Name == tag {
			all[len(all)-1].Commit = id // an annotated tag is an object of its own
		} else if ok && IsCommit(id) {
			all = append(all, Ref{name, id})
		}
	}
	return all, nil
}

// IsCommit reports whether a text is a complete object id.
func IsCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
}

// Fetch fetches a commit without its history. A server may refuse commits that it does not list, so
// ref is the name of the commit there, or the commit itself. Both and the address must have been
// checked.
func (s *Store) Fetch(url, ref, commit string) error {
	const own = "refs/schedlint/fetched"
	if _, err := s.git("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", url, "+"+ref+":"+own); err != nil {
		return err
	}
	got, err := s.git("rev-parse", "--verify", "--end-of-options", own+"^{commit}")
	if err == nil && strings.TrimSpace(got) != commit {
		err = fmt.Errorf("%s is %.12s now and was %.12s: run again", ref, got, commit)
	}
	return err
}

// Find returns the ref that a revision means: a full name, a tag or a branch. An empty revision is
// HEAD.
func Find(refs []Ref, revision string) (Ref, error) {
	for _, name := range []string{revision, "refs/tags/" + revision, "refs/heads/" + revision} {
		if revision == "" {
			name = "HEAD"
		}
		if i := slices.IndexFunc(refs, func(r Ref) bool { return r.Name == name }); i >= 0 {
			return refs[i], nil
		}
	}
	if revision == "" {
		return Ref{}, errors.New("the repository has no HEAD: name a branch or tag")
	}
	return Ref{}, errors.New("the repository has no such branch or tag; a commit needs all of its digits")
}

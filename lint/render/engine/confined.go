package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/worktree"
)

// tree is the part of the repository that a build can read. It consists of the regular files and
// directories below the confinement directory, except git's own files. Names are relative to the
// confinement directory and use forward slashes.
type tree struct {
	dir  string
	root *os.Root
	// left is the number of bytes that can still be read.
	left int
	// texts holds replacement contents by file name, with symbolic links resolved.
	texts map[string][]byte
	// within is the directory to which reading is restricted, or "". The file pointer is exempt.
	within, pointer string
	// artifact is the virtual directory of Root.Artifact, or nil. Files outside it can only be read
	// in or below the names in outside.
	artifact *render.Artifact
	outside  []string
	files    map[string]*file // by the requested name
	real     map[string]*file // by name with symbolic links resolved
}

// file is the result of reading a file or a directory.
type file struct {
	name string // with symbolic links resolved
	// original is set in an artifact: the file that this one was copied from.
	original string
	dir      bool
	text     []byte
	err      error
}

// refusal is the error for input that schedlint does not support but kustomize may support.
type refusal string

func (r refusal) Error() string { return string(r) }

var errMissing = errors.New("does not exist")

// read returns the file or directory with the given name. It caches the result, so that all reads
// in a build return the same contents.
func (t *tree) read(name string) *file {
	name = path.Clean(name)
	if f, ok := t.files[name]; ok {
		return f
	}
	f := t.copied(name)
	if f == nil {
		f = t.find(name)
	}
	if f.err == nil {
		if known, ok := t.real[f.name]; ok {
			f = known
		} else if t.real[f.name] = f; !f.dir {
			f.text, f.err = t.load(cmp.Or(f.original, f.name))
		}
	}
	t.files[name] = f
	return f
}

// find resolves a name. Links may lead anywhere below the confinement directory.
func (t *tree) find(name string) *file {
	local := filepath.FromSlash(name)
	switch {
	case !worktree.Local(name):
		return &file{err: refusal("is outside the repository")}
	case worktree.OfGit(local):
		return &file{err: refusal("belongs to git and is not read")}
	case t.within != "" && name != t.pointer && name != t.within && !strings.HasPrefix(name, t.within+"/"):
		return &file{err: refusal("is outside " + t.within + ", and copies from there cannot read files of this repository")}
	}
	if f := t.entry(name); f != nil {
		return f
	}
	info, err := t.root.Stat(local)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes") {
			return &file{err: refusal("is a symbolic link to a target outside the repository")}
		}
		return &file{err: reason(err)}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(t.dir, local))
	if err != nil {
		return &file{err: reason(err)}
	}
	rel, ok := worktree.Below(t.dir, real)
	switch {
	case !ok:
		return &file{err: refusal("is a symbolic link to a target outside the repository")}
	case worktree.OfGit(rel):
		return &file{err: refusal("is a symbolic link into .git, which is not read")}
	case !info.IsDir() && !info.Mode().IsRegular():
		return &file{err: refusal("is not a regular file")}
	}
	return &file{name: filepath.ToSlash(rel), dir: info.IsDir()}
}

// entry looks up a name in a directory that has already been read. It is a shortcut for find. It
// returns nil if the directory has not been read, or if the name is a symbolic link.
func (t *tree) entry(name string) *file {
	dir := t.files[path.Dir(name)]
	if dir == nil || dir.err != nil || !dir.dir || filepath.Separator != '/' { // other systems may ignore case in names
		return nil
	}
	at := path.Join(dir.name, path.Base(name))
	info, err := t.root.Lstat(at)
	if err != nil || worktree.OfGit(at) || !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	return &file{name: at, dir: info.IsDir()}
}

// load reads a regular file if it is within the byte limit.
func (t *tree) load(name string) ([]byte, error) {
	info, err := t.root.Lstat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return nil, reason(err)
	case !info.Mode().IsRegular():
		return nil, refusal("is not a regular file")
	case info.Size() > int64(t.left):
		return nil, refusal(fmt.Sprintf("has %d bytes, but only %d bytes of the limit are left", info.Size(), t.left))
	}
	if text, edited := t.texts[name]; edited {
		t.left -= len(text)
		return text, nil
	}
	in, err := t.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, reason(err)
	}
	defer in.Close()
	if now, err := in.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, refusal("changed while it was read")
	}
	text, err := worktree.ReadAll(in, int64(t.left))
	if err != nil {
		return nil, reason(err)
	}
	t.left -= len(text)
	return text, nil
}

// reason returns a file system error without its path.
func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// shown returns a name for use in a message. It quotes names with white space or unprintable
// characters.
func shown(name string) string {
	if len(name) > 200 {
		name = name[:200] + "..."
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// fileSystem is the read-only file system that kustomize sees. It serves the modified files of the
// plan in place of the originals.
type fileSystem struct {
	tree   *tree
	served map[string][]byte // modified contents, by file name with symbolic links resolved
	// refused is the first refusal, and name is the refused file. Kustomize may drop the error.
	refused error
	name    string
}

var (
	errReadOnly    = errors.New("rendering does not write files")
	errUnsupported = errors.New("rendering does not search directories")
)

func (s *fileSystem) file(abs string) (*file, error) {
	rel, ok := worktree.Below(s.tree.dir, filepath.Clean(abs))
	if !ok {
		return nil, s.note(filepath.Base(abs), refusal("is outside the repository"))
	}
	name := filepath.ToSlash(rel)
	f := s.tree.read(name)
	if f.err != nil {
		return nil, s.note(name, f.err)
	}
	return f, nil
}

func (s *fileSystem) note(name string, err error) error {
	var r refusal
	if errors.As(err, &r) && s.refused == nil {
		s.refused, s.name = err, name
	}
	return fmt.Errorf("%s %w", shown(name), err)
}

// ReadFile returns a copy of the contents, which the caller may change.
func (s *fileSystem) ReadFile(abs string) ([]byte, error) {
	f, err := s.file(abs)
	switch {
	case err != nil:
		return nil, err
	case f.dir:
		return nil, fmt.Errorf("%s is a directory", shown(f.name))
	}
	if text, ok := s.served[f.name]; ok {
		return append([]byte(nil), text...), nil
	}
	return append([]byte(nil), f.text...), nil
}

// CleanedAbs resolves symbolic links in a path and splits it into directory and file name.
func (s *fileSystem) CleanedAbs(abs string) (filesys.ConfirmedDir, string, error) {
	f, err := s.file(abs)
	switch {
	case err != nil:
		return "", "", err
	case f.dir:
		return s.abs(f.name), "", nil
	}
	return s.abs(path.Dir(f.name)), path.Base(f.name), nil
}

func (s *fileSystem) abs(name string) filesys.ConfirmedDir {
	return filesys.ConfirmedDir(filepath.Join(s.tree.dir, filepath.FromSlash(name)))
}

// IsDir reports whether the path is a directory.
func (s *fileSystem) IsDir(abs string) bool {
	f, err := s.file(abs)
	return err == nil && f.dir
}

// Exists reports whether the path is a file or a directory.
func (s *fileSystem) Exists(abs string) bool {
	_, err := s.file(abs)
	return err == nil
}

// kustomize build does not need the methods below.

func (*fileSystem) Open(string) (filesys.File, error)    { return nil, errUnsupported }
func (*fileSystem) ReadDir(string) ([]string, error)     { return nil, errUnsupported }
func (*fileSystem) Glob(string) ([]string, error)        { return nil, errUnsupported }
func (*fileSystem) Walk(string, filepath.WalkFunc) error { return errUnsupported }
func (*fileSystem) Create(string) (filesys.File, error)  { return nil, errReadOnly }
func (*fileSystem) Mkdir(string) error                   { return errReadOnly }
func (*fileSystem) MkdirAll(string) error                { return errReadOnly }
func (*fileSystem) RemoveAll(string) error               { return errReadOnly }
func (*fileSystem) WriteFile(string, []byte) error       { return errReadOnly }

var (
	urlScheme   = lazy.Regexp(`(?i)^(?:ssh|https?|file)://`)
	userAtHost  = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9-]*@`)
	githubHost  = lazy.Regexp(`(?i)^github\.com[/:]`)
	credentials = lazy.Regexp(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@\s]+@`)
	secretQuery = lazy.Regexp(`(?i)([?&][^=&\s]*(?:token|password|secret|key|auth|sig)[^=&\s]*=)[^&\s]+`)
)

// downloaded reports whether kustomize would download an entry (api/internal/loader:
// IsRemoteFile).
func downloaded(entry string) bool {
	u, err := url.Parse(entry)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// cloned reports whether kustomize may treat an entry as a git repository (api/internal/git:
// NewRepoSpecFromURL). It also returns true for URLs that kustomize would reject.
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
	path := entry[at+1:] // looks like a repository, or has two segments such as organization/repository
	return strings.Contains(path, "/") || strings.Contains(path, ".git")
}

// masked replaces the credentials in a URL with asterisks.
func masked(entry string) string {
	entry = credentials().ReplaceAllString(entry, "$1***@")
	return secretQuery().ReplaceAllString(entry, "$1***")
}

// used maps replacements in Root.Remotes to the first positions that name them.
type used map[string]render.Place

func (u used) add(to string, at *render.Problem) {
	if _, known := u[to]; !known {
		u[to] = render.Place{File: at.File, Line: at.Line, Column: at.Column}
	}
}

// remote replaces the URL in an entry with a directory from Root.Remotes. It returns a problem if
// Root.Remotes does not contain the URL. The boolean result reports whether the entry is a URL.
func (p *plan) remote(e *entry) (bool, *render.Problem) {
	if !downloaded(e.name) && !cloned(e.name) {
		return false, nil
	}
	if !downloaded(e.name) && e.use != asComponent {
		// Kustomize clones an entry only if it is not a file.
		if f := p.tree.read(path.Join(e.k.dir, e.name)); f.err == nil && !f.dir {
			return false, nil
		}
	}
	dir, ok := p.root.Remotes[e.name]
	if !ok {
		advice := diag.Vendor
		if file, _, _ := strings.Cut(e.name, "?"); downloaded(e.name) && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(file)) {
			advice = "save it in the repository, and name the file"
		}
		return true, e.problem(refusal(e.label() + " is remote, and rendering does not use the network: " + advice))
	}
	p.used.add(dir, e.problem(errors.New("is here")))
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

// Seal disables HTTP and the commands in PATH, such as git and helm. The plan already rejects input
// that needs them. Only the main function of a worker may call Seal, because it cannot be undone.
func Seal() error {
	http.DefaultTransport = offline{}
	http.DefaultClient = &http.Client{Transport: offline{}}
	return os.Setenv("PATH", "")
}

// offline is an HTTP transport without a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("rendering does not use the network")
}

package vendored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/worktree"
)

// maxDifferences is the maximum number of differences listed for a folder.
const maxDifferences = 20

// again is the advice in error messages about a folder that differs from its lock.
const again = "restore it from version control, or copy the rules again with schedlint policy vendor --force"

// CheckDir is like Check. If dir is in a vendored folder, CheckDir also checks that folder.
func CheckDir(dir, shown string) (locked []string, errs []error) {
	home := Home(dir)
	abs, err := filepath.Abs(dir)
	if home != "" && err == nil && home != abs {
		if rel, err := filepath.Rel(abs, home); err == nil {
			locked, errs = checkAt(home, path.Join(filepath.ToSlash(shown), filepath.ToSlash(rel)))
		}
	}
	more, differences := checkAt(dir, filepath.ToSlash(filepath.Clean(shown)))
	return append(locked, more...), append(errs, differences...)
}

func checkAt(dir, shown string) (locked []string, errs []error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, []error{err}
	}
	defer root.Close()
	return Check(root.FS(), shown)
}

// Check finds all locks in a folder and its subfolders, and compares each locked folder with its
// lock. It returns the names of the locked folders, and an error for each difference. shown is the
// folder's name in the results.
func Check(folder fs.FS, shown string) (locked []string, errs []error) {
	var locks []string
	err := fs.WalkDir(folder, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Base(name) == LockName {
			locks = append(locks, name)
		}
		return err
	})
	if err != nil {
		return nil, []error{fmt.Errorf("%s: looking for %s: %w", shown, LockName, err)}
	}
	for _, name := range locks {
		sub, err := fs.Sub(folder, path.Dir(name))
		if err != nil {
			return locked, append(errs, err)
		}
		at := path.Join(shown, path.Dir(name))
		locked, errs = append(locked, at), append(errs, check(sub, at)...)
	}
	return locked, errs
}

func check(folder fs.FS, shown string) []error {
	l, err := readLock(folder)
	if err != nil {
		return []error{fmt.Errorf("%s: %w; %s", path.Join(shown, LockName), err, again)}
	}
	is := map[string][]byte{} // the files that a lock must list
	w := NewWalker(maxFile, maxUnpacked)
	err = w.Walk(folder, func(name string, d fs.DirEntry) (err error) {
		if !d.IsDir() && counts(name) {
			is[name], err = w.Read(folder, name)
		}
		return err
	})
	if err != nil {
		return []error{fmt.Errorf("%s: %w", shown, err)}
	}
	var all []error
	say := func(name, format string, args ...any) {
		all = append(all, fmt.Errorf("%s: %s", path.Join(shown, name), fmt.Sprintf(format, args...)))
	}
	for _, f := range l.Files {
		text, there := is[f.Path]
		delete(is, f.Path)
		switch {
		case !there:
			say(f.Path, "the file is missing, which %s lists; %s", LockName, again)
		case SHA256(text) == f.SHA256:
		case SHA256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))) == f.SHA256:
			say(f.Path, "only the line endings differ from %s; add %s/** -text to .gitattributes, and check the folder out again", LockName, shown)
		default:
			say(f.Path, "the file has changed: expected the SHA-256 %s, found %s; %s", f.SHA256, SHA256(text), again)
		}
	}
	for name := range is {
		say(name, "%s does not list this file; remove it, or move it to a folder of your own rules", LockName)
	}
	sorting.Stable(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], fmt.Errorf("%s: %d more files differ from %s", shown, more, LockName))
	}
	return all
}

func readLock(folder fs.FS) (*Lock, error) {
	file, err := folder.Open(LockName)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("expected a regular file")
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxLock+1))
	if err == nil && len(text) > maxLock {
		err = fmt.Errorf("the file is larger than %d MiB", maxLock>>20)
	}
	if err != nil {
		return nil, err
	}
	return parseLock(text)
}

// Home returns the nearest folder with a lock. In a work tree, it also looks in the parents of dir,
// up to the root of the work tree. It returns "" if no folder has a lock.
func Home(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	root, inTree := worktree.Root(abs)
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, LockName)); err == nil {
			return at
		}
		if !inTree || at == root || at == filepath.Dir(at) {
			return ""
		}
	}
}

// LockName is the name of the lock file.
const LockName = "schedlint.lock.json"

// lockVersion is the version of the lock format.
const lockVersion = 1

// maxLock is the maximum size of a lock in bytes. It allows for the maximum number of files.
const maxLock = 4 << 20

// Lock describes the files that were copied into a folder.
type Lock struct {
	Version int `json:"version"`
	// Source is the source of the files, as the user named it.
	Source string `json:"source"`
	// Archive is the SHA-256 of the archive, or empty if the source is a folder.
	Archive string `json:"archive,omitempty"`
	// Digest is the SHA-256 of a list of all files in sha256sum format.
	Digest string `json:"digest"`
	// Files are sorted by path.
	Files []Locked `json:"files"`
}

// Locked is a lock's entry for one file.
type Locked struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Lock returns a lock for the files of the source.
func (s *Source) Lock() *Lock {
	l := &Lock{Version: lockVersion, Source: s.Given, Archive: s.Archive, Files: []Locked{}}
	for _, f := range s.Files {
		l.Files = append(l.Files, Locked{f.Name, SHA256(f.Text)})
	}
	l.Digest = Whole(l.Files)
	return l
}

// Whole returns the SHA-256 of a list of files in sha256sum format.
func Whole(files []Locked) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s  %s\n", f.SHA256, f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// text returns the content of the lock file.
func (l *Lock) text() []byte { return Encode(l) }

// Encode returns the content of a lock file. A lock consists of strings and numbers.
func Encode(lock any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(lock); err != nil {
		panic(err) // cannot happen, because a lock consists of strings and numbers
	}
	return text.Bytes()
}

// Decode reads a lock that an attacker may have written. It rejects unknown fields. The argument
// "what" describes the lock in errors.
func Decode(text []byte, lock any, what string) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(lock); err != nil {
		return fmt.Errorf("expected %s: %w", what, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("expected %s and nothing after it", what)
	}
	return nil
}

// CheckSHA256 returns an error unless text is a SHA-256 in lower-case hexadecimal digits.
func CheckSHA256(text string) error {
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != sha256.Size || strings.ToLower(text) != text {
		return errors.New("expected a SHA-256 of 64 hexadecimal digits")
	}
	return nil
}

// parseLock parses a lock, which an attacker may have written.
func parseLock(text []byte) (*Lock, error) {
	var l Lock
	if err := Decode(text, &l, "the lock of vendored rules"); err != nil {
		return nil, err
	}
	if l.Version != lockVersion {
		return nil, fmt.Errorf("found a lock of version %d; this schedlint reads version %d", l.Version, lockVersion)
	}
	for _, f := range l.Files {
		if err := CheckName(f.Path); err != nil {
			return nil, fmt.Errorf("path %q: %w", f.Path, err)
		}
		if err := CheckSHA256(f.SHA256); err != nil {
			return nil, fmt.Errorf("path %q: %w", f.Path, err)
		}
	}
	if !slices.IsSortedFunc(l.Files, func(a, b Locked) int { return strings.Compare(a.Path, b.Path) }) {
		return nil, errors.New("the paths are not sorted")
	}
	if l.Digest != Whole(l.Files) {
		return nil, errors.New("the digest is not that of the files that the lock lists, so somebody has edited the lock")
	}
	return &l, nil
}

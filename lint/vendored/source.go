package vendored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The limits of a source. Large collections of rules have hundreds of files of some KiB.
const (
	maxEntries  = 10_000
	maxPacked   = 32 << 20 // bytes of an archive as it is
	maxUnpacked = 64 << 20 // bytes of an archive once it is unpacked, or of the files that are kept of a folder
	maxFile     = 1 << 20  // bytes of a file that is kept
)

// File is one file, with a name of forward slashes below the folder.
type File struct {
	Name string
	Text []byte
}

// Source is what a folder or an archive holds.
type Source struct {
	// Given is the source as the lock names it.
	Given string
	// Archive is the SHA-256 of the archive in hexadecimal digits; "" for a folder.
	Archive string
	// Files are those that are copied, sorted by name.
	Files []File
	// Left names everything else, sorted. A folder that nothing is taken from ends in /.
	Left []string
}

// Open reads a folder or an archive. The error says what was found and what is expected.
func Open(name string) (*Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	s := &Source{Given: given(name)}
	if info.IsDir() {
		err = s.folder(name)
	} else {
		err = s.archive(name)
	}
	if err == nil && !slices.ContainsFunc(s.Files, func(f File) bool { return isRule(f.Name) }) {
		err = errors.New("it contains no rule; a rule is a file such as <id>/rule.rego")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(s.Left)
	return s, nil
}

// given is a path without what only this machine has.
func given(name string) string {
	if filepath.IsAbs(name) {
		name = filepath.Base(name)
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// archive reads an archive, all of which counts for its digest.
func (s *Source) archive(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := io.ReadAll(io.LimitReader(file, maxPacked+1))
	if err != nil {
		return err
	}
	if len(packed) > maxPacked {
		return fmt.Errorf("the archive is larger than %d MiB", maxPacked>>20)
	}
	s.Archive = digest(packed)
	entries, err := unpack(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for _, e := range arranged(entries) {
		s.take(e)
	}
	return nil
}

// take keeps a file, or names it among those that are left.
func (s *Source) take(e entry) {
	if e.kept {
		s.Files = append(s.Files, File{e.name, e.text})
	} else {
		s.Left = append(s.Left, e.name)
	}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// beside are the names of files that are copied although no rule needs them.
var beside = regexp.MustCompile(`^(?i:readme|licen[cs]e|copying)(\.[A-Za-z]+)?$`)

// Keeps reports whether a file of a name, with forward slashes, is copied: a rule, a library,
// a test, a fixture, a README or a license that is not hidden.
func Keeps(name string) bool {
	return counts(name) && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// counts reports whether a file may be read with rules, or is copied with them.
func counts(name string) bool {
	fixture := strings.Contains("/"+path.Dir(name)+"/", "/fixtures/") &&
		slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
	return path.Base(name) != LockName && (path.Ext(name) == ".rego" || fixture || beside.MatchString(path.Base(name)))
}

// isRule reports whether a file may hold a rule or a library.
func isRule(name string) bool {
	return path.Ext(name) == ".rego" && !strings.HasSuffix(name, "_test.rego")
}

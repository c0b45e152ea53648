package vendored

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/schedlint/schedlint/lint/worktree"
)

const (
	maxName  = 200 // bytes
	maxDepth = 20  // elements
)

// checkName says what is wrong with the name of an entry. Every system takes the names
// that pass for the same file below a folder.
func checkName(name string) error {
	switch {
	case len(name) > maxName || strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("the name is too long; expected at most %d bytes and %d elements", maxName, maxDepth)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return errors.New("the name has a control character, or one that is not printed")
	case strings.HasPrefix(name, "/"):
		return errors.New("the name is absolute")
	case strings.ContainsAny(name, `\:*?"<>|`):
		return errors.New(`the name has one of \ : * ? " < > |, which not every system can store`)
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "" || element == ".":
			return errors.New("the name has an empty element")
		case !worktree.Local(element):
			return errors.New("the name has .. in it, which leads outside")
		case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " ") || strings.HasPrefix(element, " "):
			return errors.New("an element of the name begins with a space or ends in a space or a dot, which not every system can store")
		}
	}
	return nil
}

// spot is what a folded name stands for.
type spot struct {
	name string
	dir  bool
}

// names finds entries that would be written to one place.
type names map[string]spot

// add notes a file, and the folders on the way to it.
func (all names) add(name string) error {
	for at, dir := name, false; at != "."; at, dir = path.Dir(at), true {
		key := fold(at)
		other, taken := all[key]
		switch {
		case !taken:
			all[key] = spot{at, dir}
		case other.name != at:
			return fmt.Errorf("the name differs from %q only in case", other.name)
		case !dir && !other.dir:
			return errors.New("the name occurs twice")
		case dir != other.dir:
			return fmt.Errorf("%q is both a file and a folder", at)
		}
	}
	return nil
}

// fold gives names that differ only in case one form, whatever the alphabet: the least
// rune of those that are equal.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

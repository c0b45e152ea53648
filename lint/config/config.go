package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Name is the name of the configuration file.
const Name = ".schedlint.yaml"

// Config is what a team says about its repository. The zero Config is the
// default.
type Config struct {
	// Topology are files that declare the nodes.
	Topology []string `json:"topology"`
	// Ignore are globs, with ** for any number of directories, of files and
	// directories that are not read.
	Ignore []string `json:"ignore"`
	// Rules gives rules another level than their category has, or turns them off.
	Rules map[string]Level `json:"rules"`
	// FailOn is the level from which findings fail the run: error, warning or
	// none; empty for error.
	FailOn string `json:"fail-on"`
	// Clusters splits the tree: each is judged alone, against its own nodes.
	Clusters []Cluster `json:"clusters"`

	// Dir is the directory of the file, to which its paths belong; "" if there
	// is no file.
	Dir string `json:"-"`
}

// Cluster is one part of the tree that is applied to one cluster.
type Cluster struct {
	Name string `json:"name"`
	// Paths are directories, files or globs.
	Paths    []string `json:"paths"`
	Topology []string `json:"topology"`
}

// Level is a level in the configuration. It also takes a bare off, which YAML
// reads as a boolean.
type Level struct{ diag.Level }

// UnmarshalJSON reads error, warning, note or off.
func (l *Level) UnmarshalJSON(text []byte) error {
	word := strings.Trim(string(text), `"`)
	if word == "false" {
		word = "off"
	}
	if !slices.Contains(levels(), word) {
		return fmt.Errorf("unknown level %s", word)
	}
	l.Level = diag.Level(word)
	return nil
}

func levels() []string { return []string{"error", "warning", "note", "off"} }

// FailLevels are the words that fail-on takes.
func FailLevels() []string { return []string{"error", "warning", "none"} }

// Find looks for the configuration file in dir and the directories above it,
// up to root or else to the top; "" if there is none.
func Find(dir string) string {
	for {
		path := filepath.Join(dir, Name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Load reads a configuration file.
func Load(path string) (*Config, error) {
	dir := filepath.Dir(path)
	set, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{path})
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	for _, p := range set.Problems {
		return nil, fmt.Errorf("reading configuration: %s:%d: %s %s", path, p.Span.Line, p.Kind, p.Detail)
	}
	c := &Config{Dir: dir}
	root, file := set.Plain()
	if root == nil {
		return c, nil // an empty file says nothing
	}
	decoder := source.Decoder{}
	var errs []error
	for _, m := range decoder.Decode(root, c) {
		errs = append(errs, mismatch(path, file, m))
	}
	errs = append(errs, c.check(path)...)
	return c, errors.Join(errs...)
}

func mismatch(path string, file *source.File, m source.Mismatch) error {
	span := file.Span(m.Value)
	if m.Key != nil {
		span = file.Span(m.Key)
	}
	at := fmt.Sprintf("%s:%d:%d: ", path, span.Line, span.Column)
	switch {
	case m.Unknown && m.Suggestion != "":
		return fmt.Errorf("%sunknown key %s; did you mean %s?", at, m.Path, m.Suggestion)
	case m.Unknown:
		return fmt.Errorf("%sunknown key %s", at, m.Path)
	case m.Want == "level":
		return fmt.Errorf("%s%s: expected one of %s", at, m.Path, strings.Join(levels(), ", "))
	}
	return fmt.Errorf("%s%s: expected a %s", at, m.Path, m.Want)
}

// check looks at what types do not say.
func (c *Config) check(path string) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(path+": "+format, args...)) }
	if c.FailOn != "" && !slices.Contains(FailLevels(), c.FailOn) {
		fail("fail-on: expected one of %s, found %q", strings.Join(FailLevels(), ", "), c.FailOn)
	}
	for _, glob := range c.Ignore {
		if !doublestar.ValidatePattern(glob) {
			fail("ignore: %q is no valid glob", glob)
		}
	}
	seen := map[string]bool{}
	for i, cluster := range c.Clusters {
		switch {
		case cluster.Name == "":
			fail("clusters[%d]: a cluster needs a name", i)
		case seen[cluster.Name]:
			fail("clusters[%d]: cluster %s is declared twice", i, cluster.Name)
		case len(cluster.Paths) == 0:
			fail("cluster %s needs paths", cluster.Name)
		}
		seen[cluster.Name] = true
	}
	return errs
}

// Ignores reports whether a path, relative to the configuration's directory
// and with forward slashes, is not to be read.
func (c *Config) Ignores(name string) bool { return matchesAny(c.Ignore, name) }

// Has reports whether a path belongs to the cluster.
func (c *Cluster) Has(name string) bool { return matchesAny(c.Paths, name) }

// matchesAny matches a path, or a directory above it, against globs.
func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		for at := name; at != "." && at != "/" && at != ""; at = parent(at) {
			if ok, _ := doublestar.Match(glob, at); ok {
				return true
			}
		}
		if glob == "." {
			return true
		}
	}
	return false
}

func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Size limits, in bytes, of a configuration that was found, and of a file that a configuration
// names.
const (
	maxFile  = 1 << 20
	maxNamed = 64 << 20
)

// LoadFound reads a configuration that was found and not named, so that it is untrusted: it and the
// files that it names must be regular files below root, reached without links. An empty root means
// the root of the work tree that contains the file, or the directory of the file if there is none.
func LoadFound(path, root string) (*Config, error) {
	c, err := empty(path)
	if err != nil {
		return nil, err
	}
	c.bound, c.outside = root, "the work tree"
	if root == "" {
		ok := false
		if c.bound, ok = worktree.Root(c.Dir); !ok {
			c.bound, c.outside = c.Dir, "the directory of the configuration"
		}
	}
	l := &loader{path: path}
	text, err := c.read(filepath.Base(path), maxFile)
	if err != nil {
		l.fail(diag.Span{}, "%v", c.wordConfigError(err, filepath.Base(path)))
		return c, l.err()
	}
	l.overlay = func(string) ([]byte, bool) { return text, true }
	return c, l.load(c)
}

// Choose reads the configuration that the user named, or else the nearest one from the working
// directory upwards, which errors name as seen from there. Without any it is empty.
func Choose(path string) (*Config, error) {
	if path != "" {
		return Load(path)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if path = Find(dir); path == "" {
		return &Config{}, nil
	}
	return LoadFound(worktree.Seen(dir, path), "")
}

// wordConfigError words an error about the configuration file itself.
func (c *Config) wordConfigError(err error, name string) error {
	var link *worktree.LinkError
	switch {
	case errors.As(err, &link) && c.fromHere(link.Name) == name:
		return errors.New("is a symbolic link: make it a regular file, or name the file with --config")
	case errors.As(err, &link):
		return fmt.Errorf("%w: make it a directory, or name the file with --config", err)
	case errors.Is(err, worktree.ErrNotRegular):
		return fmt.Errorf("%w: make it one, or name the file with --config", err)
	}
	return c.worded(err)
}

// Read reads a file that the configuration names, if that is allowed.
func (c *Config) Read(path string) ([]byte, error) { return c.read(path, maxNamed) }

func (c *Config) read(path string, limit int64) ([]byte, error) {
	abs := c.absolute(path)
	if c.bound == "" {
		return worktree.ReadTrusted(abs, limit)
	}
	name, ok := worktree.Below(c.bound, abs)
	if !ok {
		return nil, c.leadsOut(path)
	}
	return worktree.ReadFile(c.bound, name, limit)
}

// check returns an error if a path that the configuration names must not be read. A missing file is
// left to the reader.
func (c *Config) check(path string, directory bool) error {
	name, ok := worktree.Below(c.bound, c.absolute(path))
	switch {
	case c.bound == "" || directory && name == ".":
		return nil
	case !ok:
		return c.leadsOut(path)
	}
	err := worktree.Check(c.bound, name, maxNamed)
	switch info, statErr := os.Lstat(c.absolute(path)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, worktree.ErrNotRegular) && statErr == nil && info.IsDir():
		if directory {
			return nil
		}
		return fmt.Errorf("%s is a directory, expected a file", path)
	}
	var link *worktree.LinkError
	if errors.As(err, &link) {
		return fmt.Errorf("%w: name the file itself", c.worded(err))
	}
	if err != nil {
		return fmt.Errorf("%s %w", path, c.worded(err))
	}
	return nil
}

// At returns the configuration as if it had been found in another directory below root, as a file
// of another name. It checks there the topologies and the renders that the configuration names.
func (c *Config) At(dir, root, file string) (*Config, error) {
	moved := *c
	moved.Dir, moved.file = dir, file
	if c.bound == "" {
		return &moved, nil
	}
	moved.bound = root
	var errs []error
	paths := slices.Clone(c.Topology)
	for _, cluster := range c.Clusters {
		paths = append(paths, cluster.Topology...)
	}
	for _, path := range paths {
		if err := moved.check(path, true); err != nil {
			errs = append(errs, fmt.Errorf("%s: topology: %w", c.file, err))
		}
	}
	for i := range c.Renders {
		for _, path := range c.Renders[i].paths() {
			if err := moved.check(path, true); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", c.file, renderKey(i), err))
			}
		}
	}
	return &moved, errors.Join(errs...)
}

func (c *Config) leadsOut(path string) error {
	return fmt.Errorf("%s lies outside of %s", path, c.outside)
}

// worded names a link relative to the configuration.
func (c *Config) worded(err error) error {
	var link *worktree.LinkError
	var path *fs.PathError
	switch {
	case errors.As(err, &link):
		return &worktree.LinkError{Name: c.fromHere(link.Name)}
	case errors.As(err, &path):
		return fmt.Errorf("cannot be read: %w", path.Err)
	}
	return err
}

// fromHere converts a name relative to the bound into one relative to the directory of the
// configuration.
func (c *Config) fromHere(name string) string {
	if rel, err := filepath.Rel(c.Dir, filepath.Join(c.bound, name)); err == nil {
		return rel
	}
	return name
}

func (c *Config) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// namedFile checks a path that a key of the configuration names; every such key must be checked by
// it. Flag is the command-line flag with the same purpose, if there is one.
func (l *loader) namedFile(n *source.Node, at diag.Span, c *Config, key, flag string, directory bool) {
	if n.Text() == "" {
		l.fail(at, "%s: expected a file, found nothing", key)
		return
	}
	l.namedPath(n.Text(), at, c, key, flag, directory)
}

// namedPath is namedFile for a path that is only a part of a value.
func (l *loader) namedPath(path string, at diag.Span, c *Config, key, flag string, directory bool) {
	err := c.check(path, directory)
	if _, inside := worktree.Below(c.bound, c.absolute(path)); err != nil && !inside {
		err = fmt.Errorf("%w: put it inside%s", err, orFlag(flag))
	}
	if err != nil {
		l.fail(at, "%s: %v", key, err)
	}
}

// directory checks a key that names a directory or a glob of directories. Flag is the command-line
// flag with the same purpose.
func (l *loader) directory(word, flag string, k, item *source.Node, c *Config, key string) {
	dir := item.Get(word)
	key += "." + word
	base, _ := doublestar.SplitPattern(dir.Text())
	switch {
	case !isString(dir): // already reported
	case dir.Value == "":
		l.fail(l.at(k), "%s: expected a directory or a glob, found nothing", key)
	case strings.Contains(dir.Value, "://"):
		l.fail(l.at(k), "%s: expected a directory of the repository, found a URL: vendor it and name the directory", key)
	case !strings.ContainsAny(dir.Value, globMeta):
		l.namedFile(dir, l.at(k), c, key, flag, true)
	case !doublestar.ValidatePattern(dir.Value):
		l.fail(l.at(k), "%s: %q is not a valid glob", key, dir.Value)
	default:
		l.namedPath(base, l.at(k), c, key, flag, true)
	}
}

// orFlag suggests a flag.
func orFlag(flag string) string {
	if flag == "" {
		return ""
	}
	return ", or name it with " + flag
}

// topologies checks a list of files or directories that declare nodes.
func (l *loader) topologies(list *source.Node, c *Config, key string) {
	for i, item := range list.Items() {
		l.namedFile(item, l.at(item), c, fmt.Sprintf("%s[%d]", key, i), "--topology", true)
	}
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/versions"
	"github.com/schedlint/schedlint/lint/worktree"
)

// loader reads one configuration file and collects all mistakes in it.
type loader struct {
	path    string
	overlay func(string) ([]byte, bool) // returns the content of files that have not been saved; nil to read all files
	file    *source.File
	found   []mistake
}

// load reads a configuration file into c.
func (l *loader) load(c *Config) error {
	root := l.read(filepath.Join(c.Dir, filepath.Base(c.file)))
	if root == nil {
		return l.err()
	}
	c.text = l.file.Text
	for k, v := range root.Fields() {
		c.fields[k.Value] = l.file.FieldSpan(k, v)
	}
	for k := range root.Get("rules").Fields() {
		c.places[k.Value] = l.at(k)
	}
	decoder := source.Decoder{}
	for _, m := range decoder.Decode(root, c) {
		l.mismatch(m, decoder.Names(reflect.TypeFor[Config]()))
	}
	l.check(root, c)
	return l.err()
}

type mistake struct {
	at   diag.Span // zero for a mistake in the whole file
	text string
}

// fail records a mistake. It ignores further mistakes at the same location, because they usually
// follow from the first one.
func (l *loader) fail(at diag.Span, format string, args ...any) {
	if at.IsZero() || !slices.ContainsFunc(l.found, func(m mistake) bool { return m.at == at }) {
		l.found = append(l.found, mistake{at, fmt.Sprintf(format, args...)})
	}
}

// err returns all mistakes as one error, in file order.
func (l *loader) err() error {
	sorting.Stable(l.found, func(a, b mistake) int { return a.at.Compare(b.at) })
	errs := lists.Of(l.found, func(m mistake) error { return fmt.Errorf("%s: %s", place(l.path, m.at), m.text) })
	return errors.Join(errs...)
}

func (l *loader) at(n *source.Node) diag.Span { return l.file.Span(n) }

// read returns the only document of the file, or nil if the file is empty or cannot be read. A
// template, or any other file that source.Load skips, is an error. It must not be mistaken for an
// empty configuration.
func (l *loader) read(abs string) *source.Node {
	info, err := os.Stat(abs)
	switch {
	case os.IsNotExist(err):
		l.fail(diag.Span{}, "there is no such configuration file")
		return nil
	case err == nil && info.IsDir():
		l.fail(diag.Span{}, "is a directory, expected a configuration file")
		return nil
	}
	dir := string(os.PathSeparator)
	set, err := source.Load(source.Options{Dir: dir, Root: dir, Strict: true, Overlay: l.overlay}, []string{abs})
	if err != nil {
		l.fail(diag.Span{}, "%v", err)
		return nil
	}
	for _, p := range set.Problems {
		l.fail(p.Span, "%s: %s", strings.ReplaceAll(string(p.Kind), "-", " "), p.Detail)
	}
	root, file := set.Plain()
	switch {
	case len(l.found) > 0 || set.Documents == 0:
		return nil
	case set.Documents > 1:
		l.fail(diag.Span{}, "expected one document, found %d", set.Documents)
		return nil
	case root == nil:
		what := ""
		if len(set.Objects) > 0 {
			what = set.Objects[0].Kind + " " + set.Objects[0].Name
		} else {
			what = set.Skipped[0].Reason
		}
		l.fail(diag.Span{}, "expected a configuration, found %s", what)
		return nil
	}
	l.file = file
	return root
}

func (l *loader) mismatch(m source.Mismatch, keys []string) {
	at := l.at(m.Value)
	if m.Key != nil {
		at = l.at(m.Key)
	}
	switch {
	case m.Path == "":
		l.fail(at, "expected a map with the keys %s", strings.Join(keys, ", "))
	case m.Unknown && m.Suggestion != "":
		l.fail(at, "unknown key %s; did you mean %s?", m.Path, m.Suggestion)
	case m.Unknown:
		l.fail(at, "unknown key %s; there are %s", m.Path, strings.Join(m.Names, ", "))
	case m.Key != nil && m.Key.Value == "kubernetes":
		l.fail(at, `%s: expected a string such as "1.35"`, m.Path)
	case m.Want == "level":
		l.fail(at, "%s: expected one of %s", m.Path, strings.Join(levels(), ", "))
	case storage.Words(m.Want) != "":
		l.fail(at, "%s: expected one of %s", m.Path, storage.Words(m.Want))
	default:
		l.fail(at, "%s: expected a %s", m.Path, m.Want)
	}
}

// check checks the constraints that the Config type cannot express.
func (l *loader) check(root *source.Node, c *Config) {
	if k, word := root.Field("fail-on"); !word.IsNull() && !slices.Contains(FailLevels(), c.FailOn) {
		l.fail(l.at(k), "fail-on: expected one of %s, found %q", strings.Join(FailLevels(), ", "), c.FailOn)
	}
	for _, set := range [][2]string{{"extended-resources", c.ExtendedResources}, {"priority-classes", c.PriorityClasses}} {
		if k, v := root.Field(set[0]); !v.IsNull() && set[1] != complete {
			l.fail(l.at(k), "%s: expected %s, found %q", set[0], complete, set[1])
		}
	}
	for i, name := range c.Admission {
		if name != PodNodeSelector {
			l.fail(l.at(root.Get("admission").Items()[i]), "admission[%d]: expected %s, found %q", i, PodNodeSelector, name)
		}
	}
	l.policies(root, c)
	ids := map[string]string{}
	for i, item := range root.Get("custom").Items() {
		l.custom(item, &c.Custom[i], fmt.Sprintf("custom[%d]", i), ids)
	}
	l.rules(root, c)
	l.scopes(root, c)
	if k, file := root.Field("baseline"); !file.IsNull() {
		l.namedFile(file, l.at(k), c, "baseline", "--baseline", false)
	}
	if k, folder := root.Field("vendor"); !folder.IsNull() {
		if l.namedFile(folder, l.at(k), c, "vendor", "", true); path.Clean(filepath.ToSlash(c.Vendor)) == "." && c.Vendor != "" {
			l.fail(l.at(k), "vendor: expected a folder of its own, found the directory of the configuration")
		}
	}
	l.topologies(root.Get("topology"), c, "topology")
	l.kubernetes(root, "kubernetes")
	l.kinds(root.Get("kinds"), c.Kinds)
	l.globs(root.Get("ignore"), "ignore")
	l.renders(root.Get("renders"), c)
	l.names(root.Get("repositories"), "repositories", "the address of a repository")
	seen := map[string]bool{}
	for i, item := range root.Get("clusters").Items() {
		l.cluster(item, &c.Clusters[i], fmt.Sprintf("clusters[%d]", i), seen)
		for j, render := range item.Get("renders").Items() {
			c.entries[fmt.Sprintf("clusters[%d].renders[%d]", i, j)] = l.at(render)
		}
		l.topologies(item.Get("topology"), c, fmt.Sprintf("clusters[%d].topology", i))
		l.kubernetes(item, fmt.Sprintf("clusters[%d].kubernetes", i))
	}
	for i, item := range root.Get("survive").Items() {
		l.survive(item, fmt.Sprintf("survive[%d]", i))
	}
	for i, item := range root.Get("suppress").Items() {
		l.suppress(item, &c.Suppress[i], fmt.Sprintf("suppress[%d]", i))
	}
	for i, item := range root.Get("unrendered").Items() {
		u, key := &c.Unrendered[i], fmt.Sprintf("unrendered[%d]", i)
		u.Place = l.at(item)
		if u.Pattern == "" || !doublestar.ValidatePattern(u.Pattern) {
			l.fail(l.at(cmp.Or(item.Get("pattern"), item)), "%s: expected a pattern, which is a glob of paths or names, found %q", key, u.Pattern)
		}
		if u.Reason = strings.TrimSpace(u.Reason); u.Reason == "" {
			l.fail(u.Place, "%s: expected a reason why %s may stay unrendered", key, cmp.Or(u.Pattern, "it"))
		}
	}
}

func (l *loader) cluster(item *source.Node, c *Cluster, path string, seen map[string]bool) {
	switch {
	case c.Name == "":
		l.fail(l.at(item), "%s: a cluster needs a name", path)
	case seen[c.Name]:
		l.fail(l.at(item.Get("name")), "%s: cluster %s is declared twice", path, c.Name)
	}
	k, paths := item.Field("paths")
	if isEmpty(paths) && isEmpty(item.Get("renders")) && isEmpty(item.Get("pointers")) && isEmpty(item.Get("destinations")) && c.Server == "" {
		l.fail(l.at(cmp.Or(k, item)), "%s: a cluster needs paths, renders, pointers, destinations or a server", path)
	}
	if c.Server != "" && len(c.Destinations) == 0 {
		c.Destinations = []string{c.Name, c.Server}
	}
	for _, key := range []string{"labels", "annotations"} {
		if k, _ := item.Field(key); k != nil && c.Server == "" {
			l.fail(l.at(k), "%s: expected the server of the cluster in Argo CD, which has the %s", path, key)
		}
	}
	l.selection(item, path, "")
	seen[c.Name] = true
	l.globs(item.Get("pointers"), path+".pointers")
	l.names(item.Get("destinations"), path+".destinations", "the name or address of a cluster")
	l.globs(item.Get("paths"), path+".paths")
	l.globs(item.Get("renders"), path+".renders")
}

// kubernetes checks the version of Kubernetes in a map of the configuration.
func (l *loader) kubernetes(n *source.Node, path string) {
	if k, v := n.Field("kubernetes"); isString(v) {
		if _, err := versions.Parse(v.Value); err != nil {
			l.fail(l.at(k), "%s: %v, found %q", path, err, v.Value)
		}
	}
}

func isEmpty(list *source.Node) bool {
	return list.IsNull() || list.Kind == source.Sequence && list.Len() == 0
}

// names checks that a list has no empty items. An empty path would mean the configuration's
// directory.
func (l *loader) names(list *source.Node, path, want string) {
	for i, item := range list.Items() {
		if item.Text() == "" {
			l.fail(l.at(item), "%s[%d]: expected %s, found nothing", path, i, want)
		}
	}
}

func (l *loader) globs(list *source.Node, path string) {
	l.names(list, path, "a glob")
	for i, item := range list.Items() {
		if !doublestar.ValidatePattern(item.Text()) {
			l.fail(l.at(item), "%s[%d]: %q is not a valid glob", path, i, item.Value)
		}
	}
}

// Maximum sizes, in bytes, of a configuration that was found and of a file named in a
// configuration.
const (
	maxFile  = 1 << 20
	maxNamed = 64 << 20
)

// LoadFound reads a configuration that was found rather than named by the user and is therefore
// untrusted. The configuration and all files that it names must be regular files below root that
// can be reached without links. If root is empty, the root of the work tree is used. Outside of a
// work tree, the directory of the configuration is used.
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
		var link *worktree.LinkError
		switch {
		case errors.As(err, &link) && c.fromHere(link.Name) == filepath.Base(path):
			err = errors.New("is a symbolic link: make it a regular file, or name the file with --config")
		case errors.As(err, &link):
			err = fmt.Errorf("%w: make it a directory, or name the file with --config", err)
		case errors.Is(err, worktree.ErrNotRegular):
			err = fmt.Errorf("%w: make it one, or name the file with --config", err)
		default:
			err = c.worded(err)
		}
		l.fail(diag.Span{}, "%v", err)
		return c, l.err()
	}
	l.overlay = func(string) ([]byte, bool) { return text, true }
	return c, l.load(c)
}

// Choose reads the configuration at a path that the user named. If path is empty, it reads the
// nearest configuration in the working directory or its parents. Errors then show the path relative
// to the working directory. If there is no such file, Choose returns an empty configuration.
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

// Read reads a file named in the configuration. It returns an error if the configuration is not
// allowed to name the file.
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

// check returns an error if the configuration is not allowed to name a path. It accepts a missing
// file, because reading the file will return an error.
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

// TopologyFiles returns the node files of all clusters, relative to the directory of the file.
func (c *Config) TopologyFiles() []string {
	paths := slices.Clone(c.Topology)
	for _, cluster := range c.Clusters {
		paths = append(paths, cluster.Topology...)
	}
	return paths
}

// At returns a copy of the configuration that behaves as if its file were in the directory dir. The
// copy may name only files below root. Its errors show the argument file as the path of the
// configuration. At returns an error if the copy names a render path that is not allowed. It does not
// check node files, which need not be those of the directory.
func (c *Config) At(dir, root, file string) (*Config, error) {
	moved := *c
	moved.Dir, moved.file = dir, file
	if c.bound == "" {
		return &moved, nil
	}
	moved.bound = root
	var errs []error
	if c.Vendor != "" {
		if err := moved.check(c.Vendor, true); err != nil {
			errs = append(errs, fmt.Errorf("%s: vendor: %w", c.file, err))
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

// worded rephrases an error about a link or an unreadable file. In the result, the name of a link
// is relative to the configuration.
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

// fromHere converts a name relative to bound into one relative to the configuration's directory.
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

// namedFile checks a path in the configuration. It must be called for every key that names files.
// flag is the command-line flag with the same meaning, or "".
func (l *loader) namedFile(n *source.Node, at diag.Span, c *Config, key, flag string, directory bool) {
	if n.Text() == "" {
		l.fail(at, "%s: expected a file, found nothing", key)
		return
	}
	l.namedPath(n.Text(), at, c, key, flag, directory)
}

// namedPath is like namedFile, but checks a path that is only part of a value.
func (l *loader) namedPath(path string, at diag.Span, c *Config, key, flag string, directory bool) {
	err := c.check(path, directory)
	if _, inside := worktree.Below(c.bound, c.absolute(path)); err != nil && !inside {
		advice := "put it inside"
		if flag != "" {
			advice += ", or name it with " + flag
		}
		err = fmt.Errorf("%w: %s", err, advice)
	}
	if err != nil {
		l.fail(at, "%s: %v", key, err)
	}
}

// directory checks a key that names a directory or a glob of directories. flag is the command-line
// flag with the same meaning.
func (l *loader) directory(word, flag string, k, item *source.Node, c *Config, key string) {
	dir := item.Get(word)
	key += "." + word
	base, _ := doublestar.SplitPattern(dir.Text())
	switch {
	case !isString(dir): // the decoder already reported it
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

// topologies checks a list of files or directories with node declarations.
func (l *loader) topologies(list *source.Node, c *Config, key string) {
	for i, item := range list.Items() {
		l.namedFile(item, l.at(item), c, fmt.Sprintf("%s[%d]", key, i), "--topology", true)
	}
}

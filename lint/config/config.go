package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Name is the name of the configuration file.
const Name = ".schedlint.yaml"

// Config has the settings of a team for its repository. The zero Config is the default.
type Config struct {
	// Topology are files that declare the nodes.
	Topology []string `json:"topology"`
	// Ignore are globs, with ** for any number of directories, of files and directories that are
	// not read.
	Ignore []string `json:"ignore"`
	// IgnoreDefaults is false if directories of installed packages are read like others
	// (source.Options.OwnOnly); nil means true.
	IgnoreDefaults *bool `json:"ignore-defaults"`
	// Policies are the enabled packs, and folders with the team's own rules.
	Policies []Policy `json:"policies"`
	// Custom are rules that use templates.
	Custom []Custom `json:"custom"`
	// Rules overrides the levels of rules, and sets parameters and scopes. Keys are ids and globs
	// of ids.
	Rules map[string]Rule `json:"-"`
	// RuleNodes is the source of Rules; nil after loading.
	RuleNodes *source.Node `json:"rules"`
	// Scopes overrides levels of rules for some objects; the last matching one wins.
	Scopes []Scoped `json:"scopes"`
	// FailOn is the lowest level that fails the run: error, warning or none; empty means error.
	FailOn string `json:"fail-on"`
	// ExtendedResources is complete if the declared nodes list all their extended resources;
	// otherwise empty.
	ExtendedResources string `json:"extended-resources"`
	// Renders are the renders to make; nil to discover them, see Discovers.
	Renders []Render `json:"renders"`
	// Repositories are addresses of this repository, by which GitOps pointers name it.
	Repositories []string `json:"repositories"`
	// Clusters splits the tree: each cluster is judged alone, against its own nodes.
	Clusters []Cluster `json:"clusters"`
	// Survive lists the losses that workloads have to survive.
	Survive []Survive `json:"survive"`
	// Suppress accepts findings.
	Suppress []Suppress `json:"suppress"`
	// Baseline is the file with the findings that are accepted from the start.
	Baseline string `json:"baseline"`

	// Dir is the directory of the file, to which its paths are relative; "" if there is no file.
	Dir string `json:"-"`

	// bound is the directory that contains all files which the configuration may name, and outside
	// its description in messages; both are empty if the user named the file explicitly, which
	// makes it trusted.
	bound, outside string

	// home is the directory that the file was read from, which At does not change.
	home        string
	ruleKeys    []string             // of Rules, in the order of the file
	scopePlaces map[string]diag.Span // of the rules of a scope

	file           string // as the user of the command would write it
	text           []byte
	places, fields map[string]diag.Span // of the rules and of the top-level fields
	entries        map[string]diag.Span // of renders[i], their values files and clusters[i].renders[j]
}

// Cluster is the part of the tree that is applied to one cluster.
type Cluster struct {
	Name string `json:"name"`
	// Paths are directories, files or globs; they may be empty if there are Renders.
	Paths []string `json:"paths"`
	// Renders are names of renders, or paths or globs of their sources.
	Renders []string `json:"renders"`
	// Pointers are globs of files with GitOps pointers, and Destinations names and addresses of
	// clusters. Everything that such pointers deploy, directly or through others, belongs to the
	// cluster.
	Pointers     []string `json:"pointers"`
	Destinations []string `json:"destinations"`
	Topology     []string `json:"topology"`
}

// Level is a level in the configuration. It also accepts a bare off, which YAML reads as a boolean.
type Level struct{ diag.Level }

// UnmarshalJSON reads error, warning, note, off, or the boolean false.
func (l *Level) UnmarshalJSON(text []byte) error {
	word := "off"
	if string(text) != "false" {
		if err := json.Unmarshal(text, &word); err != nil {
			return err
		}
	}
	if !slices.Contains(levels(), word) {
		return fmt.Errorf("unknown level %s", word)
	}
	l.Level = diag.Level(word)
	return nil
}

func levels() []string { return []string{"error", "warning", "note", "off"} }

// FailLevels returns the values of fail-on.
func FailLevels() []string { return []string{"error", "warning", "none"} }

// complete is the only value of extended-resources.
const complete = "complete"

// ClosesResources reports whether the nodes have no extended resource that no node and no pool
// lists.
func (c *Config) ClosesResources() bool { return c.ExtendedResources == complete }

// Find looks for the configuration file in dir and the directories above it; it returns "" if
// none exists. The result may be a link or a pipe: see LoadFound.
func Find(dir string) string {
	for {
		path := filepath.Join(dir, Name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Load reads a configuration file that the user named and therefore trusts: it may be a pipe, and
// name files anywhere. Errors name the file as path does.
func Load(path string) (*Config, error) {
	c, err := empty(path)
	if err != nil {
		return nil, err
	}
	return c, (&loader{path: path}).load(c)
}

func empty(path string) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	return &Config{Dir: filepath.Dir(abs), home: filepath.Dir(abs), file: path, scopePlaces: map[string]diag.Span{}, places: map[string]diag.Span{}, fields: map[string]diag.Span{}, entries: map[string]diag.Span{}}, nil
}

// Source returns the path of the configuration file, as the user of the command would write it, and
// its text; both are empty without a file.
func (c *Config) Source() (path string, text []byte) { return c.file, c.text }

func place(path string, at diag.Span) string {
	if at.IsZero() {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
}

// Ignores reports whether a path, relative to the configuration's directory and with forward
// slashes, must not be read: paths that Ignore matches, and the fixtures of the team's own rules,
// which contain intentional faults.
func (c *Config) Ignores(name string) bool {
	if len(c.Ignore) > 0 && matchesAny(c.Ignore, name) {
		return true
	}
	return slices.ContainsFunc(c.Policies, func(p Policy) bool {
		rest, below := strings.CutPrefix(name, path.Clean(filepath.ToSlash(p.Dir))+"/")
		return p.Dir != "" && below && strings.Contains("/"+path.Dir(rest)+"/", "/fixtures/")
	})
}

// OwnOnly reports whether directories of installed packages are skipped.
func (c *Config) OwnOnly() bool { return c.IgnoreDefaults == nil || *c.IgnoreDefaults }

// IgnoresSome reports whether Ignores may report any path.
func (c *Config) IgnoresSome() bool { return len(c.Ignore)+len(c.Policies) > 0 }

// WithFixtures returns the configuration for a command that works on the fixtures of rules: it
// ignores none of them, and names no policies.
func (c *Config) WithFixtures() *Config {
	all := *c
	all.Policies = nil
	return &all
}

// Has reports whether a path belongs to the cluster.
func (c *Cluster) Has(name string) bool { return matchesAny(c.Paths, name) }

// matchesAny reports whether globs match a path, or a directory above it.
func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		for at := name; at != "." && at != "/" && at != ""; at = path.Dir(at) {
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

// Deploys reports whether a cluster has a render, by its name, its directory or one of its files.
// The directory of a chart may have a render for each environment, so a chart counts by its name
// only.
func (c *Cluster) Deploys(r Chosen) bool {
	if len(r.Pointers) > 0 && c.points(r) {
		return true
	}
	paths := []string{r.Name}
	if r.Dir != "" && (r.Entry == nil || r.Entry.Chart == "") {
		paths = append(paths, r.Dir)
	}
	if r.Entry != nil {
		paths = append(paths, r.Entry.Files...)
	}
	return slices.ContainsFunc(paths, func(name string) bool { return matchesAny(c.Renders, path.Clean(name)) })
}

// points reports whether the pointers that deploy a render belong to a cluster: if the cluster
// names both globs and destinations, one of each must match.
func (c *Cluster) points(r Chosen) bool {
	if len(c.Pointers)+len(c.Destinations) == 0 {
		return false
	}
	to := func(name string) bool { return slices.Contains(c.Destinations, name) }
	from := func(file string) bool { return matchesAny(c.Pointers, file) }
	return (len(c.Pointers) == 0 || slices.ContainsFunc(r.Pointers, from)) &&
		(len(c.Destinations) == 0 || slices.ContainsFunc(r.Destinations, to))
}

// FollowsPointers reports whether some render or cluster asks for the deployments of GitOps
// pointers, or renders are discovered.
func (c *Config) FollowsPointers() bool {
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool { return r.Pointers != "" }) ||
		slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return len(c.Pointers)+len(c.Destinations) > 0 })
}

// Follows reports the same for one pointer, by its file, the files of the pointers that deploy it,
// and its destinations.
func (c *Config) Follows(files, destinations []string) bool {
	one := Chosen{Pointers: files, Destinations: destinations}
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool {
		return r.Pointers != "" && slices.ContainsFunc(files, func(file string) bool { return matchesAny([]string{r.Pointers}, file) })
	}) || slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return c.points(one) })
}

// pointers checks an entry for GitOps pointers.
func (l *loader) pointers(k, item *source.Node, r *Render, c *Config, key string) {
	// the decoder reports a value that is no string
	if isString(item.Get("pointers")) && (r.Pointers == "" || !doublestar.ValidatePattern(r.Pointers)) {
		l.fail(l.at(k), "%s.pointers: expected a glob of files, found %q", key, r.Pointers)
	}
	l.remotes(item, c, key)
	l.without(item, key, "cannot be combined with pointers", "name", "load-restrictor", "source-root")
}

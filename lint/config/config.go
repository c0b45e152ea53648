package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Name is the name of the configuration file.
const Name = ".schedlint.yaml"

// Config holds a team's settings for its repository. The zero Config is the default configuration.
type Config struct {
	// Topology lists the files that declare the nodes.
	Topology []string `json:"topology"`
	// Ignore lists globs for files and directories to skip. In a glob, ** matches any number of
	// directories.
	Ignore []string `json:"ignore"`
	// IgnoreDefaults is false if directories of installed packages are also read (see
	// source.Options.OwnOnly). Nil means true.
	IgnoreDefaults *bool `json:"ignore-defaults"`
	// Policies lists the enabled rule packs and the folders with the team's own rules.
	Policies []Policy `json:"policies"`
	// Custom lists rules created from templates.
	Custom []Custom `json:"custom"`
	// Rules maps rule ids, and globs that match rule ids, to levels, parameters and scopes.
	Rules map[string]Rule `json:"-"`
	// RuleNodes is the undecoded YAML for Rules. It is nil after loading.
	RuleNodes *source.Node `json:"rules"`
	// Scopes sets rule levels for certain objects. If several scopes match, the last one wins.
	Scopes []Scoped `json:"scopes"`
	// FailOn is the lowest level that makes the run fail: error, warning or none. Empty means
	// error.
	FailOn string `json:"fail-on"`
	// ExtendedResources is "complete" if the declared nodes list all their extended resources, and
	// empty otherwise.
	ExtendedResources string `json:"extended-resources"`
	// PriorityClasses is "complete" if the input declares every PriorityClass of the clusters, and empty
	// otherwise.
	PriorityClasses string `json:"priority-classes"`
	// Admission lists the admission plugins that are on although Kubernetes turns them off by default.
	Admission []string `json:"admission"`
	// Kinds lists what operators make of custom resources. A row replaces that of schedlint for the kind.
	Kinds []kinds.Row `json:"kinds"`
	// Storage says where the volumes of StorageClasses can be used.
	Storage storage.Declared `json:"storage"`
	// Kubernetes is the version of the clusters, such as 1.35, or empty if it is not known.
	Kubernetes string `json:"kubernetes"`
	// Renders lists what to render. If it is nil, renders are discovered (see Discovers).
	Renders []Render `json:"renders"`
	// Repositories lists the addresses that GitOps pointers use for this repository.
	Repositories []string `json:"repositories"`
	// Clusters divides the tree into clusters. Each cluster is checked against its own nodes.
	Clusters []Cluster `json:"clusters"`
	// Survive lists the node losses that workloads must survive.
	Survive []Survive `json:"survive"`
	// Suppress lists the findings that are accepted.
	Suppress []Suppress `json:"suppress"`
	// Unrendered lists the inputs that may stay unrendered.
	Unrendered []Unrendered `json:"unrendered"`
	// Baseline is the path of the baseline file, which lists accepted findings.
	Baseline string `json:"baseline"`
	// Vendor is the folder with copies of charts and directories that are elsewhere. If it is empty,
	// Library looks in the usual places.
	Vendor string `json:"vendor"`

	// Dir is the directory that contains the file, or "" if there is no file. Paths in the file are
	// relative to it.
	Dir string `json:"-"`

	// bound is the directory that must contain every file named in the configuration. outside
	// describes bound in messages. Both are empty if the user named the configuration explicitly,
	// because such a configuration is trusted.
	bound, outside string

	// home is the directory that the file was read from. Unlike Dir, it is not changed by At.
	home        string
	ruleKeys    []string             // keys of Rules, in file order
	scopePlaces map[string]diag.Span // locations of the rules of each scope

	file           string // path of the file, as the user would type it
	text           []byte
	places, fields map[string]diag.Span // locations of the rules and of the top-level fields
	entries        map[string]diag.Span // locations of renders[i], their values files and clusters[i].renders[j]
}

// Cluster describes the part of the tree that is applied to one cluster.
type Cluster struct {
	Name string `json:"name"`
	// Paths lists directories, files and globs. It may be empty if another list selects something.
	Paths []string `json:"paths"`
	// Renders lists names of renders, or paths and globs that match the sources of renders.
	Renders []string `json:"renders"`
	// Pointers lists globs that match files with GitOps pointers. Destinations lists cluster names
	// and addresses. Everything that a matching pointer deploys, directly or through other
	// pointers, belongs to the cluster.
	Pointers     []string `json:"pointers"`
	Destinations []string `json:"destinations"`
	Topology     []string `json:"topology"`
	// Storage adds to that of the Config, and wins over it.
	Storage storage.Declared `json:"storage"`
	// Kubernetes is the version of the cluster. If it is empty, that of the Config applies.
	Kubernetes string `json:"kubernetes"`
	// Server, Labels and Annotations are those of the cluster in Argo CD, or empty. If there is a
	// Server and no Destinations are written, these are Name and Server.
	Server      string            `json:"server"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Level is a rule level as written in the configuration. It accepts an unquoted off, although YAML
// parses it as a boolean.
type Level struct{ diag.Level }

// UnmarshalJSON accepts error, warning, note, off and the boolean false, which means off.
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

// PodNodeSelector is the only valid name in Config.Admission.
const PodNodeSelector = "PodNodeSelector"

// complete is the only valid value for extended-resources and priority-classes.
const complete = "complete"

// ClosesResources reports whether the declared extended resources are complete. In that case, a
// resource that no node or pool lists does not exist in the cluster.
func (c *Config) ClosesResources() bool { return c.ExtendedResources == complete }

// ClosesPriorities reports whether the input declares every PriorityClass.
func (c *Config) ClosesPriorities() bool { return c.PriorityClasses == complete }

// Find looks for a configuration file in dir and its parents, and returns its path or "". The file
// may be a link or a pipe, which LoadFound rejects.
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

// Load reads a configuration file that the user named explicitly. The file is trusted, so it may be
// a pipe and may refer to files anywhere. Errors show the path as given.
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

// Source returns the configuration file's path, as the user would type it, and its text. Both are
// empty if there is no configuration file.
func (c *Config) Source() (path string, text []byte) { return c.file, c.text }

func place(path string, at diag.Span) string {
	if at.IsZero() {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
}

// Ignores reports whether to skip a path, which is relative to the configuration's directory and
// has forward slashes. It skips paths that match Ignore, as well as the fixtures of the team's own
// rules, which contain faults on purpose.
func (c *Config) Ignores(name string) bool {
	return len(c.Ignore) > 0 && matchesAny(c.Ignore, name) || slices.ContainsFunc(c.Policies, func(p Policy) bool {
		rest, below := strings.CutPrefix(name, path.Clean(filepath.ToSlash(p.Dir))+"/")
		return p.Dir != "" && below && strings.Contains("/"+path.Dir(rest)+"/", "/fixtures/")
	})
}

// OwnOnly reports whether the directories of installed packages are skipped.
func (c *Config) OwnOnly() bool { return c.IgnoreDefaults == nil || *c.IgnoreDefaults }

// IgnoresSome reports whether there may be a path for which Ignores returns true.
func (c *Config) IgnoresSome() bool { return len(c.Ignore)+len(c.Policies) > 0 }

// WithFixtures returns a copy of the configuration for commands that work on rule fixtures. It
// removes the policies from the copy, so that Ignores does not skip their fixtures.
func (c *Config) WithFixtures() *Config {
	all := *c
	all.Policies = nil
	return &all
}

// Library opens the folder with copies of charts and directories that are elsewhere. The argument
// root is the repository's root without symbolic links. Without Vendor, the folder is beside the
// configuration or at the root. Library returns nil if there is no lock.
func (c *Config) Library(root string) (*thirdparty.Library, error) {
	folders := []string{filepath.Join(worktree.Resolved(c.Dir), thirdparty.Dir), filepath.Join(root, thirdparty.Dir)}
	if c.Vendor != "" {
		folders = []string{filepath.Join(worktree.Resolved(c.Dir), filepath.FromSlash(c.Vendor))}
	}
	for _, folder := range folders {
		if name, ok := worktree.Below(root, folder); ok {
			if l, err := thirdparty.Open(root, name); l != nil || err != nil {
				return l, err
			}
		}
	}
	return nil, nil
}

// Has reports whether a path belongs to the cluster.
func (c *Cluster) Has(name string) bool { return matchesAny(c.Paths, name) }

// matchesAny reports whether any glob matches a path or one of its parent directories.
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

// Deploys reports whether a render belongs to the cluster. It checks the render's name, directory
// and files, and the pointers that deploy it. It does not check a chart's directory, because the
// chart may be rendered once for each environment.
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

// KubernetesOf returns the version of Kubernetes that a render is deployed to, or "".
func (c *Config) KubernetesOf(r Chosen) string {
	for i := range c.Clusters {
		if c.Clusters[i].Deploys(r) {
			return cmp.Or(c.Clusters[i].Kubernetes, c.Kubernetes)
		}
	}
	return c.Kubernetes
}

// points reports whether the pointers that deploy a render belong to the cluster. If the cluster
// has both pointer globs and destinations, at least one of each must match.
func (c *Cluster) points(r Chosen) bool {
	if len(c.Pointers)+len(c.Destinations) == 0 {
		return false
	}
	to := func(name string) bool { return slices.Contains(c.Destinations, name) }
	from := func(file string) bool { return matchesAny(c.Pointers, file) }
	return (len(c.Pointers) == 0 || slices.ContainsFunc(r.Pointers, from)) &&
		(len(c.Destinations) == 0 || slices.ContainsFunc(r.Destinations, to))
}

// Knows reports whether the Argo CD that reads ApplicationSets in a file manages the cluster.
func (c *Cluster) Knows(file string) bool {
	return len(c.Pointers) == 0 || matchesAny(c.Pointers, file)
}

// FollowsPointers reports whether to follow GitOps pointers. It returns true if a render or cluster
// uses pointers, or if renders are discovered.
func (c *Config) FollowsPointers() bool {
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool { return r.Pointers != "" }) ||
		slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return len(c.Pointers)+len(c.Destinations) > 0 })
}

// Follows reports whether to follow one GitOps pointer. files contains the pointer's file and the
// files of the pointers that deploy it. destinations contains the clusters to which the pointer
// deploys.
func (c *Config) Follows(files, destinations []string) bool {
	one := Chosen{Pointers: files, Destinations: destinations}
	return c.Discovers() || slices.ContainsFunc(c.Renders, func(r Render) bool {
		return r.Pointers != "" && slices.ContainsFunc(files, func(file string) bool { return matchesAny([]string{r.Pointers}, file) })
	}) || slices.ContainsFunc(c.Clusters, func(c Cluster) bool { return c.points(one) })
}

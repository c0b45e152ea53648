package inputs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// What Choice.Mode can be.
const (
	Auto = "auto"
	Off  = "off"
	Only = "only"
)

// Choice says what is rendered, as flags do.
type Choice struct {
	Dirs   []string // kustomizations, as they were named
	Charts []string // and charts, with values files behind an equals sign
	// Release is the name of the releases of charts that are given none.
	Release string
	Mode    string
	// known are the addresses of the repository, once asked for: those of the work tree
	// count for another revision of it as well.
	known []string
	asked bool
}

// Apply adds what is to be rendered to the options of a run. With renders that are named and no
// path there is nothing else to judge.
func (f *Choice) Apply(o *lint.Options, pathless bool) error {
	if pathless && len(f.Dirs)+len(f.Charts) > 0 {
		o.Paths = nil
	}
	o.Unfollowed, o.Notes, o.Overlay, o.Followed = nil, nil, nil, nil
	if f.Mode != Off {
		o.Followed = map[lint.PointerID]bool{}
	}
	c, err := f.choose(o)
	if err != nil {
		return err
	}
	o.Renders = c.all
	if f.Mode == Only {
		o.Paths = nil
		if len(c.all) == 0 {
			return errors.New("--render only: there is nothing to render: name a kustomization with -k, a chart with --helm, or a directory that holds one")
		}
	}
	if len(c.all) > 0 {
		o.Renderer = c.rendered.render
	}
	return nil
}

// choose chooses renders: those that flags and paths name, those of the configuration and those
// that are found.
func (f *Choice) choose(o *lint.Options) (*choosing, error) {
	root, err := filepath.EvalSymlinks(o.Root)
	if err != nil {
		return nil, err
	}
	c := &choosing{Choice: f, o: o, root: root, base: root, seen: map[string]bool{}, reads: &reads{map[string][]byte{}, mostRead}, rendered: rendered{}}
	if o.Config.Dir != "" {
		if c.base, err = filepath.EvalSymlinks(o.Config.Dir); err != nil {
			return nil, err
		}
	}
	if err := c.find(); err != nil {
		return nil, err
	}
	o.Overlay = c.reads.overlay
	for _, dir := range f.Dirs {
		if !isKustomization(worktree.Absolute(o.Dir, dir)) {
			return nil, fmt.Errorf("-k %s: there is no kustomization.yaml, kustomization.yml or Kustomization", dir)
		}
		if err := c.name(dir); err != nil {
			return nil, fmt.Errorf("-k %s: %w", dir, err)
		}
	}
	for _, named := range f.Charts {
		if err := c.chart(named); err != nil {
			return nil, fmt.Errorf("--helm %s: %w", named, err)
		}
	}
	if f.Mode == Off {
		return c, nil
	}
	for _, path := range o.Paths {
		if path != "-" && isFile(worktree.Absolute(o.Dir, path), chartName) {
			_ = c.chart(path) // what is outside of the repository is read as it stands
		}
		if path != "-" && isKustomization(worktree.Absolute(o.Dir, path)) {
			_ = c.name(path) // what is outside of the repository is read as it stands
		}
	}
	for _, x := range c.found {
		if c.o.Config.Discovers() || c.within(x) {
			c.take(x, cmp.Or(c.confinements[x.Dir], c.root))
		}
	}
	for _, pointed := range c.pointed {
		c.takePointers(pointed)
		if url := pointed.Assumed; url != "" {
			o.Notes = append(o.Notes, "all GitOps pointers name the repository "+report.Visible(url)+", which is taken for this one (repositories: in the configuration says what it is)")
		}
	}
	c.discover()
	return c, nil
}

// Repository is the root of the work tree around dir, or dir itself.
func Repository(dir string) string {
	if root, ok := worktree.Root(dir); ok {
		return root
	}
	return dir
}

// isKustomization reports whether a directory holds a kustomization.
func isKustomization(dir string) bool {
	return slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool { return isFile(dir, name) })
}

// isFile reports whether a directory has a file of a name, be it a link: the render says where
// that leads.
func isFile(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// choosing gathers renders, each directory once. Names count from base.
type choosing struct {
	*Choice
	o          *lint.Options
	root, base string
	seen       map[string]bool
	all        []lint.Render
	// charts are those that a glob of the configuration may match, or that are found, and
	// chartsIn what those are confined to.
	charts   []string
	chartsIn map[string]string
	inflated map[string]bool // those that the helmCharts of a kustomization have
	// found are the renders of the configuration, or else those below the paths, and
	// confinements what those are confined to, by their directories.
	found        []config.Chosen
	confinements map[string]string
	// pointed are the pointers, by what they are confined to, and outputs those of roots that
	// were rendered on the way, by their directories.
	pointed  []*pointed
	outputs  map[string]*render.Output
	rendered rendered
	reads    *reads
}

// under is the path of a name below a directory.
func under(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// named is a path as a name from a directory.
func named(from, path string) string { return filepath.ToSlash(worktree.Seen(from, path)) }

// fromBase is a name below a root as one from the directory of the configuration.
func (c *choosing) fromBase(root, name string) string { return named(c.base, under(root, name)) }

// name takes in the kustomization of a path that was named.
func (c *choosing) name(path string) error {
	real, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, path))
	if err != nil {
		return err
	}
	name := named(c.base, real)
	chosen := config.Chosen{Name: name, Dir: name}
	for _, x := range c.found {
		if x.Dir == name { // as the configuration says
			chosen = x
		}
	}
	chosen.Literal = true
	c.take(chosen, confinement(c.root, real))
	return nil
}

// confinement is what a render of a path stays in: the repository, or else the work tree
// that holds the path, or the directory itself.
func confinement(repository, at string) string {
	if worktree.Inside(repository, at) {
		return repository
	}
	if root, ok := worktree.Root(at); ok {
		return root
	}
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		return filepath.Dir(at)
	}
	return at
}

// take adds what was chosen, unless it is there.
func (c *choosing) take(chosen config.Chosen, confinement string) {
	x := lint.Render{Chosen: chosen, Requested: chosen.Literal}
	key := ""
	switch entry := chosen.Entry; {
	case entry != nil && entry.Chart != "":
		x.Root = c.chartOf(chosen, confinement)
		key = keyOf(x.Root) + chosen.Name
	case chosen.Dir == "":
		for _, file := range entry.Files {
			x.Files = append(x.Files, worktree.Seen(c.o.Dir, under(c.base, file)))
		}
		if entry.SourceRoot != "" {
			x.SourceRoot = under(c.base, entry.SourceRoot)
		}
	default:
		x.Root = render.Root{Confinement: confinement, Dir: named(confinement, under(c.base, chosen.Dir))}
		if entry != nil {
			x.Root.RootOnly = entry.RootOnly()
			x.Root.Remotes = map[string]string{}
			for url, dir := range entry.Remotes {
				x.Root.Remotes[url] = named(c.root, under(c.base, dir))
			}
		}
		key = filepath.Join(confinement, x.Root.Dir)
		if out := c.outputs[chosen.Dir]; out != nil {
			c.rendered[keyOf(x.Root)] = out
		}
	}
	if key == "" || !c.seen[key] {
		c.seen[key] = true
		c.all = append(c.all, x)
	}
}

// find finds what the configuration says, or else what there is below the paths, unless nothing
// is rendered that is not named.
func (c *choosing) find() error {
	if c.o.Config.Discovers() && c.Mode == Off {
		return nil
	}
	var dirs []string
	c.inflated, c.confinements, c.chartsIn, c.outputs = map[string]bool{}, map[string]string{}, map[string]string{}, map[string]*render.Output{}
	places := c.places()
	for _, root := range slices.Sorted(maps.Keys(places)) {
		before := len(c.charts)
		names, err := c.search(root, places[root])
		if err != nil {
			return err
		}
		for _, chart := range c.charts[before:] {
			c.chartsIn[chart] = root
		}
		for _, name := range names {
			dirs, c.confinements[name] = append(dirs, name), root
		}
	}
	var err error
	if c.found, err = c.o.Config.Expand(config.Tree{Roots: dirs, Charts: c.charts, Tracked: c.o.Tracked}); err != nil {
		return err
	}
	if len(c.o.Config.Clusters) > 0 && !c.o.Config.Discovers() {
		return c.o.Config.CheckClusters(c.found)
	}
	return nil
}

// remoteDirs are the directories that a configuration has in place of URLs, as names from a
// root.
func remoteDirs(conf *config.Config, root string) map[string]string {
	all := map[string]string{}
	for _, entry := range conf.Renders {
		for url, dir := range entry.Remotes {
			all[url] = named(root, under(worktree.Real(conf.Dir), dir))
		}
	}
	return all
}

// places are the directories that are searched, by what they are confined to: all of the
// repository if the configuration may name any.
func (c *choosing) places() map[string][]string {
	if !c.o.Config.Discovers() {
		return map[string][]string{c.root: {c.root}}
	}
	all := map[string][]string{}
	for _, path := range c.o.Paths {
		at, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, path))
		if path != "-" && err == nil && worktree.IsDir(at) { // whoever reads it says what is missing
			root := confinement(c.root, at)
			all[root] = append(all[root], at)
		}
	}
	return all
}

// within reports whether a render of the configuration is below one of the paths.
func (c *choosing) within(x config.Chosen) bool {
	dir := cmp.Or(x.Dir, ".")
	if x.Dir == "" && len(x.Entry.Files) > 0 {
		dir = path.Dir(x.Entry.Files[0])
	}
	return slices.ContainsFunc(c.o.Paths, func(p string) bool {
		real, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, p))
		return err == nil && p != "-" && worktree.Inside(real, under(c.base, dir))
	})
}

func (c *choosing) ignore(root string) func(name string) bool {
	return func(name string) bool { return c.o.Config.IgnoresSome() && c.o.Config.Ignores(c.fromBase(root, name)) }
}

// addresses are those of the repository at hand: what the configuration says and, of a
// work tree, what git has.
func (c *choosing) addresses(dir string) []string {
	if !c.asked {
		c.known, c.asked = revision.Remotes(dir), true
	}
	return slices.Concat(c.known, c.o.Config.Repositories)
}

// rendered are outputs of roots that were rendered while their pointers were followed.
type rendered map[string]*render.Output

// keyOf tells roots apart.
func keyOf(r render.Root) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it is texts and numbers
	}
	return string(text)
}

// render renders what was not rendered yet, or has other texts now.
func (r rendered) render(ctx context.Context, all []render.Root) []*render.Output {
	outs := make([]*render.Output, len(all))
	var at []int
	var left []render.Root
	for i, root := range all {
		if len(root.Texts) == 0 && len(r) > 0 {
			root.Texts = nil
			outs[i] = r[keyOf(root)]
		}
		if outs[i] == nil {
			at, left = append(at, i), append(left, all[i])
		}
	}
	for i, out := range Render(ctx, left) {
		outs[at[i]] = out
	}
	return outs
}

// reads are the files that were read while roots were looked for, by their names from the
// root of the run, be they outside. The run takes them from there, so that it judges what was
// found and reads no file twice.
type reads struct {
	byName map[string][]byte
	left   int // bytes
}

// mostRead is how many bytes are kept; what is beyond is read again.
const mostRead = 64 << 20

func (t *reads) keep(name string, text []byte) {
	if _, known := t.byName[name]; !known && len(text) <= t.left {
		t.byName[name] = text
		t.left -= len(text)
	}
}

// overlay is for lint.Options.
func (t *reads) overlay(name string) (text []byte, ok bool) {
	text, ok = t.byName[name]
	return text, ok
}

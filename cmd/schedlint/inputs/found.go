package inputs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/render/engine"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Renderer renders roots. It returns one output per root, in the same order.
type Renderer func(ctx context.Context, all []render.Root) []*render.Output

// Found holds the inputs that Find has found, together with their renders.
type Found struct {
	*roots.Found
	conf *config.Config
	// dir is the working directory. root is the directory that renders must not leave. base is the
	// directory that the configuration is relative to. All three are absolute, and root contains no
	// symbolic links.
	dir, root, base string
	paths           []string // absolute, without symbolic links
	// outputs holds the outputs of Roots, in the same order. pointed holds what the pointers
	// deploy, or nil if there are no pointers.
	outputs []*render.Output
	pointed *pointed
	charts  []chartInput
}

// chartInput is a chart and its renders. It has no renders if the chart is not meant to be
// installed on its own, or if a kustomization or pointer deploys it.
type chartInput struct {
	*roots.Chart
	renders []chartRender
	// why explains why there are no renders.
	why string
}

// chartRender is a chart rendered with one set of values.
type chartRender struct {
	// values is the values file's name relative to the root, or "" for the default values. name is
	// the release name, or "" to use the chart's name.
	values, name string
	out          *render.Output
}

// Find searches below the paths in args and renders the inputs it finds. If args is empty, it
// searches the working directory.
func Find(ctx context.Context, conf *config.Config, args []string, renders Renderer) (*Found, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	in := &Found{conf: conf, dir: dir, root: worktree.Resolved(Repository(dir))}
	paths := args
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for i, path := range paths {
		if path == "-" {
			return nil, errors.New("standard input holds no files: name directories")
		}
		at := worktree.Resolved(worktree.Absolute(dir, path))
		root := confinement(in.root, at)
		if i > 0 && root != in.root {
			return nil, fmt.Errorf("%s lies in another repository than %s: name paths of one repository at a time", path, paths[0])
		}
		in.root, in.paths = root, append(in.paths, at)
	}
	in.base = cmp.Or(conf.Dir, in.root)
	library, err := conf.Library(in.root)
	if err != nil {
		return nil, err
	}
	vendored := library.Remotes(explicit(conf, in.root, conf.Renders))
	ignore := func(name string) bool { return conf.IgnoresSome() && conf.Ignores(in.fromBase(name)) }
	in.Found, err = roots.Find(roots.Options{Root: in.root, Dir: dir, Paths: paths, Ignore: func(name string) bool { return ignore(name) || library.Holds(name) }, OwnOnly: conf.OwnOnly(), Remotes: vendored, Declares: topology.Declares, Offers: topology.Offers, Mentions: topology.Mentions, Defines: in.proposes})
	if err == nil {
		// Each path argument below which nothing was found is an error.
		names := lists.Of(in.Kustomizations, func(k *roots.Kustomization) string { return k.File })
		names = append(names, lists.Of(in.Charts, func(c roots.Chart) string { return path.Join(c.Dir, chartName) })...)
		names = append(names, lists.Of(in.Pointers, func(p roots.Pointer) string { return p.File })...)
		names = append(names, lists.Of(in.Definitions, func(o *source.Object) string { return o.File.Name })...)
		names = slices.Concat(names, in.Topologies, in.Offered)
		names = append(names, lists.Of(in.Unread, func(u roots.Unread) string { return u.Name })...)
		var errs []error
		for i, arg := range args {
			if !slices.ContainsFunc(names, func(name string) bool { return worktree.Inside(in.paths[i], under(in.root, name)) }) {
				errs = append(errs, fmt.Errorf("%s holds nothing that can be rendered: expected a kustomization, a chart, a GitOps pointer or a file with nodes", arg))
			}
		}
		err = errors.Join(errs...)
	}
	if err != nil {
		return nil, err
	}
	render := func(all []render.Root) []*render.Output {
		return verified(func(string) *thirdparty.Library { return library }, all, renders(ctx, all))
	}
	in.Offered = slices.DeleteFunc(in.Offered, in.passedOver)
	in.renderRoots(gitops.Options{Remotes: vendored, Library: library, Ignore: ignore, Render: render})
	in.renderCharts(vendored, render)
	return in, nil
}

// proposes reports whether an object is the definition of a kind without a row, for which there is a
// proposal.
func (in *Found) proposes(o *source.Object) bool {
	if !kinds.Defines(o) {
		return false
	}
	p, ok := kinds.Propose(o)
	id := [2]string{p.Row.Group, p.Row.Kind}
	return ok && len(p.Row.Pods) > 0 && kinds.Builtin().With(in.conf.Kinds)[id] == nil && !workload.Knows(id[0], id[1])
}

// passedOver reports whether a node file is named in the configuration already, or is test data.
func (in *Found) passedOver(name string) bool {
	over := lists.Of(in.TestData, func(dir string) string { return under(in.root, dir) })
	for _, file := range in.conf.TopologyFiles() {
		over = append(over, worktree.Resolved(worktree.Absolute(in.base, file)))
	}
	return slices.ContainsFunc(over, func(path string) bool { return worktree.Inside(path, under(in.root, name)) })
}

// whole reports whether the paths cover the configuration's whole directory.
func (in *Found) whole() bool {
	base := worktree.Resolved(in.base)
	return slices.ContainsFunc(in.paths, func(path string) bool { return worktree.Inside(path, base) })
}

// shown makes a name relative to the working directory.
func (in *Found) shown(name string) string {
	return named(worktree.Resolved(in.dir), under(in.root, name))
}

// fromBase makes a name relative to the configuration's directory.
func (in *Found) fromBase(name string) string {
	return named(worktree.Resolved(in.base), under(in.root, name))
}

// renderRoots renders all roots and follows all pointers. It then removes the roots that pointers
// deploy.
func (in *Found) renderRoots(o gitops.Options) {
	if len(in.Pointers) == 0 {
		var all []render.Root
		for _, k := range in.Roots {
			all = append(all, render.Root{Confinement: in.root, Dir: k.Dir, Remotes: o.Remotes})
		}
		in.outputs = o.Render(all)
		return
	}
	known := func(dir string) []string { return append(revision.Remotes(dir), in.conf.Repositories...) }
	in.pointed = follows(in.root, in.paths, in.Found, in.conf, known, o)
	var kept []*roots.Kustomization
	for i, k := range in.Roots {
		if out := in.pointed.Roots[i]; out != nil {
			kept, in.outputs = append(kept, k), append(in.outputs, out)
		}
	}
	in.Roots = kept
}

// renderCharts renders the charts that nothing else deploys. It renders each of them once with the
// default values and once per values file.
func (in *Found) renderCharts(remotes map[string]string, renders func([]render.Root) []*render.Output) {
	deployed := used{}
	for _, out := range in.outputs {
		deployed.output(in.root, out)
	}
	if in.pointed != nil {
		deployed.pointers(in.pointed)
	}
	var all []render.Root
	taken := map[string]bool{} // names in use by renders
	for _, k := range in.Kustomizations {
		taken[in.fromBase(k.Dir)] = true
	}
	for i := range in.Charts {
		c := chartInput{Chart: &in.Charts[i]}
		switch {
		case c.Subchart:
			c.why = "subchart"
		case c.Library:
			c.why = "library chart"
		case c.Inflated || deployed.chart(under(in.root, c.Dir)):
			c.why = "deployed by a kustomization or GitOps pointer"
		default:
			for _, values := range append([]string{""}, c.Values...) {
				r := chartRender{values: values}
				asked := &render.Chart{}
				if values != "" {
					r.name = releaseName(c.Name, values, taken)
					asked.Name, asked.Values = r.name, []render.Values{{File: values}}
				}
				c.renders = append(c.renders, r)
				all = append(all, render.Root{Confinement: in.root, Dir: c.Dir, Remotes: remotes, Chart: asked})
			}
		}
		in.charts = append(in.charts, c)
	}
	outs := renders(all)
	for i := range in.charts {
		for j := range in.charts[i].renders {
			in.charts[i].renders[j].out, outs = outs[0], outs[1:]
		}
	}
}

// whyNot returns the reason why a render failed, or "" if it succeeded.
func (in *Found) whyNot(out *render.Output) string {
	if p := out.Problem; p != nil {
		return fmt.Sprintf("%s (%s:%d)", clipped(p.Detail), in.shown(p.File), p.Line)
	}
	return ""
}

// became returns a render's table cells: whether the render succeeded, how many workloads it has,
// and why it failed.
func (in *Found) became(out *render.Output) (yes, workloads, why string) {
	if why = in.whyNot(out); why != "" {
		return "no", "-", why
	}
	file := source.NewFile("<render>", "<render>", out.Text)
	objects := lists.Gather(file.Roots(), file.ObjectsOf)
	return "yes", fmt.Sprint(len(workload.Load(workload.NewTable(), objects).Workloads)), ""
}

// mostDetail is the maximum length of a reason in a table row, in bytes.
const mostDetail = 200

// clipped shortens text that is too long for a table. It keeps the end, which says what to do.
func clipped(text string) string {
	if len(text) <= mostDetail {
		return text
	}
	return strings.ToValidUTF8(text[:mostDetail*2/3]+"..."+text[len(text)-mostDetail/3:], "")
}

// valuesPath returns the path of a values file for a configuration entry. The path is usually
// relative to the configuration. It is relative to the chart if the file is in the chart, or if the
// other path would match a file in the chart.
func (in *Found) valuesPath(c chartInput, name string) string {
	if name == "" {
		return ""
	}
	rel, err := filepath.Rel(filepath.FromSlash(c.Dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	based := in.fromBase(name)
	_, taken := os.Lstat(under(in.root, path.Join(c.Dir, based)))
	if rel = filepath.ToSlash(rel); worktree.Local(rel) || taken == nil {
		return rel
	}
	return based
}

var (
	notOfRelease = lazy.Regexp(`[^a-z0-9]+`)
	valuesMark   = lazy.Regexp(`^values[-.]|[-.]values$`)
)

// longestName is the maximum length of a generated release name, excluding its numeric suffix. Helm
// allows 53 bytes.
const longestName = 45

// releaseName returns an unused release name for a chart and values file, such as shop-prod.
func releaseName(chart, values string, taken map[string]bool) string {
	base := path.Base(values)
	stem := valuesMark().ReplaceAllString(strings.TrimSuffix(base, path.Ext(base)), "")
	name := notOfRelease().ReplaceAllString(strings.ToLower(path.Base(chart)+"-"+stem), "-")
	name = cmp.Or(strings.Trim(name[:min(len(name), longestName)], "-"), "chart")
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	taken[unique] = true
	return unique
}

// WorkerArgument is the command-line argument that turns the process into a render worker. It is
// not a public command, because only this program implements the worker's protocol.
const WorkerArgument = "render-worker"

// Work runs the process as a render worker until its input ends.
func Work() error {
	if err := engine.Seal(); err != nil {
		return err
	}
	watch := render.NewWatch(os.Exit)
	log.SetOutput(io.Discard) // drop kustomize's warnings
	return render.Serve(os.Stdin, os.Stdout, watch, engine.Build)
}

// collecting is an environment variable that makes a worker collect garbage less often from the
// start. This is safe, because a worker is short-lived and limits its memory itself.
const collecting = "GOGC=400"

type idleKey struct{}

// WithIdle returns a context in which all renders share the workers that idle keeps.
func WithIdle(ctx context.Context, idle *render.Idle) context.Context {
	return context.WithValue(ctx, idleKey{}, idle)
}

// newPool returns a pool of workers, which run this same program. They do not inherit environment
// variables.
func newPool(ctx context.Context) *render.Pool {
	idle, _ := ctx.Value(idleKey{}).(*render.Idle)
	return &render.Pool{
		Nonce: rand.Text(),
		Idle:  idle,
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			return &exec.Cmd{Path: self, Args: []string{"schedlint", WorkerArgument}, Env: []string{collecting}}, err
		},
	}
}

// Render renders roots. It returns one output per root, in the same order.
func Render(ctx context.Context, all []render.Root) []*render.Output {
	return newPool(ctx).Render(ctx, all)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/lint/worktree"
)

// renderer renders roots and gives an output for each, in their order.
type renderer func(ctx context.Context, all []render.Root) []*render.Output

// newInputs is the command inputs. Without a renderer it tells what can be seen
// without rendering.
func newInputs(renders renderer) *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "inputs [PATH...]",
		Short: "List kustomizations, charts, GitOps pointers and node files",
		Long: `Inputs lists the kustomizations under the paths that no other kustomization
refers to, whether each renders without network access and, if not, why. It
lists Helm charts likewise, with their default values and with each values file
of an environment: values-*.yaml, values/*.yaml, env/*.yaml or ci/*-values.yaml
in the chart, or next to it if it is the only one there. It lists Flux and
Argo CD objects with the directories and charts that they deploy, or why not,
and node files. The default path is the working directory.

It then prints a renders: block for ` + config.Name + ` that names these
kustomizations, charts and pointers, and an ignore: list with directories of
test data, such as testdata and golden. With --write it adds both to that file
and keeps the rest of the file as it is; an existing renders: or ignore: key is
never changed.

Exit status:
  0  success
  2  usage error, nothing to render at a path, or the file cannot be written`,
		Example: `  schedlint inputs
  schedlint inputs --write
  schedlint inputs clusters/prod`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInputs(cmd, args, write, renders)
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "add the renders: block to "+config.Name+", creating the file if needed")
	return cmd
}

func runInputs(cmd *cobra.Command, args []string, write bool, renders renderer) error {
	conf, err := loadConfig("")
	if err != nil {
		return err
	}
	in, err := findInputs(conf, args)
	if err != nil {
		return err
	}
	if renders != nil {
		in.render(cmd.Context(), renders)
	}
	block := in.block(conf)
	var out bytes.Buffer
	in.print(&out)
	target := in.target(conf)
	if !write {
		block.print(&out, here(target), !conf.Discovers())
	}
	if _, err := io.Copy(cmd.OutOrStdout(), &out); err != nil {
		return err
	}
	if !write {
		return nil
	}
	return block.write(cmd, conf, target)
}

// inputs is what was found, and how to name it.
type inputs struct {
	*roots.Found
	// dir is the working directory, root that of confinement and base the directory
	// from which the configuration counts. All are absolute, root without links.
	dir, root, base string
	// whole is set if everything below base was looked at.
	whole bool
	// vendored are the directories that the configuration has in place of URLs.
	vendored map[string]string
	// outputs are those of Roots, nil if nothing was rendered.
	outputs []*render.Output
	// pointed is what the pointers lead to, nil if nothing was rendered.
	pointed *pointed
	// charts are those of Charts with their renders.
	charts []chartInput
	// known are the addresses of the repository, once needed.
	known  func(dir string) []string
	paths  []string // absolute
	ignore func(name string) bool
}

// findInputs looks below the paths, or the working directory.
func findInputs(conf *config.Config, args []string) (*inputs, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	paths := args
	if len(paths) == 0 {
		paths = []string{"."}
	}
	in := &inputs{dir: dir, root: real(repositoryRoot(dir)), base: conf.Dir}
	if err := in.confine(paths); err != nil {
		return nil, err
	}
	if in.base == "" {
		in.base = in.root
	}
	in.vendored = remoteDirs(conf, in.root)
	for _, path := range paths {
		in.paths = append(in.paths, real(absolute(dir, path)))
	}
	in.known = func(dir string) []string { return append(addresses(dir), conf.Repositories...) }
	in.ignore = func(name string) bool { return conf.IgnoresSome() && conf.Ignores(in.fromBase(name)) }
	in.Found, err = roots.Find(roots.Options{Root: in.root, Dir: dir, Paths: paths, Ignore: in.ignore, OwnOnly: conf.OwnOnly(), Remotes: in.vendored, Declares: topology.Declares})
	if err != nil {
		return nil, err
	}
	in.whole = in.covers(paths)
	return in, in.empty(args)
}

// real is a path without symbolic links, if it can be had.
func real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// confine takes the root of the work tree that holds the paths, if that is another
// than the one of the working directory; a path outside of all is its own root.
func (in *inputs) confine(paths []string) error {
	for i, path := range paths {
		if path == "-" {
			return errors.New("standard input holds no files: name directories")
		}
		at := real(absolute(in.dir, path))
		root := confinement(in.root, at)
		if i > 0 && root != in.root {
			return fmt.Errorf("%s lies in another repository than %s: name paths of one repository at a time", path, paths[0])
		}
		in.root = root
	}
	return nil
}

// covers reports whether the paths hold everything that the configuration counts for.
func (in *inputs) covers(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return worktree.Inside(real(absolute(in.dir, path)), real(in.base))
	})
}

// empty is an error about paths that were named and have nothing to render.
func (in *inputs) empty(args []string) error {
	var names []string
	for _, k := range in.Kustomizations {
		names = append(names, k.File)
	}
	for _, c := range in.Charts {
		names = append(names, path.Join(c.Dir, "Chart.yaml"))
	}
	for _, p := range in.Pointers {
		names = append(names, p.File)
	}
	names = append(names, in.Topologies...)
	for _, u := range in.Unread {
		names = append(names, u.Name)
	}
	var errs []error
	for _, arg := range args {
		at := real(absolute(in.dir, arg))
		if !slices.ContainsFunc(names, func(name string) bool {
			return worktree.Inside(at, filepath.Join(in.root, filepath.FromSlash(name)))
		}) {
			errs = append(errs, fmt.Errorf("%s holds nothing that can be rendered: expected a kustomization, a chart, a GitOps pointer or a file with nodes", arg))
		}
	}
	return errors.Join(errs...)
}

// shown is a name as seen from the working directory.
func (in *inputs) shown(name string) string {
	return filepath.ToSlash(seen(real(in.dir), filepath.Join(in.root, filepath.FromSlash(name))))
}

// fromBase is a name as the configuration counts it.
func (in *inputs) fromBase(name string) string {
	return filepath.ToSlash(seen(real(in.base), filepath.Join(in.root, filepath.FromSlash(name))))
}

// render renders all roots and charts and follows all pointers. Roots that pointers deploy
// are no roots any more.
func (in *inputs) render(ctx context.Context, renders renderer) {
	in.renderRoots(ctx, renders)
	in.renderCharts(ctx, renders)
}

func (in *inputs) renderRoots(ctx context.Context, renders renderer) {
	if len(in.Pointers) > 0 {
		base := repositoryIn(in.root, in.paths)
		in.pointed = follows(in.root, in.Found, in.known(filepath.Join(in.root, base)), gitops.Options{
			Base: base, Remotes: in.vendored, Ignore: in.ignore,
			Render: func(all []render.Root) []*render.Output { return renders(ctx, all) },
		})
		var kept []*roots.Kustomization
		in.outputs = []*render.Output{}
		for i, k := range in.Roots {
			if out := in.pointed.Roots[i]; out != nil {
				kept, in.outputs = append(kept, k), append(in.outputs, out)
			}
		}
		in.Roots = kept
		return
	}
	var all []render.Root
	for _, k := range in.Roots {
		all = append(all, render.Root{Confinement: in.root, Dir: k.Dir, Remotes: in.vendored})
	}
	in.outputs = renders(ctx, all)
}

// whyNot says what keeps a root from rendering; empty if nothing is known to. The
// render has the last word.
func (in *inputs) whyNot(i int) string {
	if in.outputs != nil {
		if p := in.outputs[i].Problem; p != nil {
			return fmt.Sprintf("%s (%s:%d)", clipped(p.Detail), in.shown(p.File), p.Line)
		}
		return ""
	}
	var all []string
	for _, r := range in.Roots[i].Blocked {
		all = append(all, fmt.Sprintf("%s: %s (%s:%d)", r.Kind, clipped(r.Detail), in.shown(r.File), r.Line))
	}
	return strings.Join(all, "; ")
}

// mostDetail is how many bytes of a reason a row of the table has.
const mostDetail = 200

// clipped is the beginning of a text that is too long for a table.
func clipped(text string) string {
	if len(text) <= mostDetail {
		return text
	}
	return strings.ToValidUTF8(text[:mostDetail], "") + "..."
}

// workloadsOf counts those of a result.
func workloadsOf(out *render.Output) int {
	file := source.NewFile("<render>", "<render>", out.Text)
	var objects []*source.Object
	for _, root := range file.Roots() {
		objects = append(objects, file.ObjectsOf(root)...)
	}
	return len(workload.Load(workload.NewTable(), objects).Workloads)
}

package locate

import (
	"path"
	"path/filepath"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// Render is something to judge as deployed rather than as its sources are written.
type Render struct {
	// Chosen describes the render to the configuration. Its Name identifies the render in
	// outputs and baselines.
	config.Chosen
	Root render.Root
	// Files, if not empty, are the output of another tool, relative to Dir, and replace Root.
	// SourceRoot is the directory that the tool rendered, or "".
	Files      []string
	SourceRoot string
	// prefix is the path from the root of the run to Root.Confinement.
	prefix string
	// Argo is set if an Argo CD Application or ApplicationSet deploys it.
	Argo bool
	// Pointer is the place, from the root of the run, of the GitOps pointer that names the
	// root; zero if there is none. Source is the index of the pointer's source.
	Pointer diag.Span
	Source  int
	// Entries names the entry pointers that lead to the render, each with its destination
	// cluster. Renders with a common entry are deployed together.
	Entries []string
	// Requested is set if the render was requested by path. A failure to build it is then an error
	// in the manifests, and otherwise only a note in the summary.
	Requested bool
}

// SetPrefix sets the prefix that turns names from Root.Confinement into names from the root of
// the run.
func (x *Render) SetPrefix(root string) {
	x.prefix = Relative(filepath.ToSlash(Resolved(root)), filepath.ToSlash(x.Root.Confinement))
}

// FromRoot converts a name from Root.Confinement to one from the root of the run.
func (x *Render) FromRoot(confined string) string { return path.Join(x.prefix, confined) }

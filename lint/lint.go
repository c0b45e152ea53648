package lint

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Policy evaluates rules on facts.
type Policy interface {
	// Evaluate runs the rules on f and updates the tally. A rule that fails is recorded in the
	// tally and not run again. The error is ctx.Err() if ctx is done.
	Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error)
	// Whole reports whether a rule outside the core may read a list of facts, or a field in a list,
	// such as workloads.terms. If so, the list must be complete, because custom rules may also
	// report facts about healthy workloads.
	Whole(path string) bool
	// Wants reports whether any rule might report a row of a list. The fields of the row follow the
	// list as alternating names and values.
	Wants(list string, fields ...any) bool
	// Losses returns sorted, distinct topology keys. For each key, an enabled rule needs to know
	// what happens if a domain of the key is lost.
	Losses() []string
	// IDs returns the ids of all rules, including those that are off.
	IDs() []string
	// Reads returns the lists of facts that a rule reads. It returns nothing if these lists are
	// unknown or the rule is off.
	Reads(rule string) []string
	// MayRead reports whether a rule may read a path of the facts, such as workloads or
	// workloads.answers.survives. It returns false for a rule that is off.
	MayRead(rule, path string) bool
}

// Options selects what to lint and how. Dir and Root are absolute paths. Relative paths start at
// Dir, and file names in results are relative to Root, the repository root.
type Options struct {
	Dir, Root string
	Paths     []string
	// Topology lists the files that declare nodes, relative to Dir. They replace the topology files
	// of the configuration.
	Topology []string
	// Tree holds the files of another revision. Topology and the configuration may name them.
	Tree  source.Tree
	Stdin io.Reader
	// Overlay replaces the contents of files, as in source.Options.
	Overlay func(name string) (text []byte, ok bool)
	// Tracked reports whether to read a file, as in source.Options. An explicitly named topology
	// file is always read.
	Tracked func(path string) bool
	// Renders lists the renders to judge as deployed. Renderer builds them. If Renderer is nil,
	// nothing is rendered.
	Renders  []locate.Render
	Renderer Renderer
	// Unfollowed lists the GitOps pointers for which there is no render. Notes are general notes
	// about GitOps pointers.
	Unfollowed []Unfollowed
	Notes      []string
	// Libraries holds folders with copies from other repositories. What is in them is not checked by
	// itself.
	Libraries []*thirdparty.Library
	// Followed holds the GitOps pointers that were examined, including those that could not be
	// followed. It is nil if following pointers was not requested.
	Followed map[PointerID]bool
	// Edited maps file names, relative to Root, to new contents. Renders read the new contents
	// instead of the files.
	Edited map[string][]byte
	// Runs is the number of runs of kube-scheduler to simulate. Place simulates them where a verdict
	// is sometimes or unknown, and the others to see how likely the findings are.
	Runs int
	// Progress is called with the number of parts that are checked, such as renders and clusters, and
	// the number of all parts. It may be nil.
	Progress func(done, all int)
	// Survive lists topology keys. Every workload must survive the loss of any single domain of
	// these keys. The configuration may name further keys.
	Survive []string
	// Steps multiplies every step budget. 0 means 1.
	Steps float64
	// Placements asks which workloads' placements are unknown, as a question of its own. Lint then
	// also decides the placement of all workloads, as Place does.
	Placements bool
	// Pictures makes Place describe its runs event by event.
	Pictures bool
	// SourceRoot is the directory, relative to Dir, from which piped manifests were rendered. If it
	// is "", the directory is Dir, and object names in the sources must equal the rendered names.
	SourceRoot string
	// Config is the team's configuration, or nil.
	Config *config.Config
	// Raw lists files, relative to Root, that are also checked as they are written, whatever uses or
	// ignores them. They are those that another revision checks so.
	Raw []string
	// Foreign holds objects that act only on objects of their directory and their render: those that a
	// change adds.
	Foreign map[diag.Object]bool
	// Compared is set if the report will be compared with one about another revision of the files.
	// The report then also lists which objects were checked, and why other objects were not
	// checked.
	Compared bool
	// Seen collects the nodes of the run, unless it is nil. Given are those of another run, which
	// count instead of the nodes that are declared.
	Seen, Given SeenNodes
	// Baseline holds accepted findings, or is nil. If Rebase is set, the current findings replace
	// the baseline's entries.
	Baseline *accept.Baseline
	Rebase   bool
	// NoInline disables all suppressions in manifests. OnlyKnown disables only those that are not
	// in Known. Known holds the suppressions from another revision of the files.
	NoInline  bool
	OnlyKnown bool
	Known     []diag.Suppression
	// Today is the current date, such as 2026-11-21. It determines which suppressions have expired.
	Today  string
	Policy Policy
	// Level returns the default level of a rule's findings. The configuration and its scopes
	// override it.
	Level func(rule string) diag.Level

	// whole is set if documents are needed with all their fields, as facts about objects have them.
	whole bool
}

// copies returns the folders of Libraries relative to Root.
func (o *Options) copies() (all []string) {
	for _, l := range o.Libraries {
		all = append(all, filepath.ToSlash(worktree.Seen(worktree.Resolved(o.Root), filepath.Join(l.Root, l.Folder))))
	}
	return all
}

// Render is the output of a kustomization, chart or tool. The output is checked instead of its
// sources.
type Render = locate.Render

// ErrNothing is returned if there is no document to check.
var ErrNothing = errors.New("no document found: nothing was checked")

// ErrNoObject is returned if there are documents, but none is a Kubernetes object.
var ErrNoObject = errors.New("no Kubernetes object found: nothing was checked")

// Run lints the input that o selects. If the error is not nil, the report still covers everything
// that could be read.
func Run(ctx context.Context, o Options) (*diag.Report, error) {
	r := newRun(ctx, o, o.Survive)
	report := r.report()
	report.Summary = r.summary.whole()
	report.Sort()
	if !o.Compared {
		report.Merge()
	}
	return report, r.failures.err()
}

// Described holds the facts of each context, as rules see them.
type Described struct {
	Contexts []Context
	// Display returns the name of a file as the user would write it.
	Display func(file string) string
	// Failures lists the work that was not done.
	Failures diag.Failures
}

// Context holds the facts of one context and the location of each row.
type Context struct {
	Facts *facts.Facts
	// Place returns the location of the row with the given id, in a file that the user wrote.
	Place func(id int) diag.Span
}

// Facts returns all facts that rules can see, context by context. Every list is complete and
// includes the facts about losing a node or a zone. The first context also has the facts about
// problems in files.
func Facts(ctx context.Context, o Options) (*Described, error) {
	o.Level, o.whole = func(string) diag.Level { return diag.LevelOff }, true
	r := newRun(ctx, o, o.Survive)
	m := r.load()
	d := &Described{Display: r.files.Display}
	whole := func(s *scene) func() *derive.Built {
		in := r.input(s)
		in.Whole, in.Asked = func(string) bool { return true }, func(string) bool { return true }
		in.Asks = append(in.Asks, defaultLosses()...)
		return func() *derive.Built { return derive.Facts(in) }
	}
	each(r, r.clusters.parts(m), whole, func(a *pendingPart[*derive.Built]) {
		for x := range a.cluster.Contexts() {
			if a.cluster.entry != "" { // the parts for its renders have the facts
				continue
			}
			s, f, known := a.known(r)
			if !known {
				s = r.scene(a.cluster, x)
				f = whole(s)()
			}
			r.budget.spent += s.model.Run().Spent()
			r.recordRefusals(s)
			d.Contexts = append(d.Contexts, Context{f.Facts, func(id int) diag.Span { return r.renders.InSources(f.Subject(id).InOwnWords().Location) }})
		}
	})
	if len(d.Contexts) > 0 {
		d.Contexts[0].add(derive.Facts(aboutFiles(m.set.Problems)), r.renders)
	}
	d.Failures = r.failures.undone
	return d, r.failures.err()
}

// add adds the facts about problems in files.
func (c *Context) add(problems *derive.Built, renders *locate.Renders) {
	place, first := c.Place, len(c.Facts.Rows())
	c.Facts.Documents = problems.Documents
	for i := range c.Facts.Documents {
		c.Facts.Documents[i].ID += first
	}
	c.Place = func(id int) diag.Span {
		if id > first {
			return renders.InSources(problems.Subject(id - first).Location)
		}
		return place(id)
	}
}

package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/worktree"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Spot identifies a line of a manifest, like the file:line:column of a printed finding.
type Spot struct {
	// File is the path as the user writes it. Standard input can be written as - or <stdin>.
	File string
	// Line and Column start at 1. Column 0 means the entire line.
	Line, Column int
	// Rule selects the findings of one rule, or of all rules if it is "".
	Rule string
	// Kind and Name name a workload instead, as the user writes them, for example deploy and web.
	// Namespace selects one of several such workloads, or is "".
	Kind, Namespace, Name string
}

func (s Spot) String() string {
	if s.Name != "" {
		return s.Kind + "/" + s.Name
	}
	return locate.FileLine(s.File, s.Line)
}

// shortKinds maps the short names of kubectl to kinds in lower case.
var shortKinds = map[string]string{
	"cj": "cronjob", "deploy": "deployment", "ds": "daemonset", "po": "pod", "rc": "replicationcontroller", "rs": "replicaset", "sts": "statefulset",
	"vm": "virtualmachine", "vmi": "virtualmachineinstance", "vmirs": "virtualmachineinstancereplicaset", "vmpool": "virtualmachinepool",
}

// Names reports whether the spot names an object.
func (s Spot) Names(o *source.Object) bool {
	kind, group, _ := strings.Cut(strings.ToLower(s.Kind), ".")
	own := strings.ToLower(o.Kind)
	return s.Name == o.Name && (kind == own || kind == own+"s" || shortKinds[kind] == own) && (group == "" || group == o.Group()) &&
		(s.Namespace == "" || workload.Space(s.Namespace) == workload.Space(o.Namespace))
}

// explaining holds the state of one Explain call.
type explaining struct {
	run  *run
	read *manifests
	spot Spot
	file *source.File
	out  *diag.Explanation
	// elsewhere holds the findings on other lines of the file.
	elsewhere []diag.Diagnostic
	// more is the number of findings at the requested location that exceed maxExplained and are not
	// explained.
	more int
	// at is the object that the line belongs to, or nil.
	at   *source.Object
	rest []diag.Explained // explanations for that object's workload
	// named holds the first declaration of each workload that the spot names. others holds other
	// workloads by name.
	named  map[diag.Object]*workload.Workload
	others map[string]string
	// unanswered counts the contexts whose answers are left out because there are too many.
	unanswered int
}

// Explain explains the findings at a location node by node. If there are no findings, it explains
// which nodes accept a pod of the workload at that location.
func Explain(ctx context.Context, o Options, spot Spot) (*diag.Explanation, error) {
	r := newRun(ctx, o, o.Survive)
	m := r.load()
	if err := r.failures.err(); err != nil {
		return nil, err
	}
	x := &explaining{run: r, read: m, spot: spot, named: map[diag.Object]*workload.Workload{}, others: map[string]string{}, out: &diag.Explanation{
		Place: spot.String(), Rule: spot.Rule, Source: r.files.Text, Display: r.files.Display,
	}}
	if err := x.find(); err != nil {
		return nil, err
	}
	r.suppressions.gather(m)
	x.explain(aboutFiles(m.set.Problems), nil, nil, nil)
	parts := r.clusters.parts(m)
	for i, p := range parts {
		r.progress(i, len(parts))
		x.cluster(p)
	}
	_, accepted, complaints := r.suppressions.apply(r.judge.take())
	r.judge.findings(derive.SuppressionFacts(complaints), nil, nil, func(_ int, f *accept.Finding) {
		x.add(f.Diagnostic, func() (*workload.Workload, diag.Account) {
			return nil, diag.Account{Notes: []string{"this finding is about the suppression only, so nodes are not checked"}}
		})
	})
	for i := range x.out.Found {
		found := &x.out.Found[i]
		for _, f := range accepted {
			if found.Diagnostic.Compare(&f.Diagnostic) == 0 {
				found.Notes = append(found.Notes, fmt.Sprintf("this finding is accepted by a suppression (%s): %s", f.Accepted.By, f.Accepted.Reason))
			}
		}
	}
	if err := r.failures.err(); err != nil {
		return nil, err
	}
	err := x.settle()
	x.out.Failures = r.failures.undone
	return x.out, err
}

// find finds the file and the object that the line belongs to.
func (x *explaining) find() error {
	if x.spot.Name != "" {
		return nil
	}
	for _, f := range slices.Concat(x.read.set.Files, x.read.beside) {
		if x.is(f) {
			x.file = f
		}
	}
	switch {
	case x.file == nil:
		return fmt.Errorf("%s is not among the manifests that were read; name what lint was given with --path", x.spot.File)
	case x.spot.Line < 1 || x.spot.Line > x.file.LineCount():
		return fmt.Errorf("%s has no line %d: it has %d", x.spot.File, x.spot.Line, x.file.LineCount())
	}
	x.at = x.object()
	return nil
}

// object returns the object that contains the line. This is the last object in the line's document
// that begins at or above the line. If the line is above all objects, for example in a leading
// comment, object returns the document's first object. It returns nil if the document has no
// objects.
func (x *explaining) object() (at *source.Object) {
	first, last := x.spot.Line, x.spot.Line
	for first > 1 && !separator(x.file.Line(first)) {
		first--
	}
	for last < x.file.LineCount() && !separator(x.file.Line(last+1)) {
		last++
	}
	for _, o := range slices.Concat(x.read.set.Objects, x.run.renders.Raw) {
		line := int(o.Root.Line)
		if o.File == x.file && line >= first && (line <= x.spot.Line || line <= last && at == nil) {
			at = o
		}
	}
	return at
}

// separator reports whether a line starts a new YAML document.
func separator(line string) bool {
	return line == "---" || len(line) > 3 && line[:3] == "---" && (line[3] == ' ' || line[3] == '\t')
}

// is reports whether f is the requested file.
func (x *explaining) is(f *source.File) bool {
	if x.spot.File == "-" || f.Name == source.StdinName {
		return f.Name == source.StdinName && (x.spot.File == "-" || x.spot.File == source.StdinName)
	}
	name := filepath.ToSlash(x.spot.File)
	return f.Display == name || f.Name == name ||
		worktree.Resolved(worktree.Absolute(x.run.opts.Dir, x.spot.File)) == worktree.Resolved(worktree.Absolute(x.run.opts.Root, filepath.FromSlash(f.Name)))
}

// cluster explains a part's findings in every context that contains the object at the requested
// location. If there is no such object, it explains the findings in all contexts.
func (x *explaining) cluster(p part) {
	c := x.run.clusters.divide(p)
	x.run.apply(c)
	for of := range c.Contexts() {
		if x.at != nil && slices.Contains(p.objects, x.at) && !slices.Contains(of.Objects, x.at) {
			continue
		}
		s := x.run.scene(c, of)
		if x.spot.Name != "" && !x.choose(s) {
			continue
		}
		units, with := x.run.clusters.units(s)
		together := map[foundAt][]accept.Finding{}
		if units != nil {
			for _, f := range x.run.judgeUnits(s, derive.Facts(x.run.input(s)), units, with) {
				together[placeOf(&f)] = append(together[placeOf(&f)], f)
			}
		}
		e := x.explain(x.run.input(s), c, of.Objects, together)
		x.run.suppressions.recordDecided(e.Facts(), of.Objects)
		for _, note := range unknownLosses(x.run.opts, s.nodes) {
			if note = in(p.name, note); !slices.Contains(x.out.Notes, note) {
				x.out.Notes = append(x.out.Notes, note)
			}
		}
		for _, w := range s.set.Workloads {
			at := x.isAt(w.Object)
			if x.spot.Name != "" {
				at = x.named[w.Object.ID()] != nil
			}
			if at && len(x.out.Found) == 0 && len(x.rest) == 0 {
				x.rest = append(x.rest, diag.Explained{Name: w.String(), Account: e.Workload(w)})
			}
			if at && x.spot.Name != "" && p.entry == "" {
				x.answer(s, units, w)
			}
		}
		x.run.recordRefusals(s)
	}
}

// choose remembers the workloads of a context that the spot names. It reports whether there are any.
func (x *explaining) choose(s *scene) (found bool) {
	for _, w := range s.set.Workloads {
		switch o := w.Object; {
		case w.Fragment:
		case !x.spot.Names(o):
			x.others[o.Name] = w.String()
		default:
			found = true
			x.named[o.ID()] = cmp.Or(x.named[o.ID()], w)
		}
	}
	return found
}

// answer adds what Place says about a workload. Like Place, it decides about a directory by itself.
func (x *explaining) answer(s *scene, units []unit, w *workload.Workload) {
	if len(x.out.Answers) == maxNear {
		x.unanswered++
		return
	}
	for _, u := range units {
		if slices.Contains(u.objects, w.Object) {
			s = x.run.clusters.unitScene(s, u)
		}
	}
	doc := x.run.placed(s, lossesToSurvive(x.run.opts.Config, placeLosses(x.run.opts)))
	if doc == nil {
		return
	}
	o, ref := w.Object, derive.Reference(w)
	own := diag.Placement{
		Workloads: slices.DeleteFunc(doc.Workloads, func(d diag.PlacementWorkload) bool {
			return d.APIVersion != o.APIVersion || d.Kind != o.Kind || d.Namespace != o.Namespace || d.Name != o.Name
		}),
		Unmodelled: slices.DeleteFunc(doc.Unmodelled, func(text string) bool { return !strings.HasPrefix(text, ref+": ") }),
	}
	x.run.locate(&own, s)
	x.out.Answers = append(x.out.Answers, own)
}

// isAt reports whether o is the object at the requested location or is rendered from it.
func (x *explaining) isAt(o *source.Object) bool {
	if o == x.at || x.at == nil || x.run.renders.Results[o.File.Name] == nil {
		return o == x.at
	}
	return x.run.renders.RawObject(o) == x.at
}

// explain explains the findings at the requested location that are about objects in a cluster. The
// wording of a finding may differ when several units are checked together. In this case, explain
// uses the wording for several units.
func (x *explaining) explain(in derive.Input, c *cluster, objects []*source.Object, together map[foundAt][]accept.Finding) *derive.Explainer {
	e := derive.NewExplainer(in)
	x.run.judge.findings(e.Facts(), c, objects, func(fact int, f *accept.Finding) {
		for _, of := range together[placeOf(f)] {
			if strings.TrimSuffix(of.Message, ", "+ifShared) == f.Message {
				*f = of
			}
		}
		if of := x.run.renders.Results[f.Location.File]; of != nil {
			x.run.renders.ToSources(of, f)
		}
		x.add(f.Diagnostic, func() (*workload.Workload, diag.Account) { return e.Fact(fact) })
		x.run.judge.found = append(x.run.judge.found, *f)
	})
	return e
}

// add adds a finding in the requested file. It explains the finding if the line and the rule are
// the requested ones. Otherwise, it adds the finding to the list of findings on other lines.
func (x *explaining) add(d diag.Diagnostic, account func() (*workload.Workload, diag.Account)) {
	if x.spot.Name != "" {
		if x.named[d.Object] == nil {
			return
		}
	} else if d.Location.File != x.file.Name {
		return
	} else if d.Location.Line != x.spot.Line || x.spot.Rule != "" && d.Rule != x.spot.Rule {
		x.elsewhere = append(x.elsewhere, d)
		return
	}
	if !x.counts(&d) {
		return
	}
	found := diag.Explained{Diagnostic: &d}
	var w *workload.Workload
	if w, found.Account = account(); w != nil {
		found.Name = w.String()
	}
	x.out.Found = append(x.out.Found, found)
}

// maxExplained is the maximum number of findings to explain. There can be many if the whole file is
// a single line.
const maxExplained = 100

// counts reports whether to explain a finding at the requested location. It returns false for a
// finding that an earlier context reported. maxExplained applies separately to findings in the
// requested column and to other findings.
func (x *explaining) counts(d *diag.Diagnostic) bool {
	exact := func(d *diag.Diagnostic) bool { return d.Location.Column == x.spot.Column }
	like := 0
	for i := range x.out.Found {
		o := x.out.Found[i].Diagnostic
		if o.Compare(d) == 0 {
			return false
		}
		if exact(o) == exact(d) {
			like++
		}
	}
	if like >= maxExplained {
		x.more++
		return false
	}
	return true
}

// settle sorts the findings. If there are no findings, it uses the explanations for the workload.
// If there are none either, it returns an error.
func (x *explaining) settle() error {
	if x.spot.Name != "" {
		if err := x.one(); err != nil {
			return err
		}
	}
	all := x.out.Found
	otherColumn := func(f diag.Explained) bool { return f.Diagnostic.Location.Column != x.spot.Column }
	if exact := slices.DeleteFunc(slices.Clone(all), otherColumn); len(exact) > 0 {
		all = exact
	}
	sorting.Stable(all, func(a, b diag.Explained) int { return a.Diagnostic.Compare(b.Diagnostic) })
	x.out.Found = all
	if x.more > 0 {
		x.out.Notes = append(x.out.Notes, fmt.Sprintf("%d findings on this line exceed the limit of %d and are not explained; name a rule or a column", x.more, maxExplained))
	}
	if len(all) > 0 {
		return nil
	}
	far := func(d *diag.Diagnostic) int { return max(d.Location.Line-x.spot.Line, x.spot.Line-d.Location.Line) }
	sorting.Stable(x.elsewhere, func(a, b diag.Diagnostic) int { return a.Compare(&b) })
	sorting.Stable(x.elsewhere, func(a, b diag.Diagnostic) int { return far(&a) - far(&b) })
	x.out.Near = x.elsewhere[:min(len(x.elsewhere), maxNear)]
	if x.out.Found = x.rest; len(x.rest) == 0 {
		what := "finding"
		if x.spot.Rule != "" {
			what = "finding of " + x.spot.Rule
		}
		errs := []error{fmt.Errorf("%s: there is no %s on this line, and it belongs to no workload", x.spot, what)}
		for _, d := range x.out.Near {
			errs = append(errs, fmt.Errorf("there is one at %s: %s [%s]", locate.FileLine(x.run.files.Display(d.Location.File), d.Location.Line), d.Message, d.Rule))
		}
		return errors.Join(errs...)
	}
	return nil
}

// one checks that the spot names one workload, and names it in the explanation.
func (x *explaining) one() error {
	switch len(x.named) {
	case 0:
		where, near := "", ""
		if x.spot.Namespace != "" {
			where = " in namespace " + x.spot.Namespace
		}
		if other := cmp.Or(x.others[x.spot.Name], x.others[diag.Within(x.spot.Name, sorting.Keys(x.others), 2)]); other != "" {
			near = "; did you mean " + other + "?"
		}
		return fmt.Errorf("%s: no workload%s has this name among the manifests that were read%s", x.spot, where, near)
	case 1:
		for _, w := range x.named {
			if x.unanswered > 0 {
				x.out.Notes = append(x.out.Notes, fmt.Sprintf("answers in %d more contexts are left out", x.unanswered))
			}
			x.out.Workload, x.out.Declared = w.String(), x.run.renders.InSources(w.Object.NameSpan())
		}
		return nil
	}
	var all []string
	for _, w := range x.named {
		all = append(all, fmt.Sprintf("%s at %s", w, x.run.renders.At(w.Object)))
	}
	slices.Sort(all)
	errs := []error{fmt.Errorf("%s: %d workloads have this name; choose one with --namespace or KIND.GROUP", x.spot, len(all))}
	errs = append(errs, lists.Of(all[:min(len(all), maxExplained)], errors.New)...)
	return errors.Join(errs...)
}

// maxNear is the maximum number of findings on other lines of the file to list.
const maxNear = 5

package lint

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/lint/worktree"
)

// ignorePrefix is the key prefix of annotations that suppress a rule.
const ignorePrefix = "ignore.schedlint.dev/"

// suppressions holds the suppressions of the manifests and of the configuration.
type suppressions struct {
	opts    *Options
	files   *locate.Files
	renders *locate.Renders
	judge   *judge
	table   workload.Table
	// all holds the suppressions used in the run. inline maps the location of an object to the
	// indices of the suppressions in manifests that apply to the object. The location is zero for
	// suppressions without an object. entries holds the indices of the suppressions in the
	// configuration.
	all     []accept.Suppression
	inline  map[diag.Span][]int
	entries []int
	// stale holds a complaint for each entry of Config.Unrendered that matches nothing.
	stale []accept.Complaint
	// allowed holds the suppressions in manifests that may take effect. If it is nil, all of them
	// may take effect. permitted caches which suppressions are allowed. inert lists the
	// suppressions that are not allowed.
	allowed   accept.Allowance
	permitted map[diag.Suppression]bool
	inert     []diag.Suppression
	// scanned lists the files whose comments have been added. ignored is the number of suppressions
	// in manifests that were ignored because of Options.NoInline.
	scanned []string
	ignored int
	sources *sourceComments
}

// gather collects the suppressions from the manifests and the configuration. It must run before the
// parsed trees are released.
func (s *suppressions) gather(m *manifests) {
	objects := slices.Concat(m.set.Objects, m.altered) // includes objects that are not judged; otherwise their comments would apply to other objects
	byFile := locate.ByFile(objects)
	for _, o := range objects {
		s.annotations(o)
	}
	for _, x := range s.renders.All {
		for _, o := range x.Objects {
			s.annotations(o)
		}
	}
	for _, f := range slices.Concat(m.set.Files, m.beside) {
		s.comments(f, byFile[f.Name])
		s.scanned = append(s.scanned, f.Name)
	}
	if s.opts.NoInline {
		s.ignored, s.all, s.inline, s.sources = len(s.all), nil, map[diag.Span][]int{}, newSourceComments(s.renders)
	}
	name := s.files.ShowConfig()
	open := !s.files.Cover(s.files.Config.Dir) // an entry may apply to manifests that are not read
	for i, u := range s.files.Config.Unrendered {
		if u.Place.File = name; !open && !m.accepting[i] && s.opts.Followed != nil && s.opts.Tracked == nil {
			one := suppression(diag.ByConfiguration, "", u.Reason, "", u.Pattern, u.Place)
			s.stale = append(s.stale, accept.Complaint{Problem: accept.Unused, Suppression: one.Suppression})
		}
	}
	for i := range s.files.Config.Suppress {
		entry := &s.files.Config.Suppress[i]
		at := entry.Place
		at.File = name
		one := suppression(diag.ByConfiguration, entry.Rule, strings.TrimSpace(entry.Reason), entry.Until, entry.Target(), at)
		one.Meets = func(f *accept.Finding) bool { return entry.Means(f.Object, f.Labels) }
		one.Open = open
		s.entries = append(s.entries, len(s.all))
		s.all = append(s.all, one)
	}
}

func suppression(by, rule, reason, until, target string, at diag.Span) accept.Suppression {
	return accept.Suppression{Suppression: diag.Suppression{
		Acceptance: diag.Acceptance{By: by, Reason: reason, Until: until, Location: at}, Rule: rule, Target: target,
	}}
}

// add adds a suppression from a manifest. If the suppression is not allowed, add only records it as
// inert. It also adds invalid suppressions, because they must be reported.
func (s *suppressions) add(one accept.Suppression) {
	if s.allowed != nil && !s.opts.NoInline && one.Holds(s.acceptance()) && !s.isAllowed(&one) {
		return
	}
	if one.By == diag.ByComment && one.Start.IsZero() {
		s.sources.note(&one, len(s.all), s.acceptance())
	}
	s.inline[one.Start] = append(s.inline[one.Start], len(s.all))
	s.all = append(s.all, one)
}

// suppressionKey identifies a suppression by its location and target. The target is needed, because
// one line of a kustomization may annotate many objects. Several renders may contain the same
// suppression.
func suppressionKey(s *accept.Suppression) diag.Suppression {
	return diag.Suppression{Acceptance: diag.Acceptance{By: s.By, Location: s.Location}, Rule: s.Rule, Target: s.Target}
}

// isAllowed reports whether a suppression is allowed to take effect. It caches the answer, because
// several renders may contain the same suppression.
func (s *suppressions) isAllowed(one *accept.Suppression) bool {
	key := suppressionKey(one)
	allowed, known := s.permitted[key]
	if !known {
		allowed = s.allowed.Take(one.Suppression)
		s.permitted[key] = allowed
		if !allowed {
			s.inert = append(s.inert, one.Suppression)
		}
	}
	return allowed
}

func (s *suppressions) acceptance() accept.Options {
	return accept.Options{Today: s.opts.Today, Rules: s.opts.Policy.IDs()}
}

// annotations adds the suppressions in the annotations of an object.
func (s *suppressions) annotations(o *source.Object) {
	start := locate.StartOf(o)
	for k, v := range o.Root.At("metadata", "annotations").Fields() {
		rule, ok := strings.CutPrefix(k.Value, ignorePrefix)
		if !ok {
			continue
		}
		reason, until := accept.Reason(v.Value)
		at := s.renders.InSources(o.File.FieldSpan(k, v))
		one := suppression(diag.ByAnnotation, rule, reason, until, s.renders.NameAt(o, at), at)
		one.Start = start
		one.Meets = func(f *accept.Finding) bool { return f.Start == start }
		s.add(one)
	}
}

// comments adds the suppressions in a file's comments. The argument objects holds the objects in
// the file.
func (s *suppressions) comments(f *source.File, objects []*source.Object) {
	var last, end int // the line that a group of comments applies to, and the last line of the list item that starts there
	for _, d := range f.Directives() {
		reason, until := accept.Reason(d.Text)
		one := suppression(diag.ByComment, d.Rule, reason, until, "", d.Span)
		if o := locate.Around(objects, d.Line, math.MaxInt); o != nil {
			one.Start, one.Target = locate.StartOf(o), locate.NameOf(o)
		} else {
			one.Target = "what stands in " + f.Name // keeps it distinct from comments in other files
		}
		if d.Line != last {
			last, end = d.Line, itemEnd(f, d.Line)
		}
		end := end
		covers := func(at diag.Span, moved bool) bool {
			return at.File == d.Span.File && (at.Line == d.Line || moved && d.Line < at.Line && at.Line <= end)
		}
		one.Meets = func(found *accept.Finding) bool {
			return covers(found.Location, found.Moved) || covers(found.Template, found.Moved)
		}
		s.add(one)
	}
}

// itemEnd returns the last line of the list item that begins on a line, or 0 if no item begins
// there. Render tools sort fields, so a finding about an entire item may point to any of its lines.
func itemEnd(f *source.File, line int) int {
	text := f.Printed(line)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	if line == 0 || !strings.HasPrefix(text[indent:], "- ") {
		return 0
	}
	end := line
	for n := line + 1; n <= f.LineCount(); n++ {
		rest := f.Printed(n)
		trimmed := strings.TrimLeft(rest, " ")
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case len(rest)-len(trimmed) <= indent:
			return end
		default:
			end = n
		}
	}
	return end
}

// recordDecided records for each suppression whether its rule has complete facts about the objects
// that the suppression applies to.
func (s *suppressions) recordDecided(f *derive.Built, objects []*source.Object) {
	if len(s.all) == 0 {
		return
	}
	for _, o := range objects {
		for _, i := range s.inline[locate.StartOf(o)] {
			s.countDecided(f, o, &s.all[i])
		}
		for n, i := range s.entries {
			if s.files.Config.Suppress[n].Means(o.ID(), locate.LabelsOf(o)) && s.table.Relevant(o.APIVersion, o.Kind) {
				s.countDecided(f, o, &s.all[i])
			}
		}
		if s.table.Relevant(o.APIVersion, o.Kind) && o.Hook != source.HookNever {
			for rule, asked := range s.sources.of(o) {
				if s.decided(f, o, rule) {
					asked.decided++
				} else {
					asked.open = true
				}
			}
		}
	}
}

// decided reports whether a rule has complete facts about an object.
func (s *suppressions) decided(f *derive.Built, o *source.Object, rule string) bool {
	return !s.judge.off(rule) && f.Decisions().Decided(o.ID(), s.opts.Policy.Reads(rule))
}

func (s *suppressions) countDecided(f *derive.Built, o *source.Object, one *accept.Suppression) {
	if s.decided(f, o, one.Rule) {
		one.Decided++
	} else {
		one.Open = true
	}
}

// apply separates the findings that count from those that a suppression accepts. It also returns
// complaints about suppressions that accept nothing. It does not complain if the suppressed rule
// failed, because the suppression may still be needed.
func (s *suppressions) apply(findings []accept.Finding) (kept, accepted []accept.Finding, complaints []accept.Complaint) {
	for i := range s.all {
		one := &s.all[i]
		one.Open = one.Open || s.judge.tally.HasFailed(one.Rule)
	}
	// Whether a rule has complete facts in the renders that use the file is not known if any of these renders is
	// missing, because the comment might apply there.
	c := s.sources
	all := s.all
	open := c.partly || len(c.renders.Failed) > 0 || !s.files.Cover(s.files.Root)
	for _, x := range c.renders.All {
		if x.Out == nil {
			continue // the output of another tool, whose sources are unknown
		}
		for _, name := range x.Out.Sources {
			for _, i := range c.byFile[x.FromRoot(name)] {
				if rule := c.asked[x][all[i].Rule]; rule != nil {
					all[i].Decided += rule.decided
					all[i].Open = all[i].Open || rule.open || open
				}
			}
		}
	}
	kept, accepted, complaints = accept.Suppress(findings, s.all, s.acceptance())
	return kept, accepted, append(complaints, s.stale...)
}

// inEffect returns the suppressions that are in effect. Each is returned once even if several
// renders contain it.
func (s *suppressions) inEffect() (all []diag.Suppression) {
	seen := map[diag.Suppression]bool{}
	for i := range s.all {
		one := &s.all[i]
		if key := suppressionKey(one); one.Holds(s.acceptance()) && (!seen[key] || one.By == diag.ByConfiguration) {
			seen[key] = true
			all = append(all, one.Suppression)
		}
	}
	return all
}

// Inline returns the active suppressions in manifests and in all other files below the root. It
// reads the other files because they may be sources of renders. The error names the files that
// could not be read. The results raw and acting are as in diag.Report.
func Inline(ctx context.Context, o Options) (known []diag.Suppression, raw []string, acting []diag.Object, err error) {
	r := newRun(ctx, o, nil)
	m := r.load()
	raw, acting = m.raw(r.table), r.acting(m)
	r.suppressions.gather(m)
	r.failures.fail(r.suppressions.scanRemaining())
	r.failures.errs = slices.DeleteFunc(r.failures.errs, func(err error) bool { return errors.Is(err, ErrNothing) })
	known = lists.Where(r.suppressions.inEffect(), func(s diag.Suppression) bool { return s.By != diag.ByConfiguration })
	return known, raw, acting, r.failures.err()
}

// maxComments is the maximum size in bytes of a file that is searched for comments.
const maxComments = 64 << 20

// mayHaveComments lists the extensions of manifests, values files and templates.
var mayHaveComments = map[string]bool{".yaml": true, ".yml": true, ".tpl": true}

// scanRemaining adds the comments of files that are not among the manifests.
func (s *suppressions) scanRemaining() error {
	seen := lists.Set(s.scanned)
	root, err := os.OpenRoot(s.files.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(name))
		if err != nil || seen[name] || !d.Type().IsRegular() || !mayHaveComments[ext] {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > maxComments {
			return err
		}
		text, err := fs.ReadFile(root.FS(), name)
		if err == nil && bytes.Contains(text, []byte("schedlint:ignore")) {
			s.comments(source.NewFile(name, name, text), nil)
		}
		return err
	})
}

// sourceComments holds the suppressions in comments of files that are not checked directly. These
// are files without objects, such as templates and values files, and manifests that renders use. A
// comment counts as unused only if it cannot apply in any render that reads the file.
type sourceComments struct {
	renders *locate.Renders
	byFile  map[string][]int // indices of the suppressions
	// rules maps a file name to the rules named in the comments of the file. asked records, for
	// each render and rule, whether the facts for the rule are complete. This is the same for all
	// comments about the rule.
	rules map[string][]string
	asked map[*locate.Rendered]map[string]*askedRule
	// partly is set if some contexts of a cluster were not checked.
	partly bool
}

// askedRule says how complete the facts for a rule are in a render. decided is the number of
// objects with complete facts. open is set if any object has incomplete facts.
type askedRule struct {
	decided int
	open    bool
}

func newSourceComments(r *locate.Renders) *sourceComments {
	return &sourceComments{renders: r, byFile: map[string][]int{}, rules: map[string][]string{}, asked: map[*locate.Rendered]map[string]*askedRule{}}
}

// note records a comment if its suppression is in effect.
func (c *sourceComments) note(one *accept.Suppression, i int, o accept.Options) {
	file := one.Location.File
	if !one.Holds(o) {
		return
	}
	c.byFile[file] = append(c.byFile[file], i)
	if !slices.Contains(c.rules[file], one.Rule) {
		c.rules[file] = append(c.rules[file], one.Rule)
	}
}

// of returns the rules to check for an object. These are the rules named in comments of the files
// that the object's render uses.
func (c *sourceComments) of(o *source.Object) map[string]*askedRule {
	x := c.renders.Results[o.File.Name]
	if x == nil || len(c.byFile) == 0 {
		return nil
	}
	all, known := c.asked[x]
	if !known {
		all = map[string]*askedRule{}
		for _, name := range x.Out.Sources {
			for _, rule := range c.rules[x.FromRoot(name)] {
				all[rule] = &askedRule{}
			}
		}
		c.asked[x] = all
	}
	return all
}

// applyAcceptances separates the findings that count from those that a suppression or the baseline
// accepts.
func (r *run) applyAcceptances(report *diag.Report) {
	found := r.judge.take()
	// Comments of source files count for findings in renders.
	s := r.suppressions
	if !s.opts.NoInline {
		seen := lists.Set(s.scanned)
		for i := range found {
			name := found[i].Location.File
			if f := s.files.ByName[name]; found[i].Moved && f != nil && !seen[name] {
				seen[name] = true
				s.comments(f, nil)
			}
		}
	}
	kept, accepted, complaints := r.suppressions.apply(found)
	kept = append(kept, r.judge.findingsOnComplaints(complaints)...)
	if b := r.opts.Baseline; b != nil {
		b.File = r.files.Show(b.Path, b.Path, b.Text)
		if r.opts.Rebase {
			b.Take(diagnostics(kept), r.elsewhere())
		}
	}
	kept, based, healed, complaints := r.opts.Baseline.Apply(kept, r.opts.Today)
	kept = append(kept, r.judge.findingsOnComplaints(complaints)...)
	report.Diagnostics = diagnostics(kept)
	report.Accepted = diagnostics(append(accepted, based...))
	report.Suppressions = r.suppressions.inEffect()
	if r.opts.Baseline == nil {
		return
	}
	// A run that reads only some files cannot tell which objects are in the other files.
	elsewhere := r.elsewhere()
	for _, key := range healed {
		if !elsewhere(key) && !r.judge.tally.HasFailed(key.Rule) {
			r.summary.Healed++
		}
	}
}

// elsewhere returns a function that reports whether a baseline key may refer to an unread manifest.
func (r *run) elsewhere() func(diag.Key) bool {
	if r.files.Cover(filepath.Dir(worktree.Absolute(r.files.Dir, r.opts.Baseline.Path))) {
		return func(diag.Key) bool { return false }
	}
	there := map[diag.Key]bool{}
	for key, all := range r.decisions {
		cluster, render, _ := strings.Cut(key, "\x00")
		for o := range all {
			d := diag.Diagnostic{Cluster: cluster, Render: render, Object: o}
			there[d.Key()] = true
		}
	}
	return func(key diag.Key) bool {
		key.Rule, key.Field, key.Branch = "", "", ""
		return !there[key]
	}
}

func diagnostics(findings []accept.Finding) []diag.Diagnostic {
	all := make([]diag.Diagnostic, len(findings))
	for i := range findings {
		all[i] = findings[i].Diagnostic
	}
	return all
}

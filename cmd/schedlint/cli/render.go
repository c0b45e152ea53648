package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

type renderFlags struct {
	inputFlags
	trace bool
}

func newRender() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render [PATH[=VALUES,...]|NAME...]",
		Short: "Print what a kustomization, chart or GitOps pointer renders to",
		Long: `Render prints the manifests that lint checks: those of a kustomization as
kustomize build prints them, those of a chart as helm template prints them, and
what a Flux or Argo CD object deploys. PATH is a kustomization, a chart with its
values files (as in --helm), a file with GitOps pointers, or a directory with
any of them. NAME is the name of a render, as findings print it: (render NAME).
Without arguments, render prints what lint renders in the working directory. If
there are several, a comment names each.

With --trace, each line ends in a comment that says where a finding on this line
is reported:
  FILE:LINE                    the line that sets or prints the value
  FILE:LINE, by TEMPLATE:LINE  the line of a values file that sets the value, or
                               the call in the chart's own template, and the
                               line of the template that prints it
  in FILE:LINE                 the field around it; what sets this is not known
  unknown                      no source is known
In a text of several lines, the comments become part of the text: use --trace
for reading only. Hidden characters are escaped then.

Without --trace, text is printed as it is rendered. Secrets always are.

Exit status (the highest applies):
  0  success
  1  a render that was asked for fails, as in lint
  2  usage error, nothing to render, or an incomplete run
  3  internal error`,
		Example: `  schedlint render deploy/overlays/prod
  schedlint render --trace charts/shop=env/prod.yaml
  schedlint render --helm charts/shop --set replicas=3
  schedlint render clusters/prod/shop.yaml#shop/web`,
		RunE: func(cmd *cobra.Command, args []string) error { return runRender(cmd, args, &f) },
	}
	flags := cmd.Flags()
	addConfig(flags, &f.config)
	f.render.Mode = inputs.Auto
	f.addRenders(flags, true, "to render")
	flags.BoolVar(&f.trace, "trace", false, "end each line in a comment with the file and line that it comes from")
	return cmd
}

func runRender(cmd *cobra.Command, args []string, f *renderFlags) error {
	choices, err := f.choices(args)
	if err != nil {
		return err
	}
	type part struct {
		name string
		text []byte
	}
	var parts []part
	var errs []error
	var notes []string
	var failures diag.Failures
	for i := range choices {
		o, err := f.selected(cmd, &choices[i])
		if err != nil {
			return err
		}
		for _, u := range o.Unfollowed {
			text := fmt.Sprintf("%s: %s is not rendered: %s", locate.FileLine(filepath.ToSlash(worktree.Seen(o.Dir, filepath.Join(o.Root, filepath.FromSlash(u.File)))), u.Line), u.Name, u.Why)
			if u.Detail != "" {
				text += ": " + u.Detail
			}
			if choices[i].name != "" {
				errs = append(errs, errors.New(text))
			} else {
				notes = append(notes, text)
			}
		}
		if len(o.Renders) == 0 {
			continue
		}
		p, err := lint.Print(cmd.Context(), o, f.trace)
		if err != nil {
			return err
		}
		failures = append(failures, p.Failures...)
		for _, t := range p.Texts {
			parts = append(parts, part{t.Name, printed(t, p.Display)})
		}
		for _, problem := range p.Quiet {
			notes = append(notes, said(problem, p.Display))
		}
		for _, problem := range p.Problems {
			errs = append(errs, errors.New(said(problem, p.Display)))
		}
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for i, p := range parts {
		if len(parts) > 1 {
			if i > 0 && !bytes.HasPrefix(p.text, []byte("---\n")) {
				fmt.Fprintln(out, "---")
			}
			fmt.Fprintf(out, "# Render: %s\n", report.Visible(p.name))
		}
		out.Write(p.text)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for i, note := range notes {
		if i == mostNotes && len(notes) > i+1 {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %d more are not rendered: schedlint inputs lists them\n", len(notes)-i)
			break
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", report.Visible(note))
	}
	printFailures(cmd.ErrOrStderr(), failures)
	if len(errs) > 0 {
		return statusError{max(exitFindings, failed(failures)), errors.Join(errs...)}
	}
	return incomplete(failures)
}

// said returns a problem with a render as one line.
func said(p source.Problem, display func(string) string) string {
	text := "rendering fails: " + p.Detail
	switch p.Kind {
	case source.RenderRefused:
		text = "schedlint does not render this: " + p.Detail
	case source.DuplicateKey:
		text = fmt.Sprintf("the key %s is repeated, which kustomize and Flux refuse", p.Detail)
	}
	return locate.FileLine(display(p.Span.File), p.Span.Line) + ": " + text
}

// wanted holds the renders that one argument or the flags ask for. If name is not empty, only the
// render of this name and those of the pointers in a file of this name are printed.
type wanted struct {
	inputs.Choice
	paths []string
	name  string
}

// choices returns what the flags and arguments ask for, in their order.
func (f *renderFlags) choices(args []string) (all []wanted, err error) {
	charts := len(f.render.Charts)
	if len(args) == 0 || len(f.render.Dirs)+len(f.render.Charts) > 0 {
		all = append(all, wanted{Choice: f.render})
	}
	for _, arg := range args {
		one := wanted{Choice: f.render}
		one.Dirs, one.Charts, one.Settings = nil, nil, render.Chart{}
		chart, _, _ := strings.Cut(arg, "=")
		switch info, err := os.Stat(arg); {
		case arg == "-":
			return nil, errors.New("standard input holds no files to render: name a kustomization, a chart or a file with GitOps pointers")
		case inputs.IsChart(chart):
			charts++
			one.Charts, one.Settings = []string{arg}, f.render.Settings
		case inputs.IsKustomization(arg):
			one.Dirs = []string{arg}
		case err == nil && info.IsDir():
			one.paths = []string{arg}
		default:
			one.name = arg
		}
		all = append(all, one)
	}
	return all, f.render.Check(charts)
}

// selected returns the options for printing what was asked for.
func (f *renderFlags) selected(cmd *cobra.Command, w *wanted) (lint.Options, error) {
	o, err := f.read(cmd, w.paths, config.Choose)
	if err != nil {
		return o, err
	}
	if w.name != "" {
		o.Paths = []string{o.Root} // pointers deploy one another from anywhere
	}
	w.Whole = true
	if err := w.Apply(cmd.Context(), &o, len(w.paths) == 0 && w.name == ""); err != nil {
		return o, err
	}
	o.Paths = nil
	o.Renders = slices.DeleteFunc(o.Renders, func(x lint.Render) bool { return len(x.Files) > 0 }) // another tool rendered them
	if w.name != "" {
		err = w.only(&o)
	}
	if err == nil && len(o.Renders)+len(o.Unfollowed) == 0 {
		err = fmt.Errorf("%s holds nothing that can be rendered: expected a kustomization, a chart or a GitOps pointer", cmp.Or(strings.Join(w.paths, " "), "the working directory"))
	}
	return o, err
}

// only leaves the renders of one name, and those of the pointers in a file of this name.
func (w *wanted) only(o *lint.Options) error {
	file := worktree.Resolved(worktree.Absolute(o.Dir, w.name))
	is := func(name string) bool {
		return name != "" && filepath.Join(worktree.Resolved(o.Root), filepath.FromSlash(name)) == file
	}
	names := lists.Of(o.Renders, func(x locate.Render) string { return x.Name })
	o.Renders = slices.DeleteFunc(o.Renders, func(x lint.Render) bool { return x.Name != w.name && !is(x.Pointer.File) })
	o.Unfollowed = slices.DeleteFunc(o.Unfollowed, func(u lint.Unfollowed) bool { return !is(u.File) })
	if len(o.Renders)+len(o.Unfollowed) == 0 {
		return fmt.Errorf("%s is no kustomization, no chart, no file with GitOps pointers and no name of a render%s; schedlint inputs lists what can be rendered", w.name, diag.Question(diag.Nearest(w.name, names)))
	}
	for i := range o.Renders {
		o.Renders[i].Requested = true
	}
	return nil
}

// mostNotes is the maximum number of notes to print about inputs that are not rendered.
const mostNotes = 10

// mostPadding is the column up to which the comments of --trace are aligned.
const mostPadding = 60

// printed returns the text of a render. The documents of a chart begin with the comments of helm
// template. If the sources of the lines are known, each line ends in a comment with its source.
func printed(t lint.Text, display func(string) string) []byte {
	lines := slices.Collect(strings.Lines(string(t.Text)))
	sources := map[int]string{} // Helm's comments, by the index of the line that follows
	for _, d := range t.Documents {
		if d.Template != "" {
			sources[d.Line-1] = "# Source: " + report.Visible(d.Template) + "\n"
		}
	}
	width := 0
	for i, line := range lines {
		if t.Places != nil {
			lines[i] = report.Line(strings.TrimRight(line, "\r\n"))
			width = min(mostPadding, max(width, utf8.RuneCountInString(lines[i])))
		}
	}
	var b bytes.Buffer
	for i, line := range lines {
		if sources[i] != "" && i == 0 {
			b.WriteString("---\n")
		}
		b.WriteString(sources[i])
		b.WriteString(line)
		if t.Places != nil {
			if from := from(t.Places[i], display); from != "" {
				fmt.Fprintf(&b, "%*s  # %s", max(0, width-utf8.RuneCountInString(line)), "", from)
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// from describes where a line comes from.
func from(p origin.Place, display func(string) string) string {
	at := func(s diag.Span) string { return report.Visible(locate.FileLine(display(s.File), s.Line)) }
	switch {
	case p.Span.IsZero():
		return ""
	case p.Inside != "":
		return at(p.Span) + ", " + report.Visible(p.Inside)
	case !p.Library.IsZero():
		return at(p.Span) + ", by " + at(p.Library)
	case !p.Template.IsZero():
		return at(p.Span) + ", by " + at(p.Template)
	case p.Whole:
		return "unknown"
	case p.Near:
		return "in " + at(p.Span)
	}
	return at(p.Span)
}

package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
)

// difference is a disagreement of the two sides about a case. Cause is the same for similar
// differences, and Text is for people.
type difference struct{ Kind, Cause, Text string }

// outcome is the result of a comparison.
type outcome struct {
	differences []difference
	// rendered is set if both sides render the case, placed if both name the line of a failure, and
	// unstable if Helm gives two different answers.
	rendered, placed, unstable bool
	lines                      int
	result                     *ours.Result
}

// input converts a case to the input of lint/chart.
func input(c *charts.Case) ours.Input {
	in := ours.Input{Set: c.Set, SetString: c.SetString, Name: c.Name, Namespace: c.Namespace, KubeVersion: c.KubeVersion, APIVersions: c.APIVersions}
	for _, f := range c.Files {
		in.Files = append(in.Files, ours.File{Name: f.Name, Data: bytes.Clone(f.Data)})
	}
	for _, v := range c.Values {
		in.Values = append(in.Values, ours.File{Name: v.Name, Data: bytes.Clone(v.Data)})
	}
	return in
}

// compare renders a case on both sides.
func compare(c *charts.Case) outcome {
	res, err := render(input(c))
	if err != nil && (strings.Contains(err.Error(), "contains itself") || strings.Contains(err.Error(), "contain themselves")) {
		return outcome{} // Helm prints it until its stack overflows
	}
	return hold(helm(c), res, err, func() answer { return helm(c) })
}

// render renders with lint/chart, and converts panics to errors.
func render(in ours.Input) (res *ours.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return ours.Render(in)
}

// hold compares answers. If they differ, it asks Helm again: the output for some charts depends on
// the order of Helm's maps or contains a memory address.
func hold(h answer, res *ours.Result, err error, again func() answer) (o outcome) {
	o.differences = differences(h, res, err)
	for range 3 {
		if len(o.differences) == 0 {
			break
		}
		if k := again(); !maps.Equal(h.texts, k.texts) || (h.err == nil) != (k.err == nil) {
			o.differences, o.unstable = nil, true
		}
	}
	if h.err == nil && err == nil {
		o.rendered, o.result = true, res
		for _, text := range h.texts {
			o.lines += strings.Count(text, "\n")
		}
	}
	if h.err != nil && err != nil {
		template, _ := place(h.err)
		o.placed = template != ""
	}
	return o
}

func differences(h answer, res *ours.Result, err error) []difference {
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "panic: "):
		return []difference{{"panic", err.Error(), err.Error()}}
	case h.err != nil && err != nil:
		return misplaced(h.err, err)
	case h.err != nil:
		return []difference{{"only Helm fails", cause(h.err), h.err.Error()}}
	case err != nil:
		return []difference{{"only we fail", cause(err), err.Error()}}
	}
	mine := map[string]string{}
	for _, m := range res.Manifests {
		mine[m.Template] = string(m.Text)
	}
	if a, b := slices.Sorted(maps.Keys(h.texts)), slices.Sorted(maps.Keys(mine)); !slices.Equal(a, b) {
		return []difference{{"templates", "", fmt.Sprintf("Helm renders %q, we %q", a, b)}}
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if a, b := h.texts[name], mine[name]; a != b {
			return []difference{{"text", "", fmt.Sprintf("%s: %s", name, firstLine(a, b))}}
		}
	}
	return nil
}

// firstLine shows the first line in which two texts differ.
func firstLine(a, b string) string {
	as, bs := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for i := range max(len(as), len(bs)) {
		var x, y string
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		if x != y {
			return fmt.Sprintf("line %d is %.300q with Helm, %.300q with us", i+1, x, y)
		}
	}
	return ""
}

var (
	// wordy matches the parts in which errors with the same cause differ.
	wordy = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|<[^>]*>|[0-9]+|[a-z0-9-]+/[^ :]*")
	// places are the templates and lines in an error of Helm, outermost first.
	places = regexp.MustCompile(`(?:template: |at \()([^\s:()]+):([0-9]+)(?::[0-9]+)?[:)]`)
)

func cause(err error) string {
	text := wordy.ReplaceAllString(err.Error(), "_")
	if i := strings.LastIndex(text, ": "); i > 0 && len(text) > 120 {
		text = text[max(0, len(text)-120):]
	}
	return text
}

// place is the innermost template of a file that an error of Helm names, and the line. Of
// fail and required Helm tells the outermost one only, so theirs are left out.
func place(err error) (template string, line int) {
	text := err.Error()
	if strings.HasPrefix(text, "execution error at ") {
		return "", 0
	}
	for _, m := range places.FindAllStringSubmatch(text, -1) {
		if m[1] != "gotpl" {
			template = m[1]
			line, _ = strconv.Atoi(m[2])
		}
	}
	return template, line
}

// misplaced compares where both sides fail. Files of dependencies have other names for
// people than for Helm, so what comes after templates/ counts.
func misplaced(h, err error) []difference {
	template, line := place(h)
	p, ok := err.(*ours.Problem)
	if template == "" || !ok {
		return nil
	}
	if below(template) != below(p.File) || line != p.Line {
		return []difference{{"place", "", fmt.Sprintf("Helm fails in %s:%d, we in %s:%d\n%v\n%v", template, line, p.File, p.Line, h, err)}}
	}
	return nil
}

func below(name string) string {
	if i := strings.LastIndex(name, "templates/"); i >= 0 {
		return name[i:]
	}
	return name
}

package render

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/schedlint/schedlint/lint/limits"
)

// Root describes one render.
type Root struct {
	// Confinement is the directory outside of which nothing is read. It is absolute and has no
	// symbolic links.
	Confinement string
	// Dir is the directory of the kustomization relative to Confinement, with forward slashes; "."
	// is Confinement itself.
	Dir string
	// RootOnly restricts files to the directory of the kustomization that names them, which is the
	// default of kustomize; otherwise they may be anywhere in the repository.
	RootOnly bool
	// Remotes maps URLs to the directories of the repository that replace them, named relative to
	// Confinement.
	Remotes map[string]string
	// Texts replaces the contents of files, by their names relative to Confinement.
	Texts map[string][]byte
	// Overlay holds the changes of a GitOps controller; nil builds the kustomization as it is.
	Overlay *Overlay
	// Chart is set if Dir is the directory of a Helm chart instead of a kustomization.
	Chart *Chart
	// Left limits the cost of the render to the remaining cost of its run.
	Left limits.Cost
}

// Chart holds the inputs of a Helm chart. The zero value uses the values of the chart and an
// assumed release name.
type Chart struct {
	// Name and Namespace are those of the release; an empty Name means chart.DefaultRelease.
	Name, Namespace string
	// Archive is the .tgz that contains the chart, named relative to Root.Confinement, or "" for a
	// chart in Root.Dir.
	Archive string
	// Version is a constraint on the version of the chart; "" accepts any version.
	Version string
	// Values holds values files and texts; later ones take precedence. The first Defaults of them
	// replace the values.yaml of the chart.
	Values   []Values
	Defaults int
	// Set and SetString are arguments of --set and --set-string.
	Set, SetString []string
	// KubeVersion and APIVersions are the assumed capabilities of the cluster. APIVersions are
	// added to those that Helm assumes.
	KubeVersion string
	APIVersions []string
	// CRDs prints CRDs before everything else, NoHooks leaves out hooks, and NoTests leaves out
	// test hooks.
	CRDs, NoHooks, NoTests bool
}

// Values holds values for a chart: a file of the repository, or a text from elsewhere.
type Values struct {
	// File is a name relative to Root.Confinement. With Text it only appears in messages.
	File string
	// Text is YAML that replaces the file; nil reads File.
	Text []byte
	// Places has the place of each line of Text; Line 0 means that it is not known.
	Places []Place
	// Optional skips a File that does not exist.
	Optional bool
}

// Place is a line of a file, named relative to Root.Confinement. Columns count code points, from 1.
type Place struct {
	File         string
	Line, Column int
}

// Files returns values that are files.
func Files(names ...string) (all []Values) {
	for _, name := range names {
		all = append(all, Values{File: name})
	}
	return all
}

// work returns the steps that an output took, at about 4 MB of YAML read or written per second. The
// cost of a worker that was killed is not known, so it counts as the limit of a root.
func (o *Output) work() int {
	if o.Problem != nil && o.Problem.Kind == Killed {
		return limits.Render.Steps
	}
	return o.Cost.Steps + o.Cost.Bytes/2
}

// share returns the largest share of the limits of a run that a cost takes.
func share(c limits.Cost) float64 {
	most := limits.Renders
	return max(float64(c.Objects)/float64(most.Objects), float64(c.Bytes)/float64(most.Bytes), float64(c.Entries)/float64(most.Entries))
}

// Output is the result of rendering a root.
type Output struct {
	// Text is the result as kustomize prints it, with one document for each object. Schemas of
	// CustomResourceDefinitions may be null instead.
	Text []byte
	// Documents holds the documents of Text, in order.
	Documents []Document
	// Files holds names, relative to Confinement, that places refer to by index.
	Files []string
	// Marks maps scalars of Text, by line and column, to the places where they were written.
	Marks Marks
	// Lines has, for a chart, the place of each line of Text.
	Lines Lines
	// Inside lists, for a chart, the templates in packed dependencies that Lines refer to: the name
	// of the archive relative to the chart, a colon, and the name in the archive.
	Inside []string
	// Charts holds the outputs of charts that were changed on the way to Text, by their names in
	// Files. A place in such a name is a place in its Text, whose Lines have the place in the
	// sources.
	Charts map[string]*Output
	// Named is, for an output in Charts, the place that names the chart, or nil if it is not known.
	Named *Place
	// Sources lists the kustomizations of the root and the files that they name as resources or
	// patches and that were read, sorted. The objects that these files declare are deployed as in
	// the result, not as written.
	Sources []string
	// Data lists files that were read for other purposes, sorted. Plain lists those of them that
	// Helm deploys unchanged, because they are in crds/.
	Data, Plain []string
	// Unchecked lists checks of the tool that schedlint does not make.
	Unchecked []*Problem
	Cost      limits.Cost
	// Problem is the reason why there is no result, or nil.
	Problem *Problem
}

// Document is one object of a result.
type Document struct {
	// Line is its first line in Text, counted from 1.
	Line int
	// File is an index into Output.Files, or -1 if the place of the object is not known, for
	// instance because a generator made it. Index counts the documents of the file from 0.
	File, Index int
}

// Mark maps a scalar of the result to its place. Columns count code points, from 1.
type Mark struct {
	Line, Column int // in the result
	File         int // an index into Output.Files
	At, AtColumn int // line and column in the file
	// Variable is set if the place sets the value of a variable instead of a field.
	Variable bool
}

// Line is the place of a line in the result of a chart: the line of the template, and the place
// where the value in it was set. Files are indices into Output.Files, or -1 if the place is not
// known. Columns count code points, from 1. For a template in a packed dependency, Template and At
// are the place where the chart names that dependency, Inside is the number of the template in
// Output.Inside, counted from 1, and InsideAt is its line.
type Line struct {
	Template, At                   int
	Values, ValuesAt, ValuesColumn int
	// Item is the place of the list item that begins on the line. The item may have been written
	// with another key first.
	Item, ItemAt, ItemColumn int
	Inside, InsideAt         int
}

// Kinds of problems.
const (
	// Failed is for an input that kustomize or Helm reject, such as one with a missing file.
	Failed = "failed"
	// Refused is for something that schedlint does not do although kustomize or Helm might: reading
	// outside the repository, connecting, executing, or exceeding a limit.
	Refused = "refused"
	// Killed is for a worker that exceeded its time or memory.
	Killed = "killed"
	// Repeated is for a key that a chart prints twice for kustomize, which rejects that. Detail is
	// the key.
	Repeated = "repeated"
	// Spent is for a root that was not rendered because others used up limits.Renders.
	Spent = "spent"
)

// Problem is the reason why a root has no result.
type Problem struct {
	Kind string
	// File, relative to Confinement, Line and Column are the place in the kustomizations that names
	// the cause. Line is 1 if the line is not known.
	File         string
	Line, Column int
	// Detail says what is wrong, without paths of this machine.
	Detail string
	// First is the first place of a Repeated key, and nil for other kinds.
	First *Place
	// Setting is the part of Root.Chart that is wrong: values[0], set[0], set-string[0] and so on,
	// or "" for another cause.
	Setting string
}

// Error returns the place and the detail.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

// Overlay holds the changes that a GitOps controller makes to a kustomization before it builds it,
// and to the objects afterwards. Like the controllers, it changes the kustomization of Root.Dir
// itself instead of building one on top of it.
type Overlay struct {
	// File and Line are the place of the pointer; File is relative to Confinement.
	File string
	Line int
	// Generated is set if the directory has no kustomization and is built from Resources, whose
	// names are relative to it. Files without objects are left out.
	Generated bool
	Resources []string
	// Plain is set if files are used as they are, even if the directory has a kustomization.
	Plain bool
	// Fields holds fields of a kustomization, as JSON. Values replace existing ones; lists and maps
	// are appended, images and replicas by name.
	Fields []byte
	// Patches holds the lines of File at which the inline patches of Fields begin, or 0.
	Patches []int
	// Counts holds the places of the replica counts in Fields, by the names of their objects.
	Counts map[string]Variable
	// Namespace is set on objects without one.
	Namespace string
	// Labels are set on all objects, but not on their pod templates.
	Labels map[string]string
	// Variables are substituted in the result; nil substitutes nothing.
	Variables *Variables
}

// Changes reports whether an overlay needs kustomize. A namespace alone does not.
func (o *Overlay) Changes() bool {
	return o != nil && (len(o.Fields) > 0 || len(o.Labels) > 0 || o.Variables != nil)
}

// Variables holds the values of ${name} in a result.
type Variables struct {
	Given map[string]Variable
	// Open is set if something unknown may set names that are not in Given; otherwise such names
	// are unset.
	Open bool
	// Unknown lists names that are set to unknown values.
	Unknown []string
}

// Variable is a value and its place; File is relative to Confinement, and Line is 0 if the place is
// not known.
type Variable struct {
	Value        string
	File         string
	Line, Column int
}

// Marks and Lines are encoded as one string of numbers each when workers send them. There are many
// of them, and encoding each value in JSON takes longer than most renders.
type (
	Marks []Mark
	Lines []Line
)

// MarshalJSON returns the compact form.
func (all Marks) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, m *Mark) []int {
		variable := 0
		if m.Variable {
			variable = 1
		}
		return append(to, m.Line, m.Column, m.File, m.At, m.AtColumn, variable)
	})
}

// UnmarshalJSON parses the compact form.
func (all *Marks) UnmarshalJSON(text []byte) error {
	return unpack(text, 6, (*[]Mark)(all), func(n []int) Mark {
		return Mark{n[0], n[1], n[2], n[3], n[4], n[5] != 0}
	})
}

// MarshalJSON returns the compact form.
func (all Lines) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, l *Line) []int {
		return append(to, l.Template, l.At, l.Values, l.ValuesAt, l.ValuesColumn, l.Item, l.ItemAt, l.ItemColumn, l.Inside, l.InsideAt)
	})
}

// UnmarshalJSON parses the compact form.
func (all *Lines) UnmarshalJSON(text []byte) error {
	return unpack(text, 10, (*[]Line)(all), func(n []int) Line {
		return Line{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	})
}

// pack encodes all rows. numbers appends the numbers of one row.
func pack[T any](all []T, numbers func([]int, *T) []int) ([]byte, error) {
	packed, row := make([]byte, 0, 8*len(all)), []int(nil)
	for i := range all {
		row = numbers(row[:0], &all[i])
		for _, n := range row {
			packed = binary.AppendVarint(packed, int64(n))
		}
	}
	return json.Marshal(packed)
}

// unpack decodes rows of width numbers.
func unpack[T any](text []byte, width int, all *[]T, row func([]int) T) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	*all = nil
	numbers := make([]int, 0, width)
	for len(packed) > 0 {
		n, size := binary.Varint(packed)
		if size <= 0 {
			return errors.New("a place has a number that does not end")
		}
		packed = packed[size:]
		if numbers = append(numbers, int(n)); len(numbers) == width {
			*all = append(*all, row(numbers))
			numbers = numbers[:0]
		}
	}
	if len(numbers) > 0 {
		return errors.New("a place has too few numbers")
	}
	return nil
}

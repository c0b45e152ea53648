package render

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/schedlint/schedlint/lint/limits"
)

// Root asks for one render.
type Root struct {
	// Confinement is the directory that nothing is read outside of, absolute and
	// without symbolic links.
	Confinement string
	// Dir is the directory of the kustomization as a name from there, with forward
	// slashes; "." is Confinement itself.
	Dir string
	// RootOnly keeps files within the directory of the kustomization that names them,
	// as kustomize does by default; else they are anywhere in the repository.
	RootOnly bool
	// Remotes gives directories of the repository, as names from Confinement, to be
	// read instead of what URLs name.
	Remotes map[string]string
	// Texts are read in place of files, by their names from Confinement.
	Texts map[string][]byte
	// Overlay is what a GitOps controller adds; nil if the kustomization is built as it
	// stands.
	Overlay *Overlay
	// Chart is set if Dir is the directory of a Helm chart and not of a kustomization.
	Chart *Chart
	// Left is what the render may take at most of what its run has left.
	Left limits.Cost
}

// Chart is what a Helm chart is rendered with. The zero value is its own values, and a name
// of the release that is assumed.
type Chart struct {
	// Name and Namespace are those of the release; an empty Name is chart.DefaultRelease.
	Name, Namespace string
	// Archive is a .tgz that holds the chart, as a name from Root.Confinement; "" for a
	// chart that is Root.Dir.
	Archive string
	// Version is a constraint that the version of the chart has to meet; "" is any.
	Version string
	// Values are values files and texts; later ones win. The first of them, as many as
	// Defaults says, stand in place of the values.yaml of the chart.
	Values   []Values
	Defaults int
	// Set and SetString are arguments of --set and --set-string.
	Set, SetString []string
	// KubeVersion and APIVersions are what the cluster is taken to have, beside what
	// Helm assumes.
	KubeVersion string
	APIVersions []string
	// CRDs are printed as well, before all else; NoHooks leaves out hooks, and NoTests
	// those of tests.
	CRDs, NoHooks, NoTests bool
}

// Values are values for a chart: a file of the repository, or a text from elsewhere.
type Values struct {
	// File is a name from Root.Confinement. With Text it is only named in messages.
	File string
	// Text is YAML read in place of the file; nil reads File.
	Text []byte
	// Places are where the lines of Text were written, one for each; Line 0 is not known.
	Places []Place
	// Optional leaves out a File that is missing.
	Optional bool
}

// Place is a line of a file, by its name from Root.Confinement. Columns count code points,
// from 1.
type Place struct {
	File         string
	Line, Column int
}

// Files are values that are files.
func Files(names ...string) (all []Values) {
	for _, name := range names {
		all = append(all, Values{File: name})
	}
	return all
}

// work is what an output took, in steps: about 4 MB of YAML are read or written in a second.
// What a worker took that was killed is not known.
func (o *Output) work() int {
	if o.Problem != nil && o.Problem.Kind == Killed {
		return limits.Render.Steps
	}
	return o.Cost.Steps + o.Cost.Bytes/2
}

// share is the largest part of a run's sizes that something takes.
func share(c limits.Cost) float64 {
	most := limits.Renders
	return max(float64(c.Objects)/float64(most.Objects), float64(c.Bytes)/float64(most.Bytes), float64(c.Entries)/float64(most.Entries))
}

// Output is what became of a root.
type Output struct {
	// Text is the result as kustomize prints it, one document for each object, but for
	// schemas of CustomResourceDefinitions, which may be null.
	Text []byte
	// Documents are those of Text, in their order.
	Documents []Document
	// Files are the names, from Confinement, that places count on.
	Files []string
	// Marks lead from scalars of Text to where they were written, by line and column
	// of Text.
	Marks Marks
	// Lines are, for a chart, the places of the lines of Text, one for each.
	Lines Lines
	// Inside are, for a chart, the templates in packed dependencies that Lines lead to: the
	// name of the archive from the chart, a colon and the name in the archive.
	Inside []string
	// Charts are what charts printed that were changed on the way to Text, by the names that
	// Files has for them. A place in such a name is one in its Text, whose Lines lead on.
	Charts map[string]*Output
	// Named is, for one of Charts, where it is named; nil where that is not known.
	Named *Place
	// Sources are the files that the kustomizations of the root name as resources or
	// patches and that were read, and the kustomizations themselves, sorted. What they
	// declare is deployed as the result says, and not as it stands there.
	Sources []string
	// Data are files that were read as anything else, sorted. Plain are those of them that
	// Helm deploys as they stand, as they are in crds/.
	Data, Plain []string
	// Unchecked lists what the tool checks and schedlint did not.
	Unchecked []*Problem
	Cost      limits.Cost
	// Problem says why there is no result; nil if there is one.
	Problem *Problem
}

// Document is one object of a result.
type Document struct {
	// Line is that of the first line in Text, counted from 1.
	Line int
	// File is an index into Output.Files, or -1 if it is not known where the object was
	// written, as for one that a generator made; Index counts its documents from 0.
	File, Index int
}

// Mark is the place of one scalar. Columns count code points, from 1.
type Mark struct {
	Line, Column int // in the result
	File         int // index into Output.Files
	At, AtColumn int // line and column in the file
	// Variable is set if the place gives a variable its value, and not a field.
	Variable bool
}

// Line is where a line of the result of a chart was written: the line of a template, and
// where the value in it was set. Files are indices into Output.Files, or -1 if that is
// not known. Columns count code points, from 1. Of a template in a packed dependency,
// Template and At are where the chart names that; Inside is the number of the template in
// Output.Inside, from 1, and InsideAt its line.
type Line struct {
	Template, At                   int
	Values, ValuesAt, ValuesColumn int
	// Item is the place of the item of a list that begins on the line, which may have
	// been written with another key first.
	Item, ItemAt, ItemColumn int
	Inside, InsideAt         int
}

// Why there is no result.
const (
	// Failed is what kustomize or Helm say of their input, as that a file is missing.
	Failed = "failed"
	// Refused is what is not done here although kustomize or Helm might: reading outside of the
	// repository, connecting, executing, or going beyond a limit.
	Refused = "refused"
	// Killed is a worker that met the limits of its time or memory.
	Killed = "killed"
	// Repeated is a key that a chart prints twice for kustomize, which refuses that. Detail is
	// the key.
	Repeated = "repeated"
	// Spent is set for a root that was not rendered because the others used up limits.Renders.
	Spent = "spent"
)

// Problem is why a root has no result.
type Problem struct {
	Kind string
	// File, from Confinement, Line and Column are where the kustomizations name what is
	// wrong; Line is 1 where that is not known.
	File         string
	Line, Column int
	// Detail is what is wrong, without paths of the machine.
	Detail string
	// First is the first place of a Repeated key, else nil.
	First *Place
	// Setting is, for a chart, what of Root.Chart is wrong: values[0], set[0] or
	// set-string[0] and so on; "" if it is none of these.
	Setting string
}

// Error names the place first.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

// Overlay is what a GitOps controller changes of a kustomization before it builds it and
// of the objects afterwards. The kustomization of Root.Dir is changed itself, as the
// controllers do: nothing refers to it from above.
type Overlay struct {
	// File and Line are where the pointer stands, from Confinement.
	File string
	Line int
	// Generated is set if the directory has no kustomization and is built from
	// Resources, which are relative to it. What holds no object is left out.
	Generated bool
	Resources []string
	// Plain is set if files are taken as they are, whether or not the directory has a
	// kustomization.
	Plain bool
	// Fields are those of a kustomization, in JSON. Values replace those that are there,
	// lists and maps are added to them, images and replicas by their names.
	Fields []byte
	// Patches are the lines at which the inline patches of Fields begin in File, or 0.
	Patches []int
	// Counts are where the numbers of replicas in Fields were written, by the names of their
	// objects.
	Counts map[string]Variable
	// Namespace is given to objects that have none.
	Namespace string
	// Labels are set on all objects, and not on their templates.
	Labels map[string]string
	// Variables are substituted in the result; nil substitutes nothing.
	Variables *Variables
}

// Changes reports whether an overlay needs kustomize: a namespace alone does not.
func (o *Overlay) Changes() bool {
	return o != nil && (len(o.Fields) > 0 || len(o.Labels) > 0 || o.Variables != nil)
}

// Variables are what stands for ${name} in a result.
type Variables struct {
	Given map[string]Variable
	// Open is set if what is not in Given may be given by something that is not known;
	// else it is not given.
	Open bool
	// Unknown are names that are given, by values that are not known.
	Unknown []string
}

// Variable is a value and where it was written, from Confinement; Line is 0 where that
// is not known.
type Variable struct {
	Value        string
	File         string
	Line, Column int
}

// Marks and Lines cross from workers as one text of numbers each: there are very many of
// them, and JSON with a value for each takes longer than most renders.
type (
	Marks []Mark
	Lines []Line
)

// MarshalJSON is the short form.
func (all Marks) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, m *Mark) []int {
		variable := 0
		if m.Variable {
			variable = 1
		}
		return append(to, m.Line, m.Column, m.File, m.At, m.AtColumn, variable)
	})
}

// UnmarshalJSON reads the short form.
func (all *Marks) UnmarshalJSON(text []byte) error {
	return unpack(text, 6, (*[]Mark)(all), func(n []int) Mark {
		return Mark{n[0], n[1], n[2], n[3], n[4], n[5] != 0}
	})
}

// MarshalJSON is the short form.
func (all Lines) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, l *Line) []int {
		return append(to, l.Template, l.At, l.Values, l.ValuesAt, l.ValuesColumn, l.Item, l.ItemAt, l.ItemColumn, l.Inside, l.InsideAt)
	})
}

// UnmarshalJSON reads the short form.
func (all *Lines) UnmarshalJSON(text []byte) error {
	return unpack(text, 10, (*[]Line)(all), func(n []int) Line {
		return Line{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	})
}

// pack writes the numbers of all rows, which numbers appends, one after the other.
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

// unpack reads rows of so many numbers.
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

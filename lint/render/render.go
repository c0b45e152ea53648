package render

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
)

// Root describes one render: what to build, and with which settings.
type Root struct {
	// Confinement is the absolute path of a directory, with symbolic links resolved. No file
	// outside it is read.
	Confinement string
	// Dir is the directory of the kustomization or chart. It is relative to Confinement and uses
	// forward slashes. "." means Confinement itself.
	Dir string
	// RootOnly restricts a kustomization to files in or below its own directory, as kustomize does by
	// default. Otherwise files may be anywhere in the repository.
	RootOnly bool
	// Remotes maps URLs to the directories and archives that replace them, relative to Confinement.
	Remotes map[string]string
	// Within is set if Dir is a copy from another repository. The kustomization can then read only
	// what is below this directory.
	Within string
	// Artifact is set if what is built is a directory of an artifact, which is put together from files
	// in Confinement. Dir is then where its main file comes from, and only other fields read it.
	Artifact *Artifact
	// Texts holds replacement contents by file name, relative to Confinement.
	Texts map[string][]byte
	// Overlay holds the changes that a GitOps controller makes, or nil if there are none.
	Overlay *Overlay
	// Chart is set if Dir contains a Helm chart instead of a kustomization.
	Chart *Chart
	// Whole keeps what no rule reads in the output: schemas of CustomResourceDefinitions, and
	// documents of charts that contain only comments.
	Whole bool
	// Left is the part of the run's limits that this render may use.
	Left limits.Cost
}

// Artifact is a tree of copies of files. A build sees it in place of the files in Confinement, except
// for values files, replacements of URLs and the file of the pointer. Positions and file names in an
// Output are those of the originals.
type Artifact struct {
	// Name is the virtual directory that holds the artifact. Dir is the directory in the artifact that
	// is built. Sum differs if Copies differ.
	Name, Dir, Sum string
	// Copies can be large, so they are no part of the keys of caches.
	Copies Copies `json:"-"`
}

// Copies holds the files of an artifact. Names is sorted, and relative to the artifact. Originals
// holds the original of each file, relative to Root.Confinement, or "" if a file is merged from
// several ones.
type Copies struct{ Names, Originals []string }

// Below returns the index of the first file in or below a directory, and of the first one after
// these files.
func (c Copies) Below(dir string) (first, end int) {
	if dir == "." {
		return 0, len(c.Names)
	}
	first = sort.SearchStrings(c.Names, dir+"/")
	return first, sort.SearchStrings(c.Names, dir+"0") // 0 comes after the slash
}

// Chart holds the inputs of a Helm chart. The zero value renders the chart with its own values and
// an assumed release name.
type Chart struct {
	// Name and Namespace identify the release. An empty Name means chart.DefaultRelease.
	Name, Namespace string
	// Archive is the .tgz with the chart, relative to Root.Confinement, or "" if the chart is in
	// Root.Dir.
	Archive string
	// Chart is the name that the chart must have, or "" to accept any name.
	Chart string
	// Version is a constraint on the version of the chart, or "" to accept any version.
	Version string
	// Values lists the values with which the chart is rendered. Later entries take precedence. The
	// first Defaults entries replace the chart's values.yaml.
	Values   []Values
	Defaults int
	// Set and SetString hold arguments of --set and --set-string.
	Set, SetString []string
	// Unknown lists the paths in Values whose value is chart.UnknownValue. Rendering fails if a
	// template does more with it than print it.
	Unknown []string
	// KubeVersion and APIVersions are the assumed capabilities of the cluster. APIVersions are
	// added to Helm's default API versions. HelmVersion is the version of Helm that templates see.
	KubeVersion string
	APIVersions []string
	HelmVersion string `json:",omitempty"`
	// CRDs adds the CRDs at the beginning of the output. NoHooks leaves out hooks, and NoTests
	// leaves out test hooks.
	CRDs, NoHooks, NoTests bool
}

// Values holds values for a chart, given as a file name or as text.
type Values struct {
	// File is relative to Root.Confinement. If Text is set, File appears only in messages.
	File string
	// Text is YAML to use instead of the file. If it is nil, File is read.
	Text []byte
	// Places holds the origin of each line of Text. An unknown origin has Line 0.
	Places []Place
	// Optional means that a missing File is not an error.
	Optional bool
}

// Place is a position in a file, whose name is relative to Root.Confinement. Columns count code
// points from 1.
type Place struct {
	File         string
	Line, Column int
}

// Files returns Values for the given files.
func Files(names ...string) []Values {
	return lists.Of(names, func(name string) Values { return Values{File: name} })
}

// work returns the cost of an output in steps. It assumes that rendering processes about 4 MB of
// YAML per second. For a worker that ended, the cost is unknown. Then work returns the limit for one
// root.
func (o *Output) work() int {
	if o.Problem != nil && (o.Problem.Kind == Killed || o.Problem.Kind == Lost) {
		return limits.Render.Steps
	}
	return o.Cost.Steps + o.Cost.Bytes/2
}

// share compares a cost with the run's limits on objects, bytes and entries. It returns the largest
// of the three fractions.
func share(c limits.Cost) float64 {
	most := limits.Renders
	return max(float64(c.Objects)/float64(most.Objects), float64(c.Bytes)/float64(most.Bytes), float64(c.Entries)/float64(most.Entries))
}

// Output is the result of rendering a root.
type Output struct {
	// Text is the result as kustomize prints it, with one document per object. Schemas of
	// CustomResourceDefinitions may be null, unless Root.Whole is set.
	Text []byte
	// Documents describes the documents of Text in order.
	Documents []Document
	// Files lists the files that positions refer to by index, relative to Confinement.
	Files []string
	// Marks maps the positions of scalars in Text to the positions at which they were written.
	Marks Marks
	// Lines holds the origin of each line of Text. It is set only for charts.
	Lines Lines
	// Inside lists the templates in archives to which Lines refers. An element consists of the path
	// of the archive, a colon, and the template's path in the archive. The path is that in the chart,
	// or that of the chart itself, relative to Confinement. Inside is set only for charts.
	Inside []string
	// Conditions lists the conditions of if actions to which Lines refers. It is set only for charts.
	Conditions []Condition
	// Omitted lists the values that make templates leave out workloads. It is set only for charts.
	Omitted []Omission
	// Charts maps names of virtual files to the chart outputs that they contain. Kustomize reads
	// these files. A position in such a file refers to the Text of the chart's output. The Lines of
	// this output contain the positions in the sources.
	Charts map[string]*Output
	// Named is set only for an output in Charts. It is the position of the kustomization entry that
	// names the chart, or nil if the position is unknown.
	Named *Place
	// Downloaded is set only for an output in Charts. It is the directory of a chart that comes from a
	// repository of charts, relative to Confinement, or "".
	Downloaded string
	// Sources lists the kustomizations of the root, and the files that kustomize reads as resources
	// or patches. The list is sorted. Objects in these files are checked only in rendered form.
	Sources []string
	// Data lists the files that kustomize reads as data, such as the files of a ConfigMap
	// generator. Plain lists the files in crds/, which Helm deploys unchanged. Both lists are
	// sorted.
	Data, Plain []string
	// Used maps the replacements in Root.Remotes that the build asked for to the positions that name
	// them. It is set even if there is a Problem.
	Used map[string]Place
	// Unchecked lists checks that the original tool performs but schedlint does not.
	Unchecked []*Problem
	Cost      limits.Cost
	// Problem is the reason why there is no result, or nil if there is one.
	Problem *Problem
}

// Document describes one object of a result.
type Document struct {
	// Line is the first line of the object in Text, counted from 1.
	Line int
	// File is the index in Output.Files of the file that declares the object. It is -1 if the file
	// is unknown, for instance because a generator created the object. Index is the number of the
	// document in the file, counted from 0.
	File, Index int
	// Template is Helm's name for the template that prints the object, such as
	// shop/templates/api.yaml. It is set only for charts.
	Template string `json:",omitempty"`
}

// Mark maps a scalar of the result to its position in the sources. Columns count code points from
// 1.
type Mark struct {
	Line, Column int // position in the result
	File         int // index into Output.Files
	At, AtColumn int // line and column in the file
	// Variable is set if the source is the value of a variable rather than of a field.
	Variable bool
}

// Line is the origin of one line of chart output. Template and At are the template and its line.
// Values, ValuesAt and ValuesColumn are the position of the value that is printed on the line.
// Files are indices in Output.Files, or -1 if the origin is unknown. Columns count code points from
// 1.
//
// For a template in a packed dependency, Template and At are the position at which the chart lists
// the dependency. Inside is the number of the template in Output.Inside, counted from 1. InsideAt
// is the line in this template.
type Line struct {
	Template, At                   int
	Values, ValuesAt, ValuesColumn int
	// Item, ItemAt and ItemColumn are the position of the list item that begins on the line. In the
	// sources, the item may begin with another key, because Helm sorts keys.
	Item, ItemAt, ItemColumn int
	Inside, InsideAt         int
	// LibraryAt is positive if another template, of a dependency, printed the line, and Template and At
	// are the call that led to it. Library and LibraryAt are then the line of the dependency. Library
	// is -1 if the dependency is packed.
	Library, LibraryAt int
	// Condition is 1 plus the index in Output.Conditions of the innermost condition around the line.
	// It is 0 if no condition surrounds the line.
	Condition int
}

// Condition describes the condition of an if action. Outer is the condition around it, as in Line.
// Places are the positions of the values on which it depends.
type Condition struct {
	Outer  int
	Places []ValuesPlace
}

// Omission describes values that make a template leave out a workload. Template is an index in
// Output.Files.
type Omission struct {
	Template int
	Places   []ValuesPlace
}

// ValuesPlace is a position in a values file. File is an index in Output.Files.
type ValuesPlace struct{ File, Line, Column int }

// Kinds of problems with a render.
const (
	// Failed means that kustomize or Helm rejects the input, for instance because a file is missing.
	Failed = "failed"
	// Refused means that rendering would have to read outside the repository, connect to the
	// network, execute commands or exceed a limit. schedlint refuses this, but kustomize or Helm
	// may allow it.
	Refused = "refused"
	// Killed means that the worker exceeded its time or memory limit.
	Killed = "killed"
	// Lost means that the worker ended otherwise, for example because the system killed it. The root
	// may well render, so nothing is known about it.
	Lost = "lost"
	// Repeated means that a chart prints the same key twice in a mapping. Kustomize rejects such
	// output. Problem.Detail is the key.
	Repeated = "repeated"
	// Spent means that the root was not rendered because other roots used up limits.Renders.
	Spent = "spent"
)

// Problem is the reason why a root has no result.
type Problem struct {
	Kind string
	// File, Line and Column are the position of the problem in the kustomizations. File is relative
	// to Confinement. Line is 1 if it is unknown.
	File         string
	Line, Column int
	// Detail describes the problem without paths of this machine.
	Detail string
	// First is the position of the first occurrence of a Repeated key. It is nil for other kinds.
	First *Place
	// Setting is the setting in Root.Chart that caused the problem, such as values[0], set[0] or
	// set-string[0]. It is "" if the cause is not a setting.
	Setting string
	// Wrong is set if the problem is a mistake or an attack, which is reported even if the user did
	// not ask for the render.
	Wrong bool
}

// Error returns the position and the detail.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

// Overlay holds the changes that a GitOps controller makes to the kustomization before the build,
// and to the objects after the build. Like a controller, the renderer merges the overlay into the
// kustomization in Root.Dir.
type Overlay struct {
	// File and Line are the position of the GitOps pointer, such as an Argo CD Application. File is
	// relative to Confinement.
	File string
	Line int
	// Generated is set if the directory has no kustomization. The renderer then generates a
	// kustomization from Resources. It omits files without objects. The names in Resources are
	// relative to the directory.
	Generated bool
	Resources []string
	// Plain is set if the renderer reads only the files in Resources and ignores a kustomization in
	// the directory.
	Plain bool
	// Fields holds kustomization fields as JSON. A scalar replaces the existing value. Items of
	// lists and maps are added. An image or replica count replaces an existing entry for the same
	// name.
	Fields []byte
	// Patches holds the line of File at which each patch in Fields begins. An unknown line is 0.
	Patches []int
	// Counts holds the positions of the replica counts in Fields, by object name.
	Counts map[string]Variable
	// Namespace is the namespace for objects without one.
	Namespace string
	// Labels are added to all objects, but not to their pod templates.
	Labels map[string]string
	// Variables are substituted in the result. Nil disables substitution.
	Variables *Variables
}

// Changes reports whether kustomize is needed to apply the overlay. It is not needed if the overlay
// sets only a namespace.
func (o *Overlay) Changes() bool {
	return o != nil && (len(o.Fields) > 0 || len(o.Labels) > 0 || o.Variables != nil)
}

// Variables holds the values of ${name} variables.
type Variables struct {
	Given map[string]Variable
	// Open is set if an unknown source may set more variables. If Open is false, a variable is
	// unset unless it is in Given or Unknown.
	Open bool
	// Unknown lists variables that are set, but whose values are unknown.
	Unknown []string
}

// Variable is a value and its position. File is relative to Confinement, and Line is 0 if the
// position is unknown.
type Variable struct {
	Value        string
	File         string
	Line, Column int
}

// Processes exchange Marks and Lines as strings of numbers, because JSON objects would take longer
// to encode than most renders take.
type (
	Marks []Mark
	Lines []Line
)

// MarshalJSON implements json.Marshaler with the compact encoding.
func (all Marks) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, m *Mark) []int {
		variable := 0
		if m.Variable {
			variable = 1
		}
		return append(to, m.Line, m.Column, m.File, m.At, m.AtColumn, variable)
	})
}

// UnmarshalJSON implements json.Unmarshaler with the compact encoding.
func (all *Marks) UnmarshalJSON(text []byte) error {
	return unpack(text, 6, (*[]Mark)(all), func(n []int) Mark {
		return Mark{n[0], n[1], n[2], n[3], n[4], n[5] != 0}
	})
}

// MarshalJSON implements json.Marshaler with the compact encoding.
func (all Lines) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, l *Line) []int {
		return append(to, l.Template, l.At, l.Values, l.ValuesAt, l.ValuesColumn, l.Item, l.ItemAt, l.ItemColumn, l.Inside, l.InsideAt, l.Library, l.LibraryAt, l.Condition)
	})
}

// UnmarshalJSON implements json.Unmarshaler with the compact encoding.
func (all *Lines) UnmarshalJSON(text []byte) error {
	return unpack(text, 13, (*[]Line)(all), func(n []int) Line {
		return Line{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]}
	})
}

// pack encodes a slice. The function numbers appends the numbers that represent one element.
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

// unpack decodes a slice. The argument width says how many numbers represent one element.
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

// Package limits is the table of the limits that a user can meet, and what counts against them.
//
// Contract: each limit has a name, its unit and a sentence, and the packages that read, render and
// judge take it from here, so that docs/limits.md can be tested against it. A Cost counts several
// things at once, a Counter one. Limits of rules, of their files and of reports are defined in their
// packages, as do bounds that only shorten a message or end an approximation.
//
// What is not counted by these types: package meter ends nested questions with a panic, and
// model.SharedBudget divides steps among objects, both in the hot loops of the scheduler; the meter
// of package rego is a tracer of OPA; the budget of package lint scales with an option; and the
// counter of package render/engine is the size of a tree.
package limits

import (
	"fmt"
	"math"
	"time"
)

// File limits one file. It is well above the largest real input: a dump of 10,000
// Deployments has 10,000 documents, about 4,000,000 values and no problem. What 10 MB can hold
// below it takes less than 10 s and 1 GiB.
var File = Cost{Bytes: 64 << 20, Documents: 100_000, Values: 16_000_000, Problems: 1_000, Suppressions: 10_000}

// Run limits all files of a run.
var Run = Cost{Bytes: 1 << 30, Documents: 1_000_000, Values: 32_000_000, Problems: 10_000, Suppressions: 100_000}

// Render limits one root: steps for about 30 CPU-seconds.
var Render = Cost{Objects: 10_000, Bytes: 64 << 20, Entries: 20_000, Nodes: 4_000_000, Steps: 60_000_000}

// Renders limits all roots of a run together: sizes for as much memory as a run has, and
// steps of RunRoots roots at their limit. Bytes count as steps as well.
var Renders = Cost{Objects: 50_000, Bytes: 192 << 20, Entries: 200_000, Nodes: Render.Nodes, Steps: RunRoots * Render.Steps}

// Limits of what is read as a manifest.
const (
	// DenseValues limits the values of a text, however short it is.
	DenseValues = 4_000_000
	// BytesPerValue is the least number of bytes for each value of a longer text. No manifest has
	// more than one value for every six bytes.
	BytesPerValue = 4
	// Nesting limits the levels of maps and lists in a document.
	Nesting = 200
	// Expansion limits the values that the aliases of a document expand to.
	Expansion = 200_000
)

// Limits of what is searched for kustomizations, charts and pointers. They are far above what
// repositories have: one with 1,290 kustomizations has about 50,000 steps.
const (
	// TreeEntries limits the directory entries that are listed.
	TreeEntries = 200_000
	// TreeSteps limits the steps of the paths that kustomizations name.
	TreeSteps = 2_000_000
	// TreeParsed limits the bytes of kustomizations and similar files that are parsed.
	TreeParsed = 128 << 20
)

// Limits of pointers of GitOps controllers.
const (
	// Pointers limits the pointers that a run follows.
	Pointers = 5_000
	// PointerLevels limits how deep pointers deploy pointers.
	PointerLevels = 10
	// PointerFiles limits the files of directories without a kustomization, in all.
	PointerFiles = 500_000
	// PointerFile limits the bytes of one file that are read for parameters and variables.
	PointerFile = 4 << 20
	// PointerText limits the bytes of all files that are read for parameters and variables.
	PointerText = 128 << 20
	// Ignored limits the comparisons of files with patterns of .sourceignore.
	Ignored = 5_000_000
	// IgnorePatterns limits the patterns of a source of Flux.
	IgnorePatterns = 1_000
	// ReleaseValues limits the bytes of the values of all releases of a run.
	ReleaseValues = 128 << 20
	// ReleaseText limits the bytes of the values of one release.
	ReleaseText = 2 << 20
	// References limits the ConfigMaps and Secrets that a release takes values from.
	References = 1_000
	// Applications limits the Applications that an ApplicationSet makes.
	Applications = 5_000
	// Matches limits the comparisons of files and directories with patterns of generators.
	Matches = 5_000_000
	// Templated limits the bytes that the templates of ApplicationSets make.
	Templated = 64 << 20
	// Fragments limits the parts of values that a run checks.
	Fragments = 10_000
	// FragmentNodes limits the nodes of values that a run visits for them.
	FragmentNodes = 5_000_000
	// FragmentText limits the bytes of values that are written as text.
	FragmentText = 64 << 20
	// FragmentLevels limits the levels of such values.
	FragmentLevels = 100
)

// Limits of renders.
const (
	// RunRoots is the number of roots at their limit that a run renders.
	RunRoots = 20
	// PassedOver is the number of bytes of schemas, or of the documentation of a chart, that count as one.
	PassedOver = 16
	// TemplateBytes is the number of bytes of the templates of a chart that count as one.
	TemplateBytes = 4
	// WorkerMemory limits the bytes of memory that a worker uses for one root.
	WorkerMemory = 1 << 30
	// WorkerCPU limits the CPU time that a worker uses for one root.
	WorkerCPU = time.Minute
	// Kustomizations limits how deep kustomizations include one another.
	Kustomizations = 100
	// Substituted limits the bytes that a render reads and writes to substitute variables.
	Substituted = 64 << 20
)

// Limits of a Helm chart.
const (
	// ChartSteps limits the nodes of templates and the function calls that are executed; text counts too.
	ChartSteps = 10_000_000
	// ChartText limits the bytes of the output, and of any text on the way.
	ChartText = 10 << 20
	// ChartIncludes limits how deep include, tpl and template are nested.
	ChartIncludes = 1000
	// ChartNesting limits how deep values that are printed are nested.
	ChartNesting = 10_000
	// ChartPrinted limits the steps of one call that prints values: about 64 MB of text.
	ChartPrinted = 2_000_000
	// ChartFile limits the bytes of a file, as Helm does for archives.
	ChartFile = 5 << 20
	// ChartBytes limits the bytes of all files.
	ChartBytes = 64 << 20
	// ChartFiles limits the number of files.
	ChartFiles = 20_000
	// ChartDepth limits how deep archives are nested in archives.
	ChartDepth = 10
	// ChartFolders limits how deep folders are nested.
	ChartFolders = 50
	// ValuesFile limits the bytes of a values file: about 4 MB of YAML are read in a second.
	ValuesFile = 2 << 20
	// SchemaSteps limits the steps of validating values.
	SchemaSteps = 1_000_000
	// SchemaNesting limits how deep a schema is nested.
	SchemaNesting = 500
	// SchemaDigits limits the digits of a number in a schema.
	SchemaDigits = 400
	// TOMLNesting limits how deep lists and tables of a TOML text are nested.
	TOMLNesting = 100
	// RegexpBytes limits the bytes of a regular expression.
	RegexpBytes = 10_000
	// RegexpProgram limits the instructions that it compiles to: matching takes as many steps for
	// each byte of the text, and each of these carries the places of all groups.
	RegexpProgram = 50_000
)

// Limits of reasoning.
const (
	// RunSteps limits the steps that the contexts of a run take together. Each further context is
	// judged briefly. The limit is ten times what the most expensive repository of the corpus takes, and
	// more than all of them as one tree.
	RunSteps = 125_000_000
	// AdviceSteps limits the steps of these that go into trials of advice.
	AdviceSteps = 40_000_000
	// ContextObjects limits the objects of all contexts of a run together, including objects that
	// may or may not exist: a few files may make very many contexts, each with all that they
	// share.
	ContextObjects = 1_000_000
	// Rivals limits the workloads competing for the same nodes that are judged together.
	Rivals = 40
	// RivalPods limits their pods.
	RivalPods = 200
)

// Cost counts several things at once, or limits them.
type Cost struct {
	// Objects are those in the result of a render and on the way, Bytes what is read and written,
	// and Entries those of kustomizations, such as resources and patches.
	Objects, Bytes, Entries int
	// Nodes are those of YAML that a render reads, with what aliases repeat.
	Nodes int
	// Steps of a render take about 0.5 µs.
	Steps int
	// Documents are those of YAML and JSON, empty ones too, and the items of Lists.
	Documents int
	// Values are the keys, scalars, maps and lists of a text, with those that aliases repeat.
	Values int
	// Problems are mistakes in a text.
	Problems int
	// Suppressions are comments and annotations that may be one.
	Suppressions int
}

// with combines each part of two costs.
func (c Cost) with(d Cost, f func(a, b int) int) Cost {
	return Cost{
		f(c.Objects, d.Objects), f(c.Bytes, d.Bytes), f(c.Entries, d.Entries), f(c.Nodes, d.Nodes), f(c.Steps, d.Steps),
		f(c.Documents, d.Documents), f(c.Values, d.Values), f(c.Problems, d.Problems), f(c.Suppressions, d.Suppressions),
	}
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost { return c.with(d, Sum) }

// Least returns the lesser of two costs, each part by itself.
func (c Cost) Least(d Cost) Cost { return c.with(d, func(a, b int) int { return min(a, b) }) }

// Less returns what is left of c after d.
func (c Cost) Less(d Cost) Cost { return c.with(d, func(a, b int) int { return max(0, a-b) }) }

// Beyond names the first limit that is exceeded, as in "20000 kustomization entries", or returns "".
func (c Cost) Beyond(most Cost) string {
	for _, row := range [...]struct {
		has, most int
		unit      string
	}{
		{c.Objects, most.Objects, "objects"},
		{c.Bytes, most.Bytes, "bytes"},
		{c.Entries, most.Entries, "kustomization entries"},
		{c.Nodes, most.Nodes, "YAML nodes"},
		{c.Steps, most.Steps, "steps (objects squared, per level and per patch with a target)"},
		{c.Documents, most.Documents, "documents and items of Lists"},
		{c.Values, most.Values, "values"},
		{c.Problems, most.Problems, "mistakes in its text"},
		{c.Suppressions, most.Suppressions, "suppressions"},
	} {
		if row.has > row.most {
			return fmt.Sprintf("%d %s", row.most, row.unit)
		}
	}
	return ""
}

// Counter counts one thing against its limit.
type Counter struct{ Most, Spent int }

// Add counts n more and reports whether the limit holds.
func (c *Counter) Add(n int) bool {
	c.Spent = Sum(c.Spent, n)
	return c.Spent <= c.Most
}

// Left returns how much the limit leaves.
func (c *Counter) Left() int { return max(0, c.Most-c.Spent) }

// Sum returns a+b, or the largest number if that overflows.
func Sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Product returns a*b, or the largest number if that overflows.
func Product(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

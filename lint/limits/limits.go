// Package limits defines the limits that a user can run into, and the counters for them.
//
// Contract: each limit has a name, a unit and a description. The packages that read, render and
// judge use the limits from this package, so that docs/limits.md can be tested against them. A Cost
// counts several things at once, and a Counter counts one. Limits for rules, rule files and reports
// are defined in their own packages, and so are limits that only shorten a message or stop an
// approximation.
//
// Some packages count in other ways. Package meter ends nested questions with a panic, and
// model.SharedBudget divides steps among objects. Both run in hot loops of the scheduling code. The
// meter in package rego is an OPA tracer. The budget in package lint scales with an option. The
// counter in package render/engine is the size of a tree.
package limits

import (
	"fmt"
	"math"
	"time"
)

// File is the limit for one file. It is well above the size of the largest real files. For example,
// a dump of 10,000 Deployments has 10,000 documents, about 4,000,000 values and no problems.
// Checking a file of 10 MB that is within the limit takes less than 10 s and 1 GiB of memory.
var File = Cost{Bytes: 64 << 20, Documents: 100_000, Values: 16_000_000, Problems: 1_000, Suppressions: 10_000}

// Run is the limit for all files of a run.
var Run = Cost{Bytes: 1 << 30, Documents: 1_000_000, Values: 32_000_000, Problems: 10_000, Suppressions: 100_000}

// Render is the limit for one root. Its steps take about 30 CPU-seconds.
var Render = Cost{Objects: 10_000, Bytes: 64 << 20, Entries: 20_000, Nodes: 4_000_000, Steps: 60_000_000}

// Renders is the limit for all roots of a run together. Roots within this limit fit into the memory
// of one run. The number of steps is enough for RunRoots roots, even if each root reaches its own
// limit. Bytes also count as steps.
var Renders = Cost{Objects: 50_000, Bytes: 192 << 20, Entries: 200_000, Nodes: Render.Nodes, Steps: RunRoots * Render.Steps}

// Limits for files that are read as manifests.
const (
	// DenseValues is the maximum number of values in a file or stream of any length.
	DenseValues = 4_000_000
	// BytesPerValue is the minimum number of bytes per value in input with more than DenseValues
	// values. Real manifests have at most one value for every six bytes.
	BytesPerValue = 4
	// Nesting is the maximum depth of maps and lists in a document.
	Nesting = 200
	// Expansion is the maximum number of values that the aliases of a document expand to.
	Expansion = 200_000
)

// Limits for the search for kustomizations, charts and pointers. They are far above the needs of
// real repositories. For example, a repository with 1,290 kustomizations takes about 50,000 steps.
const (
	// TreeEntries is the maximum number of directory entries that are listed.
	TreeEntries = 200_000
	// TreeSteps is the maximum total number of elements in the paths that kustomizations name.
	TreeSteps = 2_000_000
	// TreeParsed is the maximum number of bytes of kustomizations and similar files that are
	// parsed.
	TreeParsed = 128 << 20
)

// Limits for GitOps pointers.
const (
	// Pointers is the maximum number of pointers that a run follows.
	Pointers = 5_000
	// PointerLevels is the maximum depth to which pointers deploy other pointers.
	PointerLevels = 10
	// PointerFiles is the maximum total number of files in directories without a kustomization.
	PointerFiles = 500_000
	// PointerFile is the maximum size in bytes of a file that is read for parameters and variables.
	PointerFile = 4 << 20
	// PointerText is the maximum total size in bytes of the files that are read for parameters and
	// variables.
	PointerText = 128 << 20
	// Ignored is the maximum number of comparisons between files and .sourceignore patterns.
	Ignored = 5_000_000
	// IgnorePatterns is the maximum number of ignore patterns in a Flux source.
	IgnorePatterns = 1_000
	// ReleaseValues is the maximum total size in bytes of the values of all releases in a run.
	ReleaseValues = 128 << 20
	// ReleaseText is the maximum size in bytes of the values of one release.
	ReleaseText = 2 << 20
	// References is the maximum number of ConfigMaps and Secrets that a release takes values from.
	References = 1_000
	// Applications is the maximum number of Applications that an ApplicationSet generates.
	Applications = 5_000
	// Matches is the maximum number of comparisons between generator patterns and files or
	// directories.
	Matches = 5_000_000
	// Templated is the maximum number of bytes that ApplicationSet templates generate.
	Templated = 64 << 20
	// Fragments is the maximum number of values fragments that a run checks.
	Fragments = 10_000
	// FragmentNodes is the maximum number of nodes in values that a run visits to find fragments.
	FragmentNodes = 5_000_000
	// FragmentText is the maximum total size in bytes of values that are given as text.
	FragmentText = 64 << 20
	// FragmentLevels is the maximum nesting depth of values that are searched for fragments.
	FragmentLevels = 100
)

// Limits for renders.
const (
	// RunRoots is the number of roots that a run can render if every root reaches the limit for one
	// root.
	RunRoots = 20
	// PassedOver is the number of bytes in schemas and chart documentation that cost as much as one
	// byte of YAML.
	PassedOver = 16
	// TemplateBytes is the number of bytes in chart templates that cost as much as one byte of
	// YAML.
	TemplateBytes = 4
	// WorkerMemory is the maximum memory in bytes that a worker uses for one root.
	WorkerMemory = 1 << 30
	// WorkerCPU is the maximum CPU time that a worker uses for one root.
	WorkerCPU = time.Minute
	// Kustomizations is the maximum depth of kustomizations that include one another.
	Kustomizations = 100
	// Substituted is the maximum number of bytes that a render reads and writes to substitute
	// variables.
	Substituted = 64 << 20
)

// Limits for a Helm chart.
const (
	// ChartSteps is the maximum number of steps. Each executed template node and function call is a
	// step, and text costs steps too.
	ChartSteps = 10_000_000
	// ChartText is the maximum size in bytes of the output, and of any intermediate text.
	ChartText = 10 << 20
	// ChartIncludes is the maximum nesting depth of include, tpl and template.
	ChartIncludes = 1000
	// ChartNesting is the maximum nesting depth of values that are printed.
	ChartNesting = 10_000
	// ChartPrinted is the maximum number of steps in one call that prints values. It allows about
	// 64 MB of text.
	ChartPrinted = 2_000_000
	// ChartFile is the maximum size of a file in bytes. Helm has the same limit for archives.
	ChartFile = 5 << 20
	// ChartBytes is the maximum size of all files in bytes.
	ChartBytes = 64 << 20
	// ChartFiles is the maximum number of files.
	ChartFiles = 20_000
	// ChartDepth is the maximum depth of nested archives.
	ChartDepth = 10
	// ChartFolders is the maximum nesting depth of folders.
	ChartFolders = 50
	// ValuesFile is the maximum size of a values file in bytes. Reading 4 MB of YAML takes about a
	// second.
	ValuesFile = 2 << 20
	// SchemaSteps is the maximum number of steps for validating values.
	SchemaSteps = 1_000_000
	// SchemaNesting is the maximum nesting depth of a schema.
	SchemaNesting = 500
	// SchemaDigits is the maximum number of digits of a number in a schema.
	SchemaDigits = 400
	// TOMLNesting is the maximum nesting depth of lists and tables in TOML.
	TOMLNesting = 100
	// RegexpBytes is the maximum size of a regular expression in bytes.
	RegexpBytes = 10_000
	// RegexpProgram is the maximum number of instructions that a regular expression compiles to.
	// Matching takes this many steps for each byte of the text, and each step copies the positions
	// of all groups.
	RegexpProgram = 50_000
)

// Limits for reasoning.
const (
	// RunSteps is the number of steps that all contexts of a run may take together. After that,
	// each further context skips the most expensive questions. The limit is ten times the cost of
	// the most expensive repository in the corpus.
	RunSteps = 125_000_000
	// AdviceSteps is the maximum number of steps that a run spends on trying advice.
	AdviceSteps = 40_000_000
	// ContextObjects is the maximum total number of objects in the contexts of a run. It includes
	// objects that may or may not exist. A few files can produce very many contexts, and each
	// context contains all shared objects.
	ContextObjects = 1_000_000
	// Rivals is the maximum number of workloads that compete for the same nodes and are judged
	// together.
	Rivals = 40
	// RivalPods is the maximum total number of pods of workloads that compete for the same nodes
	// and are judged together.
	RivalPods = 200
)

// Cost holds counts of objects, bytes and other things, or the limits for these counts.
type Cost struct {
	// Objects counts the objects in the result and in intermediate results of a render. Bytes
	// counts the bytes read and written. Entries counts the entries of kustomizations, such as
	// resources and patches.
	Objects, Bytes, Entries int
	// Nodes counts the YAML nodes that a render reads, including those that aliases repeat.
	Nodes int
	// Steps counts the steps of a render, which take about 0.5 µs each.
	Steps int
	// Documents counts YAML and JSON documents, including empty ones, and the items of List
	// objects.
	Documents int
	// Values counts the keys, scalars, maps and lists in a file, including those that aliases
	// repeat.
	Values int
	// Problems counts the mistakes in a file.
	Problems int
	// Suppressions counts the comments and annotations that may be suppressions.
	Suppressions int
}

// with returns a Cost in which each count is f of the counts in c and d.
func (c Cost) with(d Cost, f func(a, b int) int) Cost {
	return Cost{
		f(c.Objects, d.Objects), f(c.Bytes, d.Bytes), f(c.Entries, d.Entries), f(c.Nodes, d.Nodes), f(c.Steps, d.Steps),
		f(c.Documents, d.Documents), f(c.Values, d.Values), f(c.Problems, d.Problems), f(c.Suppressions, d.Suppressions),
	}
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost { return c.with(d, Sum) }

// Least returns a Cost with the smaller of each pair of counts.
func (c Cost) Least(d Cost) Cost { return c.with(d, func(a, b int) int { return min(a, b) }) }

// Less returns c minus d. No count is less than 0.
func (c Cost) Less(d Cost) Cost { return c.with(d, func(a, b int) int { return max(0, a-b) }) }

// Beyond returns the first limit in the Cost most that c exceeds, such as "20000 kustomization
// entries", or "".
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

// Add counts n more things and reports whether the total is within the limit.
func (c *Counter) Add(n int) bool {
	c.Spent = Sum(c.Spent, n)
	return c.Spent <= c.Most
}

// Left returns the number of things that can still be counted within the limit.
func (c *Counter) Left() int { return max(0, c.Most-c.Spent) }

// Sum returns a+b, or the largest int if the sum overflows.
func Sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Product returns a*b, or the largest int if the product overflows.
func Product(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

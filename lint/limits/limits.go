// Package limits is the table of the limits that a user can meet, and what counts against them.
//
// Contract: each limit has a name, its unit and a sentence, and the packages that read, render and
// judge take it from here, so that docs/limits.md can be tested against it. A Cost counts several
// things at once, a Counter one. Limits of rules, of their files and of reports stand in their
// packages, as do bounds that only shorten a message or end an approximation.
//
// What is not counted by these types: package meter ends nested questions with a panic, and
// model.SharedBudget divides steps among objects, both in the hot loops of the scheduler; the meter
// of package rego is a tracer of OPA; the budget of package lint scales with an option; and the
// counter of package render/engine is the size of a tree.
package limits

import "time"

// File is what one file may have. It is well above the largest real input: a dump of 10,000
// Deployments has 10,000 documents, about 4,000,000 values and no problem. What 10 MB can hold
// below it takes less than 10 s and 1 GiB.
var File = Cost{Bytes: 64 << 20, Documents: 100_000, Values: 16_000_000, Problems: 1_000, Suppressions: 10_000}

// Run is what all files of a run may have.
var Run = Cost{Bytes: 1 << 30, Documents: 1_000_000, Values: 32_000_000, Problems: 10_000, Suppressions: 100_000}

// Render is what one root may take: steps for about 30 CPU-seconds.
var Render = Cost{Objects: 10_000, Bytes: 64 << 20, Entries: 20_000, Nodes: 4_000_000, Steps: 60_000_000}

// Renders is what all roots of a run may take together: sizes for as much memory as a run has, and
// steps of RunRoots roots that take all that they may. Bytes count as steps as well.
var Renders = Cost{Objects: 50_000, Bytes: 192 << 20, Entries: 200_000, Nodes: Render.Nodes, Steps: RunRoots * Render.Steps}

// Limits of what is read as a manifest.
const (
	// DenseValues is how many values a text may have however short it is.
	DenseValues = 4_000_000
	// BytesPerValue is how many bytes a longer text has for each value, as no manifest has more than
	// one value for every six.
	BytesPerValue = 4
	// Nesting is how many levels of maps and lists a document may have.
	Nesting = 200
	// Expansion is how many values the aliases of a document may expand to.
	Expansion = 200_000
)

// Limits of what is searched for kustomizations, charts and pointers. They are far above what
// repositories have: one with 1,290 kustomizations has about 50,000 steps.
const (
	// TreeEntries is how many entries of directories are listed.
	TreeEntries = 200_000
	// TreeSteps is how many steps the paths have that kustomizations name.
	TreeSteps = 2_000_000
	// TreeParsed is how many bytes of kustomizations and of files that look like what is listed are
	// parsed.
	TreeParsed = 128 << 20
)

// Limits of pointers of GitOps controllers.
const (
	// Pointers is how many pointers a run follows.
	Pointers = 5_000
	// PointerLevels is how deep pointers may deploy pointers.
	PointerLevels = 10
	// PointerFiles is how many files directories without a kustomization may have in all.
	PointerFiles = 500_000
	// PointerFile is how many bytes of one file are read for parameters and variables.
	PointerFile = 4 << 20
	// PointerText is how many bytes of all files are read for parameters and variables.
	PointerText = 128 << 20
	// Ignored is how often files are compared with patterns of .sourceignore.
	Ignored = 5_000_000
	// IgnorePatterns is how many patterns a source of Flux may have.
	IgnorePatterns = 1_000
	// ReleaseValues is how many bytes the values of the releases of a run may have.
	ReleaseValues = 128 << 20
	// ReleaseText is how many bytes the values of one release may have.
	ReleaseText = 2 << 20
	// References is how many ConfigMaps and Secrets a release may take values from.
	References = 1_000
	// Applications is how many Applications an ApplicationSet may make.
	Applications = 5_000
	// Matches is how often files and directories are compared with patterns of generators.
	Matches = 5_000_000
	// Templated is how many bytes the templates of ApplicationSets may make.
	Templated = 64 << 20
	// Fragments is how many parts of values a run checks.
	Fragments = 10_000
	// FragmentNodes is how many nodes of values a run visits for them.
	FragmentNodes = 5_000_000
	// FragmentText is how many bytes of values that are written as text a run reads.
	FragmentText = 64 << 20
	// FragmentLevels is how many levels such values may have.
	FragmentLevels = 100
)

// Limits of renders.
const (
	// RunRoots is how many roots that take all that they may a run renders.
	RunRoots = 20
	// PassedOver is how many bytes of schemas, or of the documentation of a chart, count as one.
	PassedOver = 16
	// TemplateBytes is how many bytes of the templates of a chart count as one.
	TemplateBytes = 4
	// WorkerMemory is how many bytes of memory a worker may use for one root.
	WorkerMemory = 1 << 30
	// WorkerCPU is how much CPU time a worker may use for one root.
	WorkerCPU = time.Minute
	// Kustomizations is how deep kustomizations may include one another.
	Kustomizations = 100
	// Substituted is how many bytes a render may take to substitute variables.
	Substituted = 64 << 20
)

// Limits of a Helm chart.
const (
	// ChartSteps is how many nodes of templates and function calls are executed; text counts as well.
	ChartSteps = 10_000_000
	// ChartText is how many bytes the output may have, and any text on the way.
	ChartText = 10 << 20
	// ChartIncludes is how deep include, tpl and template may be nested.
	ChartIncludes = 1000
	// ChartNesting is how deep values that are printed may be nested.
	ChartNesting = 10_000
	// ChartPrinted is how many steps one call may take to print values: about 64 MB of text.
	ChartPrinted = 2_000_000
	// ChartFile is how many bytes a file may have, as Helm has it for archives.
	ChartFile = 5 << 20
	// ChartBytes is how many bytes all files may have.
	ChartBytes = 64 << 20
	// ChartFiles is how many files there may be.
	ChartFiles = 20_000
	// ChartDepth is how deep archives may be nested in archives.
	ChartDepth = 10
	// ChartFolders is how deep folders may be nested.
	ChartFolders = 50
	// ValuesFile is how many bytes a values file may have: about 4 MB of YAML are read in a second.
	ValuesFile = 2 << 20
	// SchemaSteps is how many steps it may take to validate values.
	SchemaSteps = 1_000_000
	// SchemaNesting is how deep a schema may be nested.
	SchemaNesting = 500
	// SchemaDigits is how many digits a number of a schema may have.
	SchemaDigits = 400
	// TOMLNesting is how deep lists and tables of a text in TOML may be nested.
	TOMLNesting = 100
	// RegexpBytes is how many bytes a regular expression may have.
	RegexpBytes = 10_000
	// RegexpProgram is how many instructions it may compile to: matching takes as many steps for each
	// byte of the text, and each of these carries the places of all groups.
	RegexpProgram = 50_000
)

// Limits of reasoning.
const (
	// RunSteps is how many steps the contexts of a run take together before each further one is
	// judged briefly. It is ten times what the most expensive repository of the corpus takes, and
	// more than all of them as one tree.
	RunSteps = 125_000_000
	// AdviceSteps is how many of these may go into trials of advice.
	AdviceSteps = 40_000_000
	// ContextObjects is how many objects all contexts of a run may have together, including objects
	// that may or may not exist: a few files may make very many contexts, each with all that they
	// share.
	ContextObjects = 1_000_000
	// Rivals is how many workloads that compete for the same nodes are judged together.
	Rivals = 40
	// RivalPods is how many pods these may have.
	RivalPods = 200
)

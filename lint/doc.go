// Package lint is the façade: it wires the stages from bytes to a report.
//
// Contract: Run reads the manifests and the node files, builds the facts of each
// cluster, lets a Policy judge them and returns one sorted Report. Each stage is one
// function from one value to the next; none calls back. Fix makes the safe edits that
// linting again confirms, in memory; the caller writes the files.
//
// Three channels never mix. Diagnostics are about the user's manifests, syntax errors
// included, and are in the Report. Errors are about the invocation, such as a missing
// path, a node file without nodes or a policy that fails; Run returns them joined, next
// to the Report of everything else. Panics are about schedlint itself.
//
// Contexts: a cluster is judged context by context (package contexts). A finding that
// several contexts share counts once, and contexts with the same nodes do not answer
// equal questions about changes twice. A context of several units is judged unit by unit
// as well, and what only the context as a whole has is a warning "if these share a cluster".
// What one entry pointer deploys is judged together, beside each of its renders. Fields that a kustomization changes in files
// that are not rendered become unknown before anything is judged (package kustomize).
//
// Renders come from outside, through a Renderer (package render). Each is judged as a
// part of its own. The files that it uses are not judged as written, and what other
// parts declare is unknown to it, unless a cluster of the configuration lists them all.
// The text of a render is in no file: findings are made there and moved to the sources,
// each with its render, which baselines and comparisons count by. diag.Merge makes one
// result of the findings at one location, as the last step.
//
// Order of the last steps: findings in renders are moved to their sources before
// suppressions apply, because a comment in a source file can accept them. Findings about
// suppressions come before the baseline, which can accept them. Accepted findings are
// removed before fixing and comparing.
//
// Structure: a run is a chain of types. Each has its own state and is given the earlier
// ones that it needs:
//
//	failures      errors, and work that was not done
//	files         the files that were read, and how paths become names
//	renders       what was rendered, and where in the sources it was written
//	summary       counts and notes
//	loader        reads the manifests and the renders
//	budget        what all contexts may cost together
//	topologies    the nodes of each part
//	clusters      parts, contexts and their models
//	judge         turns what the policy says of facts into findings
//	suppressions  collects suppressions and applies them
//	decisions     which objects are settled
//	left          what has become of objects of another revision (Options.Compared)
//	run           calls the others in order
//
// Where design and build differ: the policy selects rules by level, so a rule that is
// off is never compiled; facts about healthy workloads are built only if a team's own
// rules may judge them; a baseline names findings about no object by their file; and
// --since unpacks the tree of a revision into a directory, so one walker reads both.
//
// # Glossary
//
// One word per concept, in code, output and documents.
//
// Input:
//
//	alternative    one of several sibling directories or files that declare an object
//	               differently; only one of them is deployed at a time
//	branch         one alternative with everything below it
//	cluster        objects and nodes that are judged together and alone: all of the
//	               input, or an entry of clusters: in the configuration
//	context        objects of one cluster that are deployed together: one branch with
//	               everything outside the alternatives, or one render
//	declared       present in the input; what is not declared does not exist, unless it
//	               may exist elsewhere, which makes the answer unknown
//	document       one YAML or JSON document of a file
//	finite         of pods that end by themselves (Job, CronJob, bare pods that do not
//	               restart); all others are permanent
//	fragment       placement fields in an object of a kind that is not judged, or in the
//	               values for a chart that is not at hand
//	node           what pods are scheduled on
//	object         a Kubernetes object with its positions in a file
//	placeholder    a text for a value that is filled in later, as a variable of a tool is
//	pool           a set of equal nodes in a NodeTopology; growth is what it may gain
//	replica        one of the equal pods of a workload
//	topology       all nodes of one cluster
//	unit           objects of a context that are known to be deployed together: those of one
//	               directory, or of one that the command line names with all below it
//	workload       an object that creates pods; a kind is its row in the table of kinds
//
// Rendering:
//
//	deployment     one source of a pointer, with its render or why there is none
//	entry pointer  a pointer that no other pointer deploys
//	mark           the position in the sources of one value of a render
//	origin         the source file, field or setting that a rendered value comes from
//	output         what somebody rendered a chart of the tree to and committed, in one file or
//	               several; outputs of one chart are alternatives
//	overlay        what a pointer changes of the kustomization that it names
//	pointer        an object of Flux or Argo CD that says what is deployed
//	render         the result of building a root, or the output of another tool; each is
//	               one context
//	root           a kustomization that is not a component and that no other refers to, or
//	               a Helm chart that was named
//	source root    the directory that piped input was rendered from
//	worker         the process that builds a root; it can be killed
//
// Scheduling:
//
//	bound          a number computed by a closed form, never too low for an upper bound
//	capacity       the upper bound on the pods of one workload
//	catalogue      the words of every reason, refusal and repair (package message)
//	certificate    the data that proves an outcome: a proof, or one or two runs
//	closed form    a formula that needs no search, cited as C and a number
//	component      groups that affect each other, directly or through others; decided
//	               on its own. A conflict component has anti-affinity-like rules only
//	constraint     one topology spread constraint
//	core           the smallest set of terms, numbers and node properties that shows why
//	               something never works
//	crowd          workloads that compete for the same nodes and are too many to search
//	domain         the nodes with one value of a topology key
//	eligible       of a node that passes the filters that depend on the node alone
//	filter         a filter plugin of kube-scheduler, or its counterpart here
//	group          the equal pods of a workload, or one pod if pods differ
//	instance       the model as numbers: nodes, keys and groups are indices
//	lemma          a proven statement that code relies on, cited as T and a number
//	loss           deletion or unreachability of the nodes of one domain
//	model          the parsed workloads and nodes of one context, without reasoning
//	node class     nodes that no question can tell apart
//	oracle         the nested module that asks the real kube-scheduler
//	outcome        the answer to a question: always, sometimes, never or unknown; none if
//	               the question does not apply
//	proof          a certificate without runs; always and never have one
//	question       what is asked of a workload or context, with a step budget of its own
//	reason         why an outcome is unknown, from whoever gave up, as a value
//	rollout        the replacement of all pods of a workload by its update strategy
//	rule (R-...)   one behaviour of Kubernetes that code relies on
//	run            an order of pods with a node for each
//	scene          a changed copy of the model that a question about change is put to
//	step           the unit of cost, 20 to 100 nanoseconds; a budget is a number of steps
//	stuck run      a run after which some pod can never be scheduled
//	term           one pod affinity or anti-affinity term
//	verdict        the outcome of scheduling all pods, or those of one workload
//	witness        the run that schedules all pods
//
// Findings:
//
//	advice         a fix with only a description; also the category that is off by default
//	baseline       a file of accepted findings, by key
//	category       invalid, infeasible, ineffective, fragile, advice or policy; sets the level
//	diagnostic     what a rule says about a fact, at its location; in text a finding
//	edit           a span and its new text; safe if nobody must be asked, else withheld
//	fact           one row of the vocabulary that rules see, with its location
//	fingerprint    what identifies a finding in SARIF and GitLab output
//	fix            a repair with a description and perhaps edits; printed as help
//	incomplete     of a run of the command that left something undone; each such thing is
//	               a failure
//	key            what identifies a finding when files move and numbers change
//	level          error, warning, note or off
//	lock           the file with the digests of vendored rules
//	object start   the location of the object of a finding
//	pack           built-in rules that are off until the configuration names the pack
//	parameter      a value that the configuration gives to a rule, typed by its schema
//	related        a second location that belongs to the explanation of a finding
//	rule           a Rego policy over one kind of fact
//	silence        something in a change that makes findings go away
//	span           a range of one file
//	subject        what stands behind a fact: location, related locations, fixes
//	suppression    an annotation, comment or configuration entry that accepts findings
//	template       a rule that runs only under the ids, and with the parameters, that the
//	               configuration gives it; Go calls each of these an Instance
//	vendored       of rules of others that were copied into the repository, with a lock
package lint

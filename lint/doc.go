// Package lint is the façade: it connects the stages that turn bytes into a report.
//
// Contract: Run reads the manifests and the node files, builds the facts about each cluster,
// evaluates a Policy on them and returns a single sorted Report. Each stage turns one value into
// the next, without callbacks. Fix applies the safe edits that a second run confirms. It does so in
// memory, and the caller writes the files. Print returns what is rendered, and judges nothing.
//
// Problems are reported in three separate ways. Diagnostics are about the user's manifests,
// including syntax errors, and appear in the Report. Errors are about the invocation, such as a
// missing path, a node file without nodes or a failing policy. Run joins them and returns them
// together with the Report on everything else. Panics indicate bugs in schedlint itself.
//
// Contexts: a cluster is judged context by context (package contexts). A finding shared by several
// contexts counts once. Contexts with the same nodes also share their answers, so that no question
// about a change is asked twice. A context with several units is also judged unit by unit. A
// finding that only appears in the whole context becomes a warning that applies "if these share a
// cluster". Renders are judged separately, and once more together with everything else that the
// same entry pointer deploys. If a kustomization is not rendered, the fields that it changes become
// unknown before anything is judged (package kustomize).
//
// Renders are supplied by a Renderer (package render). Each render is judged as a separate part,
// and the files that it uses are not judged as written. Objects in other parts may or may not be
// deployed with it, unless a configured cluster lists them all. Rendered text is not in any file,
// so findings in it are moved to the sources (package locate). Each finding keeps the name of its
// render, because baselines and comparisons count findings per render. As the last step, diag.Merge
// combines findings at the same location.
//
// Order of the last steps: findings in renders are moved to their sources before suppressions are
// applied, because a comment in a source file can accept them. Findings about suppressions are
// added before the baseline is applied, because the baseline can accept them. Accepted findings are
// removed before fixing and comparing.
//
// Structure: a run is a chain of types. Each type has its own state and refers to the earlier types
// that it needs:
//
//	failures      errors, and work that was not done
//	summary       counts and notes
//	loader        reads the manifests and the renders
//	budget        limits the total cost of all contexts
//	topologies    the nodes of each part
//	clusters      parts, contexts and their models
//	judge         evaluates the policy on facts and collects the findings
//	suppressions  collects suppressions and applies them
//	decisions     which questions about each object are answered
//	presence      what happened to objects of another revision (Options.Compared)
//	run           calls the others in order
//
// Where design and implementation differ: the policy selects rules by level, so a rule that is off
// is never compiled. Facts about healthy workloads are only built if a team's own rules may judge
// them. A baseline identifies findings without an object by their file. The --since flag unpacks a
// revision's tree into a directory, so that the same code can read both trees.
//
// # Glossary
//
// Code, output and documentation use the same word for a concept everywhere.
//
// Input:
//
//	alternative    one of several sibling directories or files that declare an object
//	               differently; only one of them is deployed at a time
//	branch         one alternative with everything below it
//	cluster        objects and nodes that are judged together and apart from all others. It
//	               is the entire input, or an entry of clusters: in the configuration
//	context        objects of one cluster that are deployed together. It is one branch with
//	               everything outside the alternatives, or one render
//	declared       present in the input. Anything else is assumed not to exist, unless it
//	               may exist elsewhere, which makes the answer unknown
//	document       one YAML or JSON document of a file
//	finite         describes pods that terminate on their own (Job, CronJob, bare pods that
//	               do not restart); all other pods are permanent
//	fragment       placement fields in an object of a kind that is not judged, or in the
//	               values for a chart that is not available locally
//	node           a machine that pods are scheduled on
//	object         a Kubernetes object with its positions in a file
//	placeholder    text that is replaced by a value later, such as a template variable
//	pool           a set of equal nodes in a NodeTopology; growth is the number of nodes
//	               that it may gain
//	replica        one of the equal pods of a workload
//	topology       all nodes of one cluster
//	unit           objects of a context that are known to be deployed together, because they
//	               are in one directory, or at or below a directory that the command line names
//	workload       an object that creates pods; its kind is a row in the table of kinds
//
// Rendering:
//
//	deployment     one source of a pointer, with its render or the reason for not rendering it
//	entry pointer  a pointer that no other pointer deploys
//	mark           the position in the sources that one value in a render comes from
//	origin         the source file, field or setting that a rendered value comes from
//	output         the committed result of rendering a chart in the tree, in one or several
//	               files; outputs of the same chart are alternatives
//	overlay        the changes that a pointer makes to the kustomization that it names
//	pointer        a Flux or Argo CD object, or a release of a helmfile, that names something to deploy
//	render         the result of building a root, or the output of another tool; each is
//	               one context
//	root           a kustomization that is not a component and that no other refers to, or
//	               a Helm chart that was named
//	source root    the directory that piped input was rendered from
//	worker         the process that builds a root; it can be killed
//
// Scheduling:
//
//	bound          a number computed by a closed form; an upper bound is never too low
//	capacity       the upper bound on the pods of one workload
//	catalogue      the wording of every reason, refusal and repair (package message)
//	certificate    the data that proves an outcome: a proof, or one or two runs
//	closed form    a formula that needs no search, cited as C and a number
//	component      groups that affect each other, directly or through others; each component
//	               is decided separately. A conflict component has only anti-affinity-like rules
//	constraint     one topology spread constraint
//	core           the smallest set of terms, numbers and node properties that shows why
//	               something never works
//	crowd          workloads that compete for the same nodes; there are too many of them to
//	               search
//	domain         the nodes with one value of a topology key
//	eligible       describes a node that passes the filters that depend on the node alone
//	filter         a kube-scheduler filter plugin, or its counterpart in schedlint
//	group          the equal pods of a workload, or one pod if pods differ
//	instance       the model as numbers: nodes, keys and groups are indices
//	lemma          a proven statement that the code relies on, cited as T and a number
//	loss           the deletion or unreachability of all nodes in one domain
//	model          the parsed workloads and nodes of one context, before any question is asked
//	node class     a set of nodes for which every question has the same answer
//	oracle         the nested module that asks the real kube-scheduler
//	outcome        the answer to a question: always, sometimes, never or unknown; none if
//	               the question does not apply
//	proof          a certificate without runs; always and never have one
//	question       a property to decide for a workload or context within a step budget
//	reason         the cause of an unknown outcome, set by the code that found no answer
//	rollout        the replacement of all pods of a workload by its update strategy
//	rule (R-...)   a Kubernetes behavior that the code relies on
//	run            a scheduling order of pods, with a node for each pod
//	scene          a changed copy of the model for a question about a change
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
//	copy           a chart or directory of another repository in the folder third_party
//	diagnostic     a rule's report about a fact, at its location; called finding in documents
//	edit           a span and its new text; safe if it needs no approval, else withheld
//	fact           one row of the lists that rules see, with its location
//	fingerprint    the identity of a finding in SARIF and GitLab output
//	fix            a repair with a description and perhaps edits; printed as help
//	incomplete     describes a run of the command that left work undone; each piece of such
//	               work is a failure
//	key            the identity of a finding, stable when files move and numbers change
//	level          error, warning, note or off
//	library        the folder with all copies and their lock
//	lock           a file with digests: of vendored rules, or of copies and the addresses
//	               that they stand for
//	object start   the location of the object of a finding
//	pack           built-in rules that are off until the configuration names the pack
//	parameter      a value that the configuration passes to a rule, typed by the rule's schema
//	related        a second location that belongs to the explanation of a finding
//	rule           a Rego policy over one kind of fact
//	silence        something in a change that makes findings disappear
//	span           a range of one file
//	subject        the source of a fact: location, related locations, fixes
//	suppression    an annotation, comment or configuration entry that accepts findings
//	template       a rule that runs only with the ids and parameters that the configuration
//	               gives it; in Go, each such pair is an Instance
//	vendored       describes third-party rules copied into the repository, with a lock
package lint

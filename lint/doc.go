// Package lint is the façade: it wires the stages from bytes to a report.
//
// Contract: Run reads the manifests and the topologies, builds the facts of
// each cluster, lets a Policy judge them and gives one sorted Report. Each
// stage is one function from one value to the next; none calls back.
//
// Three channels never mix. Diagnostics are about the user's manifests, syntax
// errors included, and are in the Report. Errors are about the invocation: a
// path that does not exist, a topology that declares no node, a policy that
// fails; Run returns them joined beside the Report of everything else. Panics
// are about schedlint itself.
//
// One word per concept, in code, messages and documentation:
//
//	workload    an object that creates pods
//	replica     one of the like pods of a workload
//	node        what pods are placed on; a pool is a set of like nodes
//	domain      the nodes that share one value of a topology key
//	term        one pod affinity or anti-affinity rule; a constraint is one
//	            topology spread rule
//	verdict     infeasible, feasible or unknown
//	witness     an ordered placement that shows that something is feasible
//	core        the smallest set of terms, numbers and node facts that shows
//	            that something is infeasible
//	fact        one row of what was found out, with its place and its proof
//	rule        a Rego policy over one kind of fact
//	context     objects that are deployed together: those of one cluster, or, where
//	            directories or files are alternatives, of one branch with what is
//	            outside of all alternatives
//	alternative siblings, directories or files, that declare an object differently;
//	            each of them is a branch
//	root        a kustomization that no other refers to, and no component
//	render      what building a root gives, with where it was written; or what
//	            another tool gave. It is one context
//	diagnostic  what a rule says about a fact, at its place; also finding
//	span        a range of one file
//	edit        a span and the text to be put there; it is safe if nobody need be
//	            asked before it is made, else withheld or mere advice
//	home        the place where the object of a finding begins
//	key         what stays of a finding when files move and numbers change
//
// A cluster is judged context by context (package contexts); a finding that several
// contexts share counts once. Contexts with the same nodes do not answer equal
// questions about changes twice. What kustomizations of the tree change that are not
// rendered is made unknown before anything is judged (package kustomize).
//
// Renders come from outside, as a Renderer gives them (package render). Each is judged as
// a part of its own; what it uses is not judged as it stands as well, and what other parts
// declare is unknown to it unless a cluster of the configuration has them all. The result
// of a render is a text in no file: findings are made there and moved to the sources, each
// with its render, by which baselines and comparisons count. Only the end makes one result
// of those at one place (diag.Merge).
//
// Mend makes the safe edits that linting again bears out, in memory: whoever calls
// it writes the files.
//
// The order of the last steps matters. Findings on rendered manifests are moved
// to their sources before suppressions are asked, as a comment of a source may
// accept them; complaints about suppressions come before the baseline, which may
// accept those; and what is accepted is out before anybody repairs or compares.
//
// Worth knowing: the selection of rules by level is the policy's,
// so that what is off is never compiled; facts that say that all is well are built
// only if a team's own rules may judge them, as the built-in ones have nothing to
// say about those; a baseline names findings about no object by their file, as
// they have no other name; and --since unpacks the tree of a revision into a
// directory of its own, so that one walker reads both.
package lint

// Package accept decides which findings count: those that nobody has accepted.
//
// Contract: values in, values out; nothing is read, and today is an argument.
//
// A finding is accepted by a suppression (an annotation of its object, a comment
// at its line, an entry of the configuration) or by the baseline, in this order;
// the first one that is about it is the one that is named. Every one of them has
// a reason and may have a last day. One that has no reason, has expired or names
// no rule accepts nothing, and is complained of, and so is one that finds nothing
// to accept although its rule has looked: a suppression that is left behind would
// silence the next fault.
//
// The baseline and the change since a revision compare findings by diag.Key,
// which outlives moved files, renamed files and lines added above, and by three
// numbers of each key that may only fall: the level, how many findings there
// are, and how many pods they leave Pending. A finding about no object, as that a
// document cannot be parsed, goes by its file.
//
// Non-goals: reading configurations, comments or git; wording of findings, which
// the rules do.
package accept

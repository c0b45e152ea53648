// Package accept decides which findings count: those that are not accepted.
//
// Contract: values in, values out; nothing is read, and today is an argument.
//
// A finding is accepted by a suppression (an annotation of its object, a comment at its line,
// an entry of the configuration) or by the baseline, in this order; the first match is the one
// that is reported. Each of them has a reason and may have a last day. A suppression that has
// no reason, has expired or names no rule accepts nothing and causes a complaint. So does one
// that matches no finding although its rule has complete facts: an obsolete suppression would
// silence the next fault.
//
// The baseline and the change since a revision compare findings by diag.Key, which does not
// change when files are moved or renamed or lines are added above, and by three numbers for
// each key that may only decrease: the level, the number of findings, and the number of pods
// that they leave Pending. A finding without an object, such as a document that cannot be
// parsed, is identified by its file.
//
// Non-goals: reading configurations, comments or git; wording of findings, which is up to the
// rules.
package accept

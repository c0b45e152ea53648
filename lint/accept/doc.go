// Package accept separates accepted findings from the findings that count.
//
// Contract: functions depend only on their arguments. The package reads no files, and callers pass
// in the current date.
//
// A finding can be accepted by an annotation of its object, a comment at its line, a configuration
// entry or the baseline. If several of them accept the finding, the first one in this order is
// reported. Each of them has a reason and may have a last day. A suppression that has no reason,
// has expired or does not name a rule accepts nothing and causes a complaint. A suppression that
// matches no finding also causes a complaint if the facts for its rule are complete. Such an
// obsolete suppression would hide the next real problem.
//
// Baselines and comparisons with a revision match findings by diag.Key. The key does not change
// when files are moved or renamed or when lines are added above a finding. A baseline or revision
// no longer covers the findings with a key if their level, their number or their number of Pending
// pods has increased. A finding without an object, such as a document that cannot be parsed, is
// identified by its file.
//
// Non-goals: reading configurations, comments or git repositories, and wording findings.
package accept

// Package message is the catalogue that words the results of the packages below.
//
// Contract: each function turns one value, such as a reason, an exclusion or a repair, into one
// phrase of plain English. A phrase is part of a line: it begins in lower case and ends without a
// full stop. Names and numbers come from the value; the words are only here, in a table entry or a
// function for each. A result that both rules and people read, such as the reason why a node does
// not count, is first turned into its row, and the row is worded. Rules hold no words: a finding
// names its entry, which words the row or the values that the rule passes.
//
// Invariants: equal values have equal words. Every code of every enumeration has words, which a test
// compares with the constants in the source. A code without words is a bug and appears as the code
// itself. What a rule passes is read by name: if a value is missing or of another type, there are no
// words.
//
// Non-goals: no decisions, no input or output. Code never parses the phrases to find out what they
// are about.
package message

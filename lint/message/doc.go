// Package message is the catalogue: what the packages below have found out, in words.
//
// Contract: each function turns one value, such as a reason, an exclusion or a repair,
// into one phrase of plain English. A phrase is part of a line: it begins in lower case
// and ends without a full stop. Names and numbers come from the value; the words are
// here and nowhere else, a table entry or a function for each. What both rules and people
// are told, such as why a node does not count, is turned into its row first, and the row
// is worded.
//
// Invariants: equal values have equal words. Every code of every enumeration has words,
// which a test compares with the constants in the source. A code without words is an
// error in the program and shows as the code itself.
//
// Non-goals: no decisions, no input or output. Nothing reads the phrases to find out
// what they are about.
package message

// Package message is the catalogue of messages. It puts the results of lower packages into words.
//
// Contract: each function turns one value, such as a reason, an exclusion or a repair, into one
// phrase of plain English. A phrase is part of a line, so it begins in lower case and ends without
// a period. Names and numbers come from the value. The words come from a table entry or a function
// in this package and nowhere else. A result that both rules and users read, such as the reason why
// a node is excluded, is first converted to its row, and the row is worded. Rules contain no words.
// A finding names a catalogue entry, which words the row or the values that the rule passes.
//
// Invariants: equal values have equal words. Every code of every enumeration has words; a test
// checks this against the constants in the source. A code without words is a bug, and the code
// itself is printed instead. The values that a rule passes are read by name. If one is missing or
// has another type, the finding gets no words.
//
// Non-goals: decisions, input and output. Code never parses the phrases.
package message

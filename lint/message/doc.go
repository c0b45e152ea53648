// Package message is the message catalogue. It turns the results of lower-level packages into
// readable text.
//
// Contract: each function turns one value, such as a reason, an exclusion or a repair, into one
// phrase of plain English. A phrase is part of a line. It begins in lower case and ends without a
// period. Names and numbers come from the value. All other words come from a table or a function in
// this package. Both rules and users read some results, for example the reason why a node is
// excluded. Such a result is first converted to its row, and the phrase is made from the row. Rules
// contain no message text. A rule names a catalogue entry. The entry makes the text of the finding
// from the row or from the values that the rule passes.
//
// Invariants: equal values produce the same text. Every code in every enumeration has text. A test
// checks this against the constants in the source. A code without text is a bug, and the code
// itself is printed instead. The values that a rule passes are read by name. If a value is missing
// or has the wrong type, the catalogue returns no text for the finding.
//
// Non-goals: decisions, input and output. Code never parses the phrases.
package message

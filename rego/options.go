package rego

import (
	"io/fs"
	"time"
)

// Options says which rules there are. The zero value has none.
type Options struct {
	// Rules holds the built-in rules as <id>/rule.rego, the rules of packs as
	// <pack>/<id>/rule.rego and templates as templates/<id>/rule.rego.
	Rules fs.FS
	// Packs names the packs that are on. Those that do not exist are ignored: the
	// caller, who knows where they are named, compares with Engine.Packs.
	Packs []string
	// Dirs are folders with rules of the user's own: every *.rego below them,
	// *_test.rego left out.
	Dirs []string
	// Shown is how errors name such a folder; nil for as it is.
	Shown func(dir string) string
	// Instead is a folder that counts as if it were written already, to tell whether its
	// rules load beside those of Dirs; nil for none.
	Instead *Folder
	// Without is a condition that is left out of its rule or library; nil for none. What
	// only it has used is no error then.
	Without *Condition
	// Off reports whether a rule is not to run; nil for none. Users' rules are checked
	// all the same.
	Off func(id string) bool
	// Params holds the parameters of rules and instances by id. An id that does not
	// exist is an error.
	Params map[string]Values
	// Shared are parameters for all rules of an id that matches, if they have them. Those
	// of Params outweigh them, and of several the last counts.
	Shared []Shared
	// Instances are rules that use a template, or another rule with parameters.
	Instances []Instance
	// Deadline is the CPU time for the compilation of users' rules, and in one call of
	// Evaluate for the built-in rules together and users' rules together; 0 means
	// DefaultDeadline.
	Deadline time.Duration
}

// Folder is a folder of rules in memory. Names have forward slashes.
type Folder struct {
	Dir   string
	Files map[string][]byte
}

// Values are parameters as the configuration gives them: strings, numbers, booleans,
// lists and maps with strings as keys.
type Values struct {
	Values map[string]any
	// At says where a value is, as file:line:col; "" for unknown. A path holds keys and
	// indices, such as "namespaces", "0"; none is the map itself. It may be nil.
	At func(path ...string) string
}

// Shared are parameters for several rules.
type Shared struct {
	// Key is how the configuration names the rules.
	Key     string
	Matches func(id string) bool
	Values
}

// Instance is a rule that the configuration makes of a template. Texts that are empty
// are those of the template.
type Instance struct {
	ID                                 string
	Use                                string // the id of the template
	Title, Description, Owner, Runbook string
	Params                             Values
	// Place is where the configuration has it, as file:line:col.
	Place string
}

// Ask is a question about the loss of nodes that a rule needs an answer to.
type Ask struct {
	Rule string
	// Survive is node, zone, region or a label key.
	Survive string
}

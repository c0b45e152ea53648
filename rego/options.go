package rego

import (
	"io/fs"
	"time"
)

// Options selects the rules. The zero value selects none.
type Options struct {
	// Rules holds the built-in rules as <id>/rule.rego, the rules of packs as <pack>/<id>/rule.rego
	// and templates as templates/<id>/rule.rego.
	Rules fs.FS
	// Packs names the packs that are on. Unknown names are ignored: the caller knows where they are
	// written, and compares them with Engine.Packs.
	Packs []string
	// Dirs lists folders with custom rules: every *.rego below them except *_test.rego.
	Dirs []string
	// Shown returns the name of such a folder in errors. With nil the name is unchanged.
	Shown func(dir string) string
	// Instead is a folder that counts as if it were already written, to check that its rules load
	// together with those of Dirs. It may be nil.
	Instead *Folder
	// Without is a condition that is left out of its rule or library, or nil. What only the
	// condition uses is then not reported as unused.
	Without *Condition
	// Off reports whether a rule must not run; nil means none. Custom rules are checked
	// nevertheless.
	Off func(id string) bool
	// Params holds the parameters of rules and instances by id. An unknown id is an error.
	Params map[string]Values
	// Shared holds parameters for all rules with a matching id, if they have these parameters.
	// Params override them, and the last of several wins.
	Shared []Shared
	// Instances holds rules that use a template, or another rule with parameters.
	Instances []Instance
	// Deadline is the CPU time for the compilation of custom rules and, in one call of Evaluate,
	// for the built-in rules together and for the custom rules together; 0 means DefaultDeadline.
	Deadline time.Duration
}

// Folder is a folder of rules in memory. Names have forward slashes.
type Folder struct {
	Dir   string
	Files map[string][]byte
}

// Values holds parameters as the configuration gives them: strings, numbers, booleans, lists and
// maps with strings as keys.
type Values struct {
	Values map[string]any
	// At returns where a value is, as file:line:col, or "" if that is unknown. A path holds keys
	// and indices, such as "namespaces", "0"; the empty path is the map itself. At may be nil.
	At func(path ...string) string
}

// Shared holds parameters for several rules.
type Shared struct {
	// Key selects the rules, as written in the configuration.
	Key     string
	Matches func(id string) bool
	Values
}

// Instance is a rule that the configuration makes from a template. Empty texts default to those of
// the template.
type Instance struct {
	ID                                 string
	Use                                string // the id of the template
	Title, Description, Owner, Runbook string
	Params                             Values
	// Place is its place in the configuration, as file:line:col.
	Place string
}

// Ask is a question about the loss of nodes that a rule needs an answer to.
type Ask struct {
	Rule string
	// Survive is node, zone, region or a label key.
	Survive string
}

// Package kinds says which pods operators make of custom resources.
//
// Contract: rows.json has a row for each kind, with the project, its version and the source files that
// the row was read from. Row.Made evaluates a row for one object. Each result has a pod template
// that consists of the object's own YAML nodes, so that findings appear in the custom resource. Rows of
// the configuration have the same form: Row.Mistakes checks them, and Row.Text prints one. Propose makes
// a row of a CustomResourceDefinition, by the shapes of its properties.
//
// Invariants: a row only says what is certain. What the operator copies verbatim is in the template,
// and so are terms that it adds by itself. It may add labels, and tolerations unless the row says
// that they are exact. If a field of an object may replace what the row says, there are no results for
// the object. Operators add containers, so requests are a lower bound.
//
// Non-goals: what operators change later, such as labels of the pod that leads; rollouts, volumes and
// budgets that operators make. They would change no answer: beside sidecars and node rules that an
// operator may add, no rollout or drain of its pods can be proved.
package kinds

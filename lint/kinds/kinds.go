package kinds

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
)

// Row describes the pods that an operator makes of objects of one kind.
type Row struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// Project is the operator's name, or empty if its group is the only name that is known. Version is
	// the release, and Source lists the files that the row was read from.
	Project string   `json:"project"`
	Version string   `json:"version"`
	Source  []string `json:"source"`
	// Pods lists the workloads that an object makes. The list is empty for kinds without pods.
	Pods []Pods `json:"pods"`
	// Unless maps paths to values. If one of the fields has one of its values, nothing is known about
	// the object's pods. The value "*" stands for any value, and "" for an absent field.
	Unless map[string][]string `json:"unless"`
}

// Pods describes pods that are made from one template. Paths have dots between fields, or brackets around
// a field whose name has dots. They begin at the root of the object, or with a dot at the item of Each.
type Pods struct {
	// Name is shown after the kind, as in Shop/web. It may contain paths in braces.
	Name string `json:"name"`
	// Each is the path of a list. There are pods for each of its items.
	Each string `json:"each"`
	// When maps paths to values. There are pods only if each field has one of its values. See
	// Row.Unless.
	When     map[string][]string `json:"when"`
	Replicas Number              `json:"replicas"`
	// Shards multiplies the number of pods, if its path is set.
	Shards Number `json:"shards"`
	// Template is the path of a pod template, Spec that of a map with fields of a pod spec. Otherwise
	// Fields maps fields of the pod spec, such as affinity or affinity.podAntiAffinity, to paths. The
	// field resources is that of the main container.
	Template string            `json:"template"`
	Spec     string            `json:"spec"`
	Fields   map[string]string `json:"fields"`
	Labels   Labels            `json:"labels"`
	// Tolerations is set if the operator adds none.
	Tolerations bool `json:"exact-tolerations"`
	// OwnRequests is set if the operator requests amounts of resources that the object leaves out. Without
	// a request, a limit then says nothing about it.
	OwnRequests bool `json:"own-requests"`
	// Terms lists required anti-affinity terms that the operator adds.
	Terms []Term `json:"terms"`
	// NodeLabels lists labels that nodes need to have, whatever the value.
	NodeLabels []NodeLabel `json:"node-labels"`
}

// Number is a field with a number. Default is nil if the operator does not set one. Least and Most are
// paths of fields that raise or lower the number.
type Number struct {
	Path    string `json:"path"`
	Default *int   `json:"default"`
	Least   string `json:"least"`
	Most    string `json:"most"`
}

// Labels describes labels that pods certainly have. Add and the maps at the paths in From are merged. A
// label with two values is not known. Values may contain paths in braces.
type Labels struct {
	Add  map[string]string `json:"add"`
	From []string          `json:"from"`
}

// Term is a required anti-affinity term between pods that have all labels in Match, or all known labels of
// the pods if there are none in it.
type Term struct {
	When map[string][]string `json:"when"`
	// Key is the path of the topologyKey, and Default the key if it is not set.
	Key     string            `json:"topology-key"`
	Default string            `json:"default"`
	Match   map[string]string `json:"match-labels"`
}

// NodeLabel is a requirement that the operator adds to each required node selector term: a node has a label
// whose key is in the field at Key. If there is no such term, the operator adds one. If the field is not
// set, there is no requirement.
type NodeLabel struct {
	When map[string][]string `json:"when"`
	Key  string              `json:"key"`
}

//go:embed rows.json
var rows []byte

// Table maps API groups and kinds to rows.
type Table map[[2]string]*Row

// Builtin returns the rows that schedlint knows.
func Builtin() Table {
	var all []*Row
	d := json.NewDecoder(bytes.NewReader(rows))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic("rows.json: " + err.Error()) // the file is part of the program, and tests read it
	}
	t := Table{}
	for _, r := range all {
		t[[2]string{r.Group, r.Kind}] = r
	}
	return t
}

// With adds rows to a table. They replace rows for the same kind.
func (t Table) With(rows []Row) Table {
	for i := range rows {
		t[[2]string{rows[i].Group, rows[i].Kind}] = &rows[i]
	}
	return t
}

// Operator returns the name of the operator for messages.
func (r *Row) Operator() string { return cmp.Or(r.Project, r.Group) }

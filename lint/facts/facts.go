package facts

import (
	"reflect"

	"github.com/schedlint/schedlint/lint/diag"
)

// Facts has all that rules can read, except the parameters of each rule.
type Facts struct {
	// Version is the version of this format, for example 1.0.
	Version string `json:"version"`
	// Cluster is the cluster that the facts describe.
	Cluster       Cluster        `json:"cluster"`
	Pools         []Pool         `json:"pools"`
	Nodes         []Node         `json:"nodes"`
	Capacity      []Capacity     `json:"capacity"`
	Objects       []Object       `json:"objects"`
	Documents     []Document     `json:"documents"`
	Refusals      []Refusal      `json:"refusals"`
	UnknownFields []UnknownField `json:"unknown_fields"`
	Workloads     []Workload     `json:"workloads"`
	Sharing       []Sharing      `json:"sharing"`
	Eligibility   []Eligibility  `json:"eligibility"`
	Requests      []Request      `json:"requests"`
	AntiAffinity  []AntiAffinity `json:"anti_affinity"`
	Spreads       []Spread       `json:"spreads"`
	HostPorts     []HostPort     `json:"host_ports"`
	Room          []Room         `json:"room"`
	Affinity      []Affinity     `json:"affinity"`
	Circles       []Circle       `json:"circles"`
	Crowds        []Crowd        `json:"crowds"`
	Orders        []Order        `json:"orders"`
	Rollouts      []Rollout      `json:"rollouts"`
	Skews         []Skew         `json:"skews"`
	Losses        []Loss         `json:"losses"`
	Budgets       []Budget       `json:"budgets"`
	Drains        []Drain        `json:"drains"`
	Migrations    []Migration    `json:"migrations"`
	OuterLabels   []OuterLabel   `json:"outer_labels"`
	Autoscalers   []Autoscaler   `json:"autoscalers"`
	TopologyKeys  []TopologyKey  `json:"topology_keys"`
	NodeLabels    []NodeLabel    `json:"node_labels"`
	Selectors     []Selector     `json:"selectors"`
	NodeTerms     []NodeTerm     `json:"node_terms"`
	NodeMatches   []NodeMatch    `json:"node_matches"`
	LabelKeys     []LabelKey     `json:"label_keys"`
	Suppressions  []Suppression  `json:"suppressions"`
}

// Row is a row with the list that holds it; for a nested row, the list of its outermost row.
type Row struct {
	List string
	// Value is a pointer to the struct; nil if no row has the id.
	Value any
}

// Rows returns all rows, nested ones included, indexed by id.
func (f *Facts) Rows() []Row {
	rows := []Row{{}}
	lists := reflect.ValueOf(f).Elem()
	for i := range lists.NumField() {
		if list := lists.Field(i); list.Kind() == reflect.Slice {
			rows = gather(rows, lists.Type().Field(i).Tag.Get("json"), list)
		}
	}
	return rows
}

// gather adds the rows of a slice and their nested rows.
func gather(rows []Row, list string, slice reflect.Value) []Row {
	of := slice.Type().Elem()
	if of.Kind() != reflect.Struct {
		return rows
	}
	id, identified := of.FieldByName("ID")
	within := holding(of)
	if !identified && len(within) == 0 {
		return rows
	}
	for i := range slice.Len() {
		row := slice.Index(i)
		if identified {
			n := int(row.FieldByIndex(id.Index).Int())
			for n >= len(rows) {
				rows = append(rows, Row{})
			}
			if n > 0 {
				rows[n] = Row{list, row.Addr().Interface()}
			}
		}
		for _, field := range within {
			rows = gather(rows, list, row.Field(field))
		}
	}
	return rows
}

// holding returns the indices of the fields of a struct that hold rows with ids.
func holding(of reflect.Type) (fields []int) {
	for i := range of.NumField() {
		if t := of.Field(i).Type; t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			if _, ok := t.Elem().FieldByName("ID"); ok {
				fields = append(fields, i)
			}
		}
	}
	return fields
}

// Ref returns the name of the workload with an index, for example "Deployment shop/web"; "" if
// there is none.
func (f *Facts) Ref(w int) string {
	if w < 0 || w >= len(f.Workloads) {
		return ""
	}
	return f.Workloads[w].Ref
}

// Judgement is the verdict of a rule on a fact: one line, and details.
type Judgement struct {
	Rule string
	Fact int
	// Reason is the entry of the catalogue that words the fact; "" if the rule sets Message and
	// Details itself, or gives the values that are worded.
	Reason  string
	Message string
	Details []string
	// Help is advice on a remedy that does not come from the fact; "" if there is none.
	Help string
	// Path leads from the row to a field below it, by keys and indices; empty for the row itself.
	Path []string
	// Level overrides the level of the rule for this finding, unless it is "".
	Level diag.Level
}

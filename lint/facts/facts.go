package facts

import (
	"reflect"
)

// Facts is everything that rules can see.
type Facts struct {
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
	LabelKeys     []LabelKey     `json:"label_keys"`
	Suppressions  []Suppression  `json:"suppressions"`
}

// Rows are all rows by id, as pointers to their structs; nil where there is none.
func (f *Facts) Rows() []any {
	rows := []any{nil}
	lists := reflect.ValueOf(f).Elem()
	for i := range lists.NumField() {
		if !lists.Type().Field(i).IsExported() {
			continue
		}
		for j := range lists.Field(i).Len() {
			row := lists.Field(i).Index(j)
			id := int(row.FieldByName("ID").Int())
			for id >= len(rows) {
				rows = append(rows, nil)
			}
			rows[id] = row.Addr().Interface()
		}
	}
	return rows
}

// Ref names the workload of a row, as in "Deployment shop/web"; "" for none.
func (f *Facts) Ref(w int) string {
	if w < 0 || w >= len(f.Workloads) {
		return ""
	}
	return f.Workloads[w].Ref
}

// Judgement is what a rule says about a fact: one line, and further ones.
type Judgement struct {
	Rule string
	Fact int
	// Reason is the entry of the catalogue that words it; "" if the rule gives Message
	// and Details itself.
	Reason  string
	Message string
	Details []string
}

package facts

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/schedlint/schedlint/lint/diag"
)

// Facts holds everything that rules can read, except the parameters of each rule.
type Facts struct {
	// Version is the version of this format, for example 1.0.
	Version string `json:"version"`
	// Cluster is the cluster that the facts describe.
	Cluster        Cluster        `json:"cluster"`
	Pools          []Pool         `json:"pools"`
	Nodes          []Node         `json:"nodes"`
	Capacity       []Capacity     `json:"capacity"`
	Objects        []Object       `json:"objects"`
	Quotas         []Quota        `json:"quotas"`
	LimitRanges    []LimitRange   `json:"limit_ranges"`
	RuntimeClasses []RuntimeClass `json:"runtime_classes"`
	Documents      []Document     `json:"documents"`
	Refusals       []Refusal      `json:"refusals"`
	UnknownFields  []UnknownField `json:"unknown_fields"`
	Workloads      []Workload     `json:"workloads"`
	Sharing        []Sharing      `json:"sharing"`
	Eligibility    []Eligibility  `json:"eligibility"`
	Requests       []Request      `json:"requests"`
	AntiAffinity   []AntiAffinity `json:"anti_affinity"`
	Spreads        []Spread       `json:"spreads"`
	HostPorts      []HostPort     `json:"host_ports"`
	Room           []Room         `json:"room"`
	Affinity       []Affinity     `json:"affinity"`
	Circles        []Circle       `json:"circles"`
	Attachments    []Attachment   `json:"attachments"`
	Crowds         []Crowd        `json:"crowds"`
	Orders         []Order        `json:"orders"`
	Rollouts       []Rollout      `json:"rollouts"`
	Skews          []Skew         `json:"skews"`
	Losses         []Loss         `json:"losses"`
	Budgets        []Budget       `json:"budgets"`
	Drains         []Drain        `json:"drains"`
	Migrations     []Migration    `json:"migrations"`
	OuterLabels    []OuterLabel   `json:"outer_labels"`
	Autoscalers    []Autoscaler   `json:"autoscalers"`
	TopologyKeys   []TopologyKey  `json:"topology_keys"`
	NodeLabels     []NodeLabel    `json:"node_labels"`
	Selectors      []Selector     `json:"selectors"`
	NodeTerms      []NodeTerm     `json:"node_terms"`
	NodeMatches    []NodeMatch    `json:"node_matches"`
	LabelKeys      []LabelKey     `json:"label_keys"`
	Suppressions   []Suppression  `json:"suppressions"`
}

// Row is one row of the facts. List is the name of the top-level list that contains the row. This
// also applies to a nested row.
type Row struct {
	List string
	// Value is a pointer to the row's struct, or nil if no row has the id.
	Value any
}

// Rows returns all rows, including nested ones, indexed by id.
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

// gather appends the rows of a slice to rows. It also appends their nested rows.
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

// holding returns the indices of the struct fields that hold rows with ids.
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

// Ref returns the name of the workload at index w, for example "Deployment shop/web". It returns ""
// if there is no such workload.
func (f *Facts) Ref(w int) string {
	if w < 0 || w >= len(f.Workloads) {
		return ""
	}
	return f.Workloads[w].Ref
}

// Judgement is a rule's report about a fact, with a one-line message and details.
type Judgement struct {
	Rule string
	Fact int
	// Reason names the entry of the message catalogue that describes the fact. It is empty if the
	// rule sets Message and Details itself, or supplies the values for the message.
	Reason  string
	Message string
	Details []string
	// Help is advice from the rule, or "". It is shown only if Reason is empty.
	Help string
	// Path holds the keys and indices that lead from the row to one of its fields. It is empty if
	// the judgement is about the whole row.
	Path []string
	// OfContainer is set for a finding about a container, which is folded with those about the other
	// containers of its workload.
	OfContainer bool
	// Level is the level of this finding. If it is "", the level of the rule applies.
	Level diag.Level
}

// Tally records the cost of each rule in all contexts of a run. It also records which rules failed.
// A failed rule is skipped in later contexts.
type Tally struct {
	// Steps and Findings are counts per rule. Steps has no entries for built-in rules.
	Steps    map[string]int64
	Findings map[string]int
	// Took is the CPU time that the user's own rules have used. It has a separate limit, because a
	// slow rule may need few steps.
	Took time.Duration
	// Failures has one entry for each rule that failed.
	Failures diag.Failures
}

// NewTally returns an empty Tally.
func NewTally() *Tally { return &Tally{Steps: map[string]int64{}, Findings: map[string]int{}} }

// HasFailed reports whether a rule has failed. A rule that failed may have missed findings.
func (t *Tally) HasFailed(rule string) bool { return t.Failures.HasFailed(rule) }

// JSON encodes the facts as rules see them, without the parameters of a rule. Fields are in schema
// order. Empty lists are encoded as [].
func (f *Facts) JSON() []byte { return appendValue(nil, reflect.ValueOf(f).Elem()) }

func appendValue(to []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		return appendStruct(to, v)
	case reflect.Slice:
		to = append(to, '[')
		for i := range v.Len() {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendValue(to, v.Index(i))
		}
		return append(to, ']')
	case reflect.Map:
		if v.Len() == 0 {
			return append(to, "{}"...)
		}
	}
	return appendPlain(to, v.Interface())
}

func appendStruct(to []byte, v reflect.Value) []byte {
	to = append(to, '{')
	first := true
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if name == "" {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(appendPlain(to, name), ':')
		to = appendValue(to, v.Field(i))
	}
	return append(to, '}')
}

// appendPlain appends v as package encoding/json encodes it.
func appendPlain(to []byte, v any) []byte {
	var out bytes.Buffer
	if err := encode(&out, v); err != nil {
		panic("facts: " + err.Error()) // strings, numbers, labels and manifests always encode
	}
	return append(to, bytes.TrimRight(out.Bytes(), "\n")...)
}

var _ json.Marshaler = (*Facts)(nil)

// MarshalJSON returns the result of JSON.
func (f *Facts) MarshalJSON() ([]byte, error) { return f.JSON(), nil }

func encode(out *bytes.Buffer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

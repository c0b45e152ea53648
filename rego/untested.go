package rego

import (
	"fmt"
	"strings"
)

// untested is a condition that no test has to notice, and why.
type untested struct {
	condition, reason string
	line              int  // of the METADATA
	met               bool // such a condition exists
}

const untestedForm = `a list such as [{condition: "row.pods > 1", reason: "the facts have no such row"}]`

// maxUntested bounds the list of a module.
const maxUntested = 50

// untestedOf reads custom.untested.
func untestedOf(value any) (all []untested, err error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || len(list) > maxUntested {
		return nil, fmt.Errorf("%s; expected %s of at most %d", found(value), untestedForm, maxUntested)
	}
	for _, v := range list {
		entry, _ := v.(map[string]any)
		condition, _ := entry["condition"].(string)
		reason, _ := entry["reason"].(string)
		if len(entry) != 2 || strings.TrimSpace(condition) == "" || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("with %s; expected %s", found(v), untestedForm)
		}
		all = append(all, untested{condition: oneLine(condition), reason: oneLine(reason)})
	}
	return all, nil
}

// untested returns the conditions that the METADATA of a rule or a library exempts from tests.
func (m *module) untested() ([]untested, []error) {
	a := packageAnnotation(m.parsed)
	if a == nil || a.Custom["untested"] == nil {
		return nil, nil
	}
	all, err := untestedOf(a.Custom["untested"])
	if err != nil {
		return nil, []error{fmt.Errorf("%s:%d: METADATA has custom.untested %w", m.file, a.Location.Row, err)}
	}
	for i := range all {
		all[i].line = a.Location.Row
	}
	return all, nil
}

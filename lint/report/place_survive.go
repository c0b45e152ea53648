package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// badness orders answers.
var badness = map[string]int{answerNone: 0, answerYes: 1, answerUnknown: 2, answerMay: 3, answerNo: 4}

// domainNames are the usual names for a domain of the keys that most clusters have, in the order of
// the columns.
var domainNames = []struct{ key, name string }{
	{"kubernetes.io/hostname", "a node"}, {"topology.kubernetes.io/zone", "a zone"}, {"topology.kubernetes.io/region", "a region"},
}

// lossKeys returns the topology keys with answers about losses, in the order of the columns: from
// small domains to large ones, then the others.
func lossKeys(ws []diag.PlacementWorkload) []string {
	var keys []string
	for i := range ws {
		for k := range ws[i].Change.Survives {
			if key := ws[i].Change.Survives[k].Key; !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	rank := func(key string) int {
		for i, d := range domainNames {
			if d.key == key {
				return i
			}
		}
		return len(domainNames)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return keys
}

// survives returns the question whether all pods run again after the loss of any domain of a key.
func survives(key string) question {
	title := Visible(key)
	for _, d := range domainNames {
		if d.key == key {
			title = d.name
		}
	}
	return question{
		above: "survives", title: title,
		answer: func(w *diag.PlacementWorkload) tableCell { return survival(w, key) },
		reason: func(w *diag.PlacementWorkload) string { return lossReasons(w, key) },
	}
}

// losses returns the entries about a key, the worst first.
func losses(w *diag.PlacementWorkload, key string) []diag.PlacementSurvival {
	var all []diag.PlacementSurvival
	for _, s := range w.Change.Survives {
		if s.Key == key {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b diag.PlacementSurvival) int {
		return cmp.Compare(badness[answerTo(b.Verdict)], badness[answerTo(a.Verdict)])
	})
	return all
}

// survival returns the worst answer about the losses by a key, for each meaning of loss if they
// differ.
func survival(w *diag.PlacementWorkload, key string) tableCell {
	gone, unreachable := answerNone, answerNone
	for i := range w.Change.Survives {
		s := &w.Change.Survives[i]
		worst := &gone
		switch {
		case s.Key != key:
			continue
		case s.Meaning == "unreachable":
			worst = &unreachable
		case s.Meaning != "gone":
			continue
		}
		answer := answerTo(s.Verdict)
		if s.WhereItRuns {
			answer = answerNo
		}
		if answer != *worst && badness[answer] > badness[*worst] {
			*worst = answer
		}
	}
	switch {
	case unreachable == gone || unreachable == answerNone:
		return tableCell{answer: gone}
	case gone == answerNone:
		return tableCell{answer: unreachable, note: "unreachable"}
	}
	return tableCell{answer: gone, unreachable: unreachable}
}

// maxLosses bounds the losses that are listed for one workload and key.
const maxLosses = 3

// lossGroup groups losses with the same outcome.
type lossGroup struct {
	diag.PlacementSurvival
	meaning string
	like    int // the number of others
}

// lossReasons lists the worst of the harmful losses, with equal outcomes grouped.
func lossReasons(w *diag.PlacementWorkload, key string) string {
	harmful := func(s diag.PlacementSurvival) bool { return s.Key == key && harms(&s) }
	if !slices.ContainsFunc(w.Change.Survives, harmful) {
		return ""
	}
	worstFirst := losses(w, key)
	var all []lossGroup
	for i, s := range worstFirst {
		same := func(o diag.PlacementSurvival) bool { return sameLoss(s, o) }
		if !harms(&s) || slices.ContainsFunc(worstFirst[:i], same) {
			continue
		}
		t := lossGroup{s, s.Meaning, s.Like}
		if at := slices.IndexFunc(worstFirst[i+1:], same); at >= 0 {
			t.meaning += " or " + worstFirst[i+1+at].Meaning
		}
		if at := slices.IndexFunc(all, t.alike); at >= 0 {
			all[at].like += 1 + t.like
		} else {
			all = append(all, t)
		}
	}
	var parts []string
	for i := range all {
		parts = append(parts, all[i].reason(w.Replicas))
	}
	if more := len(parts) - maxLosses; more > 0 {
		parts = append(parts[:maxLosses], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// harms reports whether a loss does harm, or may.
func harms(s *diag.PlacementSurvival) bool {
	return badness[answerTo(s.Verdict)] > badness[answerYes]
}

// alike reports whether two losses differ only in their domains.
func (t lossGroup) alike(o lossGroup) bool {
	return t.meaning == o.meaning && t.Verdict == o.Verdict && t.Pending == o.Pending && t.Reason == o.Reason && t.WhereItRuns == o.WhereItRuns
}

// sameLoss reports whether two losses differ only in their meaning.
func sameLoss(a, b diag.PlacementSurvival) bool {
	return a.Meaning != b.Meaning && a.Value == b.Value && a.Verdict == b.Verdict && a.Pending == b.Pending && a.Reason == b.Reason && a.Like == b.Like && a.WhereItRuns == b.WhereItRuns
}

func (t *lossGroup) reason(replicas int) string {
	text := fmt.Sprintf("losing %s=%s", t.Key, t.Value)
	if t.Key == domainNames[0].key {
		text = "losing node " + t.Value
	}
	switch {
	case t.like == 1:
		text += " or an equivalent one"
	case t.like > 1:
		text += fmt.Sprintf(" or any of %d equivalent ones", t.like)
	}
	text += " (" + t.meaning + ") "
	pods := fmt.Sprintf("%d of %s", t.Pending, Count(replicas, "pod"))
	switch answer := answerTo(t.Verdict); {
	case answer == answerUnknown:
		text += "is undecided"
	case answer == answerMay && t.Pending == 0:
		text += "can leave pods Pending"
	case answer == answerMay:
		text += "can leave up to " + pods + " Pending"
	case t.Pending >= replicas:
		text += "leaves " + pods + " Pending"
	default:
		text += "leaves at least " + pods + " Pending"
	}
	if t.WhereItRuns {
		text += ", if any run there"
	}
	if t.Reason != "" {
		text += " (" + t.Reason + ")"
	}
	return text
}

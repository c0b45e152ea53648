package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// The answers to a question in the table of a placement.
const (
	answerNone    = "-"
	answerYes     = "yes"
	answerUnknown = "not known"
	answerWaits   = "waits"
	answerMay     = "may"
	answerNo      = "no"
)

// answerTo returns the answer for a verdict or a judgement; an unknown word gives answerUnknown.
func answerTo(verdict string) string {
	switch diag.Outcome(verdict) {
	case "", diag.None:
		return answerNone
	case diag.Always:
		return answerYes
	case diag.Sometimes:
		return answerMay
	case diag.Never:
		return answerNo
	}
	return answerUnknown
}

// tableCell is the answer to one question. unreachable is the answer for lost nodes whose Node
// objects remain, if it differs.
type tableCell struct{ answer, unreachable, note string }

// is reports whether a cell has exactly that answer.
func (c tableCell) is(answer string) bool { return c == (tableCell{answer: answer}) }

// String returns the text of the cell in the table.
func (c tableCell) String() string {
	switch {
	case c.unreachable != "":
		return c.answer + " (unreachable: " + c.unreachable + ")"
	case c.note != "":
		return c.answer + " (" + c.note + ")"
	}
	return c.answer
}

// question is one column of the table. A title has two lines, because answers are short and a table
// with all columns would be too wide for a pull request.
type question struct {
	above, title string
	answer       func(w *diag.PlacementWorkload) tableCell
	reason       func(w *diag.PlacementWorkload) string
	// evenIfYes is set if there may be a reason for the answer yes.
	evenIfYes bool
}

// whole returns the title in a sentence.
func (q *question) whole() string { return strings.TrimPrefix(q.above+" "+q.title, " ") }

// questions returns the questions that have an answer for some workload.
func questions(ws []diag.PlacementWorkload) []question {
	all := []question{
		{title: "fits", answer: fits, reason: rulesAlone, evenIfYes: true},
		judgement("rolls", func(c *diag.PlacementChange) diag.PlacementJudgement {
			return diag.PlacementJudgement{Verdict: c.Rollout.Verdict, Reason: c.Rollout.Reason}
		}),
	}
	for _, key := range lossKeys(ws) {
		all = append(all, survives(key))
	}
	drains := judgement("drains", func(c *diag.PlacementChange) diag.PlacementJudgement { return c.Drain })
	drains.evenIfYes = true
	all = append(all, drains,
		judgement("migrates", func(c *diag.PlacementChange) diag.PlacementJudgement { return c.Migrate }),
		judgement("autoscales", func(c *diag.PlacementChange) diag.PlacementJudgement { return c.Autoscale }))
	return slices.DeleteFunc(all, func(q question) bool {
		for i := range ws {
			if !q.answer(&ws[i]).is(answerNone) {
				return false
			}
		}
		return true
	})
}

func judgement(title string, of func(*diag.PlacementChange) diag.PlacementJudgement) question {
	return question{
		title:  title,
		answer: func(w *diag.PlacementWorkload) tableCell { return tableCell{answer: answerTo(of(&w.Change).Verdict)} },
		reason: func(w *diag.PlacementWorkload) string { return of(&w.Change).Reason },
	}
}

// fits answers whether all pods are placed, and how many are if not all.
func fits(w *diag.PlacementWorkload) tableCell {
	cell := tableCell{answer: answerTo(w.Verdict)}
	if w.Reason == reasonWaits {
		cell.answer = answerWaits
	}
	switch a := cell.answer; {
	case a == answerYes, a == answerNone, (a == answerUnknown || a == answerWaits) && w.MinPlaced == 0 && w.MaxPlaced >= w.Replicas:
	case w.MinPlaced == w.MaxPlaced:
		cell.note = fmt.Sprintf("%d of %d", w.MaxPlaced, w.Replicas)
	default:
		cell.note = fmt.Sprintf("%d to %d of %d", w.MinPlaced, w.MaxPlaced, w.Replicas)
	}
	if w.Paused {
		cell.note = strings.TrimSuffix("paused; "+cell.note, "; ")
	}
	return cell
}

// rulesAlone returns the verdict of the rules alone, if that differs.
func rulesAlone(w *diag.PlacementWorkload) string {
	why := w.Why
	if w.Paused {
		why = strings.TrimSuffix("if it is created paused, it has no pods until it is resumed; "+why, "; ")
	}
	answer := answerTo(w.RulesVerdict)
	switch {
	case w.Reason == reasonWaits || answer == answerTo(w.Verdict):
		return why
	case why != "":
		why += "; "
	}
	return why + "by rules alone: " + answer
}

// reasonWaits is the reason of a verdict about pods that end by themselves.
const reasonWaits = "waits"

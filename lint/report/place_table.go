package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// decision is the table for a placement. It has a row for each workload. It has a column for each
// question that is answered for at least one workload. Names in the table contain no hidden
// characters.
type decision struct {
	columns []question
	rows    []row
	// rest is a line about the workloads without a row, or "" if there are none.
	rest    string
	reasons []reason
	legend  []string
}

// row holds a workload's answers, one per column.
type row struct {
	kind, subject string
	replicas      int
	cells         []tableCell
}

// texts returns the cells of a row as text.
func (r *row) texts() []string {
	all := []string{r.subject, strconv.Itoa(r.replicas)}
	all = append(all, lists.Of(r.cells, tableCell.String)...)
	return all
}

// reason explains an answer.
type reason struct{ kind, subject, question, answer, why string }

// subject returns the name of a workload in the table.
func subject(w *diag.PlacementWorkload) string {
	return Visible(w.Kind) + " " + Visible(strings.TrimPrefix(w.Namespace+"/"+w.Name, "/"))
}

// decide returns the table for a placement. Unless every is set, it folds equal rows and reasons.
func decide(p *diag.Placement, every bool) decision {
	d := decision{columns: questions(p.Workloads)}
	for i := range p.Workloads {
		w := atCount(p.Workloads[i])
		r := row{kind: Visible(w.Kind), subject: subject(w), replicas: w.Replicas}
		for _, q := range d.columns {
			c := q.answer(w)
			r.cells = append(r.cells, c)
			if why := q.reason(w); why != "" && !c.is(answerNone) && (!c.is(answerYes) || q.evenIfYes) {
				d.reasons = append(d.reasons, reason{r.kind, r.subject, q.whole(), c.String(), Visible(why)})
			}
		}
		d.rows = append(d.rows, r)
	}
	d.legend = legend(d.columns, d.rows)
	if !every {
		d.fold()
	}
	return d
}

// minFold is the minimum number of equal lines that share one. Fewer take no more room with all
// their names.
const minFold = 3

// fold leaves out rows without any answer other than yes, and joins rows and reasons that differ
// only in the workload. The workloads of a row or a reason have the same kind.
func (d *decision) fold() {
	rows, reasons, fine := len(d.rows), len(d.reasons), 0
	groups := alike(d.rows, minFold, func(r *row) string {
		if d.fine(r) {
			return ""
		}
		return fmt.Sprintf("%q", append(r.texts()[1:], r.kind))
	})
	d.rows = nil
	for _, same := range groups {
		r := same[0]
		switch more := len(same) - 1; {
		case more > 0 && d.fine(&r):
			fine = len(same)
			continue
		case more > 0:
			r.subject += fmt.Sprintf(" (and %d more)", more)
		}
		d.rows = append(d.rows, r)
	}
	if fine > 0 {
		d.rest = Count(fine, "workload") + ": yes in every column that applies"
		if fine < rows {
			d.rest = "and " + strings.Replace(d.rest, " workloads", " more", 1)
		}
	}
	equal := alike(d.reasons, 2, func(r *reason) string { return fmt.Sprintf("%q", []string{r.kind, r.question, r.answer, r.why}) })
	d.reasons = nil
	for _, same := range equal {
		r := same[0]
		switch more := len(same) - 1; {
		case more == 1:
			r.subject += " (and " + strings.TrimPrefix(same[1].subject, r.kind+" ") + ")"
		case more > 1:
			r.subject += fmt.Sprintf(" (and %d more)", more)
		}
		d.reasons = append(d.reasons, r)
	}
	if len(d.rows) < rows || len(d.reasons) < reasons {
		d.legend = append(d.legend, "--all prints every workload and every reason by itself")
	}
}

// fine reports whether a row has no answer other than yes. If all pods fit in every run, simulated
// runs add nothing.
func (d *decision) fine(r *row) bool {
	for i, c := range r.cells {
		if !c.is(answerYes) && !c.is(answerNone) && d.columns[i].title != typicalTitle {
			return false
		}
	}
	return true
}

// alike groups the elements that have the same key, in the order of their first elements. Where
// fewer than least have a key, each of them is a group.
func alike[T any](all []T, least int, key func(*T) string) [][]T {
	keys, count, at := make([]string, len(all)), map[string]int{}, map[string]int{}
	for i := range all {
		keys[i] = key(&all[i])
		count[keys[i]]++
	}
	var groups [][]T
	for i, k := range keys {
		if g, ok := at[k]; ok && count[k] >= least {
			groups[g] = append(groups[g], all[i])
			continue
		}
		at[k] = len(groups)
		groups = append(groups, all[i:i+1:i+1])
	}
	return groups
}

// atCount returns a workload whose answers are those for the declared number of nodes where growth
// leaves the answer open. Such answers keep their AtCount.
func atCount(w diag.PlacementWorkload) *diag.PlacementWorkload {
	c := &w.Change
	if at := c.Rollout.AtCount; at != nil {
		c.Rollout = *at
		c.Rollout.AtCount = at
	}
	for _, j := range []*diag.PlacementJudgement{&c.Drain, &c.Migrate, &c.Autoscale} {
		if at := j.AtCount; at != nil {
			*j = *at
			j.AtCount = at
		}
	}
	c.Survives = slices.Clone(c.Survives)
	for i := range c.Survives {
		if at := c.Survives[i].AtCount; at != nil {
			c.Survives[i] = *at
			c.Survives[i].AtCount = at
		}
	}
	return &w
}

// workloadTable writes the workloads' answers, the reasons for answers other than yes, and a legend.
func workloadTable(b io.Writer, p *diag.Placement, every bool) {
	if len(p.Workloads) == 0 {
		return
	}
	d := decide(p, every)
	above, titles := []string{"", ""}, []string{"workload", "replicas"}
	for _, q := range d.columns {
		above, titles = append(above, q.above), append(titles, q.title)
	}
	lines := [][]string{above, titles}
	for i := range d.rows {
		lines = append(lines, d.rows[i].texts())
	}
	fmt.Fprintln(b)
	table(b, lines)
	if d.rest != "" {
		fmt.Fprintln(b, d.rest)
	}
	for _, r := range d.reasons {
		writeFolded(b, "  ", "    ", fmt.Sprintf("%s %s: %s, %s", r.subject, r.question, r.answer, r.why))
	}
	for _, text := range d.legend {
		writeFolded(b, "", "  ", text)
	}
}

// table writes rows in aligned columns. It omits empty rows, and empty cells at the end of a row.
func table(b io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		last := len(cells)
		for last > 0 && cells[last-1] == "" {
			last--
		}
		if last > 0 {
			fmt.Fprintln(t, strings.Join(cells[:last], "\t"))
		}
	}
	t.Flush()
}

// legend returns lines that explain the words used in the rows.
func legend(columns []question, rows []row) []string {
	used, lost, first, grows := map[string]bool{}, false, false, false
	for _, r := range rows {
		for i, c := range r.cells {
			used[c.answer], used[c.unreachable], used[c.note] = true, true, true
			first, grows = first || strings.Contains(c.note, daemonSetsFirst), grows || strings.Contains(c.note, withGrowth)
			lost = lost || columns[i].above != "" && !c.is(answerYes) && !c.is(answerBack) && !c.is(answerNone)
		}
	}
	var parts []string
	for _, m := range []struct{ word, meaning string }{
		{answerYes, "in every run"}, {answerBack, "down until its only pod runs on another node, as after an eviction without migration"}, {answerMay, "in some runs"}, {answerNo, "in no run"}, {answerStays, "runs again once the node or zone of its volume is back"}, {answerUnknown, "undecided"}, {answerPreempts, "pods of lower priority make room"}, {answerWaits, "some or all pods wait for capacity and run later"}, {answerNone, "does not apply"},
	} {
		if used[m.word] {
			parts = append(parts, m.word+": "+m.meaning)
		}
	}
	lines := []string{strings.Join(parts, "; ")}
	if slices.ContainsFunc(columns, func(q question) bool { return q.title == typicalTitle }) {
		lines = append(lines, typicalTitle+": simulated runs of kube-scheduler that place all pods of the workload")
	}
	if lost {
		lines = append(lines, "gone: the lost nodes are deleted; unreachable: their Node objects remain")
	}
	if first {
		lines = append(lines, daemonSetsFirst+": their pods are placed before others on each node, as when a node joins")
	}
	if grows {
		lines = append(lines, withGrowth+": with more nodes than the pools' count")
	}
	return lines
}

// The possible answers in a placement's table.
const (
	answerNone    = "-"
	answerYes     = "yes"
	answerUnknown = "not known"
	answerWaits   = "waits"
	answerMay     = "may"
	answerNo      = "no"
	// answerStays stands for pods that can run only where their volumes are.
	answerStays = "waits for volume"
	// answerBack stands for a workload with one pod, which is down until the pod is replaced.
	answerBack = "comes back"
	// answerPreempts is the note of a workload whose pods preempt the pods that keep them Pending.
	answerPreempts = "preempts"
)

// Conditions of an answer.
const (
	daemonSetsFirst = "if DaemonSets start first"
	withGrowth      = "with growth"
)

// answerTo returns the answer for a verdict or judgement, or answerUnknown if it is not a known
// word.
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

// tableCell is the answer to a question. A question about the loss of nodes can have two answers.
// The field answer is for nodes whose Node objects are deleted, and unreachable is for nodes whose
// Node objects remain. If both answers are the same, unreachable is empty.
type tableCell struct{ answer, unreachable, note string }

// is reports whether the cell holds the given answer and nothing else.
func (c tableCell) is(answer string) bool { return c == (tableCell{answer: answer}) }

// String returns the cell's text.
func (c tableCell) String() string {
	note := c.note
	if c.unreachable != "" {
		note = strings.TrimSuffix("unreachable: "+c.unreachable+"; "+note, "; ")
	}
	if note != "" {
		return c.answer + " (" + note + ")"
	}
	return c.answer
}

// question is a table column. Its title has two lines, because the table would otherwise be too
// wide for a pull request.
type question struct {
	above, title string
	answer       func(w *diag.PlacementWorkload) tableCell
	reason       func(w *diag.PlacementWorkload) string
	// evenIfYes is set if the reason is shown even when the answer is yes.
	evenIfYes bool
}

// whole returns the complete title on one line.
func (q *question) whole() string { return strings.TrimPrefix(q.above+" "+q.title, " ") }

// questions returns the questions that are answered for at least one workload.
func questions(ws []diag.PlacementWorkload) []question {
	all := []question{
		{title: "fits", answer: fits, reason: rulesAlone, evenIfYes: true},
		{title: typicalTitle, answer: typically, reason: func(*diag.PlacementWorkload) string { return "" }},
		judgement("rolls", func(c *diag.PlacementChange) diag.PlacementJudgement {
			j := diag.PlacementJudgement{Verdict: c.Rollout.Verdict, Reason: c.Rollout.Reason, Typical: c.Rollout.Typical}
			if c.Rollout.AtCount != nil {
				j.AtCount = &j
			}
			return j
		}),
	}
	all = append(all, lists.Of(lossKeys(ws), survives)...)
	drains := judgement("drains", func(c *diag.PlacementChange) diag.PlacementJudgement { return c.Drain })
	drains.evenIfYes = true
	all = append(all, drains,
		judgement("upgrades", func(c *diag.PlacementChange) diag.PlacementJudgement {
			return *cmp.Or(c.Upgrade, &diag.PlacementJudgement{})
		}),
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

// typicalTitle is the title of the column about simulated runs.
const typicalTitle = "typical"

// typically answers how many simulated runs place all pods of a workload.
func typically(w *diag.PlacementWorkload) tableCell {
	t := w.Typical
	if t == nil || t.Runs == 0 {
		return tableCell{answer: answerNone}
	}
	cell := tableCell{answer: fmt.Sprintf("%d of %d", t.Complete, t.Runs)}
	if t.Preempts > 0 {
		cell.note = fmt.Sprintf("%s in %d", answerPreempts, t.Preempts)
	}
	return cell
}

func judgement(title string, of func(*diag.PlacementChange) diag.PlacementJudgement) question {
	return question{
		title: title,
		answer: func(w *diag.PlacementWorkload) tableCell {
			j := of(&w.Change)
			answer := answerTo(j.Verdict)
			if answer == answerNo && j.Waits != "" {
				answer = answerStays
			}
			return onceGrown(w, title, tableCell{answer: answer, note: growthNote(j.AtCount != nil)})
		},
		reason: func(w *diag.PlacementWorkload) string {
			j := of(&w.Change)
			if j.Verdict == string(diag.Unknown) && slices.Contains(w.OnceGrown, title) {
				return ""
			}
			return strings.Join(nonEmpty(j.Reason, happens(j.Typical, "")), "; ")
		},
	}
}

// onceGrown returns the cell of a question that may have the answer yes once pools have grown.
func onceGrown(w *diag.PlacementWorkload, name string, cell tableCell) tableCell {
	switch {
	case !slices.Contains(w.OnceGrown, name):
		return cell
	case cell.answer == answerUnknown:
		return tableCell{answer: answerYes, note: withGrowth}
	}
	note := strings.TrimSuffix(strings.TrimSuffix(cell.note, growthNote(true)), "; ")
	cell.note = strings.TrimPrefix(note+"; "+withGrowth+": "+answerYes, "; ")
	return cell
}

// growthNote returns a note for an answer about the declared number of nodes if it is not known
// with growth.
func growthNote(open bool) string {
	if !open {
		return ""
	}
	return withGrowth + ": " + answerUnknown
}

// fits answers whether all pods of a workload are placed. If only some are placed, the cell
// includes the number of placed pods.
func fits(w *diag.PlacementWorkload) tableCell {
	cell := tableCell{answer: answerTo(w.Verdict)}
	if w.Reason == reasonWaits {
		cell.answer = answerWaits
	}
	first := answerTo(w.DaemonSetsFirst)
	conditions := firstNote(nil, w.DaemonSetsFirst, first)
	if at := w.AtCount; at != nil {
		cell.answer = answerTo(at.Verdict)
		conditions = firstNote(nil, at.DaemonSetsFirst, answerTo(at.DaemonSetsFirst))
		conditions = append(conditions, growthNote(w.DaemonSetsFirst == ""))
		conditions = firstNote(conditions, w.DaemonSetsFirst, withGrowth+": "+first)
	}
	switch a := cell.answer; {
	case a == answerYes, a == answerNone, (a == answerUnknown || a == answerWaits) && w.MinPlaced == 0 && w.MaxPlaced >= w.Replicas:
	case w.MinPlaced == w.MaxPlaced:
		cell.note = fmt.Sprintf("%d of %d", w.MaxPlaced, w.Replicas)
	default:
		cell.note = fmt.Sprintf("%d to %d of %d", w.MinPlaced, w.MaxPlaced, w.Replicas)
	}
	if w.Preempts {
		cell.note = answerPreempts
	}
	notes := append([]string{cell.note}, conditions...)
	if w.Paused {
		notes = slices.Insert(notes, 0, "paused")
	}
	cell.note = strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
	return onceGrown(w, "fits", cell)
}

// firstNote adds the given words about the verdict that holds if DaemonSets start first, if there is
// such a verdict.
func firstNote(notes []string, verdict, words string) []string {
	if verdict == "" {
		return notes
	}
	return append(notes, words+" "+daemonSetsFirst)
}

// rulesAlone returns the reason for the verdict. It adds the verdict that follows from the
// scheduling rules alone if the two verdicts differ.
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

// reasonWaits is the reason for a verdict if some pods terminate on their own and other pods wait
// for their capacity.
const reasonWaits = "waits"

// badness ranks answers. A higher number means a worse answer.
var badness = map[string]int{answerNone: 0, answerYes: 1, answerUnknown: 2, answerMay: 3, answerStays: 4, answerNo: 5}

// domainNames lists common topology keys in column order, with a name for the domains of each key.
var domainNames = []struct{ key, name string }{
	{"kubernetes.io/hostname", "a node"}, {"topology.kubernetes.io/zone", "a zone"}, {"topology.kubernetes.io/region", "a region"},
}

// lossKeys returns the topology keys for which there are answers about losses, in column order.
// Common keys come first, from small to large domains. All other keys follow, sorted by name.
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

// survives returns a question about the domains of a topology key. The question is whether all pods
// run again after the loss of any one domain.
func survives(key string) question {
	title := Visible(key)
	for _, d := range domainNames {
		if d.key == key {
			title = d.name
		}
	}
	return question{
		above: "survives", title: title,
		answer: func(w *diag.PlacementWorkload) tableCell {
			return onceGrown(w, strings.ReplaceAll("survives "+title, " a ", "-"), survival(w, key))
		},
		reason: func(w *diag.PlacementWorkload) string { return lossReasons(w, key) },
	}
}

// survival returns the worst answer about losing a domain of a topology key. It returns two answers
// if the answers for deleted and unreachable nodes differ. A single pod cannot survive the loss of its
// node, but comes back.
func survival(w *diag.PlacementWorkload, key string) tableCell {
	gone, unreachable, grows := answerNone, answerNone, false
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
		if answer == answerNo && s.Waits != "" {
			answer = answerStays
		}
		grows = grows || s.AtCount != nil
		if answer != *worst && badness[answer] > badness[*worst] {
			*worst = answer
		}
	}
	for _, answer := range []*string{&gone, &unreachable} {
		if *answer == answerYes && w.Replicas == 1 {
			*answer = answerBack
		}
	}
	note := growthNote(grows)
	switch {
	case unreachable == gone || unreachable == answerNone:
		return tableCell{answer: gone, note: note}
	case gone == answerNone:
		return tableCell{answer: unreachable, note: strings.TrimSuffix("unreachable; "+note, "; ")}
	}
	return tableCell{answer: gone, unreachable: unreachable, note: note}
}

// maxLosses is the maximum number of losses to list per workload and key.
const maxLosses = 3

// lossGroup is a group of losses with the same outcome.
type lossGroup struct {
	*diag.PlacementSurvival
	meaning string
	like    int // how many more losses are in the group
}

// lossReasons lists harmful losses, worst first. It groups losses with equal outcomes.
func lossReasons(w *diag.PlacementWorkload, key string) string {
	var worstFirst []*diag.PlacementSurvival
	for i := range w.Change.Survives {
		if s := &w.Change.Survives[i]; s.Key == key && harms(s) {
			worstFirst = append(worstFirst, s)
		}
	}
	sorting.Stable(worstFirst, func(a, b *diag.PlacementSurvival) int {
		return cmp.Compare(badness[answerTo(b.Verdict)], badness[answerTo(a.Verdict)])
	})
	var all []lossGroup
	for i, s := range worstFirst {
		same := func(o *diag.PlacementSurvival) bool {
			return s.Meaning != o.Meaning && s.Value == o.Value && s.Verdict == o.Verdict && s.Pending == o.Pending && s.Replicas == o.Replicas && s.Reason == o.Reason && s.Like == o.Like && s.WhereItRuns == o.WhereItRuns
		}
		if slices.ContainsFunc(worstFirst[:i], same) {
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
		parts = append(parts, all[i].reason())
	}
	if more := len(parts) - maxLosses; more > 0 {
		parts = append(parts[:maxLosses], fmt.Sprintf("and %d more", more))
	}
	for i := range all { // a simulated loss is one of all domains, so one sentence is enough
		if text := happens(all[i].Typical, ""); text != "" {
			parts = append(parts, text)
			break
		}
	}
	return strings.Join(parts, "; ")
}

// harms reports whether a loss is harmful or might be harmful.
func harms(s *diag.PlacementSurvival) bool {
	return badness[answerTo(s.Verdict)] > badness[answerYes]
}

// alike reports whether two groups of losses differ only in their domains.
func (t lossGroup) alike(o lossGroup) bool {
	return t.meaning == o.meaning && t.Verdict == o.Verdict && t.Pending == o.Pending && t.Replicas == o.Replicas && t.Reason == o.Reason && t.WhereItRuns == o.WhereItRuns
}

func (t *lossGroup) reason() string {
	text := fmt.Sprintf("losing %s=%s", t.Key, t.Value)
	if t.Key == domainNames[0].key {
		text = "losing node " + t.Value
	}
	switch {
	case t.Value == "": // no domain was asked about
		text = "losing a domain of " + t.Key
	case t.like == 1:
		text += " or an equivalent one"
	case t.like > 1:
		text += fmt.Sprintf(" or any of %d equivalent ones", t.like)
	}
	text += " (" + t.meaning + ") "
	pods := fmt.Sprintf("%d of %s", t.Pending, Count(t.Replicas, "pod"))
	switch answer := answerTo(t.Verdict); {
	case answer == answerUnknown:
		text += "is undecided"
	case answer == answerMay && t.Pending == 0:
		text += "can leave pods Pending"
	case answer == answerMay:
		text += "can leave up to " + pods + " Pending"
	case t.Pending >= t.Replicas:
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

package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/diag"
)

// decision is the table of a placement: a row per workload and a column per question that has an
// answer. Names in it are visible.
type decision struct {
	columns []question
	rows    []row
	reasons []reason
}

// row has the answers about one workload, one for each column.
type row struct {
	subject  string
	replicas int
	cells    []tableCell
}

// texts returns the cells of a row as the table shows them.
func (r *row) texts() []string {
	all := []string{r.subject, strconv.Itoa(r.replicas)}
	for _, c := range r.cells {
		all = append(all, c.String())
	}
	return all
}

// reason is the reason for an answer.
type reason struct{ subject, question, answer, why string }

func decide(p *diag.Placement) decision {
	d := decision{columns: questions(p.Workloads)}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		r := row{subject: subject(w), replicas: w.Replicas}
		for _, q := range d.columns {
			c := q.answer(w)
			r.cells = append(r.cells, c)
			if why := q.reason(w); why != "" && !c.is(answerNone) && (!c.is(answerYes) || q.evenIfYes) {
				d.reasons = append(d.reasons, reason{r.subject, q.whole(), c.String(), Visible(why)})
			}
		}
		d.rows = append(d.rows, r)
	}
	return d
}

// workloadTable writes the answers about every workload, the reasons for answers other than yes,
// and a legend.
func workloadTable(b io.Writer, p *diag.Placement) {
	if len(p.Workloads) == 0 {
		return
	}
	d := decide(p)
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
	for _, r := range d.reasons {
		writeFolded(b, "  ", "    ", fmt.Sprintf("%s %s: %s, %s", r.subject, r.question, r.answer, r.why))
	}
	for _, text := range legend(d.columns, d.rows) {
		writeFolded(b, "", "  ", text)
	}
}

// subject returns the name of a workload in the table.
func subject(w *diag.PlacementWorkload) string {
	return Visible(w.Kind) + " " + Visible(strings.TrimPrefix(w.Namespace+"/"+w.Name, "/"))
}

// table writes rows in columns. It drops empty cells at the end of a row, and rows without cells.
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

// legend explains the words that occur in the rows of workloads.
func legend(columns []question, rows []row) []string {
	used, lost := map[string]bool{}, false
	for _, r := range rows {
		for i, c := range r.cells {
			used[c.answer], used[c.unreachable] = true, true
			lost = lost || columns[i].above != "" && !c.is(answerYes) && !c.is(answerNone)
		}
	}
	var parts []string
	for _, m := range []struct{ word, meaning string }{
		{answerYes, "in every run"}, {answerMay, "in some runs"}, {answerNo, "in no run"}, {answerUnknown, "undecided"}, {answerWaits, "some or all pods wait for capacity and run later"}, {answerNone, "does not apply"},
	} {
		if used[m.word] {
			parts = append(parts, m.word+": "+m.meaning)
		}
	}
	lines := []string{strings.Join(parts, "; ")}
	if lost {
		lines = append(lines, "gone: the lost nodes are deleted; unreachable: their Node objects remain")
	}
	return lines
}

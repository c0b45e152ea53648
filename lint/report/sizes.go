package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// SizeFormats returns the names of the output formats for sizes.
func SizeFormats() []string { return []string{"text", "json"} }

// WriteSizes writes sizes to w in the named format.
func WriteSizes(w io.Writer, format string, s *diag.Sizes) error {
	return writeAnswers(w, format, s.Failures, jsonSizes{s.Failures.Complete(), s}, s.Sizes, func(b io.Writer, one *diag.Sizing, title bool) {
		if title {
			fmt.Fprintln(b, contextTitle(&diag.Placement{Cluster: one.Cluster, Context: one.Context}))
		}
		sizingText(b, s, one)
	})
}

// writeAnswers writes a document with answers about contexts as JSON, or each answer as text. It asks
// for titles if there are several.
func writeAnswers[T any](w io.Writer, format string, failures diag.Failures, document any, all []T, text func(b io.Writer, one *T, title bool)) error {
	switch format {
	case "json":
		return stream(w, document)
	case "text":
		b := &lineWriter{out: w}
		for _, line := range Incomplete(failures) {
			fmt.Fprintln(b, line)
		}
		if len(all) == 0 {
			fmt.Fprintln(b, "nothing to place")
		}
		for i := range all {
			if i > 0 {
				fmt.Fprintln(b)
			}
			text(b, &all[i], len(all) > 1)
		}
		return b.flush()
	}
	return fmt.Errorf("unknown format %q: formats are %s", format, strings.Join(SizeFormats(), ", "))
}

type jsonSizes struct {
	Complete bool `json:"complete"`
	*diag.Sizes
}

// sizingText writes the sizes of the pools of one context.
func sizingText(b io.Writer, s *diag.Sizes, one *diag.Sizing) {
	if len(one.Workloads) > 0 {
		roomsText(b, s, one)
		return
	}
	writeFolded(b, "", "  ", "size: "+sizeVerdict(one))
	writeFolded(b, "", "  ", "asked: "+sizeQuestions(s))
	declared := map[string]string{string(diag.Always): "enough", string(diag.Never): "not enough"}[one.Declared]
	writeFolded(b, "", "  ", "declared: "+cmp.Or(declared, "not known whether enough")+because(one.DeclaredWhy))
	if one.Declared == string(diag.Never) {
		sizeCore(b, one.DeclaredWhy)
		sizeDifference(b, one)
	}
	if one.Verdict == diag.SizeNone || one.Verdict == diag.SizeUnknown {
		if one.Why != nil {
			fmt.Fprintln(b)
			title := "with all pools at their greatest size"
			if one.Verdict == diag.SizeUnknown {
				title = "not known"
			}
			writeFolded(b, "", "  ", title+because(one.Why))
			sizeCore(b, one.Why)
		}
		fmt.Fprintln(b)
		rows := [][]string{{"pool", "declared", "limits"}}
		for i := range one.Pools {
			p := &one.Pools[i]
			rows = append(rows, []string{Visible(p.Name), strconv.Itoa(p.Declared), limitsOf(p)})
		}
		table(b, rows)
	} else {
		fmt.Fprintln(b)
		sizeTable(b, one)
		lessText(b, one)
		rows := [][]string{{"pool", "resource", "requested", "of", "each node", "for DaemonSets"}}
		for i := range one.Pools {
			p := &one.Pools[i]
			if p.Nodes == 0 {
				continue
			}
			for _, s := range p.Slack {
				rows = append(rows, []string{Visible(p.Name), s.Resource, s.Requested, s.Offered, s.Each, cmp.Or(s.DaemonSets, "0")})
			}
		}
		if len(rows) > 1 {
			fmt.Fprintln(b)
			table(b, rows)
		}
	}
	for _, note := range one.Notes {
		writeFolded(b, "", "  ", "note: "+note)
	}
}

// roomsText lists how many pods workloads can have.
func roomsText(b io.Writer, s *diag.Sizes, one *diag.Sizing) {
	writeFolded(b, "", "  ", "asked: "+sizeQuestions(s))
	rows := [][]string{{"workload", "pods", "up to", ""}}
	for i := range one.Workloads {
		w := &one.Workloads[i]
		most, end := strconv.Itoa(w.Most), ""
		switch {
		case w.Why != nil && (w.Today || w.Why.Verdict == string(diag.Unknown) && w.Most == w.Pods):
			most = "not known"
			if w.Today && w.Why.Verdict != string(diag.Unknown) {
				most = "-"
			}
		case w.Why == nil && w.Spent:
			end = "more is not known: the search ended at its limit of steps"
		case w.Why == nil && w.Scaled:
			end = "the autoscaler's maximum"
		case w.Why == nil:
			end = "no more were asked about"
		}
		rows = append(rows, []string{Visible(w.Workload), strconv.Itoa(w.Pods), most, end})
	}
	table(b, rows)
	for i := range one.Workloads {
		if w := &one.Workloads[i]; w.Why != nil {
			n := w.Most + 1
			if w.Today {
				n = w.Pods
			}
			writeFolded(b, "", "  ", fmt.Sprintf("%s with %s%s", Visible(w.Workload), Count(n, "pod"), because(w.Why)))
			sizeCore(b, w.Why)
		}
	}
	for _, note := range one.Notes {
		writeFolded(b, "", "  ", "note: "+note)
	}
}

// sizeDifference says how the declared sizes differ from the cheapest ones.
func sizeDifference(b io.Writer, one *diag.Sizing) {
	if one.Verdict != diag.SizeMinimal && one.Verdict != diag.SizeFound {
		return
	}
	for i := range one.Pools {
		if p := &one.Pools[i]; p.Nodes != p.Declared {
			fmt.Fprintf(b, "  %s: %d declared, %d needed (%+d)\n", Visible(p.Name), p.Declared, p.Nodes, p.Nodes-p.Declared)
		}
	}
}

// sizeVerdict returns the answer in words.
func sizeVerdict(one *diag.Sizing) string {
	total := Count(one.Nodes, "node")
	if one.Priced {
		total += ", cost " + cost(one.Cost)
	}
	open := Count(one.Undecided, "size")
	if one.More {
		open = "more than " + open
	}
	spent := ""
	if one.Spent != "" {
		spent = fmt.Sprintf(" (the search ended at its limit of %s)", one.Spent)
	}
	switch one.Verdict {
	case diag.SizeMinimal:
		return total + "; minimal: no cheaper size is enough"
	case diag.SizeFound:
		return total + "; cheapest found, " + strings.Replace(open, " size", " cheaper size", 1) + " undecided" + spent
	case diag.SizeNone:
		return "no size is enough"
	}
	if one.Undecided > 0 || one.More {
		return "not known, " + open + " undecided" + spent
	}
	return "not known"
}

// cost formats a cost with at most six digits after the point.
func cost(c float64) string { return strconv.FormatFloat(c, 'f', -1, 64) }

// sizeQuestions lists what is asked.
func sizeQuestions(s *diag.Sizes) string {
	var all []string
	for _, q := range s.For {
		if q == "survives" {
			q = "survives the loss of any one " + strings.Join(domainWords(s.Survives), " or ")
		}
		all = append(all, q)
	}
	pods := "autoscaled workloads at their maximum"
	if s.AtMin {
		pods = "autoscaled workloads at their minimum"
	}
	return strings.Join(all, ", ") + "; " + pods
}

// domainWords returns words for the usual topology keys.
func domainWords(keys []string) []string {
	words := map[string]string{"kubernetes.io/hostname": "node", "topology.kubernetes.io/zone": "zone", "topology.kubernetes.io/region": "region"}
	return lists.Of(keys, func(key string) string { return cmp.Or(words[key], Visible(key)) })
}

// because returns the reason for an answer as the rest of a sentence, or "".
func because(why *diag.SizeReason) string {
	if why == nil {
		return ""
	}
	text := why.Text
	if why.Workload != "" || why.Question != "" {
		head := strings.TrimSpace(why.Workload + " " + why.Question)
		if why.Verdict != "" {
			head += ": " + answerWord(why.Verdict)
		}
		if text = head; why.Text != "" {
			text += ", " + why.Text
		}
	}
	if text == "" {
		return ""
	}
	return ": " + Visible(text)
}

// answerWord returns the word for a verdict in tables.
func answerWord(verdict string) string {
	return cmp.Or(map[string]string{string(diag.Always): "yes", string(diag.Never): "no", string(diag.Sometimes): "may not", string(diag.Unknown): "not known"}[verdict], verdict)
}

func sizeCore(b io.Writer, why *diag.SizeReason) {
	if why == nil {
		return
	}
	for _, c := range why.Core {
		writeFolded(b, "  ", "    ", fmt.Sprintf("%s:%d:%d: %s: %s", Visible(c.File), c.Line, c.Column, c.Field, Visible(c.Text)))
	}
}

// sizeTable lists the pools with their sizes.
func sizeTable(b io.Writer, one *diag.Sizing) {
	head := []string{"pool", "nodes", "declared", "limits", "zones"}
	if one.Priced {
		head = append(head, "cost")
	}
	rows := [][]string{head}
	for i := range one.Pools {
		p := &one.Pools[i]
		nodes := strconv.Itoa(p.Nodes)
		if p.Nodes == 0 && p.Unused {
			nodes = "0, no pod may use it"
		}
		zones := lists.Of(p.Zones, func(z diag.ZoneSize) string { return fmt.Sprintf("%s: %d", Visible(z.Zone), z.Nodes) })
		row := []string{Visible(p.Name), nodes, strconv.Itoa(p.Declared), limitsOf(p), strings.Join(zones, ", ")}
		if one.Priced {
			row = append(row, cost(p.Cost*float64(p.Nodes)))
		}
		rows = append(rows, row)
	}
	table(b, rows)
}

// limitsOf returns the range in which the size of a pool was searched.
func limitsOf(p *diag.SizedPool) string {
	text := fmt.Sprintf("%d to %d", p.Min, p.Max)
	if p.Derived {
		text += " (assumed)"
	}
	return text
}

// lessText says why one node less in each pool is not enough.
func lessText(b io.Writer, one *diag.Sizing) {
	first := true
	for i := range one.Pools {
		p := &one.Pools[i]
		if p.Less == nil {
			continue
		}
		if first {
			fmt.Fprintln(b)
		}
		first = false
		writeFolded(b, "", "  ", fmt.Sprintf("%s with %s%s", Visible(p.Name), Count(p.Nodes-1, "node"), because(p.Less)))
		sizeCore(b, p.Less)
	}
}

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// PlaceFormats returns the names of the output formats for placements.
func PlaceFormats() []string { return []string{"text", "json", "markdown", "html", "svg"} }

// WritePlacement writes placements to w in the named format. Text and Markdown show contexts without
// pods only if opts.Verbose is set, and fold equal lines unless opts.All is set.
func WritePlacement(w io.Writer, format string, p *diag.Placements, opts Options) error {
	switch format {
	case "json":
		return placementJSON(w, p)
	case "text":
		b := &lineWriter{out: w}
		for _, line := range Incomplete(p.Failures) {
			fmt.Fprintln(b, line)
		}
		all := withPods(p, opts.Verbose)
		if len(p.Decisions) > 1 || len(all) < len(p.Decisions) {
			fmt.Fprintf(b, "%s\n", contextCounts(p))
		}
		for i := range all {
			if len(p.Decisions) > 1 {
				fmt.Fprintf(b, "\n%s\n", contextTitle(&all[i]))
			}
			decisionText(b, &all[i], opts.All)
		}
		return b.flush()
	case "markdown":
		// The step summary for CI has the table of workloads, the reasons, the cores and the runs.
		doc := page{most: maxMarkdown}
		doc.list(incomplete(p.Failures))
		all := withPods(p, opts.Verbose)
		if len(p.Decisions) > 1 || len(all) < len(p.Decisions) {
			doc.add(0, "## schedlint place: "+prose(contextCounts(p)))
		}
		for i := range all {
			d := &all[i]
			title := "## schedlint place: "
			if len(p.Decisions) > 1 {
				title = "### " + prose(clipped(contextTitle(d), maxPath)) + ": "
			}
			doc.placement(title, d, opts.All)
		}
		return doc.writeTo(w)
	case "html":
		return placementHTML(w, p, opts)
	case "svg":
		return placementSVG(w, p, opts)
	}
	return fmt.Errorf("unknown format %q: formats are %s", format, strings.Join(PlaceFormats(), ", "))
}

// withPods returns the placements to print. Without verbose, it leaves out those in which nothing
// creates pods.
func withPods(p *diag.Placements, every bool) []diag.Placement {
	return slices.DeleteFunc(slices.Clone(p.Decisions), func(d diag.Placement) bool { return !every && d.Verdict == string(diag.None) && len(d.Invalid) == 0 })
}

// contextCounts counts placements by verdict. It lists verdicts in order of first appearance, and
// counts contexts without pods last.
func contextCounts(p *diag.Placements) string {
	counts, order := map[string]int{}, []string(nil)
	placed := withPods(p, false)
	none := len(p.Decisions) - len(placed)
	if len(placed) == 0 {
		return strings.TrimSuffix("nothing to place in "+Count(none, "context"), " in 1 context")
	}
	for _, d := range placed {
		said := d.Verdict
		if d.AtCount != nil {
			said = d.AtCount.Verdict + " at count"
		}
		if len(d.IfShared) > 0 {
			said = "together " + said
		}
		if counts[said] == 0 {
			order = append(order, said)
		}
		counts[said]++
	}
	for i, v := range order {
		order[i] = fmt.Sprintf("%s %d", v, counts[v])
	}
	said := Count(len(placed), "context") + ": " + strings.Join(order, ", ")
	if none > 0 {
		said += fmt.Sprintf("; nothing to place in %d more", none)
	}
	return said
}

// contextTitle returns a title that names a placement's cluster and context.
func contextTitle(d *diag.Placement) string {
	parts := []string{}
	if d.Cluster != "" {
		parts = append(parts, "cluster "+Visible(d.Cluster))
	}
	if names := d.IfShared; len(names) > 0 {
		more := ""
		if n := len(names) - maxNamed; n > 0 {
			names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		return "all directories together, if these share a cluster: " + Visible(strings.Join(names, ", ")) + more
	}
	if d.Context != "" || d.Cluster == "" {
		parts = append(parts, "context "+cmp.Or(Visible(d.Context), "of all other manifests"))
	}
	return strings.Join(parts, ", ")
}

func decisionText(b io.Writer, p *diag.Placement, all bool) {
	fmt.Fprintf(b, "verdict: %s\n%s\n", verdict(p), pods(p))
	if p.Typical != nil {
		writeFolded(b, "", "  ", typical(p))
	}
	workloadTable(b, p, all)
	cores(b, p)
	names := shortNames(p)
	if title := witnessTitle(p); title != "" {
		fmt.Fprintf(b, "\n%s:\n", title)
		grid(b, p.Witness, names, all)
	}
	if p.Stuck != nil {
		fmt.Fprintf(b, "\n%s:\n", stuckTitle)
		stuck(b, p.Stuck, names)
	}
	for _, r := range limits(p) {
		fmt.Fprintln(b, Visible(r))
	}
}

// verdict returns a placement's verdict. It adds the verdict that follows from the scheduling rules
// alone.
func verdict(p *diag.Placement) string {
	said := p.Verdict
	if said == string(diag.None) {
		return said + " (nothing to place)"
	}
	if p.AtCount != nil {
		at := firstNote([]string{p.AtCount.Verdict + " at the declared count of nodes"}, p.AtCount.DaemonSetsFirst, p.AtCount.DaemonSetsFirst)
		said = strings.Join(append(at, withGrowth+": "+p.Verdict), "; ")
	}
	said = strings.Join(firstNote([]string{said}, p.DaemonSetsFirst, p.DaemonSetsFirst), "; ")
	if p.OnceGrown && p.Verdict != string(diag.Always) {
		said = strings.TrimSuffix(said, "; "+withGrowth+": "+p.Verdict) + "; " + withGrowth + ": " + string(diag.Always)
	}
	rejected := lists.SetOf(p.Invalid, func(i diag.PlacementInvalid) string { return i.Workload })
	if len(rejected) > 0 {
		said += fmt.Sprintf(", %s rejected", Count(len(rejected), "object"))
	}
	if len(p.IfShared) > 0 {
		said += ", if these share a cluster"
	}
	return fmt.Sprintf("%s (rules alone: %s)", said, p.RulesVerdict)
}

// pods returns a line with the number of pods and with bounds on how many of them are placed. It
// leaves out a bound that says nothing, such as at least 0.
func pods(p *diag.Placement) string {
	var bounds []string
	if p.Pods.Exact || p.Pods.MaxPlaced < p.Pods.Total {
		bounds = append(bounds, fmt.Sprintf("at most %d", p.Pods.MaxPlaced))
	}
	if p.Pods.Exact || p.Pods.MinPlaced > 0 {
		bounds = append(bounds, fmt.Sprintf("at least %d", p.Pods.MinPlaced))
	}
	placed := " " + strings.Join(bounds, ", ")
	switch {
	case len(bounds) == 0:
		placed = ": not known"
	case !p.Pods.Exact:
		placed += " (bounds: more could not be decided)"
	}
	return fmt.Sprintf("pods: %d, placed%s", p.Pods.Total, placed)
}

// typical returns a line about simulated runs.
func typical(p *diag.Placement) string {
	t := p.Typical
	if t.Reason != "" {
		return "typical: not simulated, " + Visible(t.Reason)
	}
	said := fmt.Sprintf("typical: all %s placed in %d of %d simulated runs", Count(p.Pods.Total, "pod"), t.Complete, t.Runs)
	if len(t.LeftOut) > 0 {
		w := t.LeftOut[0]
		said += fmt.Sprintf("; %s %s left out most often, in %d", Visible(w.Kind), Visible(strings.TrimPrefix(w.Namespace+"/"+w.Name, "/")), w.Runs)
	}
	if t.Preempts > 0 {
		said += fmt.Sprintf("; in %d, a Pending pod can preempt others", t.Preempts)
	}
	return said
}

// witnessTitle returns a title for a placement's witness, or "" if it has none.
func witnessTitle(p *diag.Placement) string {
	switch {
	case len(p.Witness) == 0:
		return ""
	case len(p.Witness) < p.Pods.Total:
		return "a placement of as many pods as possible"
	case p.Verdict == string(diag.Never):
		return "a placement of all other pods"
	}
	return "a placement of all pods"
}

// limits returns lines about the objects and rules that the placement ignores.
func limits(p *diag.Placement) []string {
	var all []string
	for _, i := range p.Invalid {
		all = append(all, fmt.Sprintf("invalid: %s: %s: %s", i.Workload, i.Field, i.Message))
	}
	all = append(all, lists.Of(p.Unmodelled, func(u string) string { return "not modeled: " + u })...)
	all = append(all, lists.Of(p.Notes, func(n string) string { return "note: " + n })...)
	return all
}

// lines writes text. It changes any line that a CI runner would execute as a command. The text must
// not contain hidden characters.
func lines(out io.Writer, text string) error {
	w := &lineWriter{out: out}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return w.flush()
}

// lineWriter writes text in chunks, because a second copy of the text could be large. It changes
// any line that a CI runner would execute as a command. The text must not contain hidden
// characters.
type lineWriter struct {
	out  io.Writer
	kept []byte // buffered bytes, always starting at the beginning of a line
	end  int    // end of the last whole line in kept
	err  error
}

// chunk is the number of bytes to buffer before writing them.
const chunk = 64 << 10

func (w *lineWriter) Write(text []byte) (int, error) {
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 { // not in kept: a table pads a long line in thousands of writes
		w.end = len(w.kept) + at + 1
	}
	w.kept = append(w.kept, text...)
	if len(w.kept) >= chunk {
		w.pass(w.end)
	}
	return len(text), w.err
}

// flush writes all buffered bytes and returns the first write error.
func (w *lineWriter) flush() error {
	w.pass(len(w.kept))
	return w.err
}

// pass writes the first n buffered bytes, which must be whole lines.
func (w *lineWriter) pass(n int) {
	if w.err != nil || n == 0 {
		return
	}
	text := w.kept[:n]
	if bytes.Contains(text, []byte("::")) {
		text = nil
		for line := range bytes.Lines(w.kept[:n]) {
			text = append(text, notCommand(string(line))...)
		}
	}
	_, w.err = w.out.Write(text)
	w.kept, w.end = append(w.kept[:0], w.kept[n:]...), 0
}

// jsonPlacements is the JSON document for placements. Other tools rely on its format.
type jsonPlacements struct {
	SchemaVersion string `json:"schemaVersion"`
	// Complete is false if Failures is not empty.
	Complete  bool             `json:"complete"`
	Failures  diag.Failures    `json:"failures"`
	Decisions []diag.Placement `json:"decisions"`
}

// placementJSON writes the JSON document. It limits each core to maxRelated members.
func placementJSON(w io.Writer, p *diag.Placements) error {
	decisions := slices.Clone(p.Decisions)
	for i := range decisions {
		d := &decisions[i]
		d.Workloads = slices.Clone(d.Workloads)
		for k := range d.Workloads {
			o := &d.Workloads[k]
			o.MoreCore = max(0, len(o.Core)-maxRelated)
			o.Core = o.Core[:len(o.Core)-o.MoreCore]
		}
	}
	return stream(w, jsonPlacements{p.SchemaVersion, p.Failures.Complete(), p.Failures, decisions})
}

// contradiction is a set of conflicting constraints. It includes the printable names of the
// workloads that can never be scheduled because of these constraints.
type contradiction struct {
	names   []string
	core    []diag.PlacementCore
	repairs []string
}

// sentence says which workloads can never be scheduled because of the conflicting constraints.
func (c *contradiction) sentence() string {
	names := strings.Join(c.names, ", ")
	if len(c.names) > 1 {
		return names + " cannot all be scheduled; conflicting constraints:"
	}
	return fmt.Sprintf("not all pods of %s can be scheduled; conflicting constraints:", names)
}

// contradictions returns the contradictions in a placement. Workloads with the same conflicting
// constraints share one contradiction.
func contradictions(p *diag.Placement) []contradiction {
	var all []contradiction
	places := map[string]int{}
	for _, w := range p.Workloads {
		if len(w.Core) == 0 {
			continue
		}
		key := fmt.Sprintf("%#v", w.Core)
		i, known := places[key]
		if !known {
			i, places[key] = len(all), len(all)
			all = append(all, contradiction{core: w.Core, repairs: w.Repairs})
		}
		all[i].names = append(all[i].names, Visible(w.Kind)+" "+Visible(w.Name))
	}
	return all
}

// cores writes the reasons why workloads can never be placed. The proposed changes follow.
func cores(b io.Writer, p *diag.Placement) {
	for _, c := range contradictions(p) {
		fmt.Fprintf(b, "\n%s\n", c.sentence())
		for _, m := range c.core[:min(maxRelated, len(c.core))] {
			fmt.Fprintf(b, "  %s:%d:%d: %s: %s\n", Visible(m.File), m.Line, m.Column, Visible(m.Field), Visible(m.Text))
		}
		if more := len(c.core) - maxRelated; more > 0 {
			fmt.Fprintf(b, "  and %d more\n", more)
		}
		for _, r := range c.repairs {
			fmt.Fprintf(b, "help: %s\n", Visible(r))
		}
	}
}

// shortNames returns the names that the table shows, by the names in placement steps. It leaves out
// workloads that differ only in their API version.
func shortNames(p *diag.Placement) map[string]string {
	count, short := map[string]int{}, map[string]string{}
	for i := range p.Workloads {
		count[subject(&p.Workloads[i])]++
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if name := subject(w); count[name] == 1 {
			short[strings.Join([]string{w.APIVersion, w.Kind, cmp.Or(w.Namespace, "default"), w.Name}, "/")] = name
		}
	}
	return short
}

// shortName returns the short name of a step's workload without hidden characters.
func shortName(names map[string]string, ref string) string {
	if name, ok := names[ref]; ok {
		return name
	}
	return Visible(ref)
}

// gridLine is a node with its pods.
type gridLine struct{ node, pods string }

// grid writes how many pods each zone has and which pods are on each node. Unless every is set,
// nodes of a zone with equal pods share a line.
func grid(b io.Writer, run []diag.PlacementStep, names map[string]string, every bool) {
	zones, nodes := map[string][]string{}, map[string][]string{}
	for _, s := range run {
		if nodes[s.Node] == nil {
			zones[s.Zone] = append(zones[s.Zone], s.Node)
		}
		nodes[s.Node] = append(nodes[s.Node], s.Workload)
	}
	least := minFold
	if every {
		least = math.MaxInt
	}
	width, lines, pods := 0, map[string][]gridLine{}, map[string]int{}
	var text []byte
	for zone, all := range zones {
		var list []gridLine
		for _, n := range slices.Sorted(slices.Values(all)) {
			pods[zone] += len(nodes[n])
			text = appendTally(text[:0], nodes[n], names)
			list = append(list, gridLine{Visible(n), string(text)})
		}
		width = max(width, utf8.RuneCountInString(zoneCell(zone)))
		for _, same := range alike(list, least, func(l *gridLine) string { return l.pods }) {
			l := same[0]
			if more := len(same) - 1; more > 0 {
				l.node += fmt.Sprintf(" (and %d alike)", more)
			}
			width = max(width, len(nodeIndent(zone))+utf8.RuneCountInString(l.node))
			lines[zone] = append(lines[zone], l)
		}
	}
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		if zone != "" {
			text = append(filled(text[:0], zoneCell(zone), "", width), Count(pods[zone], "pod")...)
			b.Write(append(text, '\n'))
		}
		for _, l := range lines[zone] {
			text = append(filled(text[:0], nodeIndent(zone), l.node, width), l.pods...)
			b.Write(append(text, '\n'))
		}
	}
}

// zoneCell returns a zone's heading, or "" for nodes without a zone.
func zoneCell(zone string) string {
	if zone == "" {
		return ""
	}
	return "  zone " + Visible(zone)
}

func nodeIndent(zone string) string {
	if zone == "" {
		return "  "
	}
	return "    "
}

// filled appends the first cell of a line. The cell consists of indent and text, padded to the
// given width, and a separator.
func filled(line []byte, indent, text string, width int) []byte {
	line = append(append(line, indent...), text...)
	for n := utf8.RuneCountInString(indent) + utf8.RuneCountInString(text); n < width+2; n++ {
		line = append(line, ' ')
	}
	return line
}

// appendTally appends the short name and pod count of each workload to text. The argument pods
// holds one workload per pod. appendTally sorts pods in place.
func appendTally(text []byte, pods []string, names map[string]string) []byte {
	slices.Sort(pods)
	for first := 0; first < len(pods); {
		next := first + 1
		for next < len(pods) && pods[next] == pods[first] {
			next++
		}
		if first > 0 {
			text = append(text, ", "...)
		}
		text = append(strconv.AppendInt(text, int64(next-first), 10), " x "...)
		text, first = append(text, shortName(names, pods[first])...), next
	}
	return text
}

// stuckTitle is the heading for a run that gets stuck.
const stuckTitle = "a scheduling order that gets stuck"

// stuck writes the steps of a stuck run and the pods that remain unscheduled.
func stuck(b io.Writer, s *diag.PlacementStuck, names map[string]string) {
	var line []byte
	for i := range s.Placements {
		p := &s.Placements[i]
		line = strconv.AppendInt(append(line[:0], "  "...), int64(i+1), 10)
		line = append(append(append(line, ". "...), shortName(names, p.Workload)...), " on "...)
		b.Write(append(append(line, Visible(p.Node)...), '\n'))
	}
	for _, p := range s.Pending {
		fate := "Pending"
		if p.Orphaned {
			fate = "deleted by the pod garbage collector"
		}
		fmt.Fprintf(b, "  then %s of %s %s: %s\n", Count(p.Count, "pod"), shortName(names, p.Workload), fate, Visible(p.Reason))
	}
}

package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the style and the script of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Page is the content of the file. All texts are printable.
type Page struct {
	Title string
	// Incomplete lists the work that was not done.
	Incomplete []string
	Contexts   []Context
}

// Context is a decision about one context.
type Context struct {
	Title string
	// Outcome is the one word of the verdict, and Verdict is all of it.
	Outcome, Verdict string
	// Lines are further statements about all workloads. Notes are assumptions and open questions.
	Lines, Notes []string
	Conflicts    []Conflict
	Columns      []string
	// Rows has a row for each workload. Folded has those that the text output shows, and Rest is the
	// line about the others.
	Rows, Folded []Row
	Rest         string
	// Reasons explains answers, folded as in the text output.
	Reasons []string
	Legend  []string
	// Picture may be nil. Name returns a printable name for a Reference in it, and Visible returns a
	// printable form of another text.
	Picture *diag.Picture
	Name    func(reference string) string
	Visible func(string) string
}

// Conflict is a set of constraints that cannot hold together.
type Conflict struct {
	Sentence       string
	Members, Helps []string
}

// Row is a line of the table. Cells is parallel to Columns. Fine is set if no answer is other than yes.
type Row struct {
	Subject   string
	Reference string
	Replicas  int
	Cells     []string
	Fine      bool
	Reasons   []string
}

// wire is the JSON in the page. Texts are indices into Strings.
type wire struct {
	Strings  []string      `json:"strings"`
	Contexts []wireContext `json:"contexts"`
}

type wireContext struct {
	Title   int          `json:"title"`
	Columns []int        `json:"columns"`
	Rows    []wireRow    `json:"rows"`
	Picture *wirePicture `json:"picture,omitempty"`
}

// wireRow names its workload as wirePicture.Workloads does.
type wireRow struct {
	Name     int   `json:"name"`
	Of       int   `json:"of"`
	Replicas int   `json:"replicas"`
	Cells    []int `json:"cells"`
	Fine     bool  `json:"fine"`
	Reasons  []int `json:"reasons"`
}

// wirePicture is a diag.Picture. A node is a name, a zone, a pool, flags (1 cordoned, 2 zone open), taints
// and the allocatable resources. A workload is a name, a 1 if it is new, and its requests. Running has
// pairs of a workload and a node.
type wirePicture struct {
	Resources []int     `json:"resources"`
	Nodes     []int64   `json:"nodes"`
	Workloads []int64   `json:"workloads"`
	Running   []int     `json:"running"`
	Runs      []wireRun `json:"runs"`
	LeftOut   []int     `json:"leftOut"`
}

// wireRun is a diag.PictureRun. An event is 0 for place, 1 for remove or 2 for lose, a workload, a node
// and how often it occurs in a row. Lists of nodes are pairs of a first index and a length.
type wireRun struct {
	Question string        `json:"question"`
	Title    int           `json:"title"`
	Note     int           `json:"note"`
	After    int           `json:"after"`
	Events   []int         `json:"events"`
	Pending  []wirePending `json:"pending"`
	Lost     []int         `json:"lost"`
	Meaning  string        `json:"meaning"`
}

type wirePending struct {
	Workload int           `json:"workload"`
	Count    int           `json:"count"`
	Reason   int           `json:"reason"`
	Orphaned bool          `json:"orphaned"`
	Refused  []wireRefused `json:"refused"`
}

type wireRefused struct {
	Filter int   `json:"filter"`
	Why    int   `json:"why"`
	Nodes  []int `json:"nodes"`
}

// table numbers texts. The text "" has the number 0.
type table struct {
	texts []string
	at    map[string]int
}

func (t *table) text(s string) int {
	i, known := t.at[s]
	if !known {
		i, t.at[s] = len(t.texts), len(t.texts)
		t.texts = append(t.texts, s)
	}
	return i
}

func (t *table) all(list []string) []int {
	out := make([]int, len(list))
	for i, s := range list {
		out[i] = t.text(s)
	}
	return out
}

// pack returns the data of a page.
func pack(p *Page) *wire {
	t := &table{at: map[string]int{}}
	t.text("")
	out := &wire{Contexts: []wireContext{}}
	for i := range p.Contexts {
		c := &p.Contexts[i]
		x := wireContext{Title: t.text(c.Title), Columns: t.all(c.Columns), Rows: []wireRow{}}
		if c.Picture != nil {
			x.Picture = packPicture(t, c)
		}
		for k := range c.Rows {
			r := &c.Rows[k]
			x.Rows = append(x.Rows, wireRow{Name: t.text(r.Subject), Of: t.text(c.Name(r.Reference)), Replicas: r.Replicas, Cells: t.all(r.Cells), Fine: r.Fine, Reasons: t.all(r.Reasons)})
		}
		out.Contexts = append(out.Contexts, x)
	}
	out.Strings = t.texts
	return out
}

func packPicture(t *table, c *Context) *wirePicture {
	p := c.Picture
	seen := func(s string) int { return t.text(c.Visible(s)) }
	out := &wirePicture{Resources: []int{}, Nodes: []int64{}, Workloads: []int64{}, Running: []int{}, Runs: []wireRun{}, LeftOut: []int{}}
	for _, name := range p.Resources {
		out.Resources = append(out.Resources, seen(name))
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		flags := 0
		if n.Cordoned {
			flags |= 1
		}
		if n.ZoneOpen {
			flags |= 2
		}
		for _, v := range []int{seen(n.Name), seen(n.Zone), seen(n.Pool), flags, seen(strings.Join(n.Taints, ", "))} {
			out.Nodes = append(out.Nodes, int64(v))
		}
		out.Nodes = append(out.Nodes, n.Allocatable...)
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		fresh := int64(0)
		if w.New {
			fresh = 1
		}
		out.Workloads = append(append(out.Workloads, int64(t.text(c.Name(w.Reference))), fresh), w.Requests...)
	}
	for _, pod := range p.Running {
		out.Running = append(out.Running, pod.Workload, pod.Node)
	}
	for _, line := range p.LeftOut {
		out.LeftOut = append(out.LeftOut, seen(line))
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		run := wireRun{Question: r.Question, Title: seen(r.Title), Note: seen(r.Note), After: r.After, Events: packEvents(r.Events), Pending: []wirePending{}, Lost: packNodes(r.Lost), Meaning: r.Meaning}
		for k := range r.Pending {
			x := &r.Pending[k]
			pending := wirePending{Workload: x.Workload, Count: x.Count, Reason: seen(x.Reason), Orphaned: x.Orphaned, Refused: []wireRefused{}}
			for _, f := range x.Refused {
				pending.Refused = append(pending.Refused, wireRefused{seen(f.Filter), seen(f.Why), packNodes(f.Nodes)})
			}
			run.Pending = append(run.Pending, pending)
		}
		out.Runs = append(out.Runs, run)
	}
	return out
}

// packEvents counts equal events in a row.
func packEvents(all []diag.PictureEvent) []int {
	out, number := []int{}, map[string]int{diag.EventPlace: 0, diag.EventRemove: 1, diag.EventLose: 2}
	for i := 0; i < len(all); {
		next := i + 1
		for next < len(all) && all[next] == all[i] {
			next++
		}
		what := number[all[i].What]
		out = append(out, what, max(0, all[i].Workload), max(0, all[i].Node), next-i)
		i = next
	}
	return out
}

// packNodes returns pairs of a first index and a length.
func packNodes(all []int) []int {
	out := []int{}
	for i := 0; i < len(all); {
		next := i + 1
		for next < len(all) && all[next] == all[i]+next-i {
			next++
		}
		out = append(out, all[i], next-i)
		i = next
	}
	return out
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the page.
func Write(out io.Writer, p *Page) error {
	data, err := json.Marshal(pack(p)) // escapes <, > and &, so that no text ends the script element
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	policy := "default-src 'none'; style-src '" + hash(style) + "'; script-src '" + hash(script) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	fmt.Fprintf(b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
<body>
<a class="skip" href="#main">Skip to the decision</a>
<header>
<h1>%s</h1>
`, policy, esc(p.Title), style, esc(p.Title))
	for _, line := range p.Incomplete {
		fmt.Fprintf(b, "<p class=\"no\">%s</p>\n", esc(line))
	}
	b.WriteString("<p hidden><label>Context: <select id=\"context\"></select></label></p>\n</header>\n<main id=\"main\" tabindex=\"-1\">\n")
	for i := range p.Contexts {
		writeStatic(b, &p.Contexts[i])
	}
	b.WriteString(app)
	b.WriteString("</main>\n<footer><p>Made by schedlint place. A verdict covers every scheduling order; a run is one of them.</p></footer>\n<script type=\"application/json\" id=\"data\">")
	b.Write(data)
	fmt.Fprintf(b, "</script>\n<script>%s</script>\n</body>\n</html>\n", script)
	return b.Flush()
}

func esc(s string) string { return html.EscapeString(s) }

// app is the part of the page that needs the script.
const app = `<noscript><p class="soft">The nodes and the runs need JavaScript.</p></noscript>
<div id="app" hidden>
<section id="run" aria-label="Runs">
<h2>Runs</h2>
<ul class="runs" id="runs"></ul>
<ul class="soft" id="left" aria-label="What the runs leave out"></ul>
<div id="steps">
<div class="bar" role="group" aria-label="Steps">
<button type="button" id="first">First</button>
<button type="button" id="back">Back</button>
<button type="button" id="play">Play</button>
<button type="button" id="next">Next</button>
<button type="button" id="last">Last</button>
<input type="range" id="slider" min="0" max="0" value="0" aria-label="Step">
<label>Beside it: <select id="beside"></select></label>
</div>
<p class="sentence" id="sentence" aria-live="polite"></p>
<p class="soft"><span class="keys">Arrow keys step, Home and End go to the first and the last step. </span>A cell is a pod, or all pods of a workload if the node has more than 24. It is as wide as its share of the resource that is fullest on the node, and at least 3 pixels. Rollouts that complete have no run.</p>
<div class="boards" id="boards"></div>
</div>
</section>
<section id="table" aria-label="Workloads">
<h2>Workloads</h2>
<div class="bar">
<label>Search: <input type="search" id="search" autocomplete="off"></label>
<label>Show: <select id="filter"><option value="all">all workloads</option><option value="other">any answer other than yes</option><option value="open">any answer not known</option><option value="pending">Pending in the runs shown</option></select></label>
<span id="found" aria-live="polite"></span>
<button type="button" id="earlier" class="pager">Earlier</button>
<button type="button" id="later" class="pager">Later</button>
</div>
<div class="detail" id="detail" aria-live="polite" hidden></div>
<div class="scroll" role="region" tabindex="0" aria-label="Table of workloads"><table><caption>Answers by workload. Select a workload for its reasons and to mark its pods.</caption><thead><tr id="heads"></tr></thead><tbody id="rows"></tbody></table></div>
</section>
</div>
`

// openConflicts is the number of conflicts that the page shows without being asked for more.
const openConflicts = 3

// writeStatic writes a decision as plain HTML, for readers without scripts.
func writeStatic(b *bufio.Writer, c *Context) {
	fmt.Fprintf(b, "<section class=\"static\" aria-label=\"Decision\">\n<h2>%s</h2>\n<p class=\"verdict\">verdict: <strong class=\"v-%s\">%s</strong> %s</p>\n", esc(c.Title), esc(c.Outcome), esc(c.Outcome), esc(c.Verdict))
	for _, line := range c.Lines {
		fmt.Fprintf(b, "<p>%s</p>\n", esc(line))
	}
	for i, x := range c.Conflicts {
		if i == openConflicts {
			fmt.Fprintf(b, "<details><summary>%d more conflicts</summary>\n", len(c.Conflicts)-openConflicts)
		}
		fmt.Fprintf(b, "<h3>%s</h3>\n", esc(x.Sentence))
		writeList(b, x.Members)
		for _, help := range x.Helps {
			fmt.Fprintf(b, "<p>help: %s</p>\n", esc(help))
		}
	}
	if len(c.Conflicts) > openConflicts {
		b.WriteString("</details>\n")
	}
	if len(c.Rows) > 0 {
		b.WriteString("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Answers\"><table><caption>Answers by workload</caption><thead><tr><th scope=\"col\">workload</th><th scope=\"col\">replicas</th>")
		for _, column := range c.Columns {
			fmt.Fprintf(b, "<th scope=\"col\">%s</th>", esc(column))
		}
		b.WriteString("</tr></thead><tbody>\n")
		for i := range c.Folded {
			r := &c.Folded[i]
			fmt.Fprintf(b, "<tr><th scope=\"row\">%s</th><td>%d</td>", esc(r.Subject), r.Replicas)
			for _, cell := range r.Cells {
				fmt.Fprintf(b, "<td>%s</td>", esc(cell))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</tbody></table>\n")
		if c.Rest != "" {
			fmt.Fprintf(b, "<p>%s</p>\n", esc(c.Rest))
		}
		b.WriteString("</div>\n")
		if len(c.Reasons) > 0 {
			b.WriteString("<details><summary>Reasons for the answers</summary>\n")
			writeList(b, c.Reasons)
			b.WriteString("</details>\n")
		}
		for _, line := range c.Legend {
			fmt.Fprintf(b, "<p class=\"soft\">%s</p>\n", esc(line))
		}
	}
	if len(c.Notes) > 0 {
		fmt.Fprintf(b, "<details><summary>Notes and open questions: %d</summary>\n", len(c.Notes))
		writeList(b, c.Notes)
		b.WriteString("</details>\n")
	}
	b.WriteString("</section>\n")
}

func writeList(b *bufio.Writer, all []string) {
	b.WriteString("<ul>\n")
	for _, line := range all {
		fmt.Fprintf(b, "<li>%s</li>\n", esc(line))
	}
	b.WriteString("</ul>\n")
}

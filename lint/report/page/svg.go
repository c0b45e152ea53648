package page

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Sizes of the picture, in its units.
const (
	boxWidth, boxHeight = 220, 84
	gap, margin         = 12, 16
	lineHeight          = 16
	perColumn           = 12 // groups of nodes in a zone
	maxZones            = 8
	maxLegend           = 24
	maxText             = 30 // characters of a name
)

// colours are the fills of workloads, as in the style of the page.
var colours = [...]string{"#e69f00", "#56b4e9", "#3fc39b", "#f0e442", "#e8905a", "#d9a0c4", "#a9b8ff", "#c4c8ce"}

const svgStyle = `text{font:12px system-ui,sans-serif;fill:#1b1f24}.s{fill:#4a525c}.t{font-weight:700}.d{fill:#111;font-size:10px}.b{fill:#fff}.n{fill:#f5f6f8;stroke:#8b939e}.f{fill:#fff;stroke:#8b939e}@media(prefers-color-scheme:dark){text{fill:#eceff3}.s{fill:#b3bcc7}.d{fill:#111}.b{fill:#14171b}.n{fill:#1e2329;stroke:#6d7783}.f{fill:#2a3038;stroke:#6d7783}}`

// Draw writes one picture of the first context with a run that gets stuck, or else of the first with a
// run. It shows the nodes at the end of that run. Nodes of a pool and zone with the same pods share a
// box.
func Draw(out io.Writer, p *Page) error {
	d := &drawing{Writer: bufio.NewWriter(out)}
	c, run := chosen(p)
	if c == nil {
		title, text := p.Title, "no run to draw"
		if len(p.Contexts) > 0 {
			text = strings.TrimSpace("verdict: " + p.Contexts[0].Outcome + " " + p.Contexts[0].Verdict)
		}
		d.open(640, 80, title, text)
		d.text(margin, 28, "t", title)
		d.text(margin, 52, "", clip(text, 90))
	} else {
		d.draw(c, run)
	}
	d.WriteString("</svg>\n")
	return d.Flush()
}

func chosen(p *Page) (*Context, *diag.PictureRun) {
	for _, question := range []string{diag.AskStuck, diag.AskPlaced} {
		for i := range p.Contexts {
			c := &p.Contexts[i]
			if c.Picture == nil {
				continue
			}
			for k := range c.Picture.Runs {
				if r := &c.Picture.Runs[k]; r.Question == question {
					return c, r
				}
			}
		}
	}
	return nil, nil
}

type drawing struct{ *bufio.Writer }

func (d *drawing) open(width, height int, title, text string) {
	fmt.Fprintf(d, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title desc\">\n", width, height, width, height)
	fmt.Fprintf(d, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", esc(title), esc(text), svgStyle)
	d.WriteString("<defs>")
	for i, turn := range []int{45, -45, 0} {
		fmt.Fprintf(d, "<pattern id=\"p%d\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(%d)\"><path d=\"M0 0V7\" stroke=\"#111\" stroke-opacity=\"0.4\" stroke-width=\"3\"/></pattern>", i+1, turn)
	}
	d.WriteString("</defs>\n")
	fmt.Fprintf(d, "<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n", width, height)
}

func (d *drawing) text(x, y int, class, s string) {
	if class != "" {
		class = " class=\"" + class + "\""
	}
	fmt.Fprintf(d, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, class, esc(s))
}

// clip shortens a text to so many characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// group is the nodes of a zone and pool that hold the same pods.
type group struct {
	nodes []int
	pods  map[int]int
}

// column is a zone.
type column struct {
	zone   string
	nodes  int
	groups []group
}

// columns returns the zones in order, with the pods at the end of a run.
func columns(p *diag.Picture, run *diag.PictureRun) []column {
	pods := make([]map[int]int, len(p.Nodes))
	put := func(x diag.PicturePod, by int) {
		if pods[x.Node] == nil {
			pods[x.Node] = map[int]int{}
		}
		if pods[x.Node][x.Workload] += by; pods[x.Node][x.Workload] == 0 {
			delete(pods[x.Node], x.Workload)
		}
	}
	for _, x := range p.Running {
		put(x, 1)
	}
	for _, e := range run.Events {
		switch e.What {
		case diag.EventPlace:
			put(e.PicturePod, 1)
		case diag.EventRemove:
			put(e.PicturePod, -1)
		}
	}
	var all []column
	zones, groups := map[string]int{}, map[string]int{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		zone := zoneName(n)
		z, known := zones[zone]
		if !known {
			z, zones[zone] = len(all), len(all)
			all = append(all, column{zone: zone})
		}
		c := &all[z]
		c.nodes++
		key := fmt.Sprintf("%q %q %t %v %v %q", zone, n.Pool, n.Cordoned, n.Allocatable, pods[i], n.Taints)
		g, known := groups[key]
		if !known {
			g, groups[key] = len(c.groups), len(c.groups)
			c.groups = append(c.groups, group{pods: pods[i]})
		}
		c.groups[g].nodes = append(c.groups[g].nodes, i)
	}
	slices.SortStableFunc(all, func(a, b column) int { return cmp.Compare(a.zone, b.zone) })
	return all
}

// zoneName returns the heading of the nodes of a zone.
func zoneName(n *diag.PictureNode) string {
	switch {
	case n.Zone != "":
		return "zone " + n.Zone
	case n.ZoneOpen:
		return "zone not known"
	}
	return "no zone"
}

// pod draws a part of a bar, or a key of the legend, in the colour of a workload. After eight
// workloads stripes tell colours apart.
func (d *drawing) pod(x float64, y int, width float64, height, w int) {
	fills := []string{colours[w%len(colours)]}
	if stripes := w / len(colours) % 4; stripes > 0 {
		fills = append(fills, fmt.Sprintf("url(#p%d)", stripes))
	}
	for _, fill := range fills {
		fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" stroke=\"#111\" stroke-width=\"0.5\"/>\n", x, y, width, height, fill)
	}
}

func (d *drawing) draw(c *Context, run *diag.PictureRun) {
	p := c.Picture
	zones := columns(p, run)
	hidden := zones[min(maxZones, len(zones)):]
	zones = zones[:min(maxZones, len(zones))]
	tallest := 0
	used := map[int]bool{}
	for i := range zones {
		tallest = max(tallest, min(perColumn, len(zones[i].groups)))
		for _, g := range zones[i].groups[:min(perColumn, len(zones[i].groups))] {
			for w := range g.pods {
				used[w] = true
			}
		}
	}
	var pending []string
	for _, x := range run.Pending {
		used[x.Workload] = true
		pending = append(pending, fmt.Sprintf("%d of %s", x.Count, c.Name(p.Workloads[x.Workload].Reference)))
	}
	legend := slices.Sorted(maps.Keys(used))
	more := len(legend) - maxLegend
	legend = legend[:min(maxLegend, len(legend))]
	if len(pending) > maxLegend {
		pending = append(pending[:maxLegend:maxLegend], fmt.Sprintf("and %d more workloads", len(pending)-maxLegend))
	}
	top := margin + 4*lineHeight
	below := top + lineHeight + tallest*(boxHeight+gap) + 2*lineHeight
	lines := len(legend) + len(pending) + 4
	width := max(640, 2*margin+len(zones)*(boxWidth+gap)-gap)
	title := c.Visible(run.Title)
	text := strings.TrimSpace(fmt.Sprintf("verdict: %s %s; %d nodes in %d zones", c.Outcome, c.Verdict, len(p.Nodes), len(zones)+len(hidden)))
	if len(pending) > 0 {
		text += "; Pending: " + strings.Join(pending, ", ")
	}
	d.open(width, below+lines*lineHeight, title, text)
	d.text(margin, margin+lineHeight, "t", clip(title, 90))
	d.text(margin, margin+2*lineHeight, "s", clip("verdict: "+strings.TrimSpace(c.Outcome+" "+c.Verdict)+", "+c.Title, 100))
	for i := range zones {
		d.column(c, &zones[i], margin+i*(boxWidth+gap), top)
	}
	y := below
	if len(hidden) > 0 {
		d.text(margin, y-lineHeight, "s", fmt.Sprintf("%d more zones are not drawn", len(hidden)))
	}
	for _, w := range legend {
		d.pod(margin, y-10, 28, 13, w)
		d.text(margin+3, y, "d", letters(w))
		name := c.Name(p.Workloads[w].Reference)
		if p.Workloads[w].New {
			name += ", new pods"
		}
		d.text(margin+36, y, "", clip(name, 80))
		y += lineHeight
	}
	if more > 0 {
		d.text(margin, y, "s", fmt.Sprintf("and %d more workloads", more))
		y += lineHeight
	}
	for i, line := range pending {
		if i == 0 {
			y += lineHeight / 2
			d.text(margin, y, "t", "Pending")
			y += lineHeight
		}
		d.text(margin, y, "", clip(line, 90))
		y += lineHeight
	}
}

func (d *drawing) column(c *Context, z *column, x, y int) {
	d.text(x, y, "t", clip(c.Visible(z.zone), maxText)+fmt.Sprintf(" (%d)", z.nodes))
	y += lineHeight / 2
	for _, g := range z.groups[:min(perColumn, len(z.groups))] {
		d.group(c, &g, x, y)
		y += boxHeight + gap
	}
	if more := len(z.groups) - perColumn; more > 0 {
		nodes := 0
		for _, g := range z.groups[perColumn:] {
			nodes += len(g.nodes)
		}
		d.text(x, y+lineHeight/2, "s", fmt.Sprintf("and %d more nodes", nodes))
	}
}

// group draws a box for the first of its nodes. The bar shows the resource that is fullest there.
func (d *drawing) group(c *Context, g *group, x, y int) {
	p := c.Picture
	n := &p.Nodes[g.nodes[0]]
	fmt.Fprintf(d, "<rect class=\"n\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", x, y, boxWidth, boxHeight)
	d.text(x+8, y+16, "t", clip(c.Visible(n.Name), maxText))
	sub := c.Visible(n.Pool)
	if len(g.nodes) > 1 {
		sub = strings.TrimPrefix(sub+fmt.Sprintf(", %d nodes with the same pods", len(g.nodes)), ", ")
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{{n.Cordoned, "cordoned"}, {len(n.Taints) > 0, "tainted"}} {
		if flag.on {
			sub = strings.TrimPrefix(sub+", "+flag.text, ", ")
		}
	}
	d.text(x+8, y+31, "s", clip(sub, maxText+4))
	const width = boxWidth - 16
	fmt.Fprintf(d, "<rect class=\"f\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\"/>\n", x+8, y+38, width)
	ws := slices.Sorted(maps.Keys(g.pods))
	bind, most, total := -1, 0.0, 0
	for r, has := range n.Allocatable {
		sum := int64(0)
		for _, w := range ws {
			sum += p.Workloads[w].Requests[r] * int64(g.pods[w])
		}
		if has > 0 && float64(sum)/float64(has) > most {
			bind, most = r, float64(sum)/float64(has)
		}
	}
	for _, w := range ws {
		total += g.pods[w]
	}
	at := 0.0
	for _, w := range ws {
		share := float64(g.pods[w]) / float64(max(total, 24)) // a bar that is not full, as the room is not declared
		if bind >= 0 {
			share = float64(p.Workloads[w].Requests[bind]*int64(g.pods[w])) / float64(n.Allocatable[bind])
		}
		wide := min(share*width, width-at)
		if wide < 0.05 {
			continue
		}
		d.pod(float64(x+8)+at, y+38, wide, 20, w)
		if label := fmt.Sprintf("%s×%d", letters(w), g.pods[w]); wide > float64(7*len(label)) {
			fmt.Fprintf(d, "<text x=\"%.1f\" y=\"%d\" class=\"d\">%s</text>\n", float64(x+8)+at+3, y+52, label)
		}
		at += wide
	}
	said := fmt.Sprintf("%d pods", total)
	if total == 1 {
		said = "1 pod"
	}
	if bind >= 0 {
		said += fmt.Sprintf(", %s %.0f%% used", c.Visible(p.Resources[bind]), math.Floor(100*most))
	} else if total > 0 {
		said += ", room not declared"
	}
	d.text(x+8, y+75, "s", clip(said, maxText+4))
}

// letters names a workload as the page does: A to Z, AA and so on.
func letters(w int) string {
	s := string(rune('A' + w%26))
	if w >= 26 {
		return letters(w/26-1) + s
	}
	return s
}

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// UpgradeFormats returns the names of the output formats for upgrades.
func UpgradeFormats() []string { return []string{"text", "json"} }

// WriteUpgrades writes answers about upgrades to w in the named format.
func WriteUpgrades(w io.Writer, format string, u *diag.Upgrades) error {
	return writeAnswers(w, format, u.Failures, jsonUpgrades{u.Failures.Complete(), u}, u.Upgrades, func(b io.Writer, one *diag.Upgrade, title bool) {
		if title {
			fmt.Fprintln(b, contextTitle(&diag.Placement{Cluster: one.Cluster, Context: one.Context}))
		}
		upgradeText(b, u, one)
	})
}

type jsonUpgrades struct {
	Complete bool `json:"complete"`
	*diag.Upgrades
}

// upgradeText writes the answer about the pool in one context.
func upgradeText(b io.Writer, u *diag.Upgrades, one *diag.Upgrade) {
	writeFolded(b, "", "  ", fmt.Sprintf("upgrade of pool %s: %s", Visible(one.Pool), upgradeVerdict(one)))
	pods := "autoscaled workloads at their maximum"
	if u.AtMin {
		pods = "autoscaled workloads at their minimum"
	}
	zone, cordon := "in the zones of the old ones", "only drained nodes are cordoned"
	if one.Zone == "any" {
		zone = "in any zone"
	}
	if one.Cordon == "all" {
		cordon = "all old nodes are cordoned"
	}
	writeFolded(b, "", "  ", fmt.Sprintf("asked: %s, up to %d drained at once (surge %d, unavailable %d), new nodes %s, %s; %s",
		Count(one.Nodes, "node"), one.AtOnce, one.Surge, one.Unavailable, zone, cordon, pods))
	if one.States > 0 {
		writeFolded(b, "", "  ", fmt.Sprintf("decided: %s that may run there, on %s of usable nodes", Count(one.Workloads, "workload"), Count(one.States, "set")))
	}
	const most = 10
	for i := range one.Why {
		if i == most {
			fmt.Fprintf(b, "  and %s\n", Count(len(one.Why)-most, "further reason"))
			break
		}
		why := &one.Why[i]
		text := Visible(why.Text)
		if head := strings.Join(nonEmpty(why.Workload, why.Unnamed()), ", "); head != "" {
			text = Visible(head) + ": " + text
		}
		if why.Node != "" {
			text += fmt.Sprintf(" (such as on node %s)", Visible(why.Node))
		}
		if why.File != "" {
			text = fmt.Sprintf("%s:%d: %s", Visible(why.File), why.Line, text)
		}
		writeFolded(b, "  ", "    ", text)
	}
	if len(one.Waits) > 0 {
		writeFolded(b, "", "  ", "pods may wait for a new node: "+Visible(strings.Join(one.Waits, ", ")))
	}
	for _, text := range one.Suffices {
		writeFolded(b, "", "  ", "help: "+Visible(text))
	}
	for _, note := range one.Notes {
		writeFolded(b, "", "  ", "note: "+note)
	}
}

// upgradeVerdict returns the answer in words.
func upgradeVerdict(one *diag.Upgrade) string {
	switch diag.Outcome(one.Verdict) {
	case diag.Always:
		return "yes, all nodes can be replaced in any order"
	case diag.Never:
		return "no, it stops, or breaks a budget where the platform forces it"
	case diag.None:
		return "the pool has no nodes"
	}
	return "not known"
}

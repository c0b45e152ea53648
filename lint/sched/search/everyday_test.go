package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limits for everyday clusters, per mille.
const (
	// mostUnknownWhole and mostUnknownFits limit how many clusters, and how many of their
	// workloads, have the verdict unknown. The other two limit the same without DaemonSets.
	mostUnknownWhole     = 5
	mostUnknownFits      = 6
	mostUnknownBareWhole = 10
	mostUnknownBareFits  = 5
	// mostLostWhole and mostLostFits limit how many decided verdicts become unknown because of
	// one more node. None of the usual cases does; 2 of 5,547 workloads did with a fresh seed, for which
	// mostLostFresh is the limit.
	mostLostWhole = 0
	mostLostFits  = 0
	mostLostFresh = 1
)

// everyday returns the everyday clusters to try, 20 by default and 200 in CI. The second list has
// them without their DaemonSets, which many repositories do not declare.
func everyday(t *testing.T) (all, bare []*clusters.Case) {
	t.Helper()
	for i := range trials.Seeds(t, trials.Of(t, 200)) {
		c := clusters.Everyday(19, uint64(i))
		all, bare = append(all, c), append(bare, c.Without("DaemonSet"))
	}
	return all, bare
}

// decideEveryday decides a cluster as the place command does, within the same budget.
func decideEveryday(t *testing.T, c *clusters.Case) *certificate.Decision {
	t.Helper()
	nodes, manifests := c.Text()
	topo, err := topology.Load(models.Objects(t, nodes))
	if err != nil {
		t.Fatal(err)
	}
	m := sched.New(workload.Load(workload.NewTable(), models.Objects(t, manifests)), topo)
	m.Scale(1, 1)
	m.Run().OnRefusal = func(err error) { t.Errorf("cluster %d: %v", c.Number, err) }
	return search.Decide(m, search.Options{Each: true})
}

// poll counts verdicts, and the causes of those that are unknown.
type poll struct {
	all      int
	verdicts map[diag.Outcome]int
	causes   map[model.Cause]int
}

func newPoll() *poll { return &poll{verdicts: map[diag.Outcome]int{}, causes: map[model.Cause]int{}} }

func (p *poll) add(v diag.Outcome, cause model.Cause) {
	p.all++
	p.verdicts[v]++
	if v == diag.Unknown {
		p.causes[cause]++
	}
}

func (p *poll) String() string { return fmt.Sprint(p.all, " ", p.verdicts, ", unknown by ", p.causes) }

// check fails if the share of unknown verdicts exceeds a limit per mille by more than chance does with
// random clusters: three times the standard deviation of a count.
func (p *poll) check(t *testing.T, what string, most int) {
	t.Helper()
	t.Logf("%s: %v", what, p)
	mean := float64(p.all*most) / 1000
	if n := p.verdicts[diag.Unknown]; float64(n) > mean+3*math.Sqrt(mean) && !trials.Few(t) {
		t.Errorf("%s: %d of %d are unknown, want at most %d per mille", what, n, p.all, most)
	}
}

// causeOf returns why the verdict on a whole cluster is unknown, or "".
func causeOf(d *certificate.Decision) model.Cause {
	switch {
	case len(d.Over) > 0:
		return d.Over[0].Cause
	case len(d.Doubts) > 0:
		return d.Doubts[0].Cause()
	}
	return ""
}

// TestEverydayClusters decides clusters of the kind that most teams run, and limits how many
// verdicts are unknown.
func TestEverydayClusters(t *testing.T) {
	all, bare := everyday(t)
	t.Run("all", func(t *testing.T) { decideMost(t, all, mostUnknownWhole, mostUnknownFits) })
	t.Run("without DaemonSets", func(t *testing.T) { decideMost(t, bare, mostUnknownBareWhole, mostUnknownBareFits) })
}

func decideMost(t *testing.T, all []*clusters.Case, mostWhole, mostFits int) {
	whole, fits := newPoll(), newPoll()
	var took []time.Duration
	for _, c := range all {
		begun := cpu.Now()
		d := decideEveryday(t, c)
		took = append(took, cpu.Since(begun))
		whole.add(d.Verdict, causeOf(d))
		for _, w := range d.Workloads {
			fits.add(w.Verdict, w.Why.Cause)
		}
	}
	slices.Sort(took)
	t.Logf("CPU time per cluster: median %v, at most %v", took[len(took)/2], took[len(took)-1])
	whole.check(t, "clusters", mostWhole)
	fits.check(t, "workloads", mostFits)
}

// TestMoreNodesKeepVerdicts adds a node that is like a declared one. With hereditary rules, pods
// that were always placed still are (T17), and what was decided should stay decided.
func TestMoreNodesKeepVerdicts(t *testing.T) {
	whole, fits := newPoll(), newPoll()
	all, bare := everyday(t)
	for i, c := range slices.Concat(all, bare) {
		if _, manifests := c.Text(); strings.Contains(manifests, "DoNotSchedule") {
			continue // not hereditary
		}
		was, now := decideEveryday(t, c), decideEveryday(t, c.Grown(i%len(c.Nodes)))
		compare := func(p *poll, what string, was, now diag.Outcome, cause model.Cause) {
			if was != diag.Unknown {
				p.add(now, cause)
			}
			if was == diag.Always && (now == diag.Sometimes || now == diag.Never) {
				t.Errorf("cluster %d of %d objects, %s: always, but %s with one more node", c.Number, len(c.Manifests), what, now)
			}
		}
		compare(whole, "all workloads", was.Verdict, now.Verdict, causeOf(now))
		for k, w := range was.Workloads {
			more, name := now.Workloads[k], w.Workload.Object.Name
			if more.Workload.Object.Name != name {
				t.Fatalf("cluster %d: workloads in another order", c.Number)
			}
			compare(fits, name, w.Verdict, more.Verdict, more.Why.Cause)
		}
	}
	whole.check(t, "decided clusters, with one more node", mostLostWhole)
	lost := mostLostFits
	if trials.First(t) > 0 {
		lost = mostLostFresh
	}
	fits.check(t, "decided workloads, with one more node", lost)
}

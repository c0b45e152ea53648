package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// three is two nodes in zone a and one in zone b.
var three = func() (text string) {
	for i, z := range "aab" {
		text += fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: %c}}, status: {allocatable: {cpu: \"4\", memory: \"4\", pods: \"9\"}}}\n", i, z)
	}
	return text
}()

// deployment returns a Deployment. The pods have the label app with its name, and app2: x.
func deployment(name string, replicas int, spec string) string {
	if spec == "" {
		spec = "containers: [{name: c, image: c}]"
	}
	return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: d}, spec: {replicas: %d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s, all: x}}, spec: {%[3]s}}}}\n", name, replicas, spec)
}

func requests(cpu, memory int) string {
	return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\", memory: \"%d\"}}}]", cpu, memory)
}

var apart = affinity("podAntiAffinity", host, "all: x") + ", containers: [{name: c, image: c}]"

// claims makes certificates about one cluster.
type claims struct {
	m  *model.Model
	ws []*workload.Workload
}

func (c claims) members(pods ...int) (all []certificate.Member) {
	for i, w := range c.ws {
		m := certificate.Member{G: c.m.Groups[w], Pods: w.Count.N, Node: -1}
		if i < len(pods) {
			m.Pods = pods[i]
		}
		all = append(all, m)
	}
	return all
}

// proof checks a proof about all workloads. About lists all of them, too.
func (c claims) proof(never bool, p certificate.Proof) error {
	for i := range c.ws {
		p.About = append(p.About, i)
	}
	return check.Checker{}.Proofs(c.m, true).Check(&certificate.Assertion{Members: c.members(), Never: never, Proof: p, About: c.members()}, certificate.CheckSteps)
}

// room checks a proof that the first workload always finds a node.
func (c claims) room(change func(m *certificate.Member)) error {
	m := c.members()[0]
	change(&m)
	return check.Checker{}.Proofs(c.m, true).Check(&certificate.Assertion{Members: []certificate.Member{m}, Proof: certificate.Proof{Kind: certificate.Headroom}}, certificate.CheckSteps)
}

func (c claims) node(n int) *topology.Node { return c.m.Topology.Nodes[n] }

// run places pods of the first workload on nodes.
func (c claims) run(nodes ...int) (all []certificate.Placed) {
	for _, n := range nodes {
		all = append(all, certificate.Placed{Workload: c.ws[0], Node: c.node(n)})
	}
	return all
}

// moves is a run of moves: a workload and a node, or the removal of a pod if the node is below 0.
func (c claims) moves(moves ...[2]int) (all []certificate.Move) {
	for _, x := range moves {
		gone := x[1] < 0
		if gone {
			x[1] = -1 - x[1]
		}
		all = append(all, certificate.Move{Workload: c.ws[x[0]], Node: c.node(x[1]), Gone: gone})
	}
	return all
}

func (c claims) lose(meaning certificate.Meaning, o certificate.Lost) error {
	o.Workload = c.ws[0]
	l := c.loss(meaning)
	return check.Checker{}.History(c.m, []map[string]bool{l.Nodes}, nil).Check(l, []certificate.Lost{o}, certificate.CheckSteps)
}

func (c claims) loss(meaning certificate.Meaning) certificate.Loss {
	return certificate.Loss{Nodes: map[string]bool{"n0": true}, Meaning: meaning}
}

func (c claims) follow(meaning certificate.Meaning, missing int, moves ...[2]int) error {
	found, err := check.Checker{}.Follow(c.m, c.loss(meaning), c.moves(moves...))
	if pods, whole := found[c.ws[0]]; err == nil && (!whole || pods != missing) {
		return fmt.Errorf("%d are missing, and all ran before: %t", pods, whole)
	}
	return err
}

func (c claims) open(o certificate.Opening) error {
	return check.Checker{}.Contenders(c.m, c.ws[0], c.ws[0].Count.N, c.ws).LeaveOpen(o)
}

func (c claims) roll(r certificate.Rollout, out certificate.Rolled) error {
	r.Old, r.Fresh = c.ws[0], c.ws[1]
	return check.Checker{}.Roll(c.m, r, &out, certificate.CheckSteps)
}

func (c claims) followRoll(r certificate.Rollout, moves ...[2]int) error {
	r.Old, r.Fresh = c.ws[0], c.ws[1]
	_, _, err := check.Checker{}.FollowRoll(c.m, r, c.moves(moves...))
	return err
}

// TestFalseCertificates is a list of certificates that claim too much. The checker refuses each, and
// accepts one next to it that is true.
func TestFalseCertificates(t *testing.T) {
	decision := func(c claims, v diag.Outcome, total int, witness ...int) error {
		return check.Checker{}.Verify(c.m, &certificate.Decision{Verdict: v, Total: total, Witness: c.run(witness...)})
	}
	stuck := func(c claims, nodes ...int) error {
		return check.Checker{}.Certify(c.m, &certificate.Stuck{Placements: c.run(nodes...), Pending: []certificate.Pending{{Workload: c.ws[0], Count: 1}}})
	}
	prices := func(c claims, of ...int64) error {
		return c.room(func(m *certificate.Member) {
			p := certificate.Prices{Of: map[*model.Group]int64{}, Nodes: 3}
			for i, price := range of {
				p.Of[c.m.Groups[c.ws[i]]] = price
			}
			m.Prices = []certificate.Prices{p}
		})
	}
	blocks := func(c claims, nodes ...int) error {
		if !(check.Checker{}).Blocks(c.m, c.run(nodes...), c.m.Groups[c.ws[0]]) {
			return errors.New("it does not block")
		}
		return nil
	}
	never := func(c claims, at int) error {
		return check.Checker{}.NeverPlaced(c.m, c.m.Groups[c.ws[at]], nil)
	}
	few, many := deployment("web", 3, apart), deployment("web", 4, apart)
	full := deployment("web", 1, requests(2, 2)) + deployment("db", 4, requests(2, 2))
	tight := func(web, db int) string {
		return deployment("web", web, requests(3, 0)) + deployment("db", db, requests(3, 0))
	}
	rolls := func(replicas int) string {
		return deployment("old", replicas, apart) + deployment("new", replicas, apart)
	}
	all := func(c claims, weight int) (p certificate.Proof) {
		p = certificate.Proof{Kind: certificate.Outweighed, Key: host}
		for range c.ws {
			p.Weights = append(p.Weights, weight)
		}
		return p
	}
	overcommit := func(c claims, unit int64, nodes ...int) certificate.Proof {
		return certificate.Proof{Kind: certificate.Overcommitted, Resource: "cpu", Nodes: nodes, Unit: unit}
	}
	kind := func(k certificate.ProofKind) certificate.Proof { return certificate.Proof{Kind: k, Key: host} }
	pods := func(n int) func(m *certificate.Member) { return func(m *certificate.Member) { m.Pods += n } }
	left := func(nodes ...int) func(m *certificate.Member) {
		return func(m *certificate.Member) { m.Left = nodes }
	}
	daemon := func(spec string) string {
		return "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log, namespace: d}, spec: {selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}}, spec: {" + spec + "}}}}\n"
	}
	beside := func(label string) string {
		return deployment("web", 1, affinity("podAntiAffinity", host, label)+", containers: [{name: c, image: c}]") + daemon(requests(1, 1))
	}
	zones := func(replicas int) string {
		return deployment("web", replicas, affinity("podAntiAffinity", zone, "app: web")+", containers: [{name: c, image: c}]")
	}
	over := func(skew, domains int) string {
		text := fmt.Sprintf("topologySpreadConstraints: [{maxSkew: %d, whenUnsatisfiable: DoNotSchedule, topologyKey: %s, labelSelector: {matchLabels: {app: web}}}], ", skew, zone)
		if domains > 0 {
			text = strings.Replace(text, "maxSkew", fmt.Sprintf("minDomains: %d, maxSkew", domains), 1)
		}
		return text
	}
	minimum := func(domains int) string {
		return deployment("web", 3, over(1, domains)+"containers: [{name: c, image: c}]")
	}
	even := func(skew int) string {
		return deployment("web", 4, over(skew, 0)+requests(1, 0)) + deployment("db", 1, requests(4, 0))
	}
	opens := func(o certificate.Opening) func(c claims) error {
		return func(c claims) error { return c.open(o) }
	}
	surge := certificate.Rollout{Surge: 1}
	swap := certificate.Rollout{Unavailable: 1}
	for name, v := range map[string]struct {
		manifests, truly string
		claim, holds     func(c claims) error
	}{
		"witness with two pods on a node": {few, few, func(c claims) error { return decision(c, diag.Always, 3, 0, 0, 1) }, func(c claims) error { return decision(c, diag.Always, 3, 0, 2, 1) }},
		"witness without a pod":           {few, few, func(c claims) error { return decision(c, diag.Always, 3, 0, 1) }, func(c claims) error { return decision(c, diag.Sometimes, 3, 2, 1, 0) }},
		"never with all pods":             {few, many, func(c claims) error { return decision(c, diag.Never, 3, 0, 1, 2) }, func(c claims) error { return decision(c, diag.Never, 4, 0, 1, 2) }},
		"stuck run that goes on":          {few, many, func(c claims) error { return stuck(c, 0, 1) }, func(c claims) error { return stuck(c, 0, 1, 2) }},
		"stuck run that breaks a rule":    {few, many, func(c claims) error { return stuck(c, 0, 0, 1, 2) }, func(c claims) error { return stuck(c, 2, 1, 0) }},
		"run that blocks nothing":         {many, many, func(c claims) error { return blocks(c, 0, 1) }, func(c claims) error { return blocks(c, 0, 1, 2) }},

		"headroom without prices":       {full, full, func(c claims) error { return prices(c) }, func(c claims) error { return prices(c, 0, 1) }},
		"headroom with prices of 0":     {full, full, func(c claims) error { return prices(c, 1, 0) }, func(c claims) error { return prices(c, 9, 1) }},
		"headroom of negative prices":   {full, full, func(c claims) error { return prices(c, 0, -1) }, func(c claims) error { return prices(c, 0, 7) }},
		"headroom of other pods":        {deployment("web", 1, requests(2, 2)) + deployment("db", 6, requests(2, 2)), full, func(c claims) error { return prices(c, 0, 1) }, func(c claims) error { return prices(c, 0, 1) }},
		"headroom on some nodes":        {tight(1, 1), tight(1, 1), func(c claims) error { return c.room(left(0)) }, func(c claims) error { return c.room(left(0, 2)) }},
		"headroom beside running pods":  {deployment("web", 1, port("")) + pod("a", "a: b", "n0", port("")) + pod("b", "a: b", "n1", port("")) + pod("c", "a: b", "n2", port("")), deployment("web", 1, port("")) + pod("a", "a: b", "n0", port("")), func(c claims) error { return c.room(left(0, 1, 2)) }, func(c claims) error { return c.room(left(0, 1, 2)) }},
		"headroom on no node":           {deployment("web", 1, "nodeSelector: {x: w}, containers: [{name: c, image: c}]"), deployment("web", 1, ""), func(c claims) error { return c.room(left(0, 1, 2)) }, func(c claims) error { return c.room(left(0, 1, 2)) }},
		"headroom for more pods":        {tight(1, 1), tight(1, 1), func(c claims) error { return c.room(pods(2)) }, func(c claims) error { return c.room(pods(1)) }},
		"headroom on nodes of others":   {few, few, func(c claims) error { return c.room(func(m *certificate.Member) { m.Open = []int{0, 1} }) }, func(c claims) error { return c.room(func(m *certificate.Member) { m.Open = []int{0, 1, 2} }) }},
		"outweighed without a rule":     {deployment("web", 4, ""), many, func(c claims) error { return c.proof(true, all(c, 1)) }, func(c claims) error { return c.proof(true, all(c, 1)) }},
		"outweighed by too few":         {few, many, func(c claims) error { return c.proof(true, all(c, 1)) }, func(c claims) error { return c.proof(true, all(c, 2)) }},
		"outweighed by less than 0":     {many, many, func(c claims) error { return c.proof(true, all(c, -1)) }, func(c claims) error { return c.proof(true, all(c, 1)) }},
		"overcommitted by too little":   {tight(1, 2), tight(1, 3), func(c claims) error { return c.proof(true, overcommit(c, 3000, 0, 1, 2)) }, func(c claims) error { return c.proof(true, overcommit(c, 3000, 0, 1, 2)) }},
		"overcommitted nodes":           {tight(1, 2), tight(2, 2), func(c claims) error { return c.proof(true, overcommit(c, 3000, 0)) }, func(c claims) error { return c.proof(true, overcommit(c, 3000, 0, 1, 2)) }},
		"overcommitted in large pieces": {tight(1, 2), tight(2, 2), func(c claims) error { return c.proof(true, overcommit(c, 2000, 0, 1, 2)) }, func(c claims) error { return c.proof(true, overcommit(c, 3000, 0, 1, 2)) }},
		"a limit that is not reached":   {few, many, func(c claims) error { return c.proof(true, kind(certificate.LimitProof)) }, func(c claims) error { return c.proof(true, kind(certificate.LimitProof)) }},
		"a shape that fits":             {few, many, func(c claims) error { return c.proof(true, kind(certificate.Shape)) }, func(c claims) error { return c.proof(true, kind(certificate.Shape)) }},
		"a shape that does not fit":     {many, few, func(c claims) error { return c.proof(false, kind(certificate.Shape)) }, func(c claims) error { return c.proof(false, kind(certificate.Shape)) }},
		"explored, and always":          {many, few, func(c claims) error { return c.proof(false, kind(certificate.Explored)) }, func(c claims) error { return c.proof(false, kind(certificate.Explored)) }},
		"explored, and never":           {few, many, func(c claims) error { return c.proof(true, kind(certificate.Explored)) }, func(c claims) error { return c.proof(true, kind(certificate.Explored)) }},
		"no proof":                      {few, few, func(c claims) error { return c.proof(false, kind(certificate.Unproved)) }, func(c claims) error { return c.proof(false, kind(certificate.Headroom)) }},
		"never placed":                  {few, deployment("web", 1, affinity("podAffinity", host, "app: none")+", containers: [{name: c, image: c}]"), func(c claims) error { return never(c, 0) }, func(c claims) error { return never(c, 0) }},

		"loss that leaves pods": {few, deployment("web", 2, apart), func(c claims) error { return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Always}) }, func(c claims) error { return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Always}) }},
		"loss that is repaired": {deployment("web", 2, apart), few, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Never, Pending: 1})
		}, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Never, Pending: 1})
		}},
		"loss of too many pods": {few, few, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Never, Pending: 2})
		}, func(c claims) error {
			return c.lose(certificate.Unreachable, certificate.Lost{Verdict: diag.Never, Pending: 1})
		}},
		"loss that is always repaired": {tight(1, 1), tight(2, 1), func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Sometimes, Pending: 1})
		}, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Sometimes, Pending: 1})
		}},
		"loss that hits another workload": {tight(2, 1), tight(3, 0), func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Never, Pending: 1})
		}, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Never, Pending: 1})
		}},
		"loss with too many missing": {tight(2, 1), tight(2, 1), func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Sometimes, Pending: 1, Hit: 2})
		}, func(c claims) error {
			return c.lose(certificate.Gone, certificate.Lost{Verdict: diag.Sometimes, Pending: 1, Hit: 1})
		}},
		"run onto a lost node": {deployment("web", 2, apart), deployment("web", 2, apart), func(c claims) error {
			return c.follow(certificate.Drained, 0, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}, [2]int{0, 0})
		}, func(c claims) error {
			return c.follow(certificate.Drained, 0, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}, [2]int{0, 2})
		}},
		"run that ends too early": {deployment("web", 2, apart), few, func(c claims) error { return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}) }, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, -1})
		}},
		"run that starts too early": {few, few, func(c claims) error { return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}) }, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 2}, [2]int{0, 1}, [2]int{0, 0}, [2]int{0, -1})
		}},
		"run that starts with a Pending pod": {many, few, func(c claims) error {
			return c.follow(certificate.Gone, 2, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, -1})
		}, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, -1})
		}},
		"run in which another pod fits": {tight(1, 3), tight(1, 3), func(c claims) error { return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{1, 1}, [2]int{0, -1}) }, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{1, 1}, [2]int{1, 2}, [2]int{0, -1})
		}},
		"run that loses another node": {few, few, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, -2})
		}, func(c claims) error {
			return c.follow(certificate.Gone, 1, [2]int{0, 1}, [2]int{0, 0}, [2]int{0, 2}, [2]int{0, -1})
		}},
		"rollout without room": {rolls(3), rolls(2), func(c claims) error { return c.roll(surge, certificate.Rolled{Verdict: diag.Always}) }, func(c claims) error { return c.roll(surge, certificate.Rolled{Verdict: diag.Always}) }},
		"rollout with a run that moves": {rolls(2), rolls(3), func(c claims) error {
			return c.roll(surge, certificate.Rolled{Verdict: diag.Never, Stuck: c.moves([2]int{0, 0}, [2]int{0, 1})})
		}, func(c claims) error {
			return c.roll(surge, certificate.Rolled{Verdict: diag.Never, Stuck: c.moves([2]int{0, 0}, [2]int{0, 1}, [2]int{0, 2})})
		}},
		"rollout below its minimum": {rolls(2), rolls(2), func(c claims) error {
			return c.followRoll(surge, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}, [2]int{1, 0})
		}, func(c claims) error {
			return c.followRoll(swap, [2]int{0, 0}, [2]int{0, 1}, [2]int{0, -1}, [2]int{1, 0}, [2]int{0, -2}, [2]int{1, 1})
		}},
		"a node that others fill":       {tight(1, 2), tight(1, 1), opens(certificate.Opening{One: true}), opens(certificate.Opening{One: true})},
		"a node that is lost":           {tight(1, 1), tight(1, 1), opens(certificate.Opening{Lost: []int32{0, 1}}), opens(certificate.Opening{Lost: []int32{0}})},
		"a node in the domain":          {tight(1, 1), tight(1, 1), opens(certificate.Opening{Key: zone, Near: 2}), opens(certificate.Opening{Key: zone, Near: 1})},
		"a node beside old pods":        {tight(1, 1), tight(1, 1), opens(certificate.Opening{Key: zone, Near: 1, Meaning: certificate.Unreachable}), opens(certificate.Opening{Key: zone, Near: 1, Meaning: certificate.Gone})},
		"a node in an even domain":      {even(1), even(4), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node beside a DaemonSet":     {beside("app: log"), beside("app: none"), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node that a DaemonSet fills": {deployment("web", 1, requests(3, 0)) + daemon(requests(2, 0)), deployment("web", 1, requests(3, 0)) + daemon(requests(1, 0)), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node beside affinity":        {deployment("web", 1, affinity("podAffinity", host, "app: web")+", containers: [{name: c, image: c}]"), deployment("web", 1, ""), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a domain that others close":    {zones(3), zones(1), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a domain with old pods":        {zones(1), zones(1), opens(certificate.Opening{Lost: []int32{0, 2}, Meaning: certificate.Unreachable}), opens(certificate.Opening{Lost: []int32{0, 2}, Meaning: certificate.Gone})},
		"a domain with an old pod":      {zones(1), zones(1), opens(certificate.Opening{Lost: []int32{0, 1, 2}, One: true, Meaning: certificate.Unreachable}), opens(certificate.Opening{Lost: []int32{0, 1, 2}, One: true, Meaning: certificate.Gone})},
		"a node that is nearly full":    {deployment("web", 1, requests(2, 0)) + deployment("db", 3, requests(2, 0)) + daemon(requests(1, 0)), deployment("web", 1, requests(2, 0)) + deployment("db", 2, requests(2, 0)) + daemon(requests(1, 0)), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node without the key":        {deployment("web", 1, spread("rack", "")+", containers: [{name: c, image: c}]"), deployment("web", 1, spread(host, "")+", containers: [{name: c, image: c}]"), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node that is not selected":   {deployment("web", 1, "nodeSelector: {x: w}, containers: [{name: c, image: c}]"), deployment("web", 1, ""), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a rule about labels of nodes":  {deployment("web", 1, affinity("podAntiAffinity", host, zone+": a")+", containers: [{name: c, image: c}]") + deployment("db", 1, ""), deployment("web", 1, affinity("podAntiAffinity", host, "app: db")+", containers: [{name: c, image: c}]") + deployment("db", 1, ""), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node in too few domains":     {minimum(3), minimum(2), opens(certificate.Opening{}), opens(certificate.Opening{})},
		"a node that a rule closes":     {few, deployment("web", 2, apart), opens(certificate.Opening{One: true}), opens(certificate.Opening{One: true})},
		"rollout above its maximum":     {rolls(1), rolls(1), func(c claims) error { return c.followRoll(swap, [2]int{0, 0}, [2]int{1, 1}, [2]int{0, -1}) }, func(c claims) error { return c.followRoll(surge, [2]int{0, 0}, [2]int{1, 1}, [2]int{0, -1}) }},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(manifests string) claims {
				m, set := models.Of(t, three, manifests)
				return claims{m, slices.Clone(set.Workloads)}
			}
			if err := v.claim(of(v.manifests)); err == nil || errors.Is(err, certificate.ErrTooLong) {
				t.Errorf("not refused: %v", err)
			}
			if err := v.holds(of(v.truly)); err != nil {
				t.Errorf("what is true is refused: %v", err)
			}
		})
	}
}

// TestAlwaysCoversEarlierDrains claims that all pods return after a drain of any node. They do after the first
// one, but the pods that it moves may keep those of the next from their nodes.
func TestAlwaysCoversEarlierDrains(t *testing.T) {
	nodes := three + strings.ReplaceAll(three[strings.LastIndex(three, "---"):], "n2", "n3")
	even := func(key string) string {
		return "{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, topologyKey: " + key + ", labelSelector: {matchLabels: {app: web}}}"
	}
	m, _ := models.Of(t, nodes, deployment("web", 4, "topologySpreadConstraints: ["+even(zone)+", "+even(host)+"], containers: [{name: c, image: c}]"))
	drain := certificate.Loss{Nodes: map[string]bool{"n0": true}, Meaning: certificate.Drained}
	for _, v := range []struct {
		domains []map[string]bool
		again   []certificate.Loss
		holds   bool
	}{
		{nil, nil, true},
		{[]map[string]bool{drain.Nodes}, nil, true},
		{nil, []certificate.Loss{{Meaning: certificate.Drained}}, false},
	} {
		err := check.Checker{}.History(m, v.domains, v.again).Check(drain, []certificate.Lost{{Workload: m.Workloads[0], Verdict: diag.Always}}, certificate.CheckSteps)
		if (err == nil) != v.holds || errors.Is(err, certificate.ErrTooLong) {
			t.Errorf("of %v after %v: %v", v.domains, v.again, err)
		}
	}
}

// TestFewStepsRefuseNothing checks true answers about a loss with any number of steps. Those that do not
// suffice show nothing.
func TestFewStepsRefuseNothing(t *testing.T) {
	for spec, want := range map[string]certificate.Lost{
		"containers: [{name: c, image: c}]":                                   {Verdict: diag.Sometimes, Hit: 1},
		"nodeSelector: {" + host + ": n0}, containers: [{name: c, image: c}]": {Verdict: diag.Never, Pending: 1},
	} {
		m, _ := models.Of(t, three, strings.Replace(deployment("web", 1, spec), "Deployment", "StatefulSet", 1))
		want.Workload = m.Workloads[0]
		l, open := certificate.Loss{Nodes: map[string]bool{"n0": true}, Meaning: certificate.Unreachable}, 0
		for steps := range 200 {
			h := check.Checker{}.History(m, []map[string]bool{l.Nodes}, nil)
			if err := h.Check(l, []certificate.Lost{want}, certificate.CheckSteps); err != nil {
				t.Fatal(err)
			}
			err := h.Check(l, []certificate.Lost{want}, steps) // the states are known
			if errors.Is(err, certificate.ErrTooLong) {
				open++
			} else if err != nil {
				t.Errorf("with %d steps: %v", steps, err)
			}
		}
		if open == 0 || open == 200 {
			t.Errorf("%d of 200 numbers of steps do not suffice", open)
		}
	}
}

// found is a seeker that always finds the same member.
type found certificate.Member

func (found) Seeks(*workload.Workload) bool { return true }

func (f found) Seek(*workload.Workload, []int, int) (certificate.Member, bool) {
	return certificate.Member(f), true
}

// TestRefusedRoomIsAFault has a proof of room for another pod that the checker refuses. The answer is no, and
// the refusal is recorded.
func TestRefusedRoomIsAFault(t *testing.T) {
	for _, v := range []struct {
		left    []int
		refused int
	}{
		{[]int{0}, 1}, // the other pod may be there
		{[]int{0, 2}, 0},
	} {
		m, set := models.Of(t, three, deployment("web", 1, requests(3, 0))+deployment("db", 1, requests(3, 0)))
		m.Run().OnRefusal = nil
		w := set.Workloads[0]
		d := &certificate.Decision{}
		d.Describe(check.Checker{}.Proofs(m, true), found{G: m.Groups[w], Pods: 1, Node: -1, Left: v.left}, true)
		if keeps := d.Keeps(m.Run(), w, v.left, 0); keeps != (v.refused == 0) || len(m.Run().Refused) != v.refused {
			t.Errorf("on %v: keeps %t, refused %v", v.left, keeps, m.Run().Refused)
		}
	}
}

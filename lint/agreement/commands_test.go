// Package agreement compares the answers of all commands about the same clusters, and those about the same
// cluster in other words. It has tests only, apart from those of lint, so that no package's tests take long.
package agreement

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/rego"
)

// TestCommandsAgree asks all commands about random clusters. They must give the same answer:
//   - if place proves that pods never fit, lint reports an error; if they always fit, it does not
//   - facts, size, plan, explain and the page count the pods and give the answers that place gives
//   - no two findings are about one fact
//   - more steps turn no answer into another one, and leave few open that were decided
func TestCommandsAgree(t *testing.T) {
	t.Parallel()
	e := linttest.Engine(t)
	seen := map[string]int{}
	clusters := 0
	for seed := range trials.Seeds(t, trials.Of(t, 1600)) {
		c := dice{rand.New(rand.NewPCG(uint64(seed), 60))}.cluster()
		a := &agreement{t: t, e: e, cluster: c, seen: seen}
		a.check()
		if clusters++; len(a.wrong) > 0 {
			t.Errorf("seed %d:\n%s\n%s", seed, strings.Join(a.wrong, "\n"), c)
		}
	}
	t.Logf("%d clusters: %v", clusters, seen)
	if open := seen["open with more steps"]; open > clusters/20 {
		t.Errorf("%d answers of %d clusters are open with more steps", open, clusters)
	}
	for what, least := range map[string]int{"never": 320, "together": 16, "always": 640, "size enough": 190, "plan always": 64, "plan never": 10, "Job never": 32} {
		if seen[what] < trials.Share(t, least) {
			t.Errorf("%d answers are %q", seen[what], what)
		}
	}
}

type dice struct{ *rand.Rand }

func (d dice) pick(list ...string) string { return list[d.IntN(len(list))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// cluster is a tree of manifests with a node file.
type cluster struct {
	nodes string
	docs  []string
}

func (c cluster) String() string {
	return c.nodes + "--- # manifests\n" + strings.Join(c.docs, "---\n")
}

// cluster draws a cluster of a few small pools and workloads of all kinds.
func (d dice) cluster() cluster {
	var c cluster
	c.nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
	pools := []string{"a", "b", "c"}[:1+d.IntN(3)]
	for _, p := range pools {
		size := d.pick("count: 1", "count: 2", "count: 3", "zones: {east: 1, west: 1}", "zones: {east: 2, west: 1}", "zones: {east: 1, west: 1, north: 1}")
		if d.chance(10) {
			size += ", max: 4"
		}
		taint := ""
		if p != "a" && d.chance(40) {
			taint = ", taints: [{key: only, value: " + p + ", effect: NoSchedule}]"
		}
		upgrade := ""
		if d.chance(30) {
			upgrade = ", upgrade: {" + d.pick("surge: 1", "surge: 0, unavailable: 1", "surge: 1, cordon: all") + "}"
		}
		c.nodes += fmt.Sprintf("- {name: %s, %s, labels: {pool: %s}, allocatable: {cpu: %q, memory: 8Gi, pods: %q}%s%s}\n", p, size, p, d.pick("4", "4", "2", "8"), d.pick("20", "20", "4"), taint, upgrade)
	}
	names := []string{"web", "db", "cache", "batch", "agent"}[:1+d.IntN(5)]
	for i, name := range names {
		kind := d.pick("Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet", "Job", "VirtualMachine")
		c.docs = append(c.docs, d.object(kind, name, names, pools, i))
		scalable := kind == "Deployment" || kind == "StatefulSet"
		if scalable && d.chance(20) {
			least := 1 + d.IntN(3)
			c.docs = append(c.docs, fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: %s, namespace: shop}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: %s}\n  minReplicas: %d\n  maxReplicas: %d\n", name, kind, name, least, least+d.IntN(4)))
		}
		if kind != "Job" && kind != "DaemonSet" && d.chance(25) {
			c.docs = append(c.docs, fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: shop}\nspec: {%s, selector: {matchLabels: {app: %s}}}\n", name, d.pick("maxUnavailable: 1", "maxUnavailable: 0", "minAvailable: 1", "minAvailable: 2", `minAvailable: "100%"`, "maxUnavailable: 30%"), name))
		}
	}
	if d.chance(8) {
		c.docs = append(c.docs, fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: {hard: {%s}}\n", d.pick(`pods: "5"`, `requests.cpu: "4"`)))
	}
	if strings.Contains(strings.Join(c.docs, ""), "volumeClaimTemplates") {
		class := "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s}\nprovisioner: %s\nvolumeBindingMode: WaitForFirstConsumer\n"
		c.docs = append(c.docs, fmt.Sprintf(class, "disks", "kubernetes.io/no-provisioner"), fmt.Sprintf(class, "gp3", "ebs.csi.aws.com"))
		for i := range d.IntN(5) {
			at := fmt.Sprintf("%s-%d", d.pick(pools...), d.IntN(2))
			c.docs = append(c.docs, fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v%d}\nspec:\n  capacity: {storage: %s}\n  accessModes: [ReadWriteOnce]\n  storageClassName: disks\n  local: {path: /disk}\n  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]}]}}\n", i, d.pick("20Gi", "20Gi", "1Gi"), at))
		}
	}
	return c
}

// object draws a workload.
func (d dice) object(kind, name string, names, pools []string, i int) string {
	spec := []string{}
	add := func(percent int, lines ...string) {
		if d.chance(percent) {
			spec = append(spec, d.pick(lines...))
		}
	}
	add(25, "nodeSelector: {pool: "+d.pick(pools...)+"}", "nodeSelector: {topology.kubernetes.io/zone: "+d.pick("east", "west", "south")+"}")
	add(30, "tolerations: [{key: only, operator: Exists}]", "tolerations: [{operator: Exists}]", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]")
	add(10, "hostNetwork: true")
	other := names[d.IntN(len(names))]
	term := func(app, key string) string {
		return "[{topologyKey: " + key + ", labelSelector: {matchLabels: {app: " + app + "}}}]"
	}
	host, zone := "kubernetes.io/hostname", "topology.kubernetes.io/zone"
	var rules []string
	if d.chance(30) {
		rules = append(rules, "podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+term(d.pick(name, name, other), d.pick(host, host, zone))+"}")
	}
	if d.chance(15) {
		rules = append(rules, "podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+term(d.pick(other, other, name), d.pick(host, zone))+"}")
	}
	if len(rules) > 0 {
		spec = append(spec, "affinity: {"+strings.Join(rules, ", ")+"}")
	}
	if d.chance(20) {
		spec = append(spec, fmt.Sprintf("topologySpreadConstraints: [{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}%s}]", 1+d.IntN(2), d.pick(host, zone), name, d.pick("", "", ", minDomains: 3")))
	}
	request := d.pick("500m", "500m", "1", "1", "1500m", "2500m", "3", "5")
	n := 1 + d.IntN(5)
	meta := fmt.Sprintf("metadata: {name: %s, namespace: shop}\n", name)
	if kind == "VirtualMachine" {
		at := "\n      "
		machine := strings.Join(slices.DeleteFunc(spec, func(s string) bool { return strings.HasPrefix(s, "hostNetwork") }), at)
		return "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n" + meta + "spec:\n  runStrategy: " + d.pick("Always", "Always", "Halted") + "\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:" + at + machine + at +
			"evictionStrategy: " + d.pick("LiveMigrate", "None") + at + "domain: {devices: {}, memory: {guest: 1Gi}, resources: {requests: {cpu: " + request + "}}}\n"
	}
	port := ""
	if slices.Contains(spec, "hostNetwork: true") || d.chance(5) {
		port = ", ports: [{containerPort: 80, hostPort: 80}]"
	}
	at := "\n      "
	pod := func(at string) string {
		return strings.Join(spec, at) + at + "containers: [{name: c, image: c, resources: {requests: {cpu: " + request + "}}" + port + "}]"
	}
	template := "  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:" + at + pod(at)
	if kind == "Job" {
		return "apiVersion: batch/v1\nkind: Job\n" + meta + fmt.Sprintf("spec:\n  parallelism: %d\n  completions: %d\n", n, n) + template + at + "restartPolicy: Never\n"
	}
	claims := ""
	if kind == "StatefulSet" && d.chance(40) {
		claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: " + d.pick("disks", "disks", "gp3", "other") + ", resources: {requests: {storage: 10Gi}}}}]\n"
	}
	head := "apiVersion: apps/v1\nkind: " + kind + "\n" + meta + "spec:\n  selector: {matchLabels: {app: " + name + "}}\n"
	switch kind {
	case "DaemonSet":
		return head + template + "\n"
	case "StatefulSet":
		head += "  serviceName: " + name + "\n" + claims
	default:
		head += d.pick("", "", "  strategy: {type: Recreate}\n", "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", "  strategy: {rollingUpdate: {maxSurge: 100%, maxUnavailable: 0}}\n")
	}
	return head + fmt.Sprintf("  replicas: %d\n", n) + template + "\n"
}

// agreement compares the answers of all commands about a cluster.
type agreement struct {
	t *testing.T
	e *rego.Engine
	cluster
	seen  map[string]int
	wrong []string
}

func (a *agreement) errorf(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

func (a *agreement) options(steps float64) lint.Options {
	dir := a.t.TempDir()
	for name, text := range map[string]string{"nodes.yaml": a.nodes, "tree.yaml": strings.Join(a.docs, "---\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			a.t.Fatal(err)
		}
	}
	return lint.Options{Dir: dir, Root: dir, Topology: []string{"nodes.yaml"}, Paths: []string{"tree.yaml"}, Policy: a.e, Steps: steps, Level: func(id string) diag.Level { r, _ := a.e.Rule(id); return r.Level }}
}

// must returns the answer of a command, which does not fail.
func must[A any](t *testing.T) func(A, error) A {
	return func(answer A, err error) A {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

func (a *agreement) check() {
	ctx, o := context.Background(), a.options(0.1)
	linted := must[*diag.Report](a.t)(lint.Run(ctx, o))
	placed := must[*diag.Placements](a.t)(lint.Place(ctx, o))
	if len(placed.Decisions) == 0 {
		return
	}
	p := linttest.Only(a.t, placed)
	a.findings(linted, p)
	a.facts(must[*lint.Described](a.t)(lint.Facts(ctx, o)), p)
	sized, _, err := lint.Size(ctx, o, &sizing.Options{Max: a.most()}, false)
	if err != nil {
		a.t.Fatal(err)
	}
	a.size(sized, p)
	a.plan(o, p)
	if len(p.Workloads) > 0 {
		w := &p.Workloads[len(a.nodes)%len(p.Workloads)] // any
		x := must[*diag.Explanation](a.t)(lint.Explain(ctx, o, lint.Spot{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}))
		said := []string{}
		for i := range x.Answers {
			for k := range x.Answers[i].Workloads {
				said = append(said, answered(&x.Answers[i].Workloads[k]))
			}
		}
		if diff := cmp.Diff([]string{answered(w)}, said); diff != "" {
			a.errorf("explain %s %s differs from place: %s", w.Kind, w.Name, diff)
		}
	}
	a.page(placed, p)
	more := linttest.Only(a.t, must[*diag.Placements](a.t)(lint.Place(ctx, a.options(0.5))))
	for i := range p.Workloads {
		before, after := decidedAnswers(&p.Workloads[i]), decidedAnswers(&more.Workloads[i])
		for question, v := range before {
			switch now := after[question]; {
			case v == string(diag.Unknown) || v == string(diag.None) || now == v:
			case now == "" || now == string(diag.Unknown) || now == string(diag.None): // the steps of one question are those that another did not need
				a.seen["open with more steps"]++
			case question != "fits" && now == string(diag.Never) && (v == string(diag.Sometimes) || after["fits"] == now && before["fits"] == string(diag.Unknown)): // no run without Pending pods
			default:
				a.errorf("%s of %s is %s, and %s with more steps", question, p.Workloads[i].Name, v, now)
			}
		}
	}
}

// answered writes the answers about a workload, with its pods.
func answered(w *diag.PlacementWorkload) string {
	return fmt.Sprint(w.Replicas, w.MinPlaced, w.MaxPlaced, decidedAnswers(w))
}

// worst ranks verdicts on the loss of a domain.
func worst(v string) int {
	return slices.Index([]string{string(diag.None), string(diag.Always), string(diag.Unknown), string(diag.Sometimes), string(diag.Never)}, v)
}

func decidedAnswers(w *diag.PlacementWorkload) map[string]string {
	all := map[string]string{"fits": w.Verdict, "rolls": w.Change.Rollout.Verdict, "drains": w.Change.Drain.Verdict, "migrates": w.Change.Migrate.Verdict, "autoscales": w.Change.Autoscale.Verdict}
	for _, s := range w.Change.Survives { // one row for each kind of domain: the worst that is known counts
		if key := s.Key + " " + s.Meaning; worst(s.Verdict) > worst(all[key]) {
			all[key] = s.Verdict
		}
	}
	return all
}

// placing matches the rules that say that pods cannot be placed.
var placing = regexp.MustCompile(`^(` + strings.Join([]string{"affinity-never-satisfied", "anti-affinity-exceeds-domains", "circular-affinity", "cluster-too-small", "crowded-out",
	"host-port-exceeds-nodes", "no-eligible-node", "request-exceeds-nodes", "spread-exceeds-skew", "volumes-too-few", "quota-refuses-pods"}, "|") + `)$`)

// atMost matches a bound on the pods that fit.
var atMost = regexp.MustCompile(`at most ([0-9]+) of ([0-9]+) pod`)

// findings compares what lint says with what place proves.
func (a *agreement) findings(r *diag.Report, p *diag.Placement) {
	about := map[string][]string{} // by name of the workload, errors that say that pods cannot be placed
	said, counted, facts := false, false, map[string]string{}
	undeclared := map[string]bool{}
	for i := range r.Diagnostics {
		f := &r.Diagnostics[i]
		if f.Rule == "selector-matches-no-pod" {
			undeclared[f.Object.Name] = true
		}
		if f.Level != diag.LevelError || !placing.MatchString(f.Rule) {
			continue
		}
		said = true
		// place does not count the pods of a workload that a quota may refuse.
		counted = counted || !slices.ContainsFunc(p.Unmodelled, func(u string) bool { return strings.Contains(u, f.Object.Kind+"/shop/"+f.Object.Name+": ") })
		about[f.Object.Name] = append(about[f.Object.Name], f.Rule)
		for _, rel := range f.Related {
			for _, w := range p.Workloads {
				if strings.Contains(rel.Message, w.Kind+" shop/"+w.Name) || strings.Contains(rel.Message, w.Kind+" "+w.Name) {
					about[w.Name] = append(about[w.Name], f.Rule)
				}
			}
		}
		if n := atMost.FindStringSubmatch(f.Message); n != nil && len(n[1]) == len(n[2]) && n[1] >= n[2] {
			a.errorf("%s says that all pods fit: %s", f.Rule, f.Message)
		}
		at := fmt.Sprint(f.Location, f.Object)
		if other := facts[at]; other != "" && f.Rule != "quota-refuses-pods" {
			a.errorf("%s and %s are two findings at one place: %s", other, f.Rule, at)
		}
		if f.Rule != "quota-refuses-pods" { // that is not about nodes
			facts[at] = f.Rule
		}
	}
	alone := false
	for i := range p.Workloads {
		w := &p.Workloads[i]
		a.seen[w.Verdict]++
		never := w.Verdict == string(diag.Never)
		switch {
		case never && len(about[w.Name]) == 0 && !undeclared[w.Name] && !inCore(w, about, undeclared, said):
			a.errorf("place says never of %s %s, and lint nothing", w.Kind, w.Name)
		case w.Verdict == string(diag.Always) && slices.ContainsFunc(r.Diagnostics, func(f diag.Diagnostic) bool {
			return f.Object.Name == w.Name && f.Object.Kind == w.Kind && f.Level == diag.LevelError && placing.MatchString(f.Rule) && f.Rule != "quota-refuses-pods" && !joint(&f)
		}):
			a.errorf("place says always of %s %s, and lint %v", w.Kind, w.Name, about[w.Name])
		}
		if alone = alone || never; never && w.Kind == "Job" {
			a.seen["Job never"]++
		}
	}
	if p.Verdict == string(diag.Never) && !alone {
		if a.seen["together"]++; !said && len(undeclared) == 0 {
			a.errorf("place says that all together never fit, and lint nothing")
		}
	}
	if counted && (p.Verdict == string(diag.Always) || p.Verdict == string(diag.Sometimes)) && !alone {
		a.errorf("lint says that pods never fit (%v), and place %s", about, p.Verdict)
	}
}

// joint reports whether a finding is about several workloads. Each of them may fit by itself.
func joint(d *diag.Diagnostic) bool {
	return d.Rule == "crowded-out" || strings.Contains(d.Message, "other workload")
}

// inCore reports whether a finding is about a workload of the core of w. Without a core, for want of steps,
// any finding is.
func inCore(w *diag.PlacementWorkload, about map[string][]string, undeclared map[string]bool, said bool) bool {
	if len(w.Core) == 0 {
		return said
	}
	return slices.ContainsFunc(w.Core, func(c diag.PlacementCore) bool {
		for name := range about {
			if strings.Contains(c.Text, "shop/"+name+":") {
				return true
			}
		}
		for name := range undeclared {
			if strings.Contains(c.Text, "shop/"+name+":") {
				return true
			}
		}
		return false
	})
}

// facts compares the numbers and the answers of facts with those of place.
func (a *agreement) facts(f *lint.Described, p *diag.Placement) {
	for _, c := range f.Contexts {
		for _, row := range c.Facts.Workloads {
			for i := range p.Workloads {
				w := &p.Workloads[i]
				if w.Kind == row.Kind && w.Name == row.Name && w.Kind != "DaemonSet" && (w.Replicas < row.PodsMin || w.Replicas > row.PodsMax) {
					a.errorf("place counts %d pods of %s, and facts %d to %d", w.Replicas, row.Name, row.PodsMin, row.PodsMax)
				}
			}
		}
	}
}

// most bounds the sizes that size tries.
func (a *agreement) most() map[string]int {
	all := map[string]int{}
	for _, pool := range regexp.MustCompile(`name: (\w),`).FindAllStringSubmatch(a.nodes, -1) {
		all[pool[1]] = 4
	}
	return all
}

// size compares what size says about the declared nodes with what place says.
func (a *agreement) size(s *diag.Sizes, p *diag.Placement) {
	if len(s.Sizes) != 1 {
		a.errorf("%d answers of size", len(s.Sizes))
		return
	}
	one := s.Sizes[0]
	never := p.Verdict == string(diag.Never) || slices.ContainsFunc(p.Workloads, func(w diag.PlacementWorkload) bool { return w.Verdict == string(diag.Never) })
	if one.Declared == string(diag.Always) {
		a.seen["size enough"]++
	}
	if never && one.Declared == string(diag.Always) {
		a.errorf("size says that the declared nodes are enough, and place never")
	}
	if one.Declared == string(diag.Never) && p.Verdict == string(diag.Always) && !strings.Contains(strings.Join(a.docs, ""), "Autoscaler") {
		a.errorf("size says that the declared nodes are not enough, and place always")
	}
}

// plan compares plan with place.
func (a *agreement) plan(o lint.Options, p *diag.Placement) {
	pools := regexp.MustCompile(`name: (\w),.*upgrade:`).FindAllStringSubmatch(a.nodes, -1)
	for _, pool := range pools {
		doc := must[*diag.Upgrades](a.t)(lint.Plan(context.Background(), o, pool[1], false))
		for _, u := range doc.Upgrades {
			a.seen["plan "+u.Verdict]++
			for i := range p.Workloads {
				w := &p.Workloads[i]
				if u.Verdict == string(diag.Always) && w.Verdict == string(diag.Never) {
					a.errorf("plan says that pool %s can be replaced, and place that %s never fits", pool[1], w.Name)
				}
				if up := w.Change.Upgrade; up != nil && len(pools) == 1 && up.Verdict == string(diag.Never) && u.Verdict == string(diag.Always) {
					a.errorf("plan says that pool %s can be replaced, and place that %s stops it", pool[1], w.Name)
				}
			}
		}
	}
}

// page compares the cells of the page with the answers of place.
func (a *agreement) page(all *diag.Placements, p *diag.Placement) {
	var b bytes.Buffer
	if err := report.WritePlacement(&b, "html", all, report.Options{}); err != nil {
		a.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), `<script type="application/json" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var d struct {
		Strings  []string
		Contexts []struct {
			Rows []struct{ Name, Replicas int } // Name is an index into Strings
		}
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		a.t.Fatal(err)
	}
	if p.Pods.Total == 0 { // nothing to place
		return
	}
	if len(d.Contexts) != 1 || len(d.Contexts[0].Rows) != len(p.Workloads) {
		a.errorf("the page has other workloads than place")
		return
	}
	for i, row := range d.Contexts[0].Rows {
		if w := &p.Workloads[i]; !strings.Contains(d.Strings[row.Name], w.Name) || row.Replicas != w.Replicas {
			a.errorf("the page says %s %d, and place %d pods of %s", d.Strings[row.Name], row.Replicas, w.Replicas, w.Name)
		}
	}
}

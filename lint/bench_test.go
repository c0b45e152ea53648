package lint_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// writeTree generates a repository of 2,000 single-document files in 100 directories, 3.5 MB in
// total: 800 Deployments, 300 StatefulSets, 500 Services and 400 ConfigMaps. Their placement
// rules alternate between all kinds.
func writeTree(t testing.TB, dir string) {
	t.Helper()
	for i := range 2000 {
		text := ""
		switch {
		case i%20 < 8:
			text = workloadFile(i, "Deployment")
		case i%20 < 11:
			text = workloadFile(i, "StatefulSet")
		case i%20 < 16:
			text = serviceFile(i)
		default:
			text = configFile(i)
		}
		path := filepath.Join(dir, fmt.Sprintf("team-%02d", i%100), fmt.Sprintf("object-%04d.yaml", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// nodes50 is the topology of the tree.
const nodes50 = `apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- name: general
  zones: {a: 13, b: 13, c: 13}
  labels: {pool: general}
  allocatable: {cpu: "16", memory: 64Gi, pods: "110"}
- name: fast
  zones: {a: 4, b: 4}
  labels: {pool: fast, disktype: ssd}
  taints:
  - {key: dedicated, value: fast, effect: NoSchedule}
  allocatable: {cpu: "32", memory: 128Gi, pods: "110"}
- name: control
  count: 3
  taints:
  - {key: node-role.kubernetes.io/control-plane, effect: NoSchedule}
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
`

// placementRules are inserted into pod specs in turn.
var placementRules = []string{
	`      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                app: NAME
`,
	`      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              topologyKey: topology.kubernetes.io/zone
              labelSelector:
                matchExpressions:
                - key: app
                  operator: In
                  values: [NAME]
`,
	`      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - key: pool
                operator: In
                values: [general, fast]
      tolerations:
      - key: dedicated
        operator: Equal
        value: fast
        effect: NoSchedule
`,
	`      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels:
            app: NAME
      - maxSkew: 2
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels:
            app: NAME
`,
	`      nodeSelector:
        pool: general
`,
}

func workloadFile(i int, kind string) string {
	name := fmt.Sprintf("app-%04d", i)
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: %s\nmetadata:\n  name: %s\n  namespace: team-%02d\n  labels:\n    app: %s\n    team: team-%02d\n", kind, name, i%100, name, i%100)
	fmt.Fprintf(&b, "  annotations:\n    example.com/owner: team-%02d@example.com\n    example.com/description: serves requests of the shop and its partners\nspec:\n  replicas: %d\n", i%100, 1+i%5)
	if kind == "StatefulSet" {
		fmt.Fprintf(&b, "  serviceName: %s\n", name)
	}
	fmt.Fprintf(&b, "  selector:\n    matchLabels:\n      app: %s\n  template:\n    metadata:\n      labels:\n        app: %s\n        team: team-%02d\n    spec:\n", name, name, i%100)
	b.WriteString(strings.ReplaceAll(placementRules[i/20%len(placementRules)], "NAME", name))
	for c := range 1 + i%2 {
		fmt.Fprintf(&b, "      - name: main-%d\n        image: registry.example.com/team/%s:%d.%d\n        imagePullPolicy: IfNotPresent\n        ports:\n        - name: http\n          containerPort: %d\n", c, name, i%9, i%7, 8080+c)
		b.WriteString("        env:\n        - name: LOG_LEVEL\n          value: info\n        - name: POD_NAME\n          valueFrom:\n            fieldRef:\n              fieldPath: metadata.name\n        - name: CONFIG\n          value: /etc/app/config.yaml\n")
		fmt.Fprintf(&b, "        resources:\n          requests:\n            cpu: %dm\n            memory: %dMi\n          limits:\n            memory: %dMi\n", 100+i%4*50, 128+i%3*64, 512)
		b.WriteString("        readinessProbe:\n          httpGet:\n            path: /ready\n            port: http\n          periodSeconds: 10\n        livenessProbe:\n          httpGet:\n            path: /live\n            port: http\n          initialDelaySeconds: 15\n        volumeMounts:\n        - name: config\n          mountPath: /etc/app\n          readOnly: true\n")
	}
	text := b.String()
	at := strings.Index(text, "      - name: main-0")
	return text[:at] + "      containers:\n" + text[at:] + fmt.Sprintf("      volumes:\n      - name: config\n        configMap:\n          name: %s\n", name)
}

func serviceFile(i int) string {
	name := fmt.Sprintf("app-%04d", i)
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\n  namespace: team-%02d\n  labels:\n    app: %s\nspec:\n  type: ClusterIP\n  selector:\n    app: %s\n  ports:\n  - name: http\n    port: 80\n    targetPort: http\n    protocol: TCP\n  - name: metrics\n    port: 9090\n    targetPort: metrics\n", name, i%100, name, name)
}

func configFile(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app-%04d\n  namespace: team-%02d\ndata:\n", i, i%100)
	for k := range 30 {
		fmt.Fprintf(&b, "  setting-%02d: \"a value of some length that stands for number %d of file %d\"\n", k, k, i)
	}
	b.WriteString("  application.properties: |\n")
	for k := range 12 {
		fmt.Fprintf(&b, "    server.option.%02d=value-%d-%d\n", k, k, i)
	}
	return b.String()
}

// cost holds the CPU seconds and peak memory in MiB of one process.
type cost struct{ cpu, mib float64 }

// measure runs a program. Its output has to match shows: a run that skips its input is fast.
func measure(b *testing.B, ok []int, shows, name string, args ...string) cost {
	b.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if !slices.Contains(ok, cmd.ProcessState.ExitCode()) {
		b.Fatalf("%s: %v\n%s", name, err, out[max(0, len(out)-2000):])
	}
	if !regexp.MustCompile(shows).Match(out) {
		b.Fatalf("%s %q: nothing in the output matches %q:\n%s", name, args, shows, out[max(0, len(out)-2000):])
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return cost{cpu.Seconds(), float64(usage.Maxrss) / 1024}
}

// timesBare measures work against the bare parse of some files, and asserts the ratio of CPU time and the
// memory in MiB. The parse is short, so that other work may double it: it runs before and after.
func timesBare(b *testing.B, tries int, times, mib float64, bare func() cost, work func() cost) {
	b.Helper()
	peak := math.Inf(1)
	ratio := trials.Least(tries, times, func() float64 {
		before, c, after := bare(), work(), bare()
		peak = min(peak, c.mib)
		return c.cpu / min(before.cpu, after.cpu)
	})
	b.ReportMetric(ratio, "times-bare")
	b.ReportMetric(peak, "peak-MiB")
	trials.Bound(b, "CPU time as a multiple of the bare parse", ratio, times)
	trials.Bound(b, "peak MiB", peak, mib)
}

// parsed returns the bare parse of a directory, for timesBare.
func parsed(b *testing.B, bare, dir string) func() cost {
	return func() cost { return measure(b, []int{0}, "", bare, dir) }
}

// build returns a copy of the program, built as for a release. Linux caches a file that the linker has
// just written in large pages and charges each process for all of a page that it touches, so that Maxrss
// is 20 MiB higher than for an installed program.
func build(b *testing.B, dir, pkg string) string {
	b.Helper()
	out := filepath.Join(dir, filepath.Base(pkg))
	for _, args := range [][]string{{"go", "build", "-o", out + ".linked", pkg}, {"cp", out + ".linked", out}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("building %s: %v\n%s", pkg, err, text)
		}
	}
	return out
}

// treeRows are the inputs of BenchmarkTree, with what shows that nothing was left out. The cluster is
// crowded, so that no proof is short and pods stay Pending in simulated runs, or it has room for all.
var treeRows = []struct {
	name, nodes, shows string
	times, mib         float64
}{
	{"crowded", nodes50, `(?s)cluster-too-small.*of \d+ simulated runs.*1100 workloads, 50 nodes`, 4.5, 125},
	{"roomy", strings.NewReplacer("{a: 13, b: 13, c: 13}", "{a: 50, b: 50, c: 50}", `cpu: "16", memory: 64Gi`, `cpu: "128", memory: 512Gi`).Replace(nodes50),
		`(?s)of \d+ simulated runs.*1100 workloads: all fit, roll and drain`, 4.3, 125},
}

// BenchmarkTree measures all rules over the generated tree, and over one file of it.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	tree, one, nodes := filepath.Join(dir, "tree"), filepath.Join(dir, "one.yaml"), filepath.Join(dir, "nodes.yaml")
	writeTree(b, tree)
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	writeFiles(b, dir, map[string]string{"one.yaml": workloadFile(0, "Deployment"), "nodes.yaml": nodes50})
	b.Run("one-file", func(b *testing.B) {
		timesBare(b, 5, 0.27, 60, parsed(b, bare, tree), func() cost {
			return measure(b, []int{0, 1}, "1 workload, 50 nodes", schedlint, "lint", "-t", nodes, one)
		})
	})
	for _, row := range treeRows {
		b.Run(row.name, func(b *testing.B) {
			writeFiles(b, dir, map[string]string{"nodes.yaml": row.nodes})
			timesBare(b, 5, row.times, row.mib, parsed(b, bare, tree), func() cost {
				return measure(b, []int{0, 1}, row.shows, schedlint, "lint", "-t", nodes, tree)
			})
		})
	}
}

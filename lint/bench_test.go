package lint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
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

// cost holds the CPU seconds, wall time and peak memory in MiB of one process.
type cost struct {
	cpu, wall, mib float64
}

func measure(b *testing.B, ok []int, name string, args ...string) cost {
	b.Helper()
	cmd := exec.Command(name, args...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start).Seconds()
	if !slices.Contains(ok, cmd.ProcessState.ExitCode()) {
		b.Fatalf("%s: %v\n%s", name, err, out[max(0, len(out)-2000):])
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return cost{cpu.Seconds(), wall, float64(usage.Maxrss) / 1024}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// build returns a copy of the built program. Linux caches a file that the linker has just written in
// large pages and charges each process for all of a page that it touches, so that Maxrss is 20 MiB
// higher than for an installed program.
func build(b *testing.B, dir, pkg string) string {
	b.Helper()
	out := filepath.Join(dir, filepath.Base(pkg))
	for _, args := range [][]string{{"go", "build", "-o", out + ".linked", pkg}, {"cp", out + ".linked", out}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = ".."
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("building %s: %v\n%s", pkg, err, text)
		}
	}
	return out
}

// BenchmarkTree alternates between two processes over the generated tree: all rules with 50
// nodes, and a bare YAML node parse.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	nodes := filepath.Join(dir, "nodes.yaml")
	if err := os.WriteFile(nodes, []byte(nodes50), 0o644); err != nil {
		b.Fatal(err)
	}
	one := filepath.Join(dir, "one.yaml")
	if err := os.WriteFile(one, []byte(workloadFile(0, "Deployment")), 0o644); err != nil {
		b.Fatal(err)
	}
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	var cpu, floor, ratio, mib, small []float64
	b.ResetTimer()
	for range max(b.N, 5) {
		floorCost := measure(b, []int{0}, bare, tree)
		c := measure(b, []int{0, 1}, schedlint, "lint", "-t", nodes, tree)
		s := measure(b, []int{0, 1}, schedlint, "lint", "-t", nodes, one)
		cpu, floor, mib, small = append(cpu, c.cpu), append(floor, floorCost.cpu), append(mib, c.mib), append(small, s.wall*1000)
		ratio = append(ratio, c.cpu/floorCost.cpu)
	}
	b.ReportMetric(median(cpu), "cpu-s")
	b.ReportMetric(median(floor), "bare-cpu-s")
	b.ReportMetric(median(ratio), "times-bare")
	b.ReportMetric(median(mib), "peak-MiB")
	b.ReportMetric(median(small), "one-file-ms")
}

// BenchmarkRun measures one run over the generated tree within the process, for profiles.
func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	writeTree(b, filepath.Join(dir, "tree"))
	if err := os.WriteFile(filepath.Join(dir, "nodes.yaml"), []byte(nodes50), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := run(b, dir, []string{"nodes.yaml"}, "tree"); err != nil {
			b.Fatal(err)
		}
	}
}

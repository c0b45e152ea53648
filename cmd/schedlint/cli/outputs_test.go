package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
)

// recorded are the commands that TestOutputs runs in a folder with nodes.yaml and manifests.yaml.
var recorded = map[string][]string{
	"facts": {"facts", "-t", "nodes.yaml", "--format", "json", "manifests.yaml"},
	"lint":  {"lint", "-t", "nodes.yaml", "--config", "packs.yaml", "--today", "2026-11-30", "--survive", "node", "--survive", "zone", "manifests.yaml"},
	"place": {"place", "-t", "nodes.yaml", "--all", "manifests.yaml"},
	"json":  {"place", "-t", "nodes.yaml", "--format", "json", "manifests.yaml"},
}

// ofPools are further commands, for nodes in pools.
var ofPools = map[string][]string{
	"size":    {"size", "-t", "nodes.yaml", "--survive", "zone", "manifests.yaml"},
	"plan":    {"plan", "general", "-t", "nodes.yaml", "manifests.yaml"},
	"explain": {"explain", "-t", "nodes.yaml", "deployment/app-0", "manifests.yaml"},
}

// TestOutputs runs commands on fixtures with nodes and on generated clusters, and compares what they print with the
// digests in testdata/outputs.txt. So no answer, fact or text changes unnoticed, whatever other tests look at.
// SCHEDLINT_UPDATE=1 rewrites the digests. SCHEDLINT_OUTPUTS=DIR writes the outputs to a folder; to see what a
// change does, write them before and after it and compare the folders.
func TestOutputs(t *testing.T) {
	update, dir := os.Getenv("SCHEDLINT_UPDATE") != "", os.Getenv("SCHEDLINT_OUTPUTS")
	golden, err := filepath.Abs("testdata/outputs.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	text, err := os.ReadFile(golden)
	if err != nil && !update {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, digest, _ := strings.Cut(line, ": ")
		want[name] = digest
	}
	cases := map[string][2]string{}
	const fixtures = "../../../fixtures"
	for _, pattern := range []string{"*/manifests.yaml", "*/*/manifests.yaml", "*/bad.yaml", "*/good.yaml", "*/*/bad.yaml"} {
		files, err := filepath.Glob(filepath.Join(fixtures, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			manifests, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			nodes, err := os.ReadFile(filepath.Join(filepath.Dir(file), "nodes.yaml"))
			if err != nil {
				continue // the fixture needs none
			}
			name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, fixtures+"/"), ".yaml"), "/", " ")
			cases[name] = [2]string{string(nodes), string(manifests)}
		}
	}
	packs := "policies:\n"
	for _, pack := range []string{"capacity", "ha", "kubevirt", "multi-tenant", "node-pools", "upgrade"} {
		packs += "- pack: " + pack + "\n"
	}
	for _, family := range clusters.Families {
		if family == "large" {
			continue // takes long, and has the same rules as others
		}
		for number := range uint64(4) {
			nodes, manifests := clusters.Generate(family, 17, number).Text()
			cases[fmt.Sprint(family, " ", number)] = [2]string{nodes, manifests}
		}
	}
	for number := range uint64(6) {
		nodes, manifests := clusters.Changing(17, number).Text()
		cases[fmt.Sprint("changing ", number)] = [2]string{nodes, manifests}
		cut := clusters.Generate("everyday", 19, number)
		if number < 2 {
			cut = clusters.Everyday(17, number)
		}
		cut.Nodes = cut.Nodes[:max(1, len(cut.Nodes)*5/6)] // some pods do not fit
		nodes, manifests = cut.Text()
		cases[fmt.Sprint("overfull ", number)] = [2]string{nodes, manifests}
		_, manifests = clusters.Generate("everyday", 18, number).Text()
		nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n" +
			fmt.Sprintf("- {name: general, upgrade: {surge: %d, unavailable: %d}, zones: {a: 1, b: %d, c: 1}, min: 1, max: %d, allocatable: {cpu: 1900m, memory: 4Gi, pods: 17}, labels: {example.com/pool: general}}\n", number%2, 1-number%2, number/2, []uint64{7, 2 + number/2}[number%2]) +
			"- {name: data, count: 2, min: 1, max: 2, allocatable: {cpu: 3900m, memory: 8Gi, pods: 29}, labels: {example.com/pool: data}, taints: [{key: example.com/pool, value: data, effect: NoSchedule}]}\n"
		cases[fmt.Sprint("pools ", number)] = [2]string{nodes, manifests}
	}
	names := slices.Sorted(maps.Keys(cases))
	if !update && dir == "" {
		names = trials.Sample(t, names, len(names)/3)
	}
	got, chosen := map[string]string{}, map[string]string{}
	for _, name := range names {
		folder := t.TempDir()
		t.Chdir(folder)
		for file, text := range map[string]string{"nodes.yaml": cases[name][0], "manifests.yaml": cases[name][1], "packs.yaml": packs} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		commands := maps.Clone(recorded)
		if strings.HasPrefix(name, "pools ") {
			maps.Copy(commands, ofPools)
		}
		for command, args := range commands {
			var stdout, stderr bytes.Buffer
			code := RunContext(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
			printed := fmt.Sprintf("%s%s%d\n", &stdout, &stderr, code)
			key := name + " " + command
			got[key] = fmt.Sprintf("%x", sha256.Sum256([]byte(printed)))[:16]
			chosen[key] = want[key]
			if dir != "" {
				if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(key, " ", "-")), []byte(printed), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if update {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(got)) {
			fmt.Fprintf(&b, "%s: %s\n", key, got[key])
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(chosen, got); diff != "" {
		t.Errorf("other outputs than in %s; SCHEDLINT_OUTPUTS=DIR writes them to a folder, SCHEDLINT_UPDATE=1 takes them over\n%s", golden, diff)
	}
}

package search_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/search"
)

const twoZones = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools: [{name: p, zones: {a: 2, b: 1}, allocatable: {cpu: "4", memory: 8Gi, pods: 20}}]
`

// TestChoices decides workloads whose volumes are made before their pods are scheduled. Each row is
// worked out by hand.
func TestChoices(t *testing.T) {
	const class = "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: early}, provisioner: ebs.csi.aws.com}\n"
	claim := func(names ...string) (text string) {
		for _, name := range names {
			text += fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: d}, spec: {storageClassName: early, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n", name)
		}
		return class + text
	}
	web := func(name string, replicas int, cpu, claim string) string {
		return requesting(name, replicas, "cpu: "+cpu, "volumes: [{name: data, persistentVolumeClaim: {claimName: "+claim+"}}]")
	}
	set := func(replicas int, policy, cpu string) string {
		return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: d}, spec: {replicas: %d, podManagementPolicy: %s, selector: {matchLabels: {app: db}}, "+
			"template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, resources: {requests: {cpu: %q}}}]}}, "+
			"volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: early, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}\n", replicas, policy, cpu)
	}
	for name, row := range map[string]struct {
		manifests string
		verdict   diag.Outcome
		least     int
		most      int
		each      string
	}{
		"any zone":                     {claim("data") + web("web", 1, `"1"`, "data"), diag.Always, 1, 1, "web always"},
		"the larger zone":              {claim("data") + web("web", 2, `"3"`, "data"), diag.Sometimes, 1, 2, "web sometimes [a] [] [b]"},
		"no zone":                      {claim("data") + web("web", 3, `"3"`, "data"), diag.Never, 1, 2, "web never"},
		"one claim of two":             {claim("data") + web("one", 1, `"3"`, "data") + web("two", 1, `"3"`, "data"), diag.Sometimes, 1, 2, "one sometimes [a] [b] [], two sometimes [a] [b] []"},
		"apart":                        {claim("v", "w") + web("one", 2, "100m", "v") + web("two", 2, "100m", "w"), diag.Always, 4, 4, "one always, two always"},
		"apart, one does not fit":      {claim("v", "w") + web("one", 9, "1m", "v") + web("two", 1, `"5"`, "w"), diag.Never, 9, 9, "one always, two never"},
		"each with its own":            {claim("v", "w") + web("one", 1, `"3"`, "v") + web("two", 1, `"3"`, "w"), diag.Sometimes, 1, 2, "one sometimes [a] [b] [], two sometimes [a] [b] []"},
		"in order, any zone":           {class + set(2, "OrderedReady", "100m"), diag.Always, 2, 2, "db always"},
		"in order":                     {class + set(3, "OrderedReady", "3"), diag.Sometimes, 1, 3, "db sometimes"},
		"in parallel":                  {class + set(3, "Parallel", "3"), diag.Sometimes, 1, 3, "db sometimes"},
		"in parallel, many":            {class + set(20, "Parallel", "1m"), diag.Always, 20, 20, "db always"},
		"in order, too many":           {class + set(7, "OrderedReady", "1m"), diag.Unknown, 0, 7, "db unknown"},
		"another waits for none of it": {claim("data") + web("web", 2, `"3"`, "data") + requesting("other", 1, "cpu: 100m", ""), diag.Sometimes, 2, 3, "other always, web sometimes [a] [] [b]"},
		"another is in the way":        {claim("data") + web("web", 1, `"3"`, "data") + requesting("other", 1, `cpu: "3"`, ""), diag.Sometimes, 1, 2, "other always, web sometimes [a] [b] []"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := models.Of(t, twoZones, row.manifests)
			d := search.Decide(m, search.Options{Each: true})
			var each []string
			for _, w := range d.Workloads {
				text := w.Workload.Object.Name + " " + string(w.Verdict)
				if e := w.Early; e != nil && len(e.Always)+len(e.Maybe)+len(e.Never) > 0 && w.Verdict == diag.Sometimes {
					text += fmt.Sprint(" ", e.Always, " ", e.Maybe, " ", e.Never)
				}
				each = append(each, text)
			}
			if got := strings.Join(each, ", "); d.Verdict != row.verdict || d.MinPlaced != row.least || d.MaxPlaced != row.most || got != row.each {
				t.Errorf("%s, %d to %d: %s; want %s, %d to %d: %s", d.Verdict, d.MinPlaced, d.MaxPlaced, got, row.verdict, row.least, row.most, row.each)
			}
			if complete := d.Verdict == diag.Always || d.Verdict == diag.Sometimes; complete && len(d.Witness) != d.Total || (d.Verdict == diag.Sometimes) != (d.Stuck != nil) && d.Verdict != diag.Never {
				t.Errorf("%s with %d of %d pods placed, stuck: %v", d.Verdict, len(d.Witness), d.Total, d.Stuck != nil)
			}
			for _, c := range d.Chosen {
				if err := certificate.CheckerOf(c.Model).Replay(c.Model.Permanent(), c.Witness); err != nil && c.Model.Split() == c.Model {
					t.Error(err)
				}
			}
		})
	}
}

// TestEither combines verdicts by what they leave open: whether all pods may be placed, and whether some may not.
// An unknown verdict may be any other.
func TestEither(t *testing.T) {
	full := map[diag.Outcome]bool{diag.Always: true, diag.Sometimes: true}
	short := map[diag.Outcome]bool{diag.Never: true, diag.Sometimes: true}
	sure := []diag.Outcome{diag.Always, diag.Sometimes, diag.Never}
	var all [][]diag.Outcome
	for _, a := range append(sure, diag.Unknown) {
		all = append(all, []diag.Outcome{a})
		for _, b := range append(sure, diag.Unknown) {
			all = append(all, []diag.Outcome{a, b})
			for _, c := range append(sure, diag.Unknown) {
				all = append(all, []diag.Outcome{a, b, c})
			}
		}
	}
	var each func(some, left []diag.Outcome, visit func([]diag.Outcome))
	each = func(some, left []diag.Outcome, visit func([]diag.Outcome)) {
		switch {
		case len(left) == 0:
			visit(some)
		case left[0] != diag.Unknown:
			each(append(slices.Clip(some), left[0]), left[1:], visit)
		default:
			for _, v := range sure {
				each(append(slices.Clip(some), v), left[1:], visit)
			}
		}
	}
	for _, verdicts := range all {
		ends := map[diag.Outcome]bool{}
		each(nil, verdicts, func(some []diag.Outcome) {
			mayFit := slices.ContainsFunc(some, func(v diag.Outcome) bool { return full[v] })
			mayNot := slices.ContainsFunc(some, func(v diag.Outcome) bool { return short[v] })
			ends[map[[2]bool]diag.Outcome{{true, false}: diag.Always, {true, true}: diag.Sometimes, {false, true}: diag.Never}[[2]bool{mayFit, mayNot}]] = true
		})
		want := diag.Unknown
		if len(ends) == 1 {
			want = slices.Collect(maps.Keys(ends))[0]
		}
		if got := search.Either(verdicts); got != want {
			t.Errorf("%v: %s, want %s", verdicts, got, want)
		}
	}
}

package disruption_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestGrows plants mistakes: it asks the check whether a node can be added for each pod where that is
// wrong, one condition of T33 after another. The search must not say so, either.
func TestGrows(t *testing.T) {
	const (
		pools  = nodeTopology + "- {name: w, zones: {a: 1, b: 0, c: 0}, max: any, allocatable: {cpu: 4, pods: 9}}\n"
		five   = nodeTopology + "- {name: w, zones: {a: 2}, max: 5, allocatable: {cpu: 4, pods: 9}}\n"
		each   = nodeTopology + "- {name: u, zones: {a: 0}, max: 2, allocatable: {cpu: 4, pods: 9}}\n- {name: v, zones: {b: 1}, max: 2, allocatable: {cpu: 4, pods: 9}}\n- {name: w, zones: {c: 2}, allocatable: {cpu: 4, pods: 9}}\n- {name: x, zones: {c: 0}, max: any, allocatable: {cpu: 500m}}\n"
		anti   = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: KEY, labelSelector: {matchLabels: {app: APP}}}]}}`
		near   = `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: KEY, labelSelector: {matchLabels: {app: APP}}}]}}`
		spread = `topologySpreadConstraints: [{topologyKey: KEY, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: APP}}MORE}]`
		pod    = "apiVersion: apps/v1\nkind: KIND\nmetadata: {name: NAME, namespace: d}\nspec:\n  COUNT\n  selector: {matchLabels: {app: NAME}}\n  template:\n    metadata: {labels: {app: NAME, all: pods}}\n    spec:\n      containers: [{name: c, image: c, resources: {requests: {cpu: CPU}}PORT}]\n      RULE\n"
	)
	of := func(kind, name, cpu, rule string) string {
		port := ""
		if after, is := strings.CutPrefix(rule, "port"); is {
			port, rule = ", ports: [{containerPort: 80, hostPort: 80}]", after
		}
		count := "replicas: 3"
		if kind == "DaemonSet" {
			count = "revisionHistoryLimit: 3"
		}
		return "---\n" + strings.NewReplacer("KIND", kind, "NAME", name, "CPU", cpu, "RULE", rule, "COUNT", count, "PORT", port).Replace(pod)
	}
	by := func(rule, key, app, more string) string {
		return strings.NewReplacer("KEY", key, "app: APP", app, "MORE", more).Replace(rule)
	}
	host, zone, rack := keys[0], keys[1], keys[2]
	web := func(rule string) string { return of("Deployment", "web", "1", rule) }
	for _, c := range []struct {
		name, pools, manifests string
		pods                   int
		lost                   [2]string
		want                   string // part of the error
		spare                  int
	}{
		{"no rule", pools, web(""), 3, [2]string{}, "", 0},
		{"a pool with a max", strings.Replace(pools, "any", "9", 1), web(""), 3, [2]string{}, "", 0},
		{"a node for each pod", five, of("Deployment", "web", "3", ""), 5, [2]string{}, "", 0},
		{"a node for each pod and one less", five, of("Deployment", "web", "3", ""), 5, [2]string{}, "other pods fill all nodes", 1},
		{"two that fit on a node", five, of("Deployment", "web", "1500m", ""), 9, [2]string{}, "", 0},
		{"a node for each pod of two workloads", five, of("Deployment", "web", "3", "") + of("Deployment", "db", "3", ""), 2, [2]string{}, "", 0},
		{"a node less for two workloads", five, of("Deployment", "web", "3", "") + of("Deployment", "db", "3", ""), 3, [2]string{}, "other pods fill all nodes", 0},
		{"another workload on other nodes", five, of("Deployment", "web", "3", "") + of("Deployment", "db", "3", "nodeSelector: {pool: q}"), 5, [2]string{}, "", 0},
		{"slots", strings.Replace(five, "pods: 9", "pods: 2", 1), web("") + of("Deployment", "db", "1m", ""), 7, [2]string{}, "", 0},
		{"no slots", strings.Replace(five, "pods: 9", "pods: 2", 1), web("") + of("Deployment", "db", "1m", ""), 8, [2]string{}, "other pods fill all nodes", 0},
		{"apart by host in a pool with a max", five, web(by(anti, host, "app: web", "")), 5, [2]string{}, "", 0},
		{"more than the pool has nodes", five, web(by(anti, host, "app: web", "")), 6, [2]string{}, "other pods fill all nodes", 0},
		{"a node for each port", five, web("port"), 5, [2]string{}, "", 0},
		{"more ports than nodes", five, web("port"), 6, [2]string{}, "other pods fill all nodes", 0},
		{"spread by host in a pool with a max", five, web(by(spread, host, "app: web", "")), 6, [2]string{}, "other pods fill all nodes", 0},
		{"a pool with a max that may be in other zones", strings.Replace(pools, "any", "9", 1), web(by(spread, zone, "app: web", "")), 3, [2]string{}, "no node can be added where", 0},
		{"pools with a max in each zone", each, web(by(spread, zone, "app: web", "")), 12, [2]string{}, "", 0},
		{"more than each of them takes", each, web(by(spread, zone, "app: web", "")), 27, [2]string{}, "no node can be added where", 0},
		{"one in each zone by pools with a max", each, web(by(anti, zone, "app: web", "")), 3, [2]string{}, "", 0},
		{"a zone of a pool with a max is lost", strings.Replace(pools, "any", "9", 1), web(""), 3, [2]string{zone, "a"}, "no pool can add a node", 0},
		{"another pool", pools, web("nodeSelector: {pool: p}"), 3, [2]string{}, "no pool can add a node", 0},
		{"too large", pools, of("Deployment", "web", "5", ""), 3, [2]string{}, "no pool can add a node", 0},
		{"too large beside a DaemonSet", pools, of("Deployment", "web", "3", "") + of("DaemonSet", "log", "2", ""), 3, [2]string{}, "no pool can add a node", 0},
		{"room beside a DaemonSet", pools, of("Deployment", "web", "2", "") + of("DaemonSet", "log", "2", ""), 3, [2]string{}, "", 0},
		{"a slot beside a DaemonSet", strings.Replace(pools, "pods: 9", "pods: 1", 1), web("") + of("DaemonSet", "log", "1", ""), 3, [2]string{}, "no pool can add a node", 0},
		{"the port of a DaemonSet", pools, web("port") + of("DaemonSet", "log", "1", "port"), 3, [2]string{}, "no pool can add a node", 0},
		{"apart from a DaemonSet", pools, web("") + of("DaemonSet", "log", "1", by(anti, host, "app: web", "")), 3, [2]string{}, "no pool can add a node", 0},
		{"apart by host", pools, web(by(anti, host, "app: web", "")), 3, [2]string{}, "", 0},
		{"one in each zone", pools, web(by(anti, zone, "app: web", "")), 3, [2]string{}, "", 0},
		{"more than there are zones", pools, web(by(anti, zone, "app: web", "")), 4, [2]string{}, "3 pods may be in the way in 3 domains", 0},
		{"apart from too many", pools, web(by(anti, zone, "app: db", "")) + of("Deployment", "db", "1", ""), 3, [2]string{}, "3 pods may be in the way in 3 domains", 0},
		{"a zone is lost", pools, web(by(anti, zone, "app: web", "")), 3, [2]string{zone, "a"}, "2 pods may be in the way in 2 domains", 0},
		{"two rules", strings.Replace(pools, "max:", "labels: {rack: r}, max:", 1), web(by(anti, zone, "app: web", "")) + of("Deployment", "db", "1", by(anti, rack, "app: web", "")), 1, [2]string{}, "2 rules may keep", 0},
		{"spread by zone", pools, web(by(spread, zone, "app: web", "")), 3, [2]string{}, "", 0},
		{"too few zones", pools, web(by(spread, zone, "app: web", ", minDomains: 4")), 3, [2]string{}, "find a node in 3 domains", 0},
		{"another zone", pools + "- {name: m, zones: {d: 1}, allocatable: {cpu: 500m, pods: 9}}\n", web(by(spread, zone, "app: web", "")), 3, [2]string{}, "no node can be added where " + zone + " is d", 0},
		{"another zone that does not count", pools + "- {name: m, zones: {d: 1}, allocatable: {cpu: 4, pods: 9}}\n", web("nodeSelector: {" + zone + ": a}\n      " + by(spread, zone, "app: web", "")), 3, [2]string{}, "", 0},
		{"spread after a loss", pools, web(by(spread, zone, "app: web", "")), 3, [2]string{host, "x"}, "pods on lost nodes may count", 0},
		{"spread of a DaemonSet's pods", pools, web(by(spread, host, "all: pods", "")) + of("DaemonSet", "log", "1", ""), 3, [2]string{}, "may count the pods of DaemonSet d/log", 0},
		{"near their own by zone", pools, web(by(near, zone, "app: web", "")), 3, [2]string{}, "", 0},
		{"near their own by host", pools, web(by(near, host, "app: web", "")), 3, [2]string{}, "", 0},
		{"near their own by host and too large", pools, web(by(near, host, "app: web", "")), 5, [2]string{}, "other pods may close all nodes", 0},
		{"near their own by host beside others", pools, web(by(near, host, "app: web", "")) + of("Deployment", "db", "1", ""), 3, [2]string{}, "other pods may close all nodes", 0},
		{"near their own by host and a node less", pools, web(by(near, host, "app: web", "")), 3, [2]string{}, "may be lost", 1},
		{"near others", pools, web(by(near, zone, "app: db", "")) + of("Deployment", "db", "1", ""), 3, [2]string{}, "", 0},
		{"near others by host", pools, of("Deployment", "web", "300m", by(near, host, "app: db", "")) + of("Deployment", "db", "800m", ""), 3, [2]string{}, "", 0},
		{"near others by host that need the room", pools, of("Deployment", "web", "1", by(near, host, "app: db", "")) + of("Deployment", "db", "1", ""), 3, [2]string{}, "other pods may close all nodes", 0},
		{"near others by host that are apart", pools, of("Deployment", "web", "1", by(near, host, "app: db", "")) + of("Deployment", "db", "1", by(anti, host, "app: db", "")), 3, [2]string{}, "", 0},
		{"near others by host that may share a node", strings.Replace(pools, "max:", "labels: {rack: r}, max:", 1), of("Deployment", "web", "1", strings.Replace(by(near, host, "app: db", ""), "{podAffinity", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "+host+", labelSelector: {matchLabels: {app: web}}}]}, podAffinity", 1)) + of("Deployment", "db", "100m", ""), 2, [2]string{}, "other pods may close all nodes", 0},
		{"near others that may be in another zone", pools + "- {name: m, zones: {d: 1}, allocatable: {cpu: 500m, pods: 9}}\n", web(by(near, zone, "app: db", "")) + of("Deployment", "db", "100m", ""), 3, [2]string{}, "no node can be added where " + zone + " is d", 0},
		{"near others that do not fit", pools, web(by(near, zone, "app: db", "")) + of("Deployment", "db", "5", ""), 3, [2]string{}, "need others by", 0},
		{"near others that need them", pools, web(by(near, zone, "app: db", "")) + of("Deployment", "db", "1", by(near, zone, "app: web", "")), 3, [2]string{}, "need others by", 0},
		{"a key that nodes lack", pools, web(by(spread, rack, "app: web", "")), 3, [2]string{}, "lack", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, m := judge(t, c.pools, c.manifests)
			w := find(t, m, "web")
			err := check.Checker{}.Grows(m, w, certificate.Grown{Pods: c.pods, Spare: c.spare, Lost: c.lost})
			if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the check finds %v, want %q", err, c.want)
			}
			if yes := search.OnceGrown(m, w, certificate.Grown{Pods: c.pods, Spare: c.spare, Lost: c.lost}); yes != (c.want == "") {
				t.Errorf("the search says %t, want an error with %q", yes, c.want)
			}
		})
	}
}

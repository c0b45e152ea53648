package workload

import (
	"fmt"
	"strings"
	"testing"
)

// TestAdmission checks that an object that may change or refuse the pods of a workload is named,
// and that one that certainly does not is not named (R-P9, R-P10, R-N39).
func TestAdmission(t *testing.T) {
	t.Parallel()
	const (
		none    = "{}"
		sized   = "{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}"
		limited = "{limits: {cpu: 2, memory: 1Gi}}"
		asking  = "{requests: {cpu: 1, memory: 1Gi}}"
	)
	deployment := func(resources, spec, fields string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {" + fields + " selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, " +
			"spec: {" + spec + " containers: [{name: c, image: c, resources: " + resources + "}]}}}}"
	}
	plain := func(resources string) string { return deployment(resources, "", "replicas: 3,") }
	with := func(spec string) string { return deployment(none, spec, "") }
	limits := func(items string) string {
		return "\n---\n{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: {limits: [" + items + "]}}"
	}
	quota := func(hard string) string {
		return "\n---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: {" + hard + "}}}"
	}
	class := func(fields string) string {
		return "\n---\n{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata" + fields + "}"
	}

	hpa := "\n---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	daemons := "\n---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log, namespace: shop}, spec: {selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}}, spec: {containers: [{name: c, image: c}]}}}}"

	const l, q, k = "LimitRange shop/l", "ResourceQuota shop/q", "RuntimeClass kata"
	for what, c := range map[string]struct{ manifests, want string }{
		"nothing declared":                {plain(none), ""},
		"default request":                 {plain(none) + limits("{type: Container, defaultRequest: {cpu: 3}}"), ""},
		"requests are set":                {plain(sized) + limits("{type: Container, defaultRequest: {cpu: 3}, default: {cpu: 3}}"), ""},
		"limits are requests":             {plain(limited) + limits("{type: Container, defaultRequest: {cpu: 3}}"), ""},
		"default limit above the request": {plain(asking) + limits("{type: Container, default: {cpu: 3}}"), ""},
		"default limit below the request": {plain(asking) + limits("{type: Container, default: {cpu: 500m}}"), "containers[0].resources.requests.cpu: request of 1 cpu exceeds the default limit of 0.5"},
		"another default limit":           {plain(asking) + limits("{type: Container, default: {cpu: 3}}") + strings.Replace(limits("{type: Container, max: {cpu: 8}}"), "name: l", "name: m", 1), "LimitRange shop/m"},
		"another resource":                {plain(sized) + limits("{type: Container, defaultRequest: {ephemeral-storage: 1Gi}}"), ""},
		"another namespace":               {plain(none) + strings.Replace(limits("{type: Container, defaultRequest: {cpu: 3}}"), "shop", "data", 1), ""},
		"maximum kept":                    {plain(sized) + limits("{type: Container, max: {cpu: 2, memory: 1Gi}}"), ""},
		"maximum not kept":                {plain(sized) + limits("{type: Container, max: {cpu: 1}}"), "containers[0].resources.limits.cpu: limit of 2 cpu exceeds the maximum of 1 per container"},
		"maximum is the default":          {plain(none) + limits("{type: Container, max: {cpu: 1}}"), ""},
		"minimum kept":                    {plain(sized) + limits("{type: Container, min: {cpu: 1}}"), ""},
		"minimum not kept":                {plain(sized) + limits("{type: Container, min: {cpu: 1500m}}"), "containers[0].resources.requests.cpu: request of 1 cpu is below the minimum of 1.5 per container"},
		"ratio kept":                      {plain(sized) + limits("{type: Container, maxLimitRequestRatio: {cpu: 2}}"), ""},
		"ratio not kept":                  {plain(sized) + limits("{type: Container, maxLimitRequestRatio: {cpu: '1.5'}}"), "containers[0].resources.limits.cpu: limit of 2 cpu is more than 1.5 times the request of 1"},
		"ratio without limit":             {plain(asking) + limits("{type: Container, maxLimitRequestRatio: {cpu: 2}}"), "containers[0].resources: cpu needs a request and a limit: the limit may be at most 2 times the request"},
		"pod maximum kept":                {plain(sized) + limits("{type: Pod, max: {cpu: 2}}"), ""},
		"pod maximum not kept":            {plain(sized) + limits("{type: Pod, max: {cpu: 1}}"), "containers: total limit of 2 cpu exceeds the maximum of 1 per pod"},
		"pod maximum of nothing":          {plain(none) + limits("{type: Pod, max: {cpu: 1}}"), "containers: no limit of cpu is set: the maximum per pod is 1"},
		"claims only":                     {plain(none) + limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}"), ""},
		"variable":                        {plain(sized) + limits("{type: Container, max: {cpu: '${CPU}'}}"), l},
		"init container":                  {deployment(sized, "initContainers: [{name: i, image: i}],", "") + limits("{type: Container, defaultRequest: {cpu: 3}}"), ""},

		"two of a type":     {plain(none) + limits("{type: Container, defaultRequest: {cpu: 3}}, {type: Container, min: {memory: 1Mi}}"), l},
		"default too large": {plain(none) + limits("{type: Container, defaultRequest: {cpu: 3}, max: {cpu: 2}}"), l},

		"pods fit the quota":         {plain(none) + quota("pods: 4"), ""},
		"pods do not":                {plain(none) + quota("pods: 2"), q + "; spec.replicas: ResourceQuota q allows 2 of 3 pods"},
		"surge does not":             {plain(none) + quota("pods: 3"), "room for 3 of ResourceQuota shop/q"},
		"declared again":             {plain(none) + quota("pods: 4") + quota("pods: 4"), ""},
		"declared differently":       {plain(none) + quota("pods: 2") + quota("pods: 40"), q},
		"paused":                     {deployment(none, "", "replicas: 3, paused: true,") + quota("pods: 2"), q},
		"counted pods":               {plain(none) + quota("count/pods: 3"), "room for 3 of ResourceQuota shop/q"},
		"without surge":              {deployment(none, "", "replicas: 3, strategy: {type: Recreate},") + quota("pods: 3"), ""},
		"the maximum does not":       {plain(none) + hpa + quota("pods: 9"), "room for 9 of ResourceQuota shop/q"},
		"the maximum does":           {plain(none) + hpa + quota("pods: 12"), ""},
		"requests fit":               {plain(sized) + quota("requests.cpu: 4, memory: 4Gi, limits.cpu: 8, limits.memory: 4Gi"), ""},
		"requests do not":            {plain(sized) + quota("requests.cpu: 3"), "room for 3 of ResourceQuota shop/q"},
		"limits do not":              {plain(sized) + quota("limits.cpu: 7"), "room for 3 of ResourceQuota shop/q"},
		"requests are missing":       {plain(none) + quota("requests.cpu: 100"), "containers[0].resources: no cpu request: every container needs one, as ResourceQuota q counts requests.cpu, so every pod is rejected"},
		"unlimited":                  {plain(asking) + quota("limits.memory: 100Gi"), "containers[0].resources: no memory limit: every container needs one, as ResourceQuota q counts limits.memory, so every pod is rejected"},
		"other objects":              {plain(none) + quota("services: 1, secrets: 1, configmaps: 1, requests.storage: 1Gi, persistentvolumeclaims: 1, services.loadbalancers: 0, count/configmaps: 1"), ""},
		"other counts":               {plain(none) + quota("count/replicasets.apps: 5"), q},
		"a DaemonSet":                {plain(none) + daemons + quota("pods: 99"), q},
		"extended resources":         {plain(sized) + quota("requests.nvidia.com/gpu: 0"), ""},
		"quota of another namespace": {plain(none) + strings.Replace(quota("pods: 1"), "shop", "data", 1), ""},
		"quota variable":             {plain(none) + quota("pods: '${N}'"), q},

		"class with overhead":   {with("runtimeClassName: kata,") + class(", overhead: {podFixed: {cpu: 3}}"), ""},
		"class with a selector": {with("runtimeClassName: kata,") + class(", scheduling: {nodeSelector: {kata: 'yes'}}"), ""},
		"conflicting selector":  {with("runtimeClassName: kata, nodeSelector: {kata: 'no'},") + class(", scheduling: {nodeSelector: {kata: 'yes'}}"), k},
		"class by name only":    {with("runtimeClassName: kata,") + class(""), ""},
		"another class":         {with("runtimeClassName: gvisor,") + class(", overhead: {podFixed: {cpu: 3}}"), ""},
		"overhead by itself":    {with("overhead: {cpu: 1},"), "the plugin RuntimeClass"},
		"no class":              {with("") + class(", overhead: {podFixed: {cpu: 3}}"), ""},
	} {
		w := load(t, c.manifests)[0]
		got := []string{w.Admission}
		for _, room := range w.Quotas {
			if w.Admission != "" {
				continue // nothing is decided
			}
			if room.Least < w.Count.N+w.Rollout(w.Count.N).Surge || w.Scale != nil && room.Least < w.Scale.Max+w.Rollout(w.Scale.Max).Surge {
				got = append(got, fmt.Sprintf("room for %d of %s", room.Least, room.Name()))
			}
		}
		for _, p := range w.Problems {
			got = append(got, strings.TrimPrefix(p.Field, "spec.template.spec.")+": "+p.Message)
		}
		if got := strings.TrimPrefix(strings.Join(got, "; "), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

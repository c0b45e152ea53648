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
	scoped := func(hard, scopes string) string {
		return strings.Replace(quota(hard), "}}}", "}, "+scopes+"}}", 1)
	}
	terms := func(term string) string { return scoped("pods: 0", "scopeSelector: {matchExpressions: [{"+term+"}]}") }
	ranked := func(name string) string { return with("priorityClassName: " + name + ",") }
	class := func(fields string) string {
		return "\n---\n{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata" + fields + "}"
	}

	const (
		variable = "{requests: {cpu: '${CPU}'}}"
		refused  = "ResourceQuota shop/q; spec.replicas: ResourceQuota q allows 0 of 1 pods"
	)
	gpu := func(amounts string) string {
		return limits("{type: Container, " + strings.ReplaceAll(amounts, "gpu", "example.com/gpu") + "}")
	}
	set := func(claims string) string {
		return strings.NewReplacer("Deployment", "StatefulSet", "spec: {replicas", "spec: {volumeClaimTemplates: ["+claims+"], replicas").Replace(plain(sized))
	}
	const claim = "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
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

		"variable request":         {plain(variable) + limits("{type: Container, defaultRequest: {memory: 1Gi}}"), l},
		"limits of claims":         {set(claim) + limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}"), l},
		"no claims":                {set("") + limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}"), ""},
		"beyond thousandths":       {plain("{limits: {memory: 10Pi}}") + limits("{type: Container, max: {memory: 8Pi}}"), "containers[0].resources.limits.memory: limit of 10Pi memory exceeds the maximum of 8Pi per container"},
		"at a large maximum":       {plain("{limits: {memory: 9Pi}}") + limits("{type: Container, max: {memory: 9Pi}}"), ""},
		"only requested":           {plain(none) + gpu("defaultRequest: {gpu: 1}"), "containers[0].resources: example.com/gpu is requested by default without a limit: needs a limit equal to the request"},
		"requested, and limited":   {plain(none) + gpu("defaultRequest: {gpu: 1}, default: {gpu: 1}"), ""},
		"two defaults of a device": {plain(none) + gpu("defaultRequest: {gpu: 1}, default: {gpu: 2}"), l},
		"no such type":             {plain(none) + limits("{type: Containers, min: {cpu: 1}}"), l},
		"defaults of a pod":        {plain(sized) + limits("{type: Pod, default: {cpu: 3}}"), l},
		"default requests of one":  {plain(sized) + limits("{type: Pod, defaultRequest: {cpu: 3}}"), l},
		"no such resource":         {plain(sized) + limits("{type: Container, max: {gpu: 1}}"), l},
		"a negative minimum":       {plain(sized) + limits("{type: Container, min: {cpu: -1}}"), l},
		"ratio of 1":               {plain("{limits: {cpu: 1}}") + limits("{type: Container, maxLimitRequestRatio: {cpu: 1}}"), ""},
		"ratio below 1":            {plain("{limits: {cpu: 1}}") + limits("{type: Container, maxLimitRequestRatio: {cpu: 999m}}"), l},
		"ratio of the bounds":      {plain(sized) + limits("{type: Container, min: {cpu: 1}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: 2}}"), ""},
		"ratio beyond the bounds":  {plain(sized) + limits("{type: Container, min: {cpu: 1}, max: {cpu: 2}, maxLimitRequestRatio: {cpu: '2.5'}}"), l},
		"limits declared again":    {plain(sized) + limits("{type: Container, max: {cpu: 2}}") + limits("{type: Container, max: {cpu: 2000m}}"), ""},
		"declared with other ones": {plain(sized) + limits("{type: Container, max: {cpu: 2}}") + limits("{type: Container, max: {cpu: 3}}"), l},

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

		"a negative amount":        {plain(none) + quota("pods: -1"), q},
		"part of a pod":            {plain(none) + quota("pods: 2500m"), q},
		"part of a core":           {plain(sized) + quota("requests.cpu: 6500m"), ""},
		"no such amount":           {plain(none) + quota("pod: 1"), q},
		"amounts of no pod":        {plain(sized) + scoped("services: 1", "scopes: [NotBestEffort]"), q},
		"size of best effort":      {plain(none) + scoped("cpu: 1", "scopes: [BestEffort]"), q},
		"NotIn without values":     {ranked("high") + terms("scopeName: PriorityClass, operator: NotIn"), q},
		"Exists with values":       {ranked("high") + terms("scopeName: PriorityClass, operator: Exists, values: [high]"), q},
		"no deadline, not Exists":  {with("") + terms("scopeName: NotTerminating, operator: DoesNotExist"), q},
		"a deadline that may be":   {with("activeDeadlineSeconds: '${D}',") + terms("scopeName: Terminating, operator: Exists"), q},
		"no deadline":              {with("") + terms("scopeName: NotTerminating, operator: Exists"), refused},
		"amounts that may be":      {plain(variable) + scoped("pods: 1", "scopes: [BestEffort]"), q},
		"amounts of the pod":       {with("resources: {requests: {cpu: 1}},") + terms("scopeName: NotBestEffort, operator: Exists"), q},
		"a scope about other pods": {with("") + terms("scopeName: CrossNamespacePodAffinity, operator: Exists"), q},
		"class exists":             {ranked("high") + terms("scopeName: PriorityClass, operator: Exists"), refused},
		"class does not exist":     {with("") + terms("scopeName: PriorityClass, operator: Exists"), ""},
		"class must not exist":     {ranked("high") + terms("scopeName: PriorityClass, operator: DoesNotExist"), ""},
		"class is in":              {ranked("high") + terms("scopeName: PriorityClass, operator: In, values: [low, high]"), refused},
		"class is not in":          {ranked("high") + terms("scopeName: PriorityClass, operator: In, values: [low]"), ""},
		"class is not out":         {ranked("high") + terms("scopeName: PriorityClass, operator: NotIn, values: [low, high]"), ""},
		"class is out":             {ranked("high") + terms("scopeName: PriorityClass, operator: NotIn, values: [low]"), refused},
		"no class is out":          {with("") + terms("scopeName: PriorityClass, operator: NotIn, values: [low]"), refused},
		"a class that may be":      {ranked("'${P}'") + terms("scopeName: PriorityClass, operator: In, values: [low]"), q},
		"a default that may be":    {with("") + "\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1, globalDefault: '${G}'}" + terms("scopeName: PriorityClass, operator: In, values: [high]"), q},
		"requests of the pod":      {with("resources: {requests: {cpu: 1}},") + quota("requests.cpu: 100"), ""},
		"a request that may be":    {plain(variable) + quota("requests.cpu: 1"), q},
		"storage of claims":        {set(claim) + quota("requests.storage: 100Gi"), q},
		"storage of no claims":     {set("") + quota("requests.storage: 100Gi"), ""},
		"more than any count":      {plain("{requests: {cpu: 1n}}") + quota("requests.cpu: 9E"), ""},
		"a pod of its own":         {"{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c, image: c}]}}" + quota("pods: 0"), q + "; spec: ResourceQuota q allows 0 of 1 pods"},

		"overhead of both":      {with("runtimeClassName: kata, overhead: {cpu: 1},") + class(", overhead: {podFixed: {cpu: 3}}"), k},
		"overhead, variable":    {with("runtimeClassName: kata,") + class(", overhead: {podFixed: {cpu: '${CPU}'}}"), k},
		"selector of daemons":   {strings.Replace(strings.Replace(daemons[5:], "log", "web", -1), "containers", "runtimeClassName: kata, containers", 1) + class(", scheduling: {nodeSelector: {kata: 'yes'}}"), k},
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

// TestQuotaExceededTogether names the workloads of a namespace whose pods exceed a quota together, as
// far as the line has room for them (R-P10).
func TestQuotaExceededTogether(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		6: "Deployment w0 1, Deployment w1 1, Deployment w2 1, Deployment w3 1, Deployment w4 1, Deployment w5 1",
		7: "Deployment w0 1, Deployment w1 1, Deployment w2 1, Deployment w3 1, Deployment w4 1, Deployment w5 1, and 1 more",
	} {
		text := "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 5}}\n"
		for i := range n {
			text = docs(text, manifest(fmt.Sprintf("name: w%d", i)))
		}
		want = fmt.Sprintf("the namespace has %d pods of 5, so some are rejected: ", n) + want
		if all := loadSet(t, text).Refusals; len(all) != 1 || all[0].Problems[0].Message != want {
			t.Errorf("%d workloads: %+v, want %s", n, all, want)
		}
	}
}

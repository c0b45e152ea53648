package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

const threeNodes = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools: [{name: worker, count: 3, allocatable: {cpu: "4", memory: 16Gi, pods: "110", ephemeral-storage: 100Gi}}]
`

// guardedKind returns a workload of the given kind with the pod labels app and name. The text in
// spec precedes its selector.
func guardedKind(kind, name, spec string) string {
	return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: %s, metadata: {name: %s, namespace: shop}, spec: {%s selector: {matchLabels: {name: %[2]s}}, "+
		"template: {metadata: {labels: {name: %[2]s, app: web}}, spec: {containers: [{name: c, image: c}]}}}}\n", kind, name, spec)
}

func guard(name, spec, selector string) string {
	return fmt.Sprintf("---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: shop}, spec: {%s, selector: %s}}\n", name, spec, selector)
}

func scaler(name string, low, high int) string {
	return fmt.Sprintf("---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: %s, namespace: shop}, "+
		"spec: {minReplicas: %d, maxReplicas: %d, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}}}\n", name, low, high)
}

// TestBudgetsOfDrains checks drains that a budget refuses, allows, or refuses at some sizes of an
// autoscaler, and drains for which this is unknown. An unknown budget never counts as allowing a
// drain (R-W19).
func TestBudgetsOfDrains(t *testing.T) {
	t.Parallel()
	const app, third = "{matchLabels: {app: web}}", "replicas: 3,"
	exists := func(op string) string { return "{matchExpressions: [{key: pod-template-hash, operator: " + op + "}]}" }
	label := func(key, value string) string { return "{matchLabels: {" + key + ": '" + value + "'}}" }
	web, db, log := guardedKind("Deployment", "web", third), guardedKind("StatefulSet", "web", third), guardedKind("DaemonSet", "log", "")
	hpa := func(low, high int) string { return guardedKind("Deployment", "web", "") + scaler("web", low, high) }
	job := "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: job, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}\n"
	bare := "---\n{apiVersion: v1, kind: Pod, metadata: {name: bare, namespace: shop, labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}\n"
	owned := strings.Replace(bare, "labels:", "ownerReferences: [{apiVersion: example.com/v1, kind: Set, name: x, uid: u, controller: true}], labels:", 1)
	big := strings.Replace(guardedKind("Deployment", "big", ""), "image: c", "image: c, resources: {requests: {cpu: 9}}", 1)
	const index, name = "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"
	for what, c := range map[string]struct {
		workloads, budgets, want string
	}{
		"no budget":                           {web, "", "always"},
		"allows one":                          {web, guard("b", "maxUnavailable: 1", app), "always 1..1"},
		"allows none":                         {web, guard("b", "minAvailable: 3", app), "never 0..0"},
		"no number":                           {web, guard("b", "minAvailable: null", app), "never 0..0"},
		"daemons are healthy":                 {web + log, guard("b", "minAvailable: 5", app), "always 1..1"},
		"all with daemons":                    {web + log, guard("b", "minAvailable: 6", app), "never 0..0"},
		"daemons have no scale":               {web + log, guard("b", "maxUnavailable: 1", app), "never 0..0 no scale"},
		"not even of none":                    {web + log, guard("b", "minAvailable: 0%", app), "never 0..0 no scale"},
		"revision":                            {web, guard("b", "maxUnavailable: 0", exists("Exists")), "never 0..0"},
		"no revision":                         {web, guard("b", "maxUnavailable: 0", exists("DoesNotExist")), "always"},
		"one revision":                        {web, guard("b", "maxUnavailable: 0", label("pod-template-hash", "5d4f8c6b7c")), "unknown other-disruption-budget"},
		"no hash":                             {web, guard("b", "maxUnavailable: 0", label("pod-template-hash", "a-b")), "always"},
		"zone of the node":                    {web, guard("b", "maxUnavailable: 0", label("topology.kubernetes.io/zone", "a")), "unknown other-disruption-budget"},
		"first pod":                           {db, guard("b", "minAvailable: 1", label(index, "0")), "never 0..0"},
		"no such pod":                         {db, guard("b", "minAvailable: 1", label(index, "3")), "always"},
		"last pod":                            {guardedKind("StatefulSet", "web", third+" ordinals: {start: 1},"), guard("b", "minAvailable: 1", label(index, "3")), "never 0..0"},
		"start unknown":                       {guardedKind("StatefulSet", "web", third+" ordinals: {start: '${N}'},"), guard("b", "minAvailable: 1", label(index, "3")), "unknown other-disruption-budget"},
		"two of three":                        {db, guard("b", "minAvailable: 1", "{matchExpressions: [{key: "+index+", operator: In, values: ['0', '2']}]}"), "always 1..1"},
		"all but one":                         {db, guard("b", "minAvailable: 2", "{matchExpressions: [{key: "+index+", operator: NotIn, values: ['0']}]}"), "never 0..0"},
		"every number":                        {db, guard("b", "maxUnavailable: 1", "{matchExpressions: [{key: "+index+", operator: Exists}]}"), "always 1..1"},
		"one expects three":                   {db, guard("b", "maxUnavailable: 1", label(name, "web-0")), "never 0..0"},
		"none of three is expected":           {db, guard("b", "maxUnavailable: 3", label(name, "web-0")), "always 1..1"},
		"too many to tell apart":              {guardedKind("StatefulSet", "web", "replicas: 99,"), guard("b", "minAvailable: 1", label(index, "0")), "unknown other-disruption-budget"},
		"one budget each":                     {db, guard("b", "minAvailable: 0", label(name, "web-0")) + guard("c", "minAvailable: 0", label(name, "web-1")), "always 1..1 1..1"},
		"two of one pod":                      {db, guard("b", "minAvailable: 0", label(name, "web-0")) + guard("c", "minAvailable: 0", label(index, "0")), "never 1..1 1..1"},
		"two":                                 {web, guard("b", "maxUnavailable: 1", app) + guard("c", "maxUnavailable: 1", app), "never 1..1 1..1"},
		"perhaps two":                         {web, guard("b", "maxUnavailable: 1", app) + guard("c", "maxUnavailable: 1", label("app", "${X}")), "unknown other-disruption-budget 1..1"},
		"one of them twice":                   {web, guard("b", "maxUnavailable: 1", app) + guard("c", "maxUnavailable: 1", app) + guard("c", "maxUnavailable: 2", app), "unknown other-disruption-budget 1..1 2..2"},
		"variable":                            {web, guard("b", "minAvailable: '${MIN}'", app), "unknown disruption-budget"},
		"variable of others":                  {web, guard("b", "minAvailable: '${MIN}'", label("app", "api")), "always"},
		"open selector":                       {web, guard("b", "maxUnavailable: 0", label("app", "${APP}")), "unknown other-disruption-budget"},
		"open namespace":                      {web, strings.Replace(guard("b", "maxUnavailable: 0", app), "namespace: shop", "namespace: '${NS}'", 1), "unknown other-disruption-budget"},
		"refused":                             {web, guard("b", "minAvailable: 1, maxUnavailable: 1", app), "unknown disruption-budget"},
		"jobs have no scale":                  {web + job, guard("b", "maxUnavailable: 1", app), "unknown disruption-budget 0..1"},
		"enough without the job":              {web + job, guard("b", "minAvailable: 1", app), "always 2..3"},
		"too few even with the job":           {web + job, guard("b", "minAvailable: 4", app), "never 0..0"},
		"perhaps with the job":                {web + job, guard("b", "minAvailable: 3", app), "unknown disruption-budget 0..1"},
		"a bare pod is not expected":          {web + bare, guard("b", "maxUnavailable: 1", app), "always 1..2"},
		"the owner of a pod may have a scale": {web + owned, guard("b", "maxUnavailable: 1", app), "unknown disruption-budget 0..2"},
		"others do not fit":                   {web + big, guard("b", "maxUnavailable: 1", app), "unknown disruption-budget 1..1"},
		"number of others unknown":            {web + guardedKind("Deployment", "api", "replicas: '${N}',"), guard("b", "maxUnavailable: 1", app), "unknown disruption-budget 0..1"},
		"needs others":                        {web + guardedKind("Deployment", "api", "replicas: '${N}',"), guard("b", "minAvailable: 3", app), "unknown disruption-budget 0.."},
		"small":                               {hpa(2, 10), guard("b", "minAvailable: 3", app), "sometimes up to 3 0..7"},
		"small share":                         {hpa(2, 10), guard("b", "minAvailable: 80%", app), "sometimes up to 4 0..2"},
		"every size":                          {hpa(2, 3), guard("b", "minAvailable: 3", app), "never 0..0"},
		"no size":                             {hpa(2, 10), guard("b", "minAvailable: 1", app), "always 1..9"},
		"any share":                           {hpa(2, 10), guard("b", "maxUnavailable: 25%", app), "always 1..3"},
		"together": {hpa(2, 10) + guardedKind("Deployment", "api", "") + scaler("api", 1, 10) + guardedKind("Deployment", "fixed", "replicas: 2,"),
			guard("b", "minAvailable: 6", app), "sometimes up to 4 0..16"},
		"small beside the open": {hpa(2, 10) + guardedKind("Deployment", "api", "replicas: '${N}',"), guard("b", "minAvailable: 3", app), "unknown disruption-budget 0.."},
	} {
		m, set := models.Of(t, threeNodes, c.workloads+c.budgets)
		j := disruption.New(m, set, search.Options{Steps: 400_000})
		w := find(t, m, "web")
		d := j.Drain(w)
		got := string(d.Answer)
		if d.Why.Given() {
			got += " " + string(d.Why.Cause)
		}
		if (d.Answer == diag.Never || d.Answer == diag.Sometimes) && len(d.Budgets) == 0 {
			t.Errorf("%s: %s without a budget that refuses", what, d.Answer)
		}
		if d.Answer == diag.Sometimes {
			got += fmt.Sprintf(" up to %d", d.Budgets[0].UpTo)
		}
		for _, b := range j.BudgetsOf(w) {
			got += fmt.Sprintf(" %d..%d", b.AllowedMin, b.AllowedMax)
			if got = strings.TrimSuffix(got, fmt.Sprint(disruption.Unbounded)); b.Unscaled != nil {
				got += " no scale"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestBudgetsWithoutReplicas checks budgets that need a number of replicas and select only pods without
// one (R-W32). A budget that says that no pod may be evicted means it, and stays as it is.
func TestBudgetsWithoutReplicas(t *testing.T) {
	t.Parallel()
	const app = "{matchLabels: {app: web}}"
	pod := "---\n{apiVersion: v1, kind: Pod, metadata: {name: bare, namespace: shop, labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}\n"
	owned := strings.Replace(pod, "labels:", "ownerReferences: [{apiVersion: example.com/v1, kind: Set, name: x, uid: u, controller: true}], labels:", 1)
	batch := func(kind, spec string) string {
		return "---\n{apiVersion: batch/v1, kind: " + kind + ", metadata: {name: batch, namespace: shop}, spec: " + spec + "}\n"
	}
	template := "template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}"
	job := batch("Job", "{parallelism: 2, completions: 2, "+template+"}")
	for what, c := range map[string]struct {
		workloads, amount string
		refuses           bool
	}{
		"a Job":                   {job, "maxUnavailable: 1", true},
		"a share of a Job":        {job, "maxUnavailable: 20%", true},
		"a CronJob":               {batch("CronJob", "{schedule: 0 3 * * *, jobTemplate: {spec: {"+template+"}}}"), "minAvailable: 50%", true},
		"a bare pod":              {pod, "maxUnavailable: 1", true},
		"both":                    {pod + job, "maxUnavailable: 1", true},
		"a number of pods":        {pod + job, "minAvailable: 1", false},
		"meant":                   {job, "maxUnavailable: 0", false},
		"all of them":             {job, "minAvailable: 100%", false},
		"without pods":            {batch("Job", "{parallelism: 0, "+template+"}"), "maxUnavailable: 1", false},
		"parallelism not known":   {batch("Job", "{parallelism: '${N}', "+template+"}"), "maxUnavailable: 1", false},
		"beside a Deployment":     {job + guardedKind("Deployment", "web", ""), "maxUnavailable: 1", false},
		"owner may have replicas": {owned, "maxUnavailable: 1", false},
		"beside such a pod":       {owned + job, "maxUnavailable: 1", false},
	} {
		m, set := models.Of(t, threeNodes, c.workloads+guard("b", c.amount, app))
		for _, b := range disruption.New(m, set, search.Options{Steps: 400_000}).Budgets() {
			if got := b.Evicts && b.AllowedMax == 0 && b.Unscaled != nil; got != c.refuses {
				t.Errorf("%s: %t, %d..%d", what, got, b.AllowedMin, b.AllowedMax)
			}
		}
	}
}

// TestBudgetsElsewhere checks that a budget in files that need not be deployed together may guard
// a workload, unless these files also declare the workload, or another environment.
func TestBudgetsElsewhere(t *testing.T) {
	t.Parallel()
	web, budget := guardedKind("Deployment", "web", "replicas: 3,"), guard("b", "maxUnavailable: 0", "{matchLabels: {app: web}}")
	for what, c := range map[string]struct {
		objects, elsewhere string
		alternatives       bool
		want               diag.Outcome
	}{
		"alone":               {web, budget, false, diag.Unknown},
		"other pods":          {web, strings.ReplaceAll(budget, "app: web", "app: api"), false, diag.Always},
		"with the workload":   {web, web + budget, false, diag.Always},
		"in an environment":   {web, budget, true, diag.Always},
		"its own":             {web + budget, web + budget, false, diag.Never},
		"with others":         {web + guard("b", "minAvailable: 2", "{matchLabels: {app: web}}"), guardedKind("Deployment", "api", ""), false, diag.Always},
		"perhaps with others": {web + guard("b", "minAvailable: 3", "{matchLabels: {app: web}}"), guardedKind("Deployment", "api", ""), false, diag.Unknown},
		"with its twin":       {web + guard("b", "minAvailable: 3", "{matchLabels: {app: web}}"), web, false, diag.Never},
	} {
		elsewhere := models.Objects(t, c.elsewhere)
		set := workload.NewReader(workload.NewTable()).Load(models.Objects(t, c.objects), elsewhere)
		if c.alternatives {
			set.Alternatives = map[*source.Object]bool{}
			for _, o := range elsewhere {
				set.Alternatives[o] = true
			}
		}
		nodes, err := topology.Load(models.Objects(t, threeNodes))
		if err != nil {
			t.Fatal(err)
		}
		m := sched.New(set, nodes)
		m.Scale(1, 1)
		j := disruption.New(m, set, search.Options{Steps: 400_000})
		if got := j.Drain(find(t, m, "web")).Answer; got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	quotapods "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/workload"
)

// bins holds the quotas of a namespace and what is used of them.
type bins []corev1.ResourceQuota

// create creates up to most pods and returns how many the admission plugin admits.
func (b *bins) create(t *testing.T, pod *core.Pod, most int) int {
	t.Helper()
	evaluator := quotapods.NewPodEvaluator(nil, clock.RealClock{})
	for n := range most {
		attributes := admission.NewAttributesRecord(pod, nil, core.Kind("Pod").WithVersion("v1"), pod.Namespace, pod.Name,
			core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
		used, err := resourcequota.CheckRequest(*b, attributes, evaluator, nil)
		if err != nil {
			return n
		}
		*b = used
	}
	return most
}

// TestQuotas holds what schedlint says about ResourceQuotas against the admission plugin, with the
// pods created in several orders. Where schedlint gives no verdict, nothing is compared.
func TestQuotas(t *testing.T) {
	decided, short, none, rooms, contested := 0, 0, 0, 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 3000)) {
		r := rand.New(rand.NewPCG(uint64(i), 92))
		chance := func(percent int) bool { return r.IntN(100) < percent }
		amounts := func(percent int, factor int, names ...string) string {
			var all []string
			for _, name := range names {
				if !chance(percent) {
					continue
				}
				n := factor * (1 + r.IntN(4))
				amount := fmt.Sprintf("%dm", 250*n)
				switch {
				case strings.Contains(name, "memory"), strings.Contains(name, "storage"):
					amount = fmt.Sprintf("%dMi", 100*n)
				case strings.Contains(name, "dongle"):
					amount = fmt.Sprint(n)
				case strings.HasSuffix(name, "pods"):
					amount = fmt.Sprint(r.IntN(10))
				}
				all = append(all, fmt.Sprintf("%s: %q", name, amount))
			}
			return "{" + strings.Join(all, ", ") + "}"
		}
		scope := []string{"", "", "", "", "", "", "scopes: [BestEffort], ", "scopes: [NotBestEffort], ", "scopes: [Terminating], ", "scopes: [NotTerminating], ",
			"scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}, ",
			"scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [high]}]}, ",
			"scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}, ",
			"scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}, "}
		manifests := "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 5\n---\n"
		var quotas []string
		for k := range 1 + r.IntN(2) {
			quotas = append(quotas, fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q%d, namespace: d}\nspec: {%shard: %s}\n", k, scope[r.IntN(len(scope))],
				amounts(25, 1+r.IntN(8), "cpu", "requests.cpu", "limits.cpu", "memory", "requests.memory", "limits.memory", "requests.ephemeral-storage", "requests.example.com/dongle", "pods", "count/pods", "services")))
			manifests += quotas[k] + "---\n"
		}
		type set struct {
			name     string
			replicas int
			pod      *core.Pod
		}
		var sets []set
		for k := range 1 + r.IntN(3) {
			container := func(name string) string {
				dongles := ""
				if chance(15) {
					dongles = "example.com/dongle: 1"
				}
				with := func(list string) string {
					if dongles == "" || list == "{}" {
						return strings.Replace(list, "{}", "{"+dongles+"}", 1)
					}
					return strings.TrimSuffix(list, "}") + ", " + dongles + "}"
				}
				requests := amounts(60, 1, "cpu", "memory", "ephemeral-storage")
				limits := amounts(40, 4, "cpu", "memory")
				return fmt.Sprintf("{name: %s, image: c, resources: {requests: %s, limits: %s}}", name, with(requests), with(limits))
			}
			spec := "{"
			if chance(30) {
				spec += "priorityClassName: high, "
			}
			if chance(15) {
				spec += "activeDeadlineSeconds: 60, "
			}
			if chance(20) {
				spec += "initContainers: [" + strings.Replace(container("i"), "{name: i", []string{"{name: i", "{restartPolicy: Always, name: i"}[r.IntN(2)], 1) + "], "
			}
			spec += "containers: [" + container("c")
			if chance(25) {
				spec += ", " + container("e")
			}
			spec += "]}"
			s := set{fmt.Sprintf("w%d", k), 1 + r.IntN(4), &core.Pod{}}
			manifests += fmt.Sprintf("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %[1]s, namespace: d}\nspec: {replicas: %[2]d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: %[3]s}}\n---\n", s.name, s.replicas, spec)
			draft := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d"}}
			if err := yaml.Unmarshal([]byte(spec), &draft.Spec); err != nil {
				t.Fatal(err)
			}
			legacyscheme.Scheme.Default(draft)
			if err := legacyscheme.Scheme.Convert(draft, s.pod, nil); err != nil {
				t.Fatal(err)
			}
			sets = append(sets, s)
		}
		ours, err := NewOurs("", manifests)
		if err != nil {
			t.Fatal(err)
		}
		var cluster bins
		for _, text := range quotas {
			q, internal := corev1.ResourceQuota{}, &core.ResourceQuota{}
			if err := yaml.Unmarshal([]byte(text), &q); err != nil {
				t.Fatal(err)
			}
			if err := legacyscheme.Scheme.Convert(&q, internal, nil); err != nil {
				t.Fatal(err)
			}
			if len(validation.ValidateResourceQuota(internal)) > 0 {
				continue // it never gets into the cluster
			}
			q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{}}
			for name := range q.Spec.Hard {
				q.Status.Used[name] = corev1.ResourceList{}[name]
			}
			cluster = append(cluster, q)
		}
		refused := func(w *workload.Workload) bool {
			return slices.ContainsFunc(w.Problems, func(p workload.Problem) bool { return p.Stage != workload.StageQuota })
		}
		if slices.ContainsFunc(sets, func(s set) bool { return refused(ours.Workloads["ReplicaSet d/"+s.name]) }) {
			continue // for another reason
		}
		sum := slices.ContainsFunc(ours.Refusals, func(r workload.Refusal) bool { return r.Object.Kind == "ResourceQuota" })
		all := true
		for range 4 {
			now, created, wanted := slices.Clone(cluster), 0, 0
			r.Shuffle(len(sets), func(a, b int) { sets[a], sets[b] = sets[b], sets[a] })
			for k, s := range sets {
				w := ours.Workloads["ReplicaSet d/"+s.name]
				n := now.create(t, s.pod, s.replicas)
				created, wanted = created+n, wanted+s.replicas
				all = all && n == s.replicas
				some := slices.ContainsFunc(w.Problems, func(p workload.Problem) bool { return p.Some })
				switch {
				case w.Refused() && n > 0, some && n == s.replicas:
					t.Fatalf("case %d: %d pods of %s created, but %v\n%s", i, n, s.name, w.Problems, manifests)
				case some && !w.Refused() && k == 0 && n == 0:
					t.Fatalf("case %d: no pod of %s created, but %v\n%s", i, s.name, w.Problems, manifests)
				case !w.Refused() && !some && w.Admission == "" && n < s.replicas:
					t.Fatalf("case %d: only %d pods of %s created\n%s", i, n, s.name, manifests)
				}
				decided++
				if w.Refused() {
					none++
				} else if some {
					short++
				}
			}
			if sum && created == wanted {
				t.Fatalf("case %d: all pods created, but %v\n%s", i, ours.Refusals, manifests)
			}
			for _, s := range sets {
				c, fresh, then := ours.Workloads["ReplicaSet d/"+s.name].Contested, slices.Clone(cluster), slices.Clone(cluster)
				if c == nil {
					continue
				}
				for _, f := range c.First {
					o := sets[slices.IndexFunc(sets, func(o set) bool { return o.name == f.Object.Name })]
					if n := then.create(t, o.pod, f.Pods); n < f.Pods {
						t.Fatalf("case %d: %d of %d pods of %s created first\n%s", i, n, f.Pods, o.name, manifests)
					}
				}
				if before, after := fresh.create(t, s.pod, s.replicas), then.create(t, s.pod, s.replicas); before < s.replicas || after != c.Pods || after == before {
					t.Fatalf("case %d: %d pods of %s created before others and %d after them, want %d\n%s", i, before, s.name, after, c.Pods, manifests)
				}
				contested++
			}
			if !all {
				continue
			}
			for _, s := range sets {
				w, beside := ours.Workloads["ReplicaSet d/"+s.name], slices.Clone(now)
				if w.Admission != "" {
					continue
				}
				least := 2 * s.replicas
				for _, room := range w.Quotas {
					if room.Least > room.Most {
						t.Fatalf("case %d: %v\n%s", i, room, manifests)
					}
					least = min(least, room.Least)
				}
				if n := s.replicas + beside.create(t, s.pod, s.replicas); n != least {
					t.Fatalf("case %d: room for %d pods of %s, want %d\n%s", i, least, s.name, n, manifests)
				}
				rooms++
			}
		}
	}
	t.Logf("%d orders of workloads compared: %d without pods, %d with some, %d rooms, %d contested", decided, none, short, rooms, contested)
	if none < trials.Share(t, 20) || short < trials.Share(t, 20) || rooms < trials.Share(t, 20) || contested < trials.Share(t, 20) {
		t.Error("too few cases are decided")
	}
}

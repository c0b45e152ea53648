package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/pod-security-admission/admission"
	psaconfig "k8s.io/pod-security-admission/admission/api"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/workload"
)

// noMetrics discards what the plugin records.
type noMetrics struct{}

func (noMetrics) RecordEvaluation(metrics.Decision, api.LevelVersion, metrics.Mode, api.Attributes) {
}
func (noMetrics) RecordExemption(api.Attributes)   {}
func (noMetrics) RecordError(bool, api.Attributes) {}

// space is the only Namespace of a cluster.
type space struct{ *corev1.Namespace }

func (s space) GetNamespace(context.Context, string) (*corev1.Namespace, error) {
	return s.Namespace, nil
}

// insecure lists fields of a security context, of a pod spec and of a container that may violate a
// level, each with some values.
var (
	insecureContext = map[string][]string{
		"runAsNonRoot": {"true", "false", "null"}, "runAsUser": {"0", "1000", "null"},
		"seccompProfile":  {"{type: RuntimeDefault}", "{type: Localhost, localhostProfile: a}", "{type: Unconfined}", "{}", "null"},
		"appArmorProfile": {"{type: RuntimeDefault}", "{type: Unconfined}", "{type: ''}", "null"},
		"seLinuxOptions":  {"{}", "{type: container_t}", "{type: container_engine_t}", "{type: container_engine_t, level: s0}", "{type: spc_t}", "{user: a}", "{role: a}", "{level: s0}"},
		"windowsOptions":  {"{}", "{hostProcess: true}", "{hostProcess: false}"},
	}
	insecurePod = map[string][]string{
		"hostNetwork": {"true", "false"}, "hostPID": {"true", "false"}, "hostIPC": {"true", "null"}, "hostUsers": {"false", "false", "true"},
		"os": {"{name: windows}", "{name: linux}"},
		"volumes": {"[{name: a, hostPath: {path: /}}]", "[{name: a}]", "[{name: a, emptyDir: {}}, {name: b, nfs: {server: s, path: /}}]", "[{name: a, image: {reference: a}}]",
			"[{name: a, ephemeral: {volumeClaimTemplate: {spec: {}}}}]", "[{name: a, flexVolume: {driver: a}}]", "[{name: a, iscsi: null, secret: {}}]"},
	}
	insecureContainer = map[string][]string{
		"ports":         {"[{containerPort: 80, hostPort: 80}]", "[{containerPort: 80}, {containerPort: 81, hostPort: 0}]"},
		"livenessProbe": {"{httpGet: {port: 80}}", "{httpGet: {port: 80, host: a}}", "{tcpSocket: {port: 80, host: a}}", "{httpGet: {port: 80, host: ''}}"},
		"startupProbe":  {"{tcpSocket: {port: 80, host: 127.0.0.1}}"}, "readinessProbe": {"{tcpSocket: {port: 80}}", "{httpGet: {port: 80, host: a}}"},
		"lifecycle": {"{postStart: {httpGet: {port: 80, host: a}}}", "{preStop: {tcpSocket: {port: 80, host: a}}}", "{preStop: {sleep: {seconds: 1}}}"},
	}
	insecureOwn = map[string][]string{
		"privileged": {"true", "false"}, "procMount": {"Default", "Unmasked", "null"}, "allowPrivilegeEscalation": {"true", "false", "null"},
		"capabilities": {"{drop: [ALL]}", "{drop: [all]}", "{drop: [NET_RAW]}", "{drop: [CHOWN, ALL], add: [NET_BIND_SERVICE]}", "{drop: [ALL], add: [CHOWN]}",
			"{add: [SYS_ADMIN]}", "{add: [CAP_CHOWN]}", "{}", "null"},
	}
	insecureAnnotations = map[string][]string{
		"container.apparmor.security.beta.kubernetes.io/c": {"runtime/default", "localhost/a", "unconfined", "''"},
		"seccomp.security.alpha.kubernetes.io/pod":         {"runtime/default", "unconfined", "localhost/a", "''"},
		"container.seccomp.security.alpha.kubernetes.io/c": {"docker/default", "unconfined"},
		"container.seccomp.security.alpha.kubernetes.io/z": {"unconfined"},
	}
	sysctls = []string{"kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_rmem", "net.ipv4.tcp_notsent_lowat", "kernel.msgmax"}
)

// TestPodSecurity compares the verdicts on Pod Security with those of the admission plugin.
func TestPodSecurity(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	decided, rejected := 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 5000)) {
		r := rand.New(rand.NewPCG(uint64(i), 92))
		chance := func(percent int) bool { return r.IntN(100) < percent }
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		set := func(fields map[string]string, from map[string][]string, percent int) {
			for _, name := range slices.Sorted(maps.Keys(from)) {
				if chance(percent) {
					fields[name] = pick(from[name]...)
				}
			}
		}
		text := func(fields map[string]string) string {
			var all []string
			for name, value := range fields {
				all = append(all, name+": "+value)
			}
			slices.Sort(all)
			return "{" + strings.Join(all, ", ") + "}"
		}
		rate, hardened := r.IntN(8), chance(70)
		context := map[string]string{}
		if hardened {
			context = map[string]string{"runAsNonRoot": "true", "seccompProfile": "{type: RuntimeDefault}"}
		}
		set(context, insecureContext, rate)
		if chance(rate) {
			context["sysctls"] = "[{name: " + pick(sysctls...) + ", value: '1'}, {name: " + pick(sysctls...) + ", value: '1'}]"
		}
		containers := func(names ...string) string {
			var all []string
			for _, name := range names {
				own, container := map[string]string{}, map[string]string{"name": name, "image": "c"}
				if hardened {
					own = map[string]string{"allowPrivilegeEscalation": "false", "capabilities": "{drop: [ALL]}"}
				}
				set(own, insecureOwn, rate)
				set(own, insecureContext, rate/2)
				set(container, insecureContainer, rate/2)
				if len(own) > 0 || chance(30) {
					container["securityContext"] = text(own)
				}
				all = append(all, text(container))
			}
			return "[" + strings.Join(all, ", ") + "]"
		}
		spec := map[string]string{"containers": containers([]string{"c", "d"}[:1+r.IntN(2)]...)}
		if chance(25) {
			spec["initContainers"] = containers("i")
		}
		set(spec, insecurePod, rate)
		for _, field := range [][2]string{{"hostUsers", "false"}, {"os", "{name: windows}"}} { // these lift checks
			if chance(15) {
				spec[field[0]] = field[1]
			}
		}
		if len(context) > 0 || chance(30) {
			spec["securityContext"] = text(context)
		}
		annotations, labels := map[string]string{}, map[string]string{}
		set(annotations, insecureAnnotations, rate)
		if chance(95) {
			labels[workload.Enforce] = pick("baseline", "restricted", "restricted")
			if chance(8) {
				labels[workload.Enforce] = pick("privileged", "strict", "''")
			}
		}
		if chance(60) {
			changed := []int{8, 19, 22, 23, 25, 27, 29, 31, 32, 34, 35, 40} // releases that changed a check
			labels[workload.Enforce+"-version"] = fmt.Sprintf("v1.%d", changed[r.IntN(len(changed))]-r.IntN(2))
			if chance(15) {
				labels[workload.Enforce+"-version"] = pick("latest", "v1.0", "v1.01", "'1.30'", "v1.x", "''", "v1.+3")
			}
		}
		if chance(10) {
			labels["pod-security.kubernetes.io/warn"] = "restricted"
		}
		namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: d, labels: " + text(labels) + "}}"
		manifest := "{metadata: {name: p, namespace: d, annotations: " + text(annotations) + "}, spec: " + text(spec) + "}"
		name, object := "Pod d/p", "{apiVersion: v1, kind: Pod, "+manifest[1:]
		if chance(50) {
			name, object = "ReplicaSet d/p", "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: p, namespace: d}, spec: {selector: {matchLabels: {a: b}}, template: "+
				strings.Replace(manifest, "annotations:", "labels: {a: b}, annotations:", 1)+"}}"
		}
		ours, err := NewOurs("", namespace+"\n---\n"+object+"\n")
		if err != nil {
			t.Fatalf("%v\n%s", err, object)
		}
		w := ours.Workloads[name]
		if w.Admission != "" {
			continue
		}
		decided++
		refused := slices.ContainsFunc(w.Problems, func(p workload.Problem) bool { return p.By != nil })
		pod, ns := &corev1.Pod{}, &corev1.Namespace{}
		if err := yaml.UnmarshalStrict([]byte(manifest), pod); err != nil {
			t.Fatalf("%v\n%s", err, manifest)
		}
		if err := yaml.Unmarshal([]byte(namespace), ns); err != nil {
			t.Fatal(err)
		}
		legacyscheme.Scheme.Default(pod)
		plugin := admission.Admission{Configuration: &psaconfig.PodSecurityConfiguration{Defaults: psaconfig.PodSecurityDefaults{
			Enforce: "privileged", EnforceVersion: "latest", Audit: "privileged", AuditVersion: "latest", Warn: "privileged", WarnVersion: "latest",
		}}, Evaluator: evaluator, Metrics: noMetrics{}, NamespaceGetter: space{ns}}
		if err := plugin.CompleteConfiguration(); err != nil {
			t.Fatal(err)
		}
		response := plugin.ValidatePod(t.Context(), &api.AttributesRecord{Name: "p", Namespace: "d", Kind: corev1.SchemeGroupVersion.WithKind("Pod"),
			Resource: corev1.SchemeGroupVersion.WithResource("pods"), Operation: admissionv1.Create, Object: pod})
		if response.Allowed == refused {
			message := ""
			if response.Result != nil {
				message = response.Result.Message
			}
			t.Errorf("case %d: admitted: %v, we say refused: %v\n%s\n%s\n%s\n%v", i, response.Allowed, refused, message, namespace, object, w.Problems)
		}
		if refused {
			rejected++
		}
	}
	t.Logf("%d compared, %d of them rejected", decided, rejected)
	if decided < trials.Share(t, 80) || rejected < trials.Share(t, 20) || decided-rejected < trials.Share(t, 20) {
		t.Error("too few cases tell anything")
	}
}

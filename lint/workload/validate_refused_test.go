package workload

import (
	"fmt"
	"strings"
	"testing"
)

// named returns a frame for the metadata of one kind.
func named(kind, meta string) string {
	version, spec := "apps/v1", "{selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}}"
	switch kind {
	case "Pod":
		version, spec = "v1", "{containers: [{name: c, image: i}]}"
	case "Job":
		version, spec = "batch/v1", "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"
	case "CronJob":
		version, spec = "batch/v1", "{schedule: '@daily', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}"
	case "VirtualMachine":
		version, spec = "kubevirt.io/v1", "{runStrategy: Always, template: {spec: {domain: {}}}}"
	}
	return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  " + meta + "\nspec: " + spec + "\n"
}

// TestValidateNames covers R-V39.
func TestValidateNames(t *testing.T) {
	long := strings.Repeat("a", 53)
	check(t, asIs, []row{
		{"upper case", named("Deployment", "name: myApp # here"), StageObject, "metadata.name", `name is "myApp": must be at most 253 lowercase letters`},
		{"underscore", named("Pod", "name: my_app # here"), StageObject, "metadata.name", `name is "my_app"`},
		{"custom resource", named("VirtualMachine", "name: My-VM # here"), StageObject, "metadata.name", `name is "My-VM"`},
		{"dots", named("DaemonSet", "name: a.b.c"), "", "", ""},
		{"dots in a StatefulSet", named("StatefulSet", "name: a.b # here"), StageObject, "metadata.name", "must be at most 63 lowercase letters, digits and '-'"},
		{"long CronJob", named("CronJob", "name: "+long+" # here"), StageObject, "metadata.name", "name has 53 characters: must be no more than 52"},
		{"long Job", named("Job", "name: "+strings.Repeat("a", 64)+" # here"), StageObject, "metadata.name", "name has 64 characters: must be no more than 63"},
		{"long Deployment", named("Deployment", "name: "+strings.Repeat("a", 64)), "", "", ""},
		{"number", named("Deployment", "name: 8080 # here"), StageObject, "metadata.name", "expected a string, found the number 8080"},
		{"namespace", named("Deployment", "name: a\n  namespace: Team_A # here"), StageObject, "metadata.namespace", `namespace is "Team_A"`},
		{"generateName", named("Job", "generateName: run-"), "", "", ""},
		{"generateName of upper case", named("Job", "generateName: Run- # here"), StageObject, "metadata.generateName", `generateName is "Run-"`},
		{"long generateName", named("CronJob", "generateName: "+strings.Repeat("a", 48)+" # here"), StageObject, "metadata.generateName", "generateName has 48 characters: must be no more than 47"},
		{"longest generateName", named("CronJob", "generateName: "+strings.Repeat("a", 47)), "", "", ""},
	})
	for _, name := range []string{`"${NAME}"`, `"{{ .Release.Name }}-web"`, "<NAME>", `"@NAME@"`, `"%NAME%-web"`, "RELEASE-NAME-web", "my-CLUSTER_NAME", "__name__", "$(NAME)-a"} {
		check(t, asIs, []row{{"placeholder " + name, named("Deployment", "name: "+name), "", "", ""}})
	}
}

// TestNamesRespelt checks that names are fixed by the smallest change.
func TestNamesRespelt(t *testing.T) {
	for _, row := range []struct{ kind, meta, want string }{
		{"Deployment", "name: my_App", "write name: my-app"},
		{"Deployment", "name: My.App", "write name: my.app"},
		{"StatefulSet", "name: My.App", "write name: my-app"},
		{"Deployment", "name: -web-", "write name: web"},
		{"Job", "generateName: my_run-", "write generateName: my-run-"},
		{"Deployment", "name: ____", ""},
	} {
		for _, p := range load(t, named(row.kind, row.meta))[0].Problems {
			if p.Fix != row.want {
				t.Errorf("%s: got %q, want %q", row.meta, p.Fix, row.want)
			}
		}
	}
}

// TestValidateContainerNames checks that container names must be DNS labels.
func TestValidateContainerNames(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{image: i, @}]"
	check(t, asIs, []row{
		{"underscore", strings.Replace(pod, "@", "name: my_app", 1) + " # here", StageObject, "spec.containers[0].name", `name is "my_app": must be at most 63`},
		{"upper case", strings.Replace(pod, "@", "name: App", 1) + " # here", StageObject, "spec.containers[0].name", `name is "App"`},
		{"dot", strings.Replace(pod, "@", "name: a.b", 1) + " # here", StageObject, "spec.containers[0].name", `name is "a.b"`},
		{"missing", strings.Replace(pod, "@", "command: [a]", 1) + " # here", StageObject, "spec.containers[0].name", "the container has no name"},
		{"twice", strings.Replace(pod, "@", "name: a}, {name: b}, {name: a", 1) + " # here", StageObject, "spec.containers[2].name", `duplicate container name "a"`},
		{"twice, one of them at the start", strings.Replace(pod, "@", "name: a", 1) + "\n  initContainers: [{name: a}] # here", StageObject, "spec.initContainers[0].name", `duplicate container name "a"`},
		{"placeholder", strings.Replace(pod, "@", "name: APP_NAME", 1), "", "", ""},
		{"good", strings.Replace(pod, "@", "name: a-1", 1), "", "", ""},
	})
}

// TestValidateRestartPolicy checks which kinds need pods that terminate and which need pods that
// restart.
func TestValidateRestartPolicy(t *testing.T) {
	const (
		job    = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec: # spec\n      containers: [{name: c, image: i}]\n"
		cron   = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec:\n  schedule: '@daily'\n  jobTemplate:\n    spec:\n      template:\n        spec: # spec\n          containers: [{name: c, image: i}]\n"
		pod    = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: i}]\n"
		path   = "spec.template.spec.restartPolicy"
		always = "must be Always in a "
	)
	set := func(kind, version string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {app: d}}\n  template:\n    metadata: {labels: {app: d}}\n    spec:\n      containers: [{name: c, image: i}]\n"
	}
	here := func(text string) string { return strings.Replace(text, "# spec", "# here", 1) }
	check(t, asIs, []row{
		{"Job without", here(job), StageObject, path, "restartPolicy defaults to Always: must be OnFailure or Never in a Job"},
		{"CronJob without", here(cron), StageObject, "spec.jobTemplate.spec.template.spec.restartPolicy", "must be OnFailure or Never in a CronJob"},
		{"Job that restarts", job + "      restartPolicy: Always # here", StageObject, path, `restartPolicy is "Always": must be OnFailure or Never in a Job`},
		{"Job", job + "      restartPolicy: OnFailure", "", "", ""},
		{"Job with a variable", job + "      restartPolicy: ${POLICY}", "", "", ""},
		{"patch of a Job", strings.Replace(job, ", image: i", ", env: []", 1), "", "", ""},
		{"patch of a CronJob", strings.Replace(cron, "  schedule: '@daily'\n", "", 1), "", "", ""},
		{"Deployment", set("Deployment", "apps/v1") + "      restartPolicy: Never # here", StageObject, path, always + "Deployment"},
		{"ReplicaSet", set("ReplicaSet", "apps/v1") + "      restartPolicy: OnFailure # here", StageObject, path, always + "ReplicaSet"},
		{"DaemonSet", set("DaemonSet", "apps/v1") + "      restartPolicy: Never # here", StageObject, path, always + "DaemonSet"},
		{"StatefulSet", set("StatefulSet", "apps/v1") + "      restartPolicy: Never # here", StageObject, path, always + "StatefulSet"},
		{"Rollout", set("Rollout", "argoproj.io/v1alpha1") + "      restartPolicy: Never # here", StagePods, path, always + "Rollout"},
		{"Deployment that restarts", set("Deployment", "apps/v1") + "      restartPolicy: Always", "", "", ""},
		{"Deployment with null", set("Deployment", "apps/v1") + "      restartPolicy: null", "", "", ""},
		{"Pod", pod + "  restartPolicy: Never", "", "", ""},
		{"other word", pod + "  restartPolicy: never # here", StageObject, "spec.restartPolicy", `restartPolicy is "never": must be Always, OnFailure or Never`},
	})
}

// TestValidateJobs covers defaults and selectors of Jobs (R-W14).
func TestValidateJobs(t *testing.T) {
	job := func(meta, labels string, fields ...string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j" + meta + "}\nspec:\n  " + strings.Join(fields, "\n  ") +
			"\n  template:\n    metadata: {labels: {" + labels + "}}\n    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}\n"
	}
	cron := func(field string) string {
		return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec:\n  schedule: '@daily'\n  jobTemplate:\n    spec:\n      " + field +
			"\n      template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}\n"
	}
	const uid = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
	check(t, asIs, []row{
		{"Indexed", job("", "", "completionMode: Indexed"), "", "", ""},
		{"Indexed with parallelism", job("", "", "completionMode: Indexed # here", "parallelism: 2"), StageObject, "spec.completionMode", "completions is required"},
		{"Indexed with completions", job("", "", "completionMode: Indexed", "parallelism: 2", "completions: 4"), "", "", ""},
		{"Indexed in a CronJob", cron("completionMode: Indexed # here"), StageObject, "spec.jobTemplate.spec.completionMode", "completions is required"},
		{"Indexed host name", strings.Replace(job("", "", "completionMode: Indexed"), "{name: j}", "{name: a.b} # here", 1), StageObject, "metadata.name", `"a.b-0"`},
		{"Indexed host name in a CronJob", strings.Replace(cron("completionMode: Indexed\n      completions: 1"), "{name: j}", "{name: a.b} # here", 1), StagePods, "metadata.name", `"a.b-29000000-0"`},
		{"selector of a wrong form", job("", "", "selector: {matchExpressions: [{key: a b, operator: Exists}]} # here"), StageObject, "spec.selector.matchExpressions[0].key", "key is"},
		{"own selector", job("", "app: j", "selector: {matchLabels: {app: j}} # here"), StageObject, "spec.selector", "selector is set without manualSelector"},
		{"manual", job("", "app: j", "manualSelector: true", "selector: {matchLabels: {app: j}}"), "", "", ""},
		{"manual that misses", job("", "app: j", "manualSelector: true", "selector: {matchLabels: {app: k}} # here"), StageObject, "spec.selector.matchLabels.app", "selector requires app=k, but the template has app=j"},
		{"manual without", job("", "app: j", "manualSelector: true # here"), StageObject, "spec.manualSelector", "selector is missing"},
		{"manual unknown", job("", "app: j", "manualSelector: ${MANUAL}", "selector: {matchLabels: {app: j}}"), "", "", ""},
		{"empty", job("", "", "selector: {}"), "", "", ""},
		{"by name", job("", "", "selector: {matchLabels: {job-name: j}}"), "", "", ""},
		{"by another name", job("", "", "selector: {matchLabels: {job-name: k}} # here"), StageObject, "spec.selector", "only the selector that the API server generates"},
		{"exported", job(", uid: "+uid, "controller-uid: "+uid, "selector: {matchLabels: {controller-uid: "+uid+"}}"), "", "", ""},
		{"exported, prefixed", job(", uid: "+uid, "batch.kubernetes.io/controller-uid: "+uid, "selector: {matchLabels: {batch.kubernetes.io/controller-uid: "+uid+"}}"), "", "", ""},
		{"exported without its uid", job("", "controller-uid: "+uid, "selector: {matchLabels: {controller-uid: "+uid+"}} # here"), StageObject, "spec.selector", "only the selector that the API server generates"},
		{"variable", job("", "", `selector: {matchLabels: {app: "${APP}"}}`), "", "", ""},
		{"selector in a CronJob", cron("selector: {} # here"), StageObject, "spec.jobTemplate.spec.selector", "must not be set"},
		{"manualSelector in a CronJob", cron("manualSelector: true # here"), StageObject, "spec.jobTemplate.spec.manualSelector", "must be false"},
		{"manualSelector off in a CronJob", cron("manualSelector: false"), "", "", ""},
	})
}

// TestGated checks fields of a StatefulSet that are dropped unless a feature gate is on.
func TestGated(t *testing.T) {
	f := object("StatefulSet")
	f.text += "  selector: {matchLabels: {app: web}}\n"
	for value, want := range map[string]string{
		"0": "maxUnavailable is 0: must be greater than 0", "0%": `maxUnavailable is "0%": must be greater than 0`, "101%": `maxUnavailable is "101%": must not be greater than 100%`,
		"-1": "maxUnavailable is -1: must not be negative", "abc": `maxUnavailable is "abc": must be an integer or a percentage such as 25%`,
		"1": "", "100%": "", "3": "", `"${N}"`: "",
	} {
		w := load(t, f.fill("updateStrategy: {rollingUpdate: {maxUnavailable: "+value+"}}"))[0]
		got := ""
		for _, p := range w.Gated {
			if got = p.Message; p.Gate != "MaxUnavailableStatefulSet" || p.Span.Line != 8 {
				t.Errorf("%s: got %+v", value, p)
			}
		}
		if got != want || w.Refused() {
			t.Errorf("%s: got %q, refused %t, want %q", value, got, w.Refused(), want)
		}
	}
}

// TestValidateOthers covers objects without pods (R-V38).
func TestValidateOthers(t *testing.T) {
	budget := func(spec string) string {
		return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec:\n  selector: {matchLabels: {app: a}}\n  " + spec + "\n"
	}
	scaler := func(spec string) string {
		return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}\n  " + spec + "\n"
	}
	for _, row := range []struct{ text, want string }{
		{budget("minAvailable: 1\n  maxUnavailable: 1"), "7 spec.maxUnavailable: maxUnavailable is 1 and minAvailable is also set: only one of them can be set"},
		{budget("minAvailable: 101%"), `6 spec.minAvailable: minAvailable is "101%": must not be greater than 100%`},
		{budget("maxUnavailable: 101%"), `6 spec.maxUnavailable: maxUnavailable is "101%": must not be greater than 100%`},
		{budget("minAvailable: 1.1%"), `6 spec.minAvailable: minAvailable is "1.1%": must be an integer or a percentage such as 25%`},
		{budget("minAvailable: 1.5"), "6 spec.minAvailable: expected a whole number or percentage, found the number 1.5"},
		{budget("minAvailable: -1"), "6 spec.minAvailable: minAvailable is -1: must not be negative"},
		{budget(`minAvailable: "2"`), `6 spec.minAvailable: minAvailable is "2": must be an integer or a percentage such as 25%`},
		{budget("unhealthyPodEvictionPolicy: Always"), `6 spec.unhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy is "Always": must be IfHealthyBudget or AlwaysAllow`},
		{strings.Replace(budget("minAvailable: 1"), "app: a", "app: a b", 1), `5 spec.selector.matchLabels.app: label app is "a b": must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends`},
		{budget("minAvailable: 1\n  maxUnavailable: null"), ""},
		{budget("minAvailable: 100%"), ""},
		{budget("maxUnavailable: 0"), ""},
		{budget("maxUnavailable: ${N}"), ""},
		{budget("unhealthyPodEvictionPolicy: AlwaysAllow"), ""},
		{strings.Replace(budget("minAvailable: 1"), "name: b", "name: My_Budget", 1), ""},
		{strings.Replace(budget("minAvailable: 1\n  maxUnavailable: 1"), "  selector: {matchLabels: {app: a}}\n", "", 1), ""},
		{scaler("minReplicas: 5\n  maxReplicas: 3"), "7 spec.maxReplicas: maxReplicas is 3 and minReplicas is 5: maxReplicas must be greater than or equal to minReplicas"},
		{scaler("maxReplicas: 0"), "6 spec.maxReplicas: maxReplicas is 0: must be at least 1"},
		{scaler("maxReplicas: -2"), "6 spec.maxReplicas: maxReplicas is -2: must not be negative"},
		{scaler(`maxReplicas: "3"`), "6 spec.maxReplicas: expected a whole number, found the string 3"},
		{strings.Replace(scaler("maxReplicas: 3"), "name: h", "name: My_Scaler", 1), `3 metadata.name: name is "My_Scaler": ` + subdomain.must},
		{scaler("minReplicas: 3\n  maxReplicas: 3"), ""},
		{scaler("minReplicas: ${MIN}\n  maxReplicas: 3"), ""},
		{scaler("minReplicas: 9"), ""},
		{strings.Replace(scaler("minReplicas: 5\n  maxReplicas: 3"), "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}\n", "", 1), ""},
	} {
		got := ""
		for _, r := range loadSet(t, row.text).Refusals {
			for _, p := range r.Problems {
				got += fmt.Sprintf("%d %s: %s", p.Span.Line, p.Field, p.Message)
			}
		}
		if got != row.want {
			t.Errorf("got %q, want %q\n%s", got, row.want, row.text)
		}
	}
}

// TestOff checks that an autoscaler that is inactive for its workload is ignored.
func TestOff(t *testing.T) {
	hpa := func(low int) string {
		return fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, minReplicas: %d, maxReplicas: 9}\n", low)
	}
	checkSets(t, []setRow{
		{"off", docs(manifest("name: a", "replicas: 0"), hpa(2)), "Deployment a, 1 others"},
		{"on", docs(manifest("name: a", "replicas: 1"), hpa(2)), "Deployment a 2..9, 1 others"},
		{"unknown", docs(manifest("name: a", "replicas: ${N}"), hpa(2)), "Deployment a 2..9, 1 others"},
		{"to zero", docs(manifest("name: a", "replicas: 0"), hpa(0)), "Deployment a, 1 others"},
		{"ScaledObject", docs(manifest("name: a", "replicas: 0"), scaledObject("", "name: a", ", minReplicaCount: 2")), "Deployment a 2..100, 1 others"},
	})
}

// TestWhole checks that manifests are distinguished from patches.
func TestWhole(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
	checkSets(t, []setRow{
		{"empty selector", deployment + "  selector: {}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n", "Deployment a refused"},
		{"empty selector, no labels", deployment + "  selector: {}\n  template: {spec: {containers: [{name: c, image: i}]}}\n", "Deployment a refused"},
		{"selector of a wrong type", deployment + "  selector: a\n  template: {spec: {containers: [{name: c, image: i}]}}\n", "Deployment a refused"},
		{"selector is a variable", deployment + "  selector: ${S}\n  template: {spec: {containers: [{name: c, image: i}]}}\n", "Deployment a"},
		{"selector and labels alone", deployment + "  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}}\n", "strategic-merge patch 1"},
		{"selector is removed", deployment + "  selector: null\n  template: {spec: {containers: [{name: c, image: i}]}}\n", "strategic-merge patch 1"},
	})
}

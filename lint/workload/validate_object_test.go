package workload

import "testing"

// object returns a frame for the fields around the template of a kind.
func object(kind string) frame {
	return frame{indent: 2, text: "apiVersion: apps/v1\nkind: " + kind + `
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web, tier: front}}
    spec: {containers: [{name: main, image: web}]}
  @
`}
}

func TestValidateSelector(t *testing.T) {
	check(t, object("Deployment"), []row{
		{"R-V37 empty", `selector: {} # here`, StageObject, "spec.selector", "selector has neither matchLabels nor matchExpressions"},
		{"R-V37 shallow", `selector: {app: web} # here`, StageObject, "spec.selector", "selector has neither"},
		{"R-V37 other value", "selector:\n  matchLabels:\n    tier: front\n    app: api # here", StageObject, "spec.selector.matchLabels.app", "selector requires app=api, but the template has app=web"},
		{"R-V37 no label", `selector: {matchLabels: {name: web}} # here`, StageObject, "spec.selector.matchLabels.name", "but the template has no label name"},
		{"R-V37 expression", `selector: {matchExpressions: [{key: app, operator: Exists}, {key: tier, operator: In, values: [back]}]} # here`, StageObject, "spec.selector.matchExpressions[1]", "selector tier in (back) does not match"},
		{"R-V37 form", `selector: {matchLabels: {app: "a b"}} # here`, StageObject, "spec.selector.matchLabels.app", `label app is "a b"`},
		{"R-V37 operator", `selector: {matchExpressions: [{key: app, operator: Gt, values: [a]}]} # here`, StageObject, "spec.selector.matchExpressions[0].operator", `operator is "Gt"`},
		{"R-V37 type", `selector: {matchLabels: {app: web, version: 1}} # here`, StageObject, "spec.selector.matchLabels.version", "expected a string, found the number 1"},
		{"R-V37 unknown", `selector: {matchLabels: {app: "${APP}"}}`, "", "", ""},
		{"R-V37 good", `selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: NotIn, values: [back]}, {key: x, operator: DoesNotExist}]}`, "", "", ""},
	})
	check(t, asIs, []row{
		{"R-V37 missing", `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec: # here
  replicas: 1
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: b}]}}`, StageObject, "spec.selector", "selector is missing"},
		{"R-V37 unknown label", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: "{{ app }}"}}, spec: {containers: [{name: a}]}}}`, "", "", ""},
		{"R-V37 label of a wrong type", `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec: {selector: {matchLabels: {app: "1"}}, template: {metadata: {labels: {app: 1}}, spec: {containers: [{name: a}]}}} # here`, StageObject, "spec.template.metadata.labels.app", "expected a string, found the number 1"},
		{"R-V37 controller", `
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec: {selector: {app: api}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a}]}}} # here`, StageObject, "spec.selector.app", "selector requires app=api"},
		{"R-V37 controller without", `
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a}]}}}`, "", "", ""},
		{"R-V37 pool", `
apiVersion: pool.kubevirt.io/v1alpha1
kind: VirtualMachinePool
metadata: {name: db}
spec:
  selector: {matchLabels: {pool: db}} # here
  virtualMachineTemplate:
    metadata: {labels: {pool: other}}
    spec: {runStrategy: Always, template: {metadata: {labels: {pool: db}}, spec: {domain: {}}}}`, StageObject, "spec.selector.matchLabels.pool", "but the template has pool=other"},
		{"labels of the object", `
apiVersion: batch/v1
kind: Job
metadata: {name: once, labels: {version: 1.5}} # here
spec: {template: {spec: {containers: [{name: a}]}}}`, StageObject, "metadata.labels.version", "expected a string, found the number 1.5"},
		{"labels of the template", `
apiVersion: batch/v1
kind: Job
metadata: {name: once, labels: {version: "1.5"}}
spec: {template: {metadata: {labels: {"a/b/c": d}}, spec: {containers: [{name: a}]}}} # here`, StageObject, "spec.template.metadata.labels.a/b/c", `label key is "a/b/c"`},
	})
}

func TestValidateCounts(t *testing.T) {
	f := object("ReplicaSet")
	f.text += "  selector: {matchLabels: {app: web}}\n"
	check(t, f, []row{
		{"negative", `replicas: -1 # here`, StageObject, "spec.replicas", "replicas is -1: must not be negative"},
		{"quoted", `replicas: "3" # here`, StageObject, "spec.replicas", "expected a whole number, found the string 3"},
		{"fraction", `replicas: 1.5 # here`, StageObject, "spec.replicas", "expected a whole number, found the number 1.5"},
		{"large", `replicas: 5000000000 # here`, StageObject, "spec.replicas", "must fit in a 32-bit integer"},
		{"variable", `replicas: ${REPLICAS}`, "", "", ""},
		{"quoted variable", `replicas: "{{ .Values.replicas }}"`, "", "", ""},
		{"whole float", `replicas: 3.0`, "", "", ""},
		{"null", `replicas:`, "", "", ""},
	})
	const cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a}]}}, "
	check(t, asIs, []row{
		{"parallelism", cron + "parallelism: -2}}} # here", StageObject, "spec.jobTemplate.spec.parallelism", "parallelism is -2"},
		{"completions", cron + "completions: two}}} # here", StageObject, "spec.jobTemplate.spec.completions", "found the string two"},
		{"completionMode", cron + "completionMode: indexed}}} # here", StageObject, "spec.jobTemplate.spec.completionMode", "must be NonIndexed or Indexed"},
		{"indexes", cron + "completionMode: Indexed}}} # here", StageObject, "spec.jobTemplate.spec.completionMode", "completions is required"},
		{"good", cron + "completionMode: Indexed, completions: 3, parallelism: 0}}}", "", "", ""},
	})
}

func TestValidateStrategy(t *testing.T) {
	f := object("Deployment")
	f.text += "  selector: {matchLabels: {app: web}}\n"
	const rolling = "spec.strategy.rollingUpdate"
	check(t, f, []row{
		{"R-V38 zeros", `strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}} # here`, StageObject, rolling + ".maxUnavailable", "maxUnavailable is 0: must not be 0 when maxSurge is 0"},
		{"R-V38 zero and default", `strategy: {rollingUpdate: {maxUnavailable: 0}}`, "", "", ""},
		{"R-V38 zero and unknown", `strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: "${SURGE}"}}`, "", "", ""},
		{"R-V38 above", `strategy: {rollingUpdate: {maxUnavailable: 101%}} # here`, StageObject, rolling + ".maxUnavailable", "must not be greater than 100%"},
		{"R-V38 surge above", `strategy: {rollingUpdate: {maxSurge: 300%}}`, "", "", ""},
		{"R-V38 quoted", `strategy: {rollingUpdate: {maxSurge: "1"}} # here`, StageObject, rolling + ".maxSurge", `maxSurge is "1": must be an integer or a percentage`},
		{"R-V38 fraction", `strategy: {rollingUpdate: {maxSurge: 0.5}} # here`, StageObject, rolling + ".maxSurge", "expected a whole number or percentage"},
		{"R-V38 negative", `strategy: {rollingUpdate: {maxSurge: -1}} # here`, StageObject, rolling + ".maxSurge", "must not be negative"},
		{"R-V38 negative percentage", `strategy: {rollingUpdate: {maxSurge: -5%}} # here`, StageObject, rolling + ".maxSurge", `maxSurge is "-5%"`},
		{"R-V38 largest", `strategy: {rollingUpdate: {maxSurge: 2147483647}}`, "", "", ""},
		{"R-V38 too large", `strategy: {rollingUpdate: {maxSurge: 2147483648}} # here`, StageObject, rolling + ".maxSurge", "must fit in a 32-bit integer"},
		{"R-V38 Recreate", `strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}} # here`, StageObject, rolling, "rollingUpdate is set with type Recreate"},
		{"R-V38 type", `strategy: {type: Rolling} # here`, StageObject, "spec.strategy.type", `type is "Rolling": must be RollingUpdate or Recreate`},
		{"R-V38 good", `strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}`, "", "", ""},
	})
	f = object("DaemonSet")
	f.text += "  selector: {matchLabels: {app: web}}\n"
	const update = "spec.updateStrategy.rollingUpdate"
	check(t, f, []row{
		{"R-V38 both", `updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 2}} # here`, StageObject, update + ".maxSurge", "maxUnavailable is 2: one of them must be 0"},
		{"R-V38 surge alone", `updateStrategy: {rollingUpdate: {maxSurge: 1}} # here`, StageObject, update + ".maxSurge", "maxUnavailable defaults to 1"},
		{"R-V38 neither", `updateStrategy: {rollingUpdate: {maxUnavailable: 0}} # here`, StageObject, update + ".maxUnavailable", "must not be 0 when maxSurge is 0"},
		{"R-V38 surge above", `updateStrategy: {rollingUpdate: {maxSurge: 101%, maxUnavailable: 0}} # here`, StageObject, update + ".maxSurge", "must not be greater than 100%"},
		{"R-V38 OnDelete", `updateStrategy: {type: OnDelete, rollingUpdate: {maxSurge: 1}}`, "", "", ""},
		{"R-V38 surge", `updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}`, "", "", ""},
		{"R-V38 default", `updateStrategy: {type: RollingUpdate}`, "", "", ""},
	})
	f = object("StatefulSet")
	f.text += "  selector: {matchLabels: {app: web}}\n"
	check(t, f, []row{
		{"R-V38 fraction", `updateStrategy: {rollingUpdate: {maxUnavailable: 0.5}} # here`, StageObject, update + ".maxUnavailable", "expected a whole number or percentage"},
		{"R-V38 partition", `updateStrategy: {rollingUpdate: {partition: -1}} # here`, StageObject, update + ".partition", "partition is -1"},
		{"R-V38 OnDelete", `updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}} # here`, StageObject, update, "rollingUpdate is set with type OnDelete"},
		{"management", `podManagementPolicy: parallel # here`, StageObject, "spec.podManagementPolicy", "must be OrderedReady or Parallel"},
		{"R-V38 good", "podManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 50%, partition: 2}}", "", "", ""},
	})
}

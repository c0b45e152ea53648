package kinds

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// Shapes of placement fields in schemas.
const (
	affinityShape    = "{type: object, properties: {nodeAffinity: {type: object}, podAffinity: {type: object}, podAntiAffinity: {type: object}}}"
	tolerationsShape = "{type: array, items: {type: object, properties: {effect: {type: string}, key: {type: string}, operator: {type: string}, value: {type: string}}}}"
	selectorShape    = "{type: object, additionalProperties: {type: string}}"
	spreadShape      = "{type: array, items: {type: object, properties: {maxSkew: {type: integer}, topologyKey: {type: string}}}}"
	resourcesShape   = "{type: object, properties: {limits: {type: object}, requests: {type: object}}}"
	specShape        = "{type: object, properties: {affinity: " + affinityShape + ", containers: {type: array, items: {properties: {name: {type: string}}}}}}"
	templateShape    = "{type: object, properties: {metadata: {type: object}, spec: " + specShape + "}}"
	anyShape         = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	numberShape      = "{type: integer}"
)

// TestPropose compares proposals with those that are expected, for the properties of spec.
func TestPropose(t *testing.T) {
	t.Parallel()
	shapes := strings.NewReplacer("$affinity", affinityShape, "$tolerations", tolerationsShape, "$selector", selectorShape, "$spread", spreadShape, "$resources", resourcesShape,
		"$spec", specShape, "$template", templateShape, "$any", anyShape, "$n", numberShape, "$text", "{type: string}")
	for _, test := range []struct{ properties, pods, open string }{
		{"replicas: $n, template: $template", "- replicas: {path: spec.replicas}\ntemplate: spec.template", ""},
		{"size: {type: integer, default: 3}, pod: $spec", "- replicas: {path: spec.size, default: 3}\nspec: spec.pod", ""},
		{"podTemplate: $any", "- template: spec.podTemplate", "spec.podTemplate has no number of pods beside it or above it"},
		{"affinity: $affinity, tolerations: $tolerations, nodeSelector: $selector, topologySpreadConstraints: $spread, resources: $resources, priorityClassName: $text, schedulerName: $text, instances: $n",
			"- replicas: {path: spec.instances}\nfields:\n  affinity: spec.affinity\n  nodeSelector: spec.nodeSelector\n  priorityClassName: spec.priorityClassName\n  resources: spec.resources\n  schedulerName: spec.schedulerName\n  tolerations: spec.tolerations\n  topologySpreadConstraints: spec.topologySpreadConstraints", ""},
		{"web: {properties: {replicas: $n, resources: $resources, template: {properties: {pod: {properties: {affinity: $affinity}}}}}}, cache: {properties: {tolerations: $tolerations, nodeSelector: $selector}}",
			"- name: web\nreplicas: {path: spec.web.replicas}\nfields: {affinity: spec.web.template.pod.affinity, resources: spec.web.resources}\n- name: cache\nfields: {nodeSelector: spec.cache.nodeSelector, tolerations: spec.cache.tolerations}", "spec.cache has no number of pods beside it or above it"},
		{"pools: {type: array, items: {properties: {name: $text, count: $n, affinity: $affinity}}}", "- name: \"{.name}\"\neach: spec.pools\nreplicas: {path: \".count\"}\nfields: {affinity: \".affinity\"}", ""},
		{"groups: {type: array, items: {required: [groupName], properties: {groupName: $text, template: $template}}}", "- name: \"{.groupName}\"\neach: spec.groups\ntemplate: \".template\"", "spec.groups[].template has no number of pods beside it or above it"},
		{"pools: {type: array, items: {properties: {affinity: $affinity}}}", "", "spec.pools[] is in a list without names, which the pods need"},
		{"templates: {type: array, x-kubernetes-list-map-keys: [id], items: $template}", "", "spec.templates[] is an item of a list, which a row cannot name"},
		{"pools: {type: array, items: {properties: {name: $text, zones: {type: array, items: {properties: {affinity: $affinity}}}}}}", "", "spec.pools[].zones[] is in a list in a list"},
		{"pools: {type: object, additionalProperties: {properties: {affinity: $affinity}}}", "", "spec.pools{} is in a map, whose keys are not known"},
		{"replicas: $n, affinity: $affinity, podTemplate: $template", "- replicas: {path: spec.replicas}\nfields: {affinity: spec.affinity}", "spec.podTemplate may be about the same pods as other fields: a row has one of them"},
		{"replicas: $n, podTemplate: $template, scheduling: {properties: {affinity: $affinity}}", "- replicas: {path: spec.replicas}\ntemplate: spec.podTemplate", "spec.scheduling may be about the same pods as spec.podTemplate: a row has one of them"},
		{"replicas: $n, nodeSelector: $selector, podPlacement: {properties: {tolerations: $tolerations}}", "- replicas: {path: spec.replicas}\nfields: {nodeSelector: spec.nodeSelector, tolerations: spec.podPlacement.tolerations}", ""},
		{"replicas: $n, web_affinity: $affinity, affinity: {properties: {topologyKey: $text, nodeAffinity: {properties: {requiredDuringSchedulingIgnoredDuringExecution: {}}}, tolerations: $tolerations}}",
			"- replicas: {path: spec.replicas}\nfields: {affinity: spec.web_affinity, affinity.nodeAffinity: spec.affinity.nodeAffinity, tolerations: spec.affinity.tolerations}", ""},
		{"nodePlacement: {properties: {nodeSelector: {properties: {matchLabels: {type: object}}}, tolerations: $tolerations}}", "- fields: {nodeSelector: spec.nodePlacement.nodeSelector.matchLabels, tolerations: spec.nodePlacement.tolerations}", "spec.nodePlacement has no number of pods beside it or above it"},
		{"tolerations: $tolerations, nodeTaints: {type: array}", "", ""},
		{"subsets: {type: array, items: {properties: {name: $text, tolerations: $tolerations}}}", "", "spec.subsets[] has tolerations and nothing else of a pod"},
		{"nodeSelector: {type: string}, affinity: {type: string}, resources: $resources", "", ""},
		{"replicas: {type: string}, affinity: {type: object}", "- fields: {affinity: spec.affinity}", "spec has no number of pods beside it or above it"},
	} {
		definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: shop.example.com\n  names: {kind: Shop}\n  versions:\n" +
			"  - {name: v1alpha1, storage: false, schema: {openAPIV3Schema: {properties: {spec: {properties: {template: " + templateShape + "}}}}}}\n" +
			"  - {name: v1, storage: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {" + shapes.Replace(test.properties) + "}}, status: {properties: {template: " + templateShape + "}}}}}}\n"
		file := source.NewFile("a.yaml", "a.yaml", []byte(definition))
		p, ok := Propose(file.ObjectsOf(file.Roots()[0])[0])
		if ok != (test.pods+test.open != "") || p.Row.Group != "shop.example.com" || p.Row.Kind != "Shop" {
			t.Errorf("%s: %v %s %s", test.properties, ok, p.Row.Group, p.Row.Kind)
		}
		_, pods, _ := strings.Cut(p.Row.Text(), "  pods:\n")
		got := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll("\n"+pods, "\n    ", "\n"), "\n  - ", "\n- "))
		if len(p.Row.Pods) == 0 {
			got = ""
		}
		if open := strings.Join(p.Open, "\n"); got != test.pods || open != test.open {
			t.Errorf("%s: got\n%s\n%s\nwant\n%s\n%s", test.properties, got, open, test.pods, test.open)
		}
		p.Row.Mistakes(func(at Place, why string) { t.Errorf("%s: %v: %s", test.properties, at, why) })
	}
}

// TestProposeDeep checks that a schema with endless levels has an end, and a schema without anything a
// proposal without anything.
func TestProposeDeep(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "spec: []", "spec: {versions: [{storage: true, schema: {openAPIV3Schema: {properties: {spec: " + strings.Repeat("{properties: {spec: ", 60) + templateShape + strings.Repeat("}}", 60) + "}}}}]}"} {
		file := source.NewFile("a.yaml", "a.yaml", []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"+text))
		if p, ok := Propose(file.ObjectsOf(file.Roots()[0])[0]); ok {
			t.Errorf("%.40s: %+v", text, p)
		}
	}
	old := "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {validation: {openAPIV3Schema: {properties: {spec: {properties: {template: " + templateShape + "}}}}}}"
	file := source.NewFile("a.yaml", "a.yaml", []byte(old))
	if p, ok := Propose(file.ObjectsOf(file.Roots()[0])[0]); !ok || p.Row.Pods[0].Template != "spec.template" {
		t.Errorf("v1beta1: %+v", p)
	}
}

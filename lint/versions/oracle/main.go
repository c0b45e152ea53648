// Command oracle answers cases as one release of Kubernetes does: which fields its API server drops
// or refuses, and which nodes the filters of its scheduler refuse. go.mod is for 1.29, 1.33.mod for
// 1.33, each with the feature gates that are on by default:
//
//	go run . < ../testdata/cases.yaml > ../testdata/recorded-1.29.json
//	go run -modfile=1.33.mod . < ../testdata/cases.yaml > ../testdata/recorded-1.33.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"   // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/batch/install"  // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/core/install"   // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/policy/install" // registers the kinds
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"sigs.k8s.io/yaml"
)

// strategies prepare and validate new objects of each kind, as in the API server.
var strategies = map[string]rest.RESTCreateStrategy{
	"Pod": pod.Strategy, "Node": node.Strategy, "Deployment": deployment.Strategy, "StatefulSet": statefulset.Strategy,
	"Job": job.Strategy, "CronJob": cronjob.Strategy, "PodDisruptionBudget": poddisruptionbudget.Strategy,
}

// filtering lists the plugins whose results are recorded.
var filtering = []string{
	names.NodeName, names.NodeUnschedulable, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit,
	names.PodTopologySpread, names.InterPodAffinity,
}

// testcase has nodes, running pods, and as the last object the one to create.
type testcase struct {
	Name, Gate     string
	Nodes, Objects []map[string]any
}

// answer records the fields that the release drops from the new object and why it rejects the object
// or its pods. For each pod in turn, it records the plugin that rejects each node. The pod is then
// placed on the first node that accepts it.
type answer struct {
	Name    string              `json:"name"`
	Dropped []string            `json:"dropped,omitempty"`
	Refused string              `json:"refused,omitempty"`
	Filters []map[string]string `json:"filters,omitempty"`
}

func main() {
	if err := record(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func record(ctx context.Context, in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var cases []testcase
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		return err
	}
	s, err := newScheduler(ctx)
	if err != nil {
		return err
	}
	answers := []answer{}
	for _, c := range cases {
		a, err := s.answer(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		answers = append(answers, a)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(answers)
}

// scheduler has the filters of the release, with the feature gates that are on by default.
type scheduler struct {
	framework framework.Framework
	nodes     lister
}

func newScheduler(ctx context.Context) (*scheduler, error) {
	metrics.Register()
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := defaults.Profiles[0].DeepCopy()
	profile.SchedulerName = corev1.DefaultSchedulerName
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return !slices.Contains(append(filtering, names.PrioritySort, names.DefaultBinder), p.Name)
	})
	s := &scheduler{}
	s.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile, frameworkruntime.WithSnapshotSharedLister(&s.nodes),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)), frameworkruntime.WithParallelism(1))
	return s, err
}

func (s *scheduler) answer(ctx context.Context, c testcase) (answer, error) {
	s.nodes = nil
	for _, n := range c.Nodes {
		obj, _, err := create(n)
		if err != nil {
			return answer{}, err
		}
		info := framework.NewNodeInfo()
		info.SetNode(external(obj, &corev1.Node{}))
		s.nodes = append(s.nodes, info)
	}
	last := len(c.Objects) - 1
	for _, p := range c.Objects[:last] {
		obj, _, err := create(p)
		if err != nil {
			return answer{}, err
		}
		if err := s.place(external(obj, &corev1.Pod{})); err != nil {
			return answer{}, err
		}
	}
	out := answer{Name: c.Name}
	obj, kind, err := create(c.Objects[last])
	if err != nil {
		out.Refused = err.Error()
		return out, nil
	}
	out.Dropped = dropped("", c.Objects[last], versioned(obj, kind))
	count := int32(1)
	if kind.Kind != "Pod" {
		var draft *corev1.Pod
		if draft, count = podsOf(obj, kind.Kind); draft == nil {
			return out, nil
		}
		doc, err := runtime.DefaultUnstructuredConverter.ToUnstructured(draft)
		if err != nil {
			return answer{}, err
		}
		if obj, _, err = create(doc); err != nil {
			out.Refused = "its pods: " + err.Error()
			return out, nil
		}
	}
	for range count {
		p := external(obj, &corev1.Pod{})
		reasons := s.filter(ctx, p)
		out.Filters = append(out.Filters, reasons)
		if p.Spec.NodeName = first(reasons); p.Spec.NodeName == "" {
			break
		}
		if err := s.place(p); err != nil {
			return answer{}, err
		}
	}
	return out, nil
}

// first returns the first node that accepts a pod.
func first(reasons map[string]string) string {
	for _, n := range slices.Sorted(maps.Keys(reasons)) {
		if reasons[n] == "" {
			return n
		}
	}
	return ""
}

func (s *scheduler) place(p *corev1.Pod) error {
	info, err := s.nodes.Get(p.Spec.NodeName)
	if err == nil {
		info.AddPod(p)
	}
	return err
}

// filter returns the plugin that rejects a pod on each node, or "" if the node accepts it.
func (s *scheduler) filter(ctx context.Context, p *corev1.Pod) map[string]string {
	reasons := map[string]string{}
	state := framework.NewCycleState()
	result, status := firstTwo(s.framework.RunPreFilterPlugins(ctx, state, p))
	for _, n := range s.nodes {
		name := n.Node().Name
		switch {
		case !status.IsSuccess():
			reasons[name] = status.Plugin()
		case !result.AllNodes() && !result.NodeNames.Has(name):
			reasons[name] = names.NodeAffinity
		default:
			reasons[name] = ""
			if refusal := s.framework.RunFilterPlugins(ctx, state, p, n); !refusal.IsSuccess() {
				reasons[name] = refusal.Plugin()
			}
		}
	}
	return reasons
}

// firstTwo drops further results, which only later releases return.
func firstTwo[A, B any](a A, b B, _ ...any) (A, B) { return a, b }

// create makes an object as the API server does: it decodes, defaults, prepares and validates it.
func create(doc map[string]any) (runtime.Object, schema.GroupVersionKind, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	obj, kind, err := legacyscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	meta := obj.(metav1.Object)
	ctx := genericapirequest.WithNamespace(genericapirequest.NewContext(), meta.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{APIGroup: kind.Group, APIVersion: kind.Version})
	rest.FillObjectMetaSystemFields(meta)
	return obj, *kind, rest.BeforeCreate(strategies[kind.Kind], ctx, obj)
}

func external[T runtime.Object](in runtime.Object, out T) T {
	if err := legacyscheme.Scheme.Convert(in, out, nil); err != nil {
		panic(err)
	}
	return out
}

// versioned is an object as the API server returns it.
func versioned(obj runtime.Object, kind schema.GroupVersionKind) any {
	out, err := legacyscheme.Scheme.ConvertToVersion(obj, kind.GroupVersion())
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	return doc
}

// dropped lists the fields that are in one document and not in the other.
func dropped(path string, in, out any) (all []string) {
	switch in := in.(type) {
	case map[string]any:
		o, _ := out.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(in)) {
			if v, ok := o[k]; !ok {
				all = append(all, strings.TrimPrefix(path+"."+k, "."))
			} else if k != "status" {
				all = append(all, dropped(path+"."+k, in[k], v)...)
			}
		}
	case []any:
		for i, v := range in {
			if o, ok := out.([]any); ok && i < len(o) {
				all = append(all, dropped(fmt.Sprintf("%s[%d]", path, i), v, o[i])...)
			}
		}
	}
	return all
}

// podsOf returns a pod of a workload, as its controller asks for it, and how many there are.
func podsOf(obj runtime.Object, kind string) (*corev1.Pod, int32) {
	one, template := int32(1), corev1.PodTemplateSpec{}
	count, label := &one, ""
	switch kind {
	case "Deployment":
		d := external(obj, &appsv1.Deployment{})
		template, count, label = d.Spec.Template, d.Spec.Replicas, appsv1.DefaultDeploymentUniqueLabelKey
	case "StatefulSet":
		s := external(obj, &appsv1.StatefulSet{})
		template, count, label = s.Spec.Template, s.Spec.Replicas, appsv1.StatefulSetRevisionLabel
	case "Job":
		j := external(obj, &batchv1.Job{})
		template, count = j.Spec.Template, j.Spec.Parallelism
	default:
		return nil, 0
	}
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: template.Spec}
	p.Name, p.Namespace, p.Labels = "new", obj.(metav1.Object).GetNamespace(), maps.Clone(template.Labels)
	if label != "" {
		p.Labels[label] = "new"
	}
	return p, *count
}

// lister gives the plugins the nodes.
type lister []*framework.NodeInfo

func (l *lister) NodeInfos() framework.NodeInfoLister       { return l }
func (l *lister) StorageInfos() framework.StorageInfoLister { return l }
func (l *lister) List() ([]*framework.NodeInfo, error)      { return *l, nil }
func (l *lister) IsPVCUsedByPods(string) bool               { return false }

func (l *lister) HavePodsWithAffinityList() ([]*framework.NodeInfo, error) {
	return l.with(func(n *framework.NodeInfo) bool { return len(n.PodsWithAffinity) > 0 }), nil
}

func (l *lister) HavePodsWithRequiredAntiAffinityList() ([]*framework.NodeInfo, error) {
	return l.with(func(n *framework.NodeInfo) bool { return len(n.PodsWithRequiredAntiAffinity) > 0 }), nil
}

func (l *lister) with(has func(*framework.NodeInfo) bool) []*framework.NodeInfo {
	return slices.DeleteFunc(slices.Clone(*l), func(n *framework.NodeInfo) bool { return !has(n) })
}

func (l *lister) Get(name string) (*framework.NodeInfo, error) {
	for _, n := range *l {
		if n.Node().Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no node %s", name)
}

package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"        // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install" // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/batch/install"       // registers the kinds
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"    // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/policy/install"  // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/storage/install" // registers the kinds
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

// resource is how the API server serves one kind: its REST name and the
// strategy that prepares and validates new objects.
type resource struct {
	group, version, name string
	strategy             rest.RESTCreateStrategy
}

// resources are the kinds that the oracle takes, by group and kind.
var resources = map[schema.GroupKind]resource{
	{Group: "", Kind: "Pod"}:                   {"", "v1", "pods", pod.Strategy},
	{Group: "", Kind: "Node"}:                  {"", "v1", "nodes", node.Strategy},
	{Group: "", Kind: "Namespace"}:             {"", "v1", "namespaces", namespace.Strategy},
	{Group: "", Kind: "ReplicationController"}: {"", "v1", "replicationcontrollers", replicationcontroller.Strategy},
	{Group: "apps", Kind: "Deployment"}:        {"apps", "v1", "deployments", deployment.Strategy},
	{Group: "apps", Kind: "ReplicaSet"}:        {"apps", "v1", "replicasets", replicaset.Strategy},
	{Group: "apps", Kind: "StatefulSet"}:       {"apps", "v1", "statefulsets", statefulset.Strategy},
	{Group: "apps", Kind: "DaemonSet"}:         {"apps", "v1", "daemonsets", daemonset.Strategy},
	{Group: "batch", Kind: "Job"}:              {"batch", "v1", "jobs", job.Strategy},
	{Group: "batch", Kind: "CronJob"}:          {"batch", "v1", "cronjobs", cronjob.Strategy},

	{Group: "", Kind: "PersistentVolumeClaim"}:      {"", "v1", "persistentvolumeclaims", persistentvolumeclaim.Strategy},
	{Group: "", Kind: "PersistentVolume"}:           {"", "v1", "persistentvolumes", persistentvolume.Strategy},
	{Group: "storage.k8s.io", Kind: "StorageClass"}: {"storage.k8s.io", "v1", "storageclasses", storageclass.Strategy},
	{Group: "storage.k8s.io", Kind: "CSINode"}:      {"storage.k8s.io", "v1", "csinodes", csinode.Strategy},

	{Group: "policy", Kind: "PodDisruptionBudget"}:          {"policy", "v1", "poddisruptionbudgets", poddisruptionbudget.Strategy},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {"autoscaling", "v2", "horizontalpodautoscalers", horizontalpodautoscaler.Strategy},
}

// tolerations is the admission plugin that every API server runs and that
// changes where a pod may go.
var tolerations = func() *defaulttolerationseconds.Plugin {
	p := defaulttolerationseconds.NewDefaultTolerationSeconds()
	p.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	return p
}()

// decode reads one manifest as the API server does: defaulted, internal.
func decode(text []byte) (runtime.Object, schema.GroupKind, error) {
	obj, gvk, err := legacyscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, schema.GroupKind{}, err
	}
	return obj, gvk.GroupKind(), nil
}

// admit makes an internal object pass through creation: system fields,
// admission, the strategy's preparation and validation.
func admit(obj runtime.Object, kind schema.GroupKind) error {
	r, ok := resources[kind]
	if !ok {
		return fmt.Errorf("the oracle does not know %s", kind)
	}
	meta := obj.(metav1.Object)
	if meta.GetName() == "" && meta.GetGenerateName() != "" {
		// The names of generated pods do not matter, but must be well-formed.
		meta.SetName(r.strategy.GenerateName(meta.GetGenerateName()))
	}
	ctx := genericapirequest.NewContext()
	ctx = genericapirequest.WithNamespace(ctx, meta.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: r.group, APIVersion: r.version, Resource: r.name, Namespace: meta.GetNamespace(), Name: meta.GetName(),
	})
	rest.FillObjectMetaSystemFields(meta)
	if p, ok := obj.(*core.Pod); ok {
		if err := mutate(ctx, p); err != nil {
			return err
		}
	}
	return rest.BeforeCreate(r.strategy, ctx, obj)
}

// mutate runs the mutating admission that is on by default and touches
// scheduling without further objects.
func mutate(ctx context.Context, p *core.Pod) error {
	attributes := admission.NewAttributesRecord(p, nil, core.Kind("Pod").WithVersion("v1"), p.Namespace, p.Name,
		core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	return tolerations.Admit(ctx, attributes, nil)
}

// external turns an internal object into its v1 form.
func external[T runtime.Object](in runtime.Object, out T) T {
	if err := legacyscheme.Scheme.Convert(in, out, nil); err != nil {
		panic(err)
	}
	return out
}

// createPod makes a pod that a controller asks for: it is defaulted, admitted
// and validated.
func createPod(draft *corev1.Pod) (*corev1.Pod, error) {
	legacyscheme.Scheme.Default(draft)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(draft, internal, nil); err != nil {
		return nil, err
	}
	if err := admit(internal, schema.GroupKind{Kind: "Pod"}); err != nil {
		return nil, err
	}
	return external(internal, &corev1.Pod{}), nil
}

// documents splits a YAML stream.
func documents(text string) []string {
	var docs []string
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		if strings.TrimSpace(doc) != "" {
			docs = append(docs, doc)
		}
	}
	return docs
}

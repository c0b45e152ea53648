package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/kubernetes/pkg/controller/history"
)

// draft is a pod that a controller asks for, and how many like it: the pods of
// one draft are alike in all that can matter. One of none at all is there to
// be validated.
type draft struct {
	pod   *corev1.Pod
	count int
}

// fromTemplate is what all controllers do first.
func fromTemplate(template *corev1.PodTemplateSpec, owner runtime.Object) *corev1.Pod {
	meta := owner.(metav1.Object)
	ref := metav1.NewControllerRef(meta, owner.GetObjectKind().GroupVersionKind())
	pod, err := controller.GetPodFromTemplate(template, owner, ref)
	if err != nil {
		panic(err)
	}
	pod.Namespace = meta.GetNamespace()
	return pod
}

// replicaPods are those of a ReplicaSet or ReplicationController.
func replicaPods(template *corev1.PodTemplateSpec, owner runtime.Object, replicas *int32) []draft {
	return []draft{{pod: fromTemplate(template, owner), count: int(*replicas)}}
}

// deploymentPods go through the ReplicaSet that the controller makes
// (pkg/controller/deployment/sync.go getNewReplicaSet), which the API server
// may refuse as well.
func deploymentPods(d *appsv1.Deployment) (*appsv1.ReplicaSet, []draft, error) {
	template := *d.Spec.Template.DeepCopy()
	hash := controller.ComputeHash(&template, nil)
	template.Labels = withLabel(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = withLabel(selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	rs := &appsv1.ReplicaSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{Name: d.Name + "-" + hash, Namespace: d.Namespace, Labels: template.Labels},
		Spec:       appsv1.ReplicaSetSpec{Replicas: d.Spec.Replicas, Selector: selector, Template: template},
	}
	legacyscheme.Scheme.Default(rs)
	internal := &apps.ReplicaSet{}
	if err := legacyscheme.Scheme.Convert(rs, internal, nil); err != nil {
		return nil, nil, err
	}
	if err := admit(internal, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}); err != nil {
		return nil, nil, fmt.Errorf("its ReplicaSet: %w", err)
	}
	rs.UID = internal.UID
	return rs, replicaPods(&template, rs, d.Spec.Replicas), nil
}

func withLabel(in map[string]string, key, value string) map[string]string {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

// statefulPods have names and ordinals of their own
// (pkg/controller/statefulset/stateful_set_utils.go newStatefulSetPod).
func statefulPods(s *appsv1.StatefulSet) []draft {
	data, err := json.Marshal(s.Spec.Template)
	if err != nil {
		panic(err)
	}
	revision, err := history.NewControllerRevision(s, s.GroupVersionKind(), s.Spec.Template.Labels, runtime.RawExtension{Raw: data}, 1, nil)
	if err != nil {
		panic(err)
	}
	start := 0
	if s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	var all []draft
	for i := range int(*s.Spec.Replicas) {
		pod := fromTemplate(&s.Spec.Template, s)
		pod.Name = fmt.Sprintf("%s-%d", s.Name, start+i)
		pod.Labels = withLabel(pod.Labels, appsv1.StatefulSetPodNameLabel, pod.Name)
		pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(start + i)
		pod.Labels[appsv1.StatefulSetRevisionLabel] = revision.Name
		pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, s.Spec.ServiceName
		for i := range s.Spec.VolumeClaimTemplates {
			claim := &s.Spec.VolumeClaimTemplates[i]
			v := corev1.Volume{Name: claim.Name}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(claim, pod)}
			pod.Spec.Volumes = append(slices.DeleteFunc(pod.Spec.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name }), v)
		}
		all = append(all, draft{pod: pod, count: 1})
	}
	return all
}

// daemonPods are one for each node that should run one
// (pkg/controller/daemon/daemon_controller.go).
func daemonPods(d *appsv1.DaemonSet, nodes []*corev1.Node) []draft {
	hash := controller.ComputeHash(&d.Spec.Template, nil)
	generation, err := daemonutil.GetTemplateGeneration(d)
	if err != nil {
		generation = nil
	}
	var all []draft
	for _, n := range nodes {
		if run, _ := daemon.NodeShouldRunDaemonPod(klog.Background(), n, d); !run {
			continue
		}
		template := daemonutil.CreatePodTemplate(d.Spec.Template, generation, hash)
		template.Spec.Affinity = daemonutil.ReplaceDaemonSetPodNodeNameNodeAffinity(template.Spec.Affinity, n.Name)
		all = append(all, draft{pod: fromTemplate(&template, d), count: 1})
	}
	if len(all) == 0 {
		all = append(all, draft{pod: fromTemplate(&d.Spec.Template, d)})
	}
	return all
}

// jobPods are those that a Job starts with (pkg/controller/job
// manageJob): what is active when nothing has succeeded yet.
func jobPods(j *batchv1.Job) []draft {
	want := int(*j.Spec.Parallelism)
	if j.Spec.Completions != nil {
		want = min(want, int(*j.Spec.Completions))
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		return []draft{{pod: fromTemplate(&j.Spec.Template, j)}}
	}
	if j.Spec.CompletionMode == nil || *j.Spec.CompletionMode != batchv1.IndexedCompletion {
		return []draft{{pod: fromTemplate(&j.Spec.Template, j), count: want}}
	}
	var all []draft
	for i := range want {
		pod := fromTemplate(&j.Spec.Template, j)
		index := strconv.Itoa(i)
		pod.Labels = withLabel(pod.Labels, batchv1.JobCompletionIndexAnnotation, index)
		pod.Annotations = withLabel(pod.Annotations, batchv1.JobCompletionIndexAnnotation, index)
		pod.Spec.Hostname = j.Name + "-" + index
		all = append(all, draft{pod: pod, count: 1})
	}
	return all
}

// cronPods are those of one run, which is a Job of its own.
func cronPods(c *batchv1.CronJob) ([]draft, error) {
	text, err := json.Marshal(&batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-29000000", Namespace: c.Namespace, Labels: c.Spec.JobTemplate.Labels},
		Spec:       c.Spec.JobTemplate.Spec,
	})
	if err != nil {
		return nil, err
	}
	obj, kind, err := decode(text)
	if err != nil {
		return nil, err
	}
	if err := admit(obj, kind); err != nil {
		return nil, fmt.Errorf("its Job: %w", err)
	}
	run := external(obj, &batchv1.Job{})
	run.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	all := jobPods(run)
	if c.Spec.Suspend != nil && *c.Spec.Suspend {
		all = []draft{{pod: all[0].pod}}
	}
	return all, nil
}

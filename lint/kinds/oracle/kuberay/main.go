// Command kuberay records the pods that KubeRay's own code makes of random RayClusters:
//
//	go run . | gzip -n > ../../testdata/recorded-kuberay.jsonl.gz
package main

import (
	"context"
	"log"
	"os"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/common"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"

	"github.com/schedlint/schedlint/lint/kinds/oracle/cases"
)

func main() {
	err := cases.Record(os.Stdout, "github.com/ray-project/kuberay/ray-operator", 200, generate, build)
	if err != nil {
		log.Fatal(err)
	}
}

func generate(r *cases.Random) cases.Object {
	spec := cases.Object{"headGroupSpec": group(r, "headgroup")}
	var workers []cases.Object
	for _, name := range []string{"cpu", "gpu"}[:r.IntN(3)] {
		worker := group(r, name)
		worker["groupName"] = name
		worker["minReplicas"] = r.IntN(2)
		worker["maxReplicas"] = 2 + r.IntN(3)
		worker["replicas"] = r.IntN(6)
		worker["numOfHosts"] = 1 + r.IntN(2)
		if r.Maybe(6) {
			worker["suspend"] = true
		}
		workers = append(workers, worker)
	}
	if workers != nil {
		spec["workerGroupSpecs"] = workers
	}
	if r.Maybe(3) {
		spec["enableInTreeAutoscaling"] = true
		if r.Maybe(2) {
			spec["autoscalerOptions"] = cases.Object{"resources": r.Resources()}
		}
	}
	return cases.Object{
		"apiVersion": "ray.io/v1", "kind": "RayCluster",
		"metadata": cases.Object{"name": "train", "namespace": "apps", "labels": r.Labels()}, "spec": spec,
	}
}

func group(r *cases.Random, name string) cases.Object {
	own := map[string]string{"ray.io/cluster": "train"}
	if r.Maybe(2) {
		own["ray.io/group"] = name
	}
	spec := r.PodSpec(own)
	container := cases.Object{"name": "ray", "image": "ray"}
	if !r.Maybe(3) {
		container["resources"] = r.Resources()
	}
	spec["containers"] = []cases.Object{container}
	template := cases.Object{"spec": spec}
	if r.Maybe(2) {
		labels := r.Labels()
		if r.Maybe(4) {
			labels[cases.Pick(r, "ray.io/group", "app.kubernetes.io/name")] = "own"
		}
		template["metadata"] = cases.Object{"labels": labels}
	}
	made := cases.Object{"rayStartParams": cases.Object{}, "template": template}
	if r.Maybe(4) {
		made["labels"] = cases.Object{"ray.io/zone": "a", "tier": "web"}
	}
	return made
}

func build(cluster *rayv1.RayCluster) ([]cases.Pod, error) {
	ctx := context.Background()
	head, autoscaling := cluster.Spec.HeadGroupSpec, utils.IsAutoscalingEnabled(&cluster.Spec)
	fqdn, port := utils.GenerateFQDNServiceName(ctx, *cluster, cluster.Namespace), common.GetHeadPort(head.RayStartParams)
	template := common.DefaultHeadPodTemplate(ctx, *cluster, head, cluster.Name+"-head", port)
	pod := common.BuildPod(
		ctx, template, rayv1.HeadNode, head.RayStartParams, port, autoscaling, utils.RayClusterCRD, fqdn, nil)
	pods := []cases.Pod{cases.Of(cluster.Name+"-head", 1, pod.ObjectMeta, pod.Spec)}
	for _, worker := range cluster.Spec.WorkerGroupSpecs {
		name := cluster.Name + "-" + worker.GroupName + "-worker"
		template := common.DefaultWorkerPodTemplate(ctx, *cluster, worker, name, fqdn, port, "", 0, 0)
		pod := common.BuildPod(
			ctx, template, rayv1.WorkerNode, worker.RayStartParams, port, autoscaling, utils.RayClusterCRD, fqdn, nil)
		replicas := utils.GetWorkerGroupDesiredReplicas(ctx, worker)
		pods = append(pods, cases.Of(name, replicas, pod.ObjectMeta, pod.Spec))
	}
	return pods, nil
}

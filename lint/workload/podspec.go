package workload

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/source"
)

// PodSpec is the part of a pod's spec that decides its placement.
type PodSpec struct {
	NodeName                  string                            `json:"nodeName"`
	NodeSelector              map[string]string                 `json:"nodeSelector"`
	Affinity                  *corev1.Affinity                  `json:"affinity"`
	Tolerations               []corev1.Toleration               `json:"tolerations"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	SchedulerName             string                            `json:"schedulerName"`
	SchedulingGates           []corev1.PodSchedulingGate        `json:"schedulingGates"`
	PriorityClassName         string                            `json:"priorityClassName"`
	RuntimeClassName          string                            `json:"runtimeClassName"`
	PreemptionPolicy          string                            `json:"preemptionPolicy"`
	HostNetwork               bool                              `json:"hostNetwork"`
	Containers                []Container                       `json:"containers"`
	InitContainers            []Container                       `json:"initContainers"`
	Overhead                  corev1.ResourceList               `json:"overhead"`
	Resources                 *Resources                        `json:"resources"`
	OS                        *corev1.PodOS                     `json:"os"`
}

// Container is the part of a container that decides the placement of the pod.
type Container struct {
	Name          string          `json:"name"`
	Ports         []ContainerPort `json:"ports"`
	Resources     Resources       `json:"resources"`
	RestartPolicy string          `json:"restartPolicy"`
}

// ContainerPort is a port of a container.
type ContainerPort struct {
	HostPort      int32  `json:"hostPort"`
	ContainerPort int32  `json:"containerPort"`
	Protocol      string `json:"protocol"`
	HostIP        string `json:"hostIP"`
}

// Resources are requests and limits. Claims are not read, because devices are unknown to a static
// check.
type Resources struct {
	Requests corev1.ResourceList `json:"requests"`
	Limits   corev1.ResourceList `json:"limits"`
}

// vmiSpec is the part of a VirtualMachineInstance's spec that decides the placement of its pod
// (R-W20).
type vmiSpec struct {
	NodeSelector              map[string]string                 `json:"nodeSelector"`
	Affinity                  *corev1.Affinity                  `json:"affinity"`
	Tolerations               []corev1.Toleration               `json:"tolerations"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	SchedulerName             string                            `json:"schedulerName"`
	PriorityClassName         string                            `json:"priorityClassName"`
	Architecture              string                            `json:"architecture"`
	Domain                    vmiDomain                         `json:"domain"`
}

type vmiDomain struct {
	Resources Resources `json:"resources"`
	CPU       struct {
		Cores                 int64 `json:"cores"`
		Sockets               int64 `json:"sockets"`
		Threads               int64 `json:"threads"`
		DedicatedCPUPlacement bool  `json:"dedicatedCpuPlacement"`
	} `json:"cpu"`
	Memory struct {
		Guest *resource.Quantity `json:"guest"`
	} `json:"memory"`
}

// newDecoder returns a decoder that also knows the fields of the API that are not read here.
func newDecoder() *source.Decoder {
	return &source.Decoder{
		Full: map[reflect.Type]reflect.Type{
			reflect.TypeFor[PodSpec](): reflect.TypeFor[corev1.PodSpec](),
		},
		Open: map[reflect.Type]bool{
			reflect.TypeFor[Container]():       true,
			reflect.TypeFor[ContainerPort]():   true,
			reflect.TypeFor[Resources]():       true,
			reflect.TypeFor[corev1.PodOS]():    true,
			reflect.TypeFor[vmiSpec]():         true,
			reflect.TypeFor[vmiDomain]():       true,
			reflect.TypeOf(vmiDomain{}.CPU):    true,
			reflect.TypeOf(vmiDomain{}.Memory): true,
		},
	}
}

// KVM is the device that KubeVirt requests from every node for hardware virtualisation; nodes that
// do not list it are not judged by it.
const KVM = corev1.ResourceName("devices.kubevirt.io/kvm")

// pod returns the spec of the launcher pod of a machine. Values that KubeVirt computes are lower
// bounds: its own overhead is added to them (R-W23).
func (s *vmiSpec) pod() PodSpec {
	requests := corev1.ResourceList{KVM: resource.MustParse("1")}
	for name, q := range s.Domain.Resources.Limits {
		requests[name] = q
	}
	for name, q := range s.Domain.Resources.Requests {
		requests[name] = q
	}
	if _, ok := requests[corev1.ResourceCPU]; !ok {
		requests[corev1.ResourceCPU] = s.cpu()
	}
	if guest := s.Domain.Memory.Guest; guest != nil {
		if _, ok := requests[corev1.ResourceMemory]; !ok {
			requests[corev1.ResourceMemory] = *guest
		}
	}
	return PodSpec{
		NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, SchedulerName: s.SchedulerName, PriorityClassName: s.PriorityClassName,
		Containers: []Container{{Name: "compute", Resources: Resources{Requests: requests}}},
	}
}

// cpu returns a tenth of a processor for every virtual one, KubeVirt's default allocation ratio, or
// whole processors if they are dedicated.
func (s *vmiSpec) cpu() resource.Quantity {
	c := s.Domain.CPU
	n := max(1, min(c.Cores, 1<<16)) * max(1, min(c.Sockets, 1<<16)) * max(1, min(c.Threads, 1<<16))
	if c.DedicatedCPUPlacement {
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
	return *resource.NewMilliQuantity(n*100, resource.DecimalSI)
}

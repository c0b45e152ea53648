package workload

import (
	"errors"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestBuiltinKinds compares the table with the types of this release: it has all their kinds and
// groups.
func TestBuiltinKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	var errs []error
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, admissionregistrationv1.AddToScheme, apidiscoveryv2.AddToScheme, apiserverinternalv1alpha1.AddToScheme, appsv1.AddToScheme,
		appsv1beta1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
		certificatesv1beta1.AddToScheme, coordinationv1beta1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, extensionsv1beta1.AddToScheme,
		flowcontrolv1.AddToScheme, imagepolicyv1alpha1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, policyv1beta1.AddToScheme, rbacv1.AddToScheme,
		resourcev1.AddToScheme, resourcev1alpha3.AddToScheme, schedulingv1.AddToScheme, schedulingv1alpha2.AddToScheme, storagev1.AddToScheme, storagemigrationv1beta1.AddToScheme,
	} {
		errs = append(errs, add(scheme))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for known := range scheme.AllKnownTypes() {
		if known.Version == runtime.APIVersionInternal || strings.HasSuffix(known.Kind, "List") || strings.HasSuffix(known.Kind, "Options") && known.Group != "" || known.Kind == "WatchEvent" {
			continue
		}
		// Options of requests are in each group.
		if kinds := strings.Fields(builtin[known.Group]); !slices.Contains(kinds, known.Kind) && !slices.Contains([]string{"CreateOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"}, known.Kind) {
			t.Errorf("%s is missing in %q", known.Kind, known.Group)
		}
	}
	for group, kinds := range builtin {
		if !slices.IsSorted(strings.Fields(strings.ToLower(kinds))) {
			t.Errorf("the kinds of %s are not in order", group)
		}
	}
}

// TestKindMeant finds the mistake in a kind, and none in kinds of other projects.
func TestKindMeant(t *testing.T) {
	const body = "\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c}]}}}\n"
	for object, want := range map[string]string{
		"apps/v1 Deploymnt": "Deployment", "apps/v1 Deployments": "Deployment", "apps/v1 deployment": "Deployment", "apps/v1 Depolyment": "Deployment",
		"apps/v1 Statefulset": "StatefulSet", "apps/v1beta1 StatefullSets": "StatefulSet", "apps/v1 DaemonSets": "DaemonSet", "v1 Pods": "Pod", "v1 POD": "Pod", "v1 Nod": "Node",
		"v1 Endpoint": "Endpoints", "v1 Configmap": "ConfigMap", "v1 Sercet": "Secret", "batch/v1 Cronjob": "CronJob", "batch/v1beta1 CronJobs": "CronJob", "batch/v1 Jobs": "Job",
		"networking.k8s.io/v1 NetworkPolicies": "NetworkPolicy", "networking.k8s.io/v1 Ingresses": "Ingress", "networking.k8s.io/v1 ingresses": "Ingress", "policy/v1 PodDisruptionBudgets": "PodDisruptionBudget",
		"policy/v1 PodDistruptionBudget": "PodDisruptionBudget", "autoscaling/v2 HorizontalPodAutoScaler": "HorizontalPodAutoscaler", "rbac.authorization.k8s.io/v1 Roles": "Role",
		"storage.k8s.io/v1 Storageclass": "StorageClass", "scheduling.k8s.io/v1 PriorityClasses": "PriorityClass", "extensions/v1beta1 Ingres": "Ingress",

		"apps/v1 PetSet": "", "apps/v1 DeploymentList": "", "apps/v1 Deploment4You": "", "apps/v1 Application": "", "v1 List": "", "v1 PodsList": "", "v1 Config": "", "v1 Template": "",
		"v1 Route": "", "v1 DeploymentConfig": "", "v1 BuildConfig": "", "v1 ImageStream": "", "v1 Role": "", "v1 Job": "", "v1 Log": "", "v1 Pool": "", "v1 Deployment": "", "v2 Pods": "",
		"batch.volcano.sh/v1alpha1 Jobs": "", "apps.example.com/v1 Deploymnt": "", "gateway.networking.k8s.io/v1 Ingresses": "", "metrics.k8s.io/v1beta1 Pods": "", "batch/v1 JobSet": "",
		"autoscaling.k8s.io/v1 HorizontalPodAutoscalers": "", "policy/v1 PodSecurityPolicy": "", "scheduling.k8s.io/v1alpha1 PodGroup": "", "extensions/v1beta1 ThirdPartyResource": "",
	} {
		version, kind, _ := strings.Cut(object, " ")
		set := loadSet(t, "apiVersion: "+version+"\nkind: "+kind+body)
		got := ""
		for _, r := range set.Refusals {
			got += strings.TrimPrefix(r.Problems[0].Fix, "write kind: ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
	if set := loadSet(t, "apiVersion: v1\nkind: pods\nspec: {a: b}\n"); len(set.Refusals) > 0 {
		t.Error("what has no metadata is an object")
	}
}

package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// builtin lists the kinds that any release of Kubernetes served in its own API groups, except Lists
// (k8s.io/api: */*/register.go; for removed kinds, the same file of older releases).
var builtin = map[string]string{
	"": `APIGroup APIVersions Binding ComponentStatus ConfigMap DeleteOptions Endpoints Event LimitRange Namespace Node NodeProxyOptions
		PersistentVolume PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions
		PodStatusResult PodTemplate RangeAllocation ReplicationController ResourceQuota Secret SerializedReference Service ServiceAccount
		ServiceProxyOptions Status WatchEvent`,
	"admission.k8s.io": "AdmissionReview",
	"admissionregistration.k8s.io": `ExternalAdmissionHookConfiguration InitializerConfiguration MutatingAdmissionPolicy
		MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
		ValidatingWebhookConfiguration`,
	"apiextensions.k8s.io":         "ConversionReview CustomResourceDefinition",
	"apiregistration.k8s.io":       "APIService",
	"apidiscovery.k8s.io":          "APIGroupDiscovery",
	"apps":                         "ControllerRevision DaemonSet Deployment DeploymentRollback PetSet ReplicaSet Scale StatefulSet",
	"auditregistration.k8s.io":     "AuditSink",
	"authentication.k8s.io":        "SelfSubjectReview TokenRequest TokenReview",
	"authorization.k8s.io":         "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling":                  "HorizontalPodAutoscaler Scale",
	"batch":                        "CronJob Job JobTemplate ScheduledJob",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io":          "Lease LeaseCandidate",
	"discovery.k8s.io":             "EndpointSlice",
	"events.k8s.io":                "Event",
	"extensions":                   "DaemonSet Deployment DeploymentRollback HorizontalPodAutoscaler Ingress Job NetworkPolicy PodSecurityPolicy ReplicaSet ReplicationControllerDummy Scale ThirdPartyResource ThirdPartyResourceData",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"imagepolicy.k8s.io":           "ImageReview",
	"internal.apiserver.k8s.io":    "StorageVersion",
	"networking.k8s.io":            "ClusterCIDR Ingress IngressClass IPAddress NetworkPolicy ServiceCIDR",
	"node.k8s.io":                  "RuntimeClass",
	"policy":                       "Eviction PodDisruptionBudget PodSecurityPolicy",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io": `DeviceClass DeviceTaintRule PodScheduling PodSchedulingContext ResourceClaim ResourceClaimParameters
		ResourceClaimTemplate ResourceClass ResourceClassParameters ResourcePoolStatusRequest ResourceSlice`,
	"scheduling.k8s.io":       "PodGroup PriorityClass Workload",
	"settings.k8s.io":         "PodPreset",
	"storage.k8s.io":          "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io": "StorageVersionMigration",
}

// foreignKinds are kinds of other projects with the apiVersion v1: of a kubeconfig, and of
// OpenShift before its groups had names (openshift/api: pkg legacy groups).
var foreignKinds = strings.Fields(`Config AppliedClusterResourceQuota Build BuildConfig BuildLog BuildRequest ClusterNetwork ClusterPolicy ClusterPolicyBinding
	ClusterResourceQuota ClusterRole ClusterRoleBinding DeploymentConfig DeploymentConfigRollback DeploymentLog EgressNetworkPolicy Group HostSubnet
	Identity Image ImageSignature ImageStream ImageStreamImage ImageStreamImport ImageStreamMapping ImageStreamTag
	IsPersonalSubjectAccessReview LocalResourceAccessReview LocalSubjectAccessReview NetNamespace OAuthAccessToken OAuthAuthorizeToken
	OAuthClient OAuthClientAuthorization PodSecurityPolicyReview PodSecurityPolicySelfSubjectReview PodSecurityPolicySubjectReview Policy
	PolicyBinding Project ProjectRequest ResourceAccessReview Role RoleBinding RoleBindingRestriction Route SecurityContextConstraints
	SelfSubjectRulesReview SubjectAccessReview SubjectRulesReview Template TemplateInstance User UserIdentityMapping`)

// kindMeant returns the kind of a Kubernetes group that an unknown kind probably means, or "". The
// two are equal except for case or plural, or differ by one edit, or by two if the kind is so long
// that its neighbours are unlikely to be words of their own.
func kindMeant(o *source.Object) string {
	words, ok := builtin[o.Group()]
	kinds := strings.Fields(words)
	switch {
	case !ok || o.Group() == "" && o.APIVersion != "v1" || strings.HasSuffix(o.Kind, "List") || o.Root.Get("metadata").Len() == 0:
		return ""
	case slices.Contains(kinds, o.Kind) || slices.Contains(foreignKinds, o.Kind):
		return ""
	}
	meant := o.Kind
	if singular, ok := strings.CutSuffix(meant, "ies"); ok {
		meant = singular + "y"
	}
	for edits := range 3 {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return len(kind) < 3*edits })
		if slices.Contains(kinds, meant) {
			return meant
		}
		if near := diag.Within(meant, kinds, edits); near != "" {
			return near
		}
	}
	return ""
}

// validateKind records a refusal if the API server does not know the kind of an object.
func (l *loader) validateKind(o *source.Object) {
	near := kindMeant(o)
	if near == "" {
		return
	}
	group := "API group " + o.Group()
	if o.Group() == "" {
		group = "core API group"
	}
	k, v := o.Root.Field("kind")
	l.set.Refusals = append(l.set.Refusals, Refusal{Object: o, Problems: []Problem{{
		Stage: StageObject, Field: "kind", Span: o.File.FieldSpan(k, v),
		Message: fmt.Sprintf("kind is %q: the %s has no such kind", clipped(o.Kind), group), Fix: "write kind: " + near,
	}}})
}

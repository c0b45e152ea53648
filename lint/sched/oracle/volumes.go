package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	apistorage "k8s.io/kubernetes/pkg/apis/storage"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// Storage is the objects of a cluster that have to do with volumes.
type Storage struct {
	Claims  []*corev1.PersistentVolumeClaim
	Volumes []*corev1.PersistentVolume
	Classes []*storagev1.StorageClass
	Nodes   []*storagev1.CSINode
}

// storageKinds are those of the objects of a Storage.
var storageKinds = []string{"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"}

// byName compares objects by namespace and name.
func byName[T metav1.Object](a, b T) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

// find returns the object with a name, or the zero value.
func find[T metav1.Object](in []T, namespace, name string) (found T) {
	for _, o := range in {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	return found
}

// add takes in an object of storage that has passed admission.
func (s *Storage) add(obj runtime.Object) {
	switch obj.(type) {
	case *core.PersistentVolumeClaim:
		s.Claims = append(s.Claims, external(obj, &corev1.PersistentVolumeClaim{}))
	case *core.PersistentVolume:
		s.Volumes = append(s.Volumes, external(obj, &corev1.PersistentVolume{}))
	case *apistorage.StorageClass:
		s.Classes = append(s.Classes, external(obj, &storagev1.StorageClass{}))
	case *apistorage.CSINode:
		s.Nodes = append(s.Nodes, external(obj, &storagev1.CSINode{}))
	}
}

// templated makes the claims of a StatefulSet that the case does not declare
// (pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaims).
func (s *Storage) templated(set *appsv1.StatefulSet, pods []draft) error {
	for _, d := range pods {
		for i := range set.Spec.VolumeClaimTemplates {
			draft := set.Spec.VolumeClaimTemplates[i].DeepCopy()
			draft.Name, draft.Namespace = claimName(draft, d.pod), set.Namespace
			if find(s.Claims, draft.Namespace, draft.Name) != nil {
				continue
			}
			for key, value := range set.Spec.Selector.MatchLabels {
				draft.Labels = withLabel(draft.Labels, key, value)
			}
			legacyscheme.Scheme.Default(draft)
			internal := &core.PersistentVolumeClaim{}
			if err := legacyscheme.Scheme.Convert(draft, internal, nil); err != nil {
				return err
			}
			if err := admit(internal, schema.GroupKind{Kind: "PersistentVolumeClaim"}); err != nil {
				return err
			}
			internal.UID = ""
			s.Claims = append(s.Claims, external(internal, &corev1.PersistentVolumeClaim{}))
		}
	}
	return nil
}

func claimName(template *corev1.PersistentVolumeClaim, pod *corev1.Pod) string {
	return template.Name + "-" + pod.Name // which ends in the name of the set and the ordinal
}

// settle gives claims their default class, as the admission plugin DefaultStorageClass does, and
// binds them as the PV controller does before there are pods
// (pkg/controller/volume/persistentvolume/pv_controller.go syncUnboundClaim and syncBoundClaim).
// A claim that declares no UID has the one by which a volume refers to it.
func (s *Storage) settle(owners []runtime.Object) error {
	for _, o := range owners {
		if set, ok := o.(*appsv1.StatefulSet); ok {
			if err := s.templated(set, statefulPods(set)); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(s.Volumes, byName)
	// Claims that ask for a volume come first.
	slices.SortFunc(s.Claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return cmp.Or(-strings.Compare(a.Spec.VolumeName, b.Spec.VolumeName), byName(a, b))
	})
	classes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	if err := replace(classes, s.Classes); err != nil {
		return err
	}
	lister := storagelisters.NewStorageClassLister(classes)
	standard, err := volumeutil.GetDefaultClass(lister)
	if err != nil {
		return err
	}
	for _, v := range s.Volumes {
		v.Status.Phase = corev1.VolumeAvailable
		if v.Spec.ClaimRef != nil && v.Spec.ClaimRef.UID != "" {
			v.Status.Phase = corev1.VolumeReleased
		}
	}
	for i, claim := range s.Claims {
		if !volume.PersistentVolumeClaimHasClass(claim) && standard != nil {
			claim.Spec.StorageClassName = &standard.Name
		}
		for _, v := range s.Volumes {
			if ref := v.Spec.ClaimRef; ref != nil && claim.UID == "" && ref.Namespace == claim.Namespace && ref.Name == claim.Name {
				claim.UID = ref.UID
			}
		}
		if claim.UID == "" {
			claim.UID = types.UID(claim.Namespace + "/" + claim.Name)
		}
		claim.Status.Phase = corev1.ClaimPending
		v, err := s.volumeOf(claim, lister)
		if err != nil {
			return err
		}
		if v != nil {
			at := slices.Index(s.Volumes, v)
			s.Volumes[at], s.Claims[i] = joined(v, claim)
		}
	}
	return nil
}

// complete makes up for claims that are not declared, and for the volumes of claims whose class is
// not: a linter does not see everything that is in a cluster. The claim has the volume that names
// it, or one that every node can use. A claim of a class without a provisioner is an error, since
// its volumes would have to be declared.
func (s *Storage) complete(pods []*corev1.Pod) error {
	for _, p := range pods {
		for _, name := range claimNames(p) {
			if find(s.Claims, p.Namespace, name) == nil {
				claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
				claim.UID, claim.Status.Phase = types.UID(p.Namespace+"/"+name), corev1.ClaimPending
				for _, v := range s.Volumes {
					if ref := v.Spec.ClaimRef; ref != nil && ref.UID != "" && ref.Namespace == p.Namespace && ref.Name == name {
						claim.UID = ref.UID
					}
				}
				s.Claims = append(s.Claims, claim)
			}
		}
	}
	for i, claim := range s.Claims {
		class := find(s.Classes, "", volume.GetPersistentVolumeClaimClass(claim))
		switch at := slices.IndexFunc(s.Volumes, func(v *corev1.PersistentVolume) bool { return volume.IsVolumeBoundToClaim(v, claim) }); {
		case claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeName != "":
		case class != nil && class.Provisioner == volume.NotSupportedProvisioner && slices.ContainsFunc(s.Volumes, func(v *corev1.PersistentVolume) bool {
			return volume.GetPersistentVolumeClass(v) == class.Name
		}):
			// one of these, or none
		case class != nil && class.Provisioner == volume.NotSupportedProvisioner:
			return fmt.Errorf("no volume is made for the claim %s of class %s", claim.Name, class.Name)
		case len(claim.Spec.AccessModes) == 0 && at >= 0:
			s.Volumes[at], s.Claims[i] = joined(s.Volumes[at], claim)
		case class == nil:
			v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "undeclared-" + claim.Namespace + "-" + claim.Name}}
			v, s.Claims[i] = joined(v, claim)
			s.Volumes = append(s.Volumes, v)
		}
	}
	return nil
}

// plentiful has no limits on attached volumes, and of each volume that no claim holds as many as there
// are claims.
func (s *Storage) plentiful() Storage {
	more := *s
	more.Nodes = nil
	more.Volumes = slices.Clone(s.Volumes)
	for _, v := range s.Volumes {
		for i := range s.Claims {
			if v.Status.Phase == corev1.VolumeAvailable && s.Claims[i].Spec.VolumeName == "" {
				another := v.DeepCopy()
				another.Name = fmt.Sprintf("%s-%d", v.Name, i)
				more.Volumes = append(more.Volumes, another)
			}
		}
	}
	return more
}

// volumeOf returns the volume to which the PV controller binds a claim, or nil. Of several
// that an immediate claim may have it is the smallest one.
func (s *Storage) volumeOf(claim *corev1.PersistentVolumeClaim, classes storagelisters.StorageClassLister) (*corev1.PersistentVolume, error) {
	named := find(s.Volumes, "", claim.Spec.VolumeName)
	ours := named != nil && volume.IsVolumeBoundToClaim(named, claim)
	free := named != nil && named.Spec.ClaimRef == nil
	suits := func(v *corev1.PersistentVolume) bool { return volume.CheckAccessModes(claim, v) }
	switch {
	case metav1.HasAnnotation(claim.ObjectMeta, volume.AnnBindCompleted):
		if ours || free {
			return named, nil
		}
		claim.Status.Phase = corev1.ClaimLost
		return nil, nil
	case claim.Spec.VolumeName == "":
		delayed, err := volume.IsDelayBindingMode(claim, classes)
		if err != nil {
			return nil, err
		}
		some := slices.DeleteFunc(slices.Clone(s.Volumes), func(v *corev1.PersistentVolume) bool { return !suits(v) })
		return volume.FindMatchingVolume(claim, some, nil, nil, delayed, true)
	case ours:
		return named, nil
	case free && suits(named):
		// The controller checks the same as for a volume that it looks for, except the selector.
		plain := claim.DeepCopy()
		plain.Spec.Selector = nil
		return volume.FindMatchingVolume(plain, []*corev1.PersistentVolume{named}, nil, nil, false, true)
	}
	return nil, nil
}

// joined returns a volume and a claim that are bound to each other.
func joined(v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	v, _, err := volume.GetBindVolumeToClaim(v, claim)
	if err != nil {
		panic(err)
	}
	v.Status.Phase = corev1.VolumeBound
	claim = claim.DeepCopy()
	claim.Spec.VolumeName, claim.Status.Phase = v.Name, corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
	return v, claim
}

// storage holds the claims, volumes and StorageClasses as the scheduler sees them, in the informer
// indexes that its plugins read. VolumeBinding also remembers what it has reserved, but Reserve does not run here.
type storage struct {
	claims, volumes, classes, nodes cache.Indexer
	// loose are unbound claims whose volume depends on more than the node of one pod: several
	// pods use the claim, or there are volumes to choose from.
	loose []string
}

func newStorage(f informers.SharedInformerFactory) storage {
	return storage{
		claims:  f.Core().V1().PersistentVolumeClaims().Informer().GetIndexer(),
		volumes: f.Core().V1().PersistentVolumes().Informer().GetIndexer(),
		classes: f.Storage().V1().StorageClasses().Informer().GetIndexer(),
		nodes:   f.Storage().V1().CSINodes().Informer().GetIndexer(),
	}
}

// replace makes objects the only ones of an index.
func replace[T any](in cache.Indexer, objects []T) error {
	all := make([]any, len(objects))
	for i, o := range objects {
		all[i] = o
	}
	return in.Replace(all, "1")
}

func (s *storage) load(c *Cluster) error {
	s.loose = nil
	for _, claim := range c.Storage.Claims {
		users := 0
		for _, class := range c.Classes() {
			if claim.Namespace == class.Pod.Namespace && slices.Contains(claimNames(class.Pod), claim.Name) {
				users += class.Count
			}
		}
		choice := slices.ContainsFunc(c.Storage.Volumes, func(v *corev1.PersistentVolume) bool {
			return v.Status.Phase == corev1.VolumeAvailable && volume.GetPersistentVolumeClass(v) == volume.GetPersistentVolumeClaimClass(claim)
		})
		if claim.Spec.VolumeName == "" && (users > 1 || choice) {
			s.loose = append(s.loose, claim.Namespace+"/"+claim.Name)
		}
	}
	return cmp.Or(replace(s.claims, c.Storage.Claims), replace(s.volumes, c.Storage.Volumes), replace(s.classes, c.Storage.Classes), replace(s.nodes, c.Storage.Nodes))
}

// claimNames are those of the claims that a pod names.
func claimNames(p *corev1.Pod) []string {
	var all []string
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			all = append(all, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return all
}

// get returns the object of an index with a key, or the zero value.
func get[T any](from cache.Indexer, key string) T {
	o, _, err := from.GetByKey(key)
	if err != nil {
		panic(err)
	}
	found, _ := o.(T)
	return found
}

// provision does what follows when the scheduler places a pod whose claims wait for it: Reserve
// chooses volumes for them in order of size, and a provisioner makes those that are not there. It
// returns the function that takes all of that back.
func (s *storage) provision(p *corev1.Pod, n *corev1.Node) (undo func()) {
	var claims []*corev1.PersistentVolumeClaim
	for _, name := range claimNames(p) {
		claim := get[*corev1.PersistentVolumeClaim](s.claims, p.Namespace+"/"+name)
		if claim != nil && claim.Spec.VolumeName == "" && !slices.Contains(claims, claim) {
			claims = append(claims, claim)
		}
	}
	slices.SortStableFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int {
		size := a.Spec.Resources.Requests[corev1.ResourceStorage]
		return size.Cmp(b.Spec.Resources.Requests[corev1.ResourceStorage])
	})
	var before []*corev1.PersistentVolume
	for _, claim := range claims {
		var some []*corev1.PersistentVolume
		for _, o := range s.volumes.List() {
			if v := o.(*corev1.PersistentVolume); volume.GetPersistentVolumeClass(v) == volume.GetPersistentVolumeClaimClass(claim) {
				some = append(some, v)
			}
		}
		if metav1.HasAnnotation(claim.ObjectMeta, volume.AnnSelectedNode) {
			some = nil // the provisioner is at work
		}
		slices.SortFunc(some, byName)
		v, err := volume.FindMatchingVolume(claim, some, n, nil, true, true)
		if err != nil {
			panic(err)
		}
		if v == nil {
			v = made(claim, get[*storagev1.StorageClass](s.classes, volume.GetPersistentVolumeClaimClass(claim)), n)
		}
		before = append(before, v)
		v, claim = joined(v, claim)
		if err := cmp.Or(s.volumes.Update(v), s.claims.Update(claim)); err != nil {
			panic(err)
		}
	}
	return func() {
		for i, claim := range claims {
			back := s.volumes.Update
			if before[i].Annotations[madeBy] != "" {
				back = s.volumes.Delete
			}
			if err := cmp.Or(back(before[i]), s.claims.Update(claim)); err != nil {
				panic(err)
			}
		}
	}
}

const (
	// pinned is the annotation of a class that says where its volumes can be used: in the zone
	// or on the node of the first pod, or anywhere.
	pinned = "stub/pinned"
	// madeBy marks a volume of the provisioner, which a case cannot have.
	madeBy = "stub/made"
)

// made is the volume that the provisioner makes for a claim in the domain of a node. On a node
// without the label that the volume would be pinned to, it is pinned to nothing.
func made(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, n *corev1.Node) *corev1.PersistentVolume {
	name := fmt.Sprintf("pvc-%s-%s", claim.Namespace, claim.Name)
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{madeBy: "yes"}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, StorageClassName: class.Name,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: name}},
		},
	}
	key := pinKey(class)
	if value, ok := n.Labels[key]; ok {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}
	}
	return v
}

// pinKey is the label of the domains in which the volumes of a class can be used, or "".
func pinKey(class *storagev1.StorageClass) string {
	return map[string]string{"zone": corev1.LabelTopologyZone, "node": corev1.LabelHostname}[class.Annotations[pinned]]
}

// domainsOf has a node for each domain that the allowedTopologies of a class name.
func domainsOf(class *storagev1.StorageClass) (all []*corev1.Node) {
	for _, t := range class.AllowedTopologies {
		for _, e := range t.MatchLabelExpressions {
			for _, value := range e.Values {
				if e.Key == pinKey(class) {
					all = append(all, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{e.Key: value}}})
				}
			}
		}
	}
	return all
}

// maxChoices limits how many placements of immediately bound volumes are explored for one case.
const maxChoices = 100

// choices returns one cluster for each way to provision the claims that do not wait for a pod. A
// volume may be made in the domain of any node that the class allows, and in any domain that the class
// names, with or without nodes (external-provisioner, pkg/controller/topology.go).
func (c *Cluster) choices() ([]*Cluster, error) {
	all := []*Cluster{c}
	for i, claim := range c.Storage.Claims {
		class := find(c.Storage.Classes, "", volume.GetPersistentVolumeClaimClass(claim))
		if claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeName != "" || class == nil || *class.VolumeBindingMode != storagev1.VolumeBindingImmediate {
			continue
		}
		var volumes []*corev1.PersistentVolume
		labelled := func(n *corev1.Node) bool { _, has := n.Labels[pinKey(class)]; return has }
		some := slices.ContainsFunc(c.Nodes, labelled)
		for _, n := range append(slices.Clone(c.Nodes), domainsOf(class)...) {
			v := made(claim, class, n)
			if some && !labelled(n) {
				continue // the driver does not run there
			}
			same := func(o *corev1.PersistentVolume) bool {
				return reflect.DeepEqual(o.Spec.NodeAffinity, v.Spec.NodeAffinity)
			}
			if v1helper.MatchTopologySelectorTerms(class.AllowedTopologies, n.Labels) && !slices.ContainsFunc(volumes, same) {
				volumes = append(volumes, v)
			}
		}
		var next []*Cluster
		for _, before := range all {
			for _, v := range volumes {
				after := *before
				after.Storage.Claims = slices.Clone(before.Storage.Claims)
				v, after.Storage.Claims[i] = joined(v, claim)
				after.Storage.Volumes = append(slices.Clip(before.Storage.Volumes), v)
				next = append(next, &after)
			}
		}
		if len(next) > maxChoices {
			return nil, ErrTooLarge
		}
		if len(next) > 0 { // or the claim stays unbound
			all = next
		}
	}
	return all, nil
}

// reach tells of each loose claim whether it is unbound, bound to a volume that a node can use,
// or to another.
func (s *storage) reach(n *corev1.Node) []byte {
	all := make([]byte, len(s.loose))
	for i, key := range s.loose {
		if claim := get[*corev1.PersistentVolumeClaim](s.claims, key); claim.Spec.VolumeName != "" {
			all[i] = 1
			if volume.CheckNodeAffinity(get[*corev1.PersistentVolume](s.volumes, claim.Spec.VolumeName), n.Labels) == nil {
				all[i] = 2
			}
		}
	}
	return all
}

// follows reports whether a pod uses a loose claim.
func (s *storage) follows(p *corev1.Pod) bool {
	return slices.ContainsFunc(claimNames(p), func(name string) bool { return slices.Contains(s.loose, p.Namespace+"/"+name) })
}

// taken is the names of the volumes of loose claims. One that is made has the name of its claim.
func (s *storage) taken() string {
	var b strings.Builder
	for _, key := range s.loose {
		b.WriteString(get[*corev1.PersistentVolumeClaim](s.claims, key).Spec.VolumeName + "/")
	}
	return b.String()
}

package storage

import (
	"slices"
	"strconv"
	"strings"
)

// driver is a row of the table: a driver, or several that behave alike.
type driver struct {
	// Names are the names of the provisioner, separated by spaces. A * stands for any text without
	// a slash, where users choose that part of the name.
	Names string
	Behavior
	// Pin returns the pin if it depends on the parameters. It replaces Pinned.
	Pin func(parameters map[string]string) Pin
	// TracksCapacity is set if the manifests of the driver set storageCapacity in its CSIDriver by
	// default. Then the scheduler compares the size of a new volume with CSIStorageCapacity objects.
	TracksCapacity bool
	// Key is the topology key that the driver sets on each node where it runs, if one row of
	// topologyKeys has it.
	Key string
	// Source lists what the row was read from: project, version and files, one project after the
	// other, separated by semicolons.
	Source string
}

// Behaviors that many drivers share.
var (
	onNode     = Behavior{PinNode, AttachFree}
	zonalDisk  = Behavior{PinZone, AttachSingleNode}
	regionDisk = Behavior{PinRegion, AttachSingleNode}
	networkFS  = Behavior{PinFree, AttachFree}
	networkRWO = Behavior{PinFree, AttachSingleNode}
	attached   = Behavior{PinUnknown, AttachSingleNode}
)

// drivers is the table. A provisioner is in at most one row.
var drivers = []*driver{
	// Storage that people run themselves.

	// A volume without dataLocality gets the cluster's default, which is not seen. It is
	// "disabled", and it cannot be strict-local as long as volumes have several replicas.
	{Names: "driver.longhorn.io", Behavior: networkRWO, Pin: longhorn,
		Source: "longhorn/longhorn-manager 5ddaa369f csi/controller_server.go controller/volume_controller.go csi/deployment.go"},
	// Rook puts a prefix before the name, the namespace of its operator. Rook can be told not to
	// attach, but warns of corrupted data.
	{Names: "rbd.csi.ceph.com *.rbd.csi.ceph.com", Behavior: networkRWO, Pin: ceph,
		Source: "ceph/ceph-csi 52fcb7b00 internal/rbd/controllerserver.go charts/ceph-csi-rbd/templates/csidriver-crd.yaml; " +
			"ceph/ceph-csi-operator 4d64273b2 internal/controller/driver_controller.go"},
	// Charts of ceph-csi never attach.
	{Names: "cephfs.csi.ceph.com nfs.csi.ceph.com", Behavior: networkFS, Pin: ceph,
		Source: "ceph/ceph-csi 52fcb7b00 internal/cephfs/controllerserver.go charts/ceph-csi-cephfs/templates/csidriver-crd.yaml deploy/nfs/kubernetes/csidriver.yaml"},
	// Rook attaches by default, but its options cephFSAttachRequired and nfsAttachRequired are
	// not seen.
	{Names: "*.cephfs.csi.ceph.com *.nfs.csi.ceph.com", Pin: ceph,
		Source: "rook/rook v1.17.0 deploy/charts/rook-ceph/values.yaml; " +
			"ceph/ceph-csi-operator 4d64273b2 internal/controller/driver_controller.go"},
	// NodeAffinityLabels is an annotation of the StorageClass, so it is not seen. By default the
	// volume is pinned by the hostname.
	{Names: "openebs.io/local", Behavior: onNode,
		Source: "openebs/dynamic-localpv-provisioner localpv-provisioner-4.0.0 cmd/provisioner-localpv/app/provisioner_hostpath.go"},
	// k3s and kind use it as well. The path of a shared file system, which would make volumes
	// free, is in the ConfigMap of the provisioner and is not seen.
	{Names: "rancher.io/local-path", Behavior: onNode, Pin: localPath,
		Source: "rancher/local-path-provisioner 9fa2a62ed provisioner.go"},
	// Users choose the name, and those of the project's examples contain the protocol. The chart
	// sets attachRequired by default, as a block device with a single-node file system needs.
	{Names: "org.democratic-csi.*iscsi* org.democratic-csi.*nvmeof*", Behavior: networkRWO,
		Source: "democratic-csi/democratic-csi 8a4a28a87 src/driver/controller-zfs/index.js src/driver/controller-synology/index.js; " +
			"democratic-csi/charts democratic-csi-0.15.1 stable/democratic-csi/values.yaml stable/democratic-csi/examples"},
	// Whether the chart was told not to attach file systems is not seen.
	{Names: "org.democratic-csi.*nfs* org.democratic-csi.*smb* org.democratic-csi.lustre-client org.democratic-csi.objectivefs", Behavior: Behavior{PinFree, AttachUnknown},
		Source: "democratic-csi/democratic-csi 8a4a28a87 src/driver/controller-zfs/index.js src/driver/controller-client-common/index.js; " +
			"democratic-csi/charts democratic-csi-0.15.1 stable/democratic-csi/values.yaml stable/democratic-csi/examples"},
	{Names: "org.democratic-csi.local-hostpath org.democratic-csi.zfs-local-dataset org.democratic-csi.zfs-local-zvol", Key: "org.democratic-csi.topology/node", Behavior: onNode, TracksCapacity: true,
		Source: "democratic-csi/democratic-csi 8a4a28a87 src/driver/controller-local-hostpath/index.js src/driver/controller-zfs-local/index.js; democratic-csi/charts 79a3c0258 stable/democratic-csi/examples"},
	{Names: "nfs.csi.k8s.io", Behavior: networkFS,
		Source: "kubernetes-csi/csi-driver-nfs d3b27c007 pkg/nfs/controllerserver.go charts/latest/csi-driver-nfs/templates/csi-nfs-driverinfo.yaml"},
	// The chart's name of the provisioner contains that of the release and of the chart, which
	// was nfs-client-provisioner before. fuseim.pri/ifs is the name in old manifests.
	{Names: "cluster.local/*nfs-subdir-external-provisioner cluster.local/*nfs-client-provisioner k8s-sigs.io/nfs-subdir-external-provisioner fuseim.pri/ifs", Behavior: networkFS,
		Source: "kubernetes-sigs/nfs-subdir-external-provisioner 59a3ca2cd cmd/nfs-subdir-external-provisioner/provisioner.go charts/nfs-subdir-external-provisioner/templates/_helpers.tpl; " +
			"kubernetes-retired/external-storage 201f40d78 nfs-client/deploy/class.yaml"},
	// The NFS server is a pod, and where that can run is another question.
	{Names: "cluster.local/*nfs-server-provisioner example.com/nfs", Behavior: networkFS,
		Source: "kubernetes-sigs/nfs-ganesha-server-and-external-provisioner 7027d6505 pkg/volume/provision.go charts/nfs-server-provisioner/templates/_helpers.tpl"},
	{Names: "smb.csi.k8s.io", Behavior: networkFS,
		Source: "kubernetes-csi/csi-driver-smb 95c696805 pkg/smb/controllerserver.go charts/latest/csi-driver-smb/templates/csi-smb-driver.yaml"},
	// Attached for each protocol.
	{Names: "csi.san.synology.com", Behavior: networkRWO,
		Source: "SynologyOpenSource/synology-csi 280790021 pkg/driver/controllerserver.go deploy/helm/templates/csidriver.yaml"},
	// Where a volume can be used depends on the driver's storage pool, which is not in the StorageClass.
	{Names: "csi.truenas.io", Behavior: attached,
		Source: "truenas/truenas-csi fcb57bc6e pkg/driver/controller.go pkg/driver/node.go operator/internal/controller/truenascsi_controller.go"},
	{Names: "topolvm.io", Key: "topology.topolvm.io/node", Behavior: onNode, TracksCapacity: true,
		Source: "topolvm/topolvm 83e3dcee internal/driver/controller.go constants.go charts/topolvm/templates/controller/csidriver.yaml"},
	{Names: "topolvm.cybozu.com", Key: "topology.topolvm.cybozu.com/node", Behavior: onNode, TracksCapacity: true,
		Source: "topolvm/topolvm 83e3dcee internal/driver/controller.go constants.go charts/topolvm/templates/controller/csidriver.yaml"},
	{Names: "local.csi.openebs.io", Key: "openebs.io/nodename", Behavior: onNode, TracksCapacity: true,
		Source: "openebs/lvm-localpv f3276f4cb pkg/driver/controller.go deploy/helm/charts/values.yaml"},
	{Names: "zfs.csi.openebs.io", Key: "openebs.io/nodeid", Behavior: onNode, TracksCapacity: true,
		Source: "openebs/zfs-localpv d52f9a9a5 pkg/driver/controller.go deploy/helm/charts/values.yaml"},
	{Names: "rawfile.csi.openebs.io", Behavior: onNode, TracksCapacity: true,
		Source: "openebs/rawfile-localpv 12c375e2a rawfile_servicer.py deploy/charts/rawfile-csi/templates/00-driver.yaml"},
	// Usable on all nodes that run the driver. The chart has no CSIDriver object.
	{Names: "io.openebs.csi-mayastor", Behavior: networkRWO,
		Source: "openebs/mayastor-control-plane c02e0cb77 control-plane/csi-driver/src/bin/controller/controller.rs; " +
			"openebs/mayastor-extensions 5c0033a9f chart/templates/mayastor/csi"},
	// Kubernetes attaches nothing. Whether the iSCSI target refuses a second node was not read.
	{Names: "jiva.csi.openebs.io", Behavior: Behavior{PinFree, AttachUnknown},
		Source: "openebs/jiva-operator jiva-3.6.0 pkg/driver/controller.go deploy/yamls/csi.yaml"},
	{Names: "directpv-min-io", Key: "directpv.min.io/node", Behavior: onNode,
		Source: "minio/directpv v4.1.6 pkg/csi/controller/server.go pkg/consts/consts.go"},
	{Names: "lvm.csi.metal-stack.io", Key: "topology.lvm.csi/node", Behavior: onNode, TracksCapacity: true,
		Source: "metal-stack/csi-driver-lvm 14db8f3cf pkg/server/controller.go charts/csi-driver-lvm/templates/common.yaml"},
	// The data is on the node of the provisioner, and nothing tells the scheduler so. Other nodes
	// show the pod an empty directory.
	{Names: "k8s.io/minikube-hostpath", Behavior: Behavior{PinUnknown, AttachFree},
		Source: "kubernetes/minikube eb25dbc70 pkg/storage/storage_provisioner.go"},
	{Names: "microk8s.io/hostpath k8s.canonical.com/hostpath", Behavior: onNode,
		Source: "canonical/hostpath-provisioner v1.5.0 hostpath-provisioner.go"},
	{Names: "hostpath.csi.k8s.io", Key: "topology.hostpath.csi/node", Behavior: onNode,
		Source: "kubernetes-csi/csi-driver-host-path 1f2b2e64d pkg/hostpath/controllerserver.go cmd/hostpathplugin/main.go"},
	{Names: "linstor.csi.linbit.com", Key: "linbit.com/hostname", Behavior: networkRWO, Pin: linstor, TracksCapacity: true,
		Source: "piraeusdatastore/linstor-csi v1.12.0 pkg/volume/parameter.go pkg/volume/remoteaccess.go pkg/linstor/highlevelclient/high_level_client.go; " +
			"piraeusdatastore/piraeus-operator 0ef32285b pkg/resources/cluster/csi-controller/csi-driver.yaml"},
	// Kubernetes attaches nothing. What the driver itself refuses is not in public source.
	{Names: "pxd.portworx.com kubernetes.io/portworx-volume", Pin: portworx,
		Source: "libopenstorage/openstorage 033255168 csi/controller.go; " +
			"libopenstorage/operator 303cc3735 drivers/storage/portworx/component/csi.go; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/portworx.go"},
	{Names: "csi.juicefs.com", Behavior: networkFS,
		Source: "juicedata/juicefs-csi-driver v0.32.4 pkg/driver/controller.go deploy/kubernetes/base/resources.yaml"},
	// The chart has a value that decides whether volumes are attached.
	{Names: "seaweedfs-csi-driver", Behavior: Behavior{PinFree, AttachUnknown},
		Source: "seaweedfs/seaweedfs-csi-driver 05c90b2a9 pkg/driver/controllerserver.go deploy/helm/seaweedfs-csi-driver/templates/csidriver.yaml"},
	{Names: "csi.moosefs.com", Behavior: networkRWO,
		Source: "moosefs/moosefs-csi bb2f9eea6 driver/controller.go deploy/csi-moosefs.yaml"},
	{Names: "ru.yandex.s3.csi", Behavior: networkFS,
		Source: "yandex-cloud/k8s-csi-s3 v0.43.7 pkg/driver/controllerserver.go deploy/kubernetes/driver.yaml"},
	// The topology is that of the backend, which is not seen.
	{Names: "csi.trident.netapp.io", Behavior: attached,
		Source: "NetApp/trident 71dd71618 frontend/csi/controller_server.go cli/k8s_client/yaml_factory.go"},
	// Where a volume is depends on the datastores.
	{Names: "csi.vsphere.vmware.com kubernetes.io/vsphere-volume", Behavior: attached,
		Source: "kubernetes-sigs/vsphere-csi-driver bf8090256 pkg/csi/service/common/commonco/k8sorchestrator/topology.go manifests/guestcluster/1.21/pvcsi.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/vsphere_volume.go"},
	// A zone is a Proxmox host. Whether the storage is shared by hosts is a property of Proxmox,
	// which is not seen.
	{Names: "csi.proxmox.sinextra.dev", Behavior: attached, TracksCapacity: true,
		Source: "sergelogvinov/proxmox-csi-plugin v0.19.1 pkg/csi/controller.go charts/proxmox-csi-plugin/templates/csidriver.yaml"},

	// Storage of clouds.

	// On Outposts, a disk is usable on one Outpost of the zone. ebs.csi.eks.amazonaws.com is the
	// driver of EKS Auto Mode, whose source is not public; it makes the same disks.
	{Names: "ebs.csi.aws.com ebs.csi.eks.amazonaws.com kubernetes.io/aws-ebs", Key: "topology.ebs.csi.aws.com/zone", Behavior: zonalDisk,
		Source: "kubernetes-sigs/aws-ebs-csi-driver 429e202e5 pkg/driver/controller.go deploy/kubernetes/base/csidriver.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/aws_ebs.go"},
	{Names: "efs.csi.aws.com", Behavior: networkFS, Pin: efs,
		Source: "kubernetes-sigs/aws-efs-csi-driver a4fc67600 pkg/driver/controller.go deploy/kubernetes/base/csidriver.yaml"},
	{Names: "fsx.csi.aws.com", Behavior: networkFS,
		Source: "kubernetes-sigs/aws-fsx-csi-driver v1.9.0 pkg/driver/controller.go deploy/kubernetes/base/csidriver.yaml"},
	{Names: "pd.csi.storage.gke.io kubernetes.io/gce-pd", Key: "topology.gke.io/zone", Behavior: zonalDisk, Pin: persistentDisk,
		Source: "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver b560165c3 pkg/gce-pd-csi-driver/controller.go pkg/parameters/parameters.go pkg/parameters/types.go deploy/kubernetes/base/controller/v1_csidriver.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/gce_pd.go"},
	{Names: "filestore.csi.storage.gke.io", Behavior: networkFS,
		Source: "kubernetes-sigs/gcp-filestore-csi-driver 2edb466bc pkg/csi_driver/controller.go deploy/kubernetes/base/controller/csi_driver.yaml"},
	// maxShares makes no difference to ReadWriteOnce, which Kubernetes keeps to one node.
	{Names: "disk.csi.azure.com kubernetes.io/azure-disk", Key: "topology.disk.csi.azure.com/zone", Behavior: zonalDisk, Pin: azureDisk,
		Source: "kubernetes-sigs/azuredisk-csi-driver d983d613b pkg/azuredisk/controllerserver.go pkg/azureutils/azure_disk_utils.go charts/latest/azuredisk-csi-driver/templates/csi-azuredisk-driver.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/azure_disk.go; " +
			"kubernetes-sigs/cloud-provider-azure 7b31c76ce pkg/provider/azure_vmss.go"},
	// The chart of Azure Files has a value to attach, which is false by default.
	{Names: "file.csi.azure.com kubernetes.io/azure-file blob.csi.azure.com", Behavior: networkFS,
		Source: "kubernetes-sigs/azurefile-csi-driver 7b5ae18e7 pkg/azurefile/controllerserver.go charts/latest/azurefile-csi-driver/values.yaml; " +
			"kubernetes-sigs/blob-csi-driver 0744a60b3 pkg/blob/controllerserver.go charts/latest/blob-csi-driver/templates/csi-blob-driver.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/azure_file.go"},
	// The zone is Cinder's, and it is ignored if the driver has ignore-volume-az or no topology,
	// neither of which is seen.
	{Names: "cinder.csi.openstack.org kubernetes.io/cinder", Key: "topology.cinder.csi.openstack.org/zone", Behavior: attached,
		Source: "kubernetes/cloud-provider-openstack c453fb7c9 pkg/csi/cinder/controllerserver.go manifests/cinder-csi-plugin/csi-cinder-driver.yaml; " +
			"kubernetes/csi-translation-lib 83cf1e337 plugins/openstack_cinder.go"},
	{Names: "nfs.manila.csi.openstack.org cephfs.manila.csi.openstack.org", Key: "topology.manila.csi.openstack.org/zone", Behavior: networkFS, Pin: manila,
		Source: "kubernetes/cloud-provider-openstack c453fb7c9 pkg/csi/manila/controllerserver.go manifests/manila-csi-plugin/csidriver.yaml"},
	// The driver's domain is the location, which is the region in Kubernetes. The zone in
	// Kubernetes is a data center of the location.
	{Names: "csi.hetzner.cloud", Behavior: regionDisk,
		Source: "hetznercloud/csi-driver 53ead0b2b internal/driver/controller.go chart/templates/core/csidriver.yaml; " +
			"hetznercloud/hcloud-cloud-controller-manager 6485324fb hcloud/instances.go"},
	// Nodes have no zone.
	{Names: "dobs.csi.digitalocean.com", Behavior: regionDisk,
		Source: "digitalocean/csi-digitalocean 0711283de driver/controller.go deploy/kubernetes/releases/csi-digitalocean-dev/driver.yaml; " +
			"digitalocean/digitalocean-cloud-controller-manager 70d527e38 cloud-controller-manager/do/droplets.go"},
	{Names: "linodebs.csi.linode.com", Behavior: regionDisk,
		Source: "linode/linode-blockstorage-csi-driver def6be4fa internal/driver/controllerserver_helper.go deploy/kubernetes/base/csi-driver-instance.yaml; " +
			"linode/linode-cloud-controller-manager b9aa9012c cloud/linode/services/instances.go"},
	// The driver does not announce topology, so Kubernetes ignores the region, but a disk of
	// another region cannot be attached.
	{Names: "block.csi.vultr.com", Behavior: regionDisk,
		Source: "vultr/vultr-csi v0.18.0 driver/controller.go driver/identity.go docs/releases/latest.yml; " +
			"vultr/vultr-cloud-controller-manager v0.18.0 vultr/instancesv2.go"},
	{Names: "csi.scaleway.com", Key: "topology.csi.scaleway.com/zone", Behavior: zonalDisk,
		Source: "scaleway/scaleway-csi v0.3.6 pkg/driver/helpers.go pkg/driver/node.go; " +
			"scaleway/scaleway-cloud-controller-manager bddc17f83 scaleway/instances.go"},
	// What Exoscale calls a zone is the region in Kubernetes. A cluster is in one.
	{Names: "csi.exoscale.com", Key: "topology.csi.exoscale.com/zone", Behavior: regionDisk,
		Source: "exoscale/exoscale-csi-driver v0.34.3 driver/controller.go driver/driver.go deployment/0.33.2/csi-driver.yaml; " +
			"exoscale/exoscale-cloud-controller-manager 32c9584f5 exoscale/instances_v2.go"},
	// What UpCloud calls a zone is a region in the topology of the driver.
	{Names: "storage.csi.upcloud.com", Behavior: regionDisk,
		Source: "UpCloudLtd/upcloud-csi v1.2.0 internal/controller/controller.go deploy/kubernetes/setup-upcloud-csi.yaml"},
	// A zone is an availability domain.
	{Names: "blockvolume.csi.oraclecloud.com", Behavior: zonalDisk,
		Source: "oracle/oci-cloud-controller-manager v1.35.0 pkg/csi/driver/bv_controller.go manifests/container-storage-interface/oci-csi-node-driver.yaml"},
	{Names: "fss.csi.oraclecloud.com", Behavior: networkFS,
		Source: "oracle/oci-cloud-controller-manager v1.35.0 pkg/csi/driver/fss_controller.go manifests/container-storage-interface/oci-csi-node-driver.yaml"},
	{Names: "vpc.block.csi.ibm.io", Behavior: zonalDisk,
		Source: "kubernetes-sigs/ibm-vpc-block-csi-driver v5.2.21 pkg/ibmcsidriver/controller_helper.go deploy/kubernetes/driver/kubernetes/manifests/csidriver.yaml"},
	{Names: "diskplugin.csi.alibabacloud.com", Key: "topology.diskplugin.csi.alibabacloud.com/zone", Behavior: zonalDisk, Pin: alibabaDisk,
		Source: "kubernetes-sigs/alibaba-cloud-csi-driver 8aacf9009 pkg/disk/utils.go pkg/disk/category.go pkg/disk/cloud.go deploy/charts/alibaba-cloud-csi-driver/templates/csi-driver.yaml"},
	{Names: "nasplugin.csi.alibabacloud.com", Behavior: networkFS,
		Source: "kubernetes-sigs/alibaba-cloud-csi-driver 8aacf9009 pkg/nas/controllerserver.go deploy/charts/alibaba-cloud-csi-driver/templates/csi-driver.yaml"},
	// Whether the driver calls zones as the labels of nodes do was not read.
	{Names: "com.tencent.cloud.csi.cbs", Behavior: zonalDisk,
		Source: "TencentCloud/kubernetes-csi-tencentcloud defc12d0a driver/cbs/controller.go deploy/cbs"},
}

// longhorn: a strict-local volume has its only replica on the node where it is used first.
// strictTopology pins to the labels that a setting of Longhorn lists, which is not seen.
func longhorn(parameters map[string]string) Pin {
	switch parameters["dataLocality"] {
	case "strict-local":
		return PinNode
	case "", "disabled", "best-effort":
	default:
		return PinUnknown
	}
	switch topology, strict := parameters["volumeTopology"], parameters["strictTopology"]; {
	case strict != "" && strict != "false":
		return PinUnknown
	case topology == "zonal":
		return PinZone
	case topology == "regional":
		return PinRegion
	case topology == "" || topology == "any":
		return PinFree
	}
	return PinUnknown
}

// ceph: pools by topology have domains that the configuration of the driver defines.
func ceph(parameters map[string]string) Pin {
	if parameters["topologyConstrainedPools"] != "" {
		return PinUnknown
	}
	return PinFree
}

// localPath pins to the value of a label, by default the hostname.
func localPath(parameters map[string]string) Pin {
	switch parameters["nodeAffinityKey"] {
	case "", hostname:
		return PinNode
	case zone:
		return PinZone
	case region:
		return PinRegion
	}
	return PinUnknown
}

// linstor: a volume is used over the network, unless allowRemoteVolumeAccess or layers without a
// network keep it to the nodes with replicas. If that is one node, it is pinned. If nothing is
// said, a flag of the driver decides, whose default is the network.
func linstor(parameters map[string]string) Pin {
	value := map[string]string{}
	for _, name := range []string{"allowRemoteVolumeAccess", "layerList", "placementCount", "autoPlace", "nodeList", "clientList"} {
		v, ok := folded(parameters, name, "linstor.csi.linbit.com/"+name)
		if !ok {
			return PinUnknown
		}
		value[name] = v
	}
	layers := value["layerList"]
	remote, err := layers == "" || strings.Contains(layers, "drbd") || strings.Contains(layers, "nvme"), error(nil)
	if access := value["allowRemoteVolumeAccess"]; access != "" {
		remote, err = strconv.ParseBool(access)
	}
	one := []string{"", "1"}
	switch {
	case err != nil:
		return PinUnknown // a policy by labels
	case remote:
		return PinFree
	case slices.Contains(one, value["placementCount"]) && slices.Contains(one, value["autoPlace"]) && value["nodeList"]+value["clientList"] == "":
		return PinNode
	}
	return PinUnknown
}

// portworx: volumes of an array that is attached directly have the topology of the array.
func portworx(parameters map[string]string) Pin {
	if backend, ok := folded(parameters, "backend"); !ok || backend != "" {
		return PinUnknown
	}
	return PinFree
}

// efs: enforceZoneAffinity pins to the zone of a One Zone file system, which is not seen, and
// does nothing if the file system has several zones.
func efs(parameters map[string]string) Pin {
	if value, set := parameters["enforceZoneAffinity"]; set {
		if enforce, err := strconv.ParseBool(value); enforce || err != nil {
			return PinUnknown
		}
	}
	return PinFree
}

// persistentDisk: a regional disk is in two zones, one of which is that of the first node. Disks
// for reading are made in several zones if the driver has multi-zone provisioning.
func persistentDisk(parameters map[string]string) Pin {
	kind, okKind := folded(parameters, "type")
	replication, okReplication := folded(parameters, "replication-type")
	several, okSeveral := folded(parameters, "enable-multi-zone-provisioning")
	zonal := kind == "" || strings.HasPrefix(kind, "pd-") || strings.HasPrefix(kind, "hyperdisk-")
	switch {
	case !okKind || !okReplication || !okSeveral || several != "" && several != "false":
		return PinUnknown
	case replication == "regional-pd" || kind == "hyperdisk-balanced-high-availability":
		return PinTwoZones
	case zonal && (replication == "" || replication == "none"):
		return PinZone
	}
	return PinUnknown
}

// azureDisk: LRS is one zone, ZRS all zones of the region, and LRS is the default. On nodes that
// are not in an availability zone, the zone label holds the fault domain, a number, and an LRS
// disk is usable on all those nodes.
func azureDisk(parameters map[string]string) Pin {
	sku, ok := folded(parameters, "skuName", "storageAccountType")
	switch {
	case !ok:
		return PinUnknown
	case sku == "" || strings.HasSuffix(sku, "_lrs"):
		return PinZone
	case strings.HasSuffix(sku, "_zrs"):
		return PinRegion
	}
	return PinUnknown
}

// manila: with autoTopology, a share is in Manila's zone of the first node, whose name need not be
// that of a zone of nodes.
func manila(parameters map[string]string) Pin {
	if auto := parameters["autoTopology"]; auto != "" && !strings.EqualFold(auto, "false") {
		return PinUnknown
	}
	return PinFree
}

// alibabaDisk: the type may be a list, of which the first one that is available is used.
func alibabaDisk(parameters map[string]string) Pin {
	pins := map[Pin]bool{}
	for kind := range strings.SplitSeq(parameters["type"], ",") {
		switch {
		case kind == "cloud_regional_disk_auto":
			pins[PinRegion] = true
		case strings.HasPrefix(kind, "elastic_ephemeral_disk_"):
			pins[PinNode] = true
		case kind == "" || kind == "available" || strings.HasPrefix(kind, "cloud"):
			pins[PinZone] = true
		default:
			return PinUnknown
		}
	}
	for pin := range pins {
		if len(pins) == 1 {
			return pin
		}
	}
	return PinUnknown
}

// folded returns the value, in lower case, of a parameter that a driver finds by its name in any
// case. The value is "" if the parameter is absent, and ok is false if there are several values:
// such a driver uses any of them.
func folded(parameters map[string]string, names ...string) (value string, ok bool) {
	found := map[string]bool{}
	for key, v := range parameters {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) }) {
			value = strings.ToLower(v)
			found[value] = true
		}
	}
	return value, len(found) < 2
}

// The well-known labels of nodes.
const (
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
	region   = "topology.kubernetes.io/region"
)

// topologyKeys lists the topology keys whose value is that of a well-known label, on nodes that
// the cloud's own controllers label. Drivers by node use the name of the node, which is the
// hostname unless the kubelet has another one.
//
// Left out are csi.hetzner.cloud/location, topology.linode.com/region and region, which are the
// region; topology.com.tencent.cloud.csi.cbs/zone, whose values were not read; and keys whose value
// is the same on all nodes of a driver.
var topologyKeys = map[string]string{
	// Set together with the zone by the node plugin (pkg/driver/node.go).
	"topology.ebs.csi.aws.com/zone": zone,
	// The zone of the instance (pkg/gce-pd-csi-driver/node.go).
	"topology.gke.io/zone": zone,
	// Equal on nodes in an availability zone (pkg/azuredisk/nodeserver.go). On others it is empty.
	"topology.disk.csi.azure.com/zone": zone,
	// The zone of the instance, as the cloud controller says it (pkg/driver/node.go).
	"topology.csi.scaleway.com/zone": zone,
	// Read from the label (driver/driver.go).
	"topology.csi.exoscale.com/zone": zone,
	// The zone of the instance (pkg/csi/cinder/nodeserver.go, pkg/csi/manila/nodeserver.go).
	"topology.cinder.csi.openstack.org/zone": zone,
	"topology.manila.csi.openstack.org/zone": zone,
	// Set together with the zone by the node plugin (pkg/disk/nodeserver.go).
	"topology.diskplugin.csi.alibabacloud.com/zone": zone,
	// The former name of the zone, which is the key of Oracle's and IBM's drivers.
	"failure-domain.beta.kubernetes.io/zone": zone,

	"topology.topolvm.io/node":         hostname, // topolvm: constants.go
	"topology.topolvm.cybozu.com/node": hostname,
	"openebs.io/nodename":              hostname, // lvm-localpv: pkg/driver/agent.go
	"openebs.io/nodeid":                hostname, // zfs-localpv: pkg/driver/agent.go, unless users label nodes
	"org.democratic-csi.topology/node": hostname, // democratic-csi: src/driver/controller-zfs-local/index.js
	"linbit.com/hostname":              hostname, // linstor-csi: pkg/topology/topology.go
	"directpv.min.io/node":             hostname, // directpv: pkg/apis/directpv.min.io/types/label.go
	"topology.lvm.csi/node":            hostname, // csi-driver-lvm: pkg/server/node.go
	"topology.hostpath.csi/node":       hostname, // csi-driver-host-path: pkg/hostpath/nodeserver.go
}

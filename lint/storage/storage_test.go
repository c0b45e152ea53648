package storage

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// class writes a StorageClass in one line: the provisioner and the parameters.
func class(line string) (provisioner string, parameters map[string]string) {
	words := strings.Split(line, " ")
	parameters = map[string]string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		parameters[key] = value
	}
	return words[0], parameters
}

var classes = []struct{ class, want string }{
	{"driver.longhorn.io", "free single-node"},
	{"driver.longhorn.io numberOfReplicas=3 dataLocality=best-effort", "free single-node"},
	{"driver.longhorn.io numberOfReplicas=1 dataLocality=strict-local", "node single-node"},
	{"driver.longhorn.io datalocality=strict-local", "free single-node"}, // the driver does not find it
	{"driver.longhorn.io dataLocality=${LOCALITY}", "? single-node"},
	{"driver.longhorn.io volumeTopology=zonal", "zone single-node"},
	{"driver.longhorn.io volumeTopology=regional", "region single-node"},
	{"driver.longhorn.io strictTopology=true", "? single-node"},
	{"driver.longhorn.io volumeTopology=${TOPOLOGY}", "? single-node"},

	{"rbd.csi.ceph.com pool=replicapool", "free single-node"},
	{"rook-ceph.rbd.csi.ceph.com pool=replicapool", "free single-node"},
	{"openshift-storage.rbd.csi.ceph.com", "free single-node"},
	{"rook-ceph.rbd.csi.ceph.com topologyConstrainedPools=[]", "? single-node"},
	{"cephfs.csi.ceph.com", "free free"},
	{"rook-ceph.cephfs.csi.ceph.com", "free ?"},
	{"rook-ceph.nfs.csi.ceph.com", "free ?"},
	{"notrbd.csi.ceph.com", "? ?"},
	{"rook/ceph.rbd.csi.ceph.com", "? ?"},

	{"rancher.io/local-path", "node free"},
	{"rancher.io/local-path nodePath=/data pathPattern={{.PVC.Name}}", "node free"},
	{"rancher.io/local-path nodeAffinityKey=kubernetes.io/hostname", "node free"},
	{"rancher.io/local-path nodeAffinityKey=topology.kubernetes.io/zone", "zone free"},
	{"rancher.io/local-path nodeAffinityKey=topology.kubernetes.io/region", "region free"},
	{"rancher.io/local-path nodeAffinityKey=rack", "? free"},
	{"openebs.io/local", "node free"},
	{"local.csi.openebs.io storage=lvm", "node free"},
	{"zfs.csi.openebs.io poolname=tank", "node free"},
	{"rawfile.csi.openebs.io", "node free"},
	{"io.openebs.csi-mayastor repl=3", "free single-node"},
	{"jiva.csi.openebs.io", "free ?"},
	{"topolvm.io", "node free"},
	{"topolvm.cybozu.com", "node free"},
	{"directpv-min-io", "node free"},
	{"lvm.csi.metal-stack.io", "node free"},
	{"k8s.io/minikube-hostpath", "? free"},
	{"microk8s.io/hostpath pvDir=/mnt", "node free"},
	{"hostpath.csi.k8s.io", "node free"},

	{"org.democratic-csi.iscsi fsType=ext4", "free single-node"},
	{"org.democratic-csi.truenas-api-iscsi", "free single-node"},
	{"org.democratic-csi.iscsi-synology", "free single-node"},
	{"org.democratic-csi.nvmeof", "free single-node"},
	{"org.democratic-csi.nfs", "free ?"},
	{"org.democratic-csi.nfs-client", "free ?"},
	{"org.democratic-csi.smb", "free ?"},
	{"org.democratic-csi.local-hostpath", "node free"},
	{"org.democratic-csi.zfs-local-zvol", "node free"},
	{"org.democratic-csi.node-manual", "? ?"}, // static

	{"nfs.csi.k8s.io server=nas", "free free"},
	{"cluster.local/nfs-subdir-external-provisioner", "free free"},
	{"cluster.local/nas-nfs-subdir-external-provisioner", "free free"},
	{"cluster.local/media-nfs-client-provisioner", "free free"},
	{"k8s-sigs.io/nfs-subdir-external-provisioner", "free free"},
	{"fuseim.pri/ifs", "free free"},
	{"cluster.local/nfs-server-provisioner", "free free"},
	{"cluster.local/other", "? ?"},
	{"smb.csi.k8s.io source=//nas/share", "free free"},
	{"csi.san.synology.com protocol=nfs", "free single-node"},
	{"csi.truenas.io", "? single-node"},
	{"csi.juicefs.com", "free free"},
	{"seaweedfs-csi-driver", "free ?"},
	{"csi.moosefs.com", "free single-node"},
	{"ru.yandex.s3.csi", "free free"},

	{"linstor.csi.linbit.com", "free single-node"},
	{"linstor.csi.linbit.com linstor.csi.linbit.com/placementCount=2 linstor.csi.linbit.com/storagePool=pool", "free single-node"},
	{"linstor.csi.linbit.com linstor.csi.linbit.com/allowRemoteVolumeAccess=true linstor.csi.linbit.com/layerList=storage", "free single-node"},
	{"linstor.csi.linbit.com linstor.csi.linbit.com/allowRemoteVolumeAccess=false", "node single-node"},
	{"linstor.csi.linbit.com AllowRemoteVolumeAccess=False autoPlace=1", "node single-node"},
	{"linstor.csi.linbit.com allowRemoteVolumeAccess=false autoPlace=2", "? single-node"},
	{"linstor.csi.linbit.com allowRemoteVolumeAccess=false placementCount=11", "? single-node"},
	{"linstor.csi.linbit.com allowRemoteVolumeAccess=false nodeList=a", "? single-node"},
	{"linstor.csi.linbit.com allowRemoteVolumeAccess=-fromSame:zone", "? single-node"},
	{"linstor.csi.linbit.com layerList=storage", "node single-node"},
	{"linstor.csi.linbit.com layerList=drbd layerlist=storage", "? single-node"},
	{"pxd.portworx.com repl=2", "free ?"},
	{"pxd.portworx.com backend=pure_block", "? ?"},
	{"kubernetes.io/portworx-volume", "free ?"},
	{"csi.trident.netapp.io backendType=ontap-nas", "? single-node"},
	{"csi.vsphere.vmware.com", "? single-node"},
	{"kubernetes.io/vsphere-volume", "? single-node"},
	{"csi.proxmox.sinextra.dev storage=local-lvm", "? single-node"},

	{"ebs.csi.aws.com type=gp3", "zone single-node"},
	{"ebs.csi.eks.amazonaws.com type=gp3", "zone single-node"},
	{"kubernetes.io/aws-ebs type=gp2", "zone single-node"},
	{"efs.csi.aws.com provisioningMode=efs-ap", "free free"},
	{"efs.csi.aws.com enforceZoneAffinity=false", "free free"},
	{"efs.csi.aws.com enforceZoneAffinity=true", "? free"},
	{"fsx.csi.aws.com", "free free"},

	{"pd.csi.storage.gke.io", "zone single-node"},
	{"pd.csi.storage.gke.io type=pd-balanced replication-type=none", "zone single-node"},
	{"pd.csi.storage.gke.io type=pd-balanced replication-type=regional-pd", "zones-2 single-node"},
	{"pd.csi.storage.gke.io Type=pd-ssd Replication-Type=Regional-PD", "zones-2 single-node"},
	{"pd.csi.storage.gke.io type=hyperdisk-balanced-high-availability", "zones-2 single-node"},
	{"pd.csi.storage.gke.io type=hyperdisk-ml enable-multi-zone-provisioning=true", "? single-node"},
	{"pd.csi.storage.gke.io type=${TYPE}", "? single-node"},
	{"pd.csi.storage.gke.io type=${TYPE} replication-type=regional-pd", "zones-2 single-node"},
	{"pd.csi.storage.gke.io replication-type=other", "? single-node"},
	{"pd.csi.storage.gke.io replication-type=none Replication-Type=regional-pd", "? single-node"},
	{"kubernetes.io/gce-pd type=pd-standard replication-type=regional-pd", "zones-2 single-node"},
	{"filestore.csi.storage.gke.io tier=standard", "free free"},

	{"disk.csi.azure.com", "zone single-node"},
	{"disk.csi.azure.com skuName=Premium_LRS", "zone single-node"},
	{"disk.csi.azure.com skuname=StandardSSD_LRS", "zone single-node"},
	{"disk.csi.azure.com skuName=Premium_ZRS", "region single-node"},
	{"disk.csi.azure.com SKUNAME=StandardSSD_ZRS maxShares=2", "region single-node"},
	{"disk.csi.azure.com storageAccountType=Premium_ZRS", "region single-node"},
	{"disk.csi.azure.com storageaccounttype=UltraSSD_LRS", "zone single-node"},
	{"disk.csi.azure.com skuName=${SKU}", "? single-node"},
	{"disk.csi.azure.com skuName=Premium_LRS storageAccountType=Premium_ZRS", "? single-node"},
	{"kubernetes.io/azure-disk storageaccounttype=Premium_LRS kind=Managed", "zone single-node"},
	{"file.csi.azure.com skuName=Standard_LRS", "free free"},
	{"kubernetes.io/azure-file", "free free"},
	{"blob.csi.azure.com", "free free"},

	{"cinder.csi.openstack.org availability=nova", "? single-node"},
	{"kubernetes.io/cinder", "? single-node"},
	{"nfs.manila.csi.openstack.org type=default", "free free"},
	{"cephfs.manila.csi.openstack.org autoTopology=true", "? free"},
	{"csi.hetzner.cloud", "region single-node"},
	{"dobs.csi.digitalocean.com", "region single-node"},
	{"linodebs.csi.linode.com", "region single-node"},
	{"block.csi.vultr.com storage_type=block", "region single-node"},
	{"csi.scaleway.com", "zone single-node"},
	{"csi.exoscale.com", "region single-node"},
	{"storage.csi.upcloud.com", "region single-node"},
	{"blockvolume.csi.oraclecloud.com", "zone single-node"},
	{"fss.csi.oraclecloud.com", "free free"},
	{"vpc.block.csi.ibm.io zone=us-south-1", "zone single-node"},
	{"diskplugin.csi.alibabacloud.com", "zone single-node"},
	{"diskplugin.csi.alibabacloud.com type=cloud_essd,cloud_ssd", "zone single-node"},
	{"diskplugin.csi.alibabacloud.com type=cloud_regional_disk_auto", "region single-node"},
	{"diskplugin.csi.alibabacloud.com type=elastic_ephemeral_disk_standard", "node single-node"},
	{"diskplugin.csi.alibabacloud.com type=cloud_regional_disk_auto,cloud_essd", "? single-node"},
	{"diskplugin.csi.alibabacloud.com type=${TYPE}", "? single-node"},
	{"nasplugin.csi.alibabacloud.com", "free free"},
	{"com.tencent.cloud.csi.cbs", "zone single-node"},

	{"kubernetes.io/no-provisioner", "? ?"}, // static
	{"docker.io/hostpath", "? ?"},
	{"", "? ?"},
	{"${PROVISIONER}", "? ?"},
	{"EBS.csi.aws.com", "? ?"}, // names of provisioners have a case
}

func TestOf(t *testing.T) {
	for _, test := range classes {
		for range 10 { // maps have no order
			b := Of(class(test.class))
			if got := strings.Join([]string{orUnknown(b.Pinned), orUnknown(b.Attach)}, " "); got != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.class, got, test.want)
				break
			}
		}
	}
	if got, want := Of("ebs.csi.aws.com", nil), (Behavior{PinZone, AttachSingleNode}); got != want {
		t.Errorf("without parameters: got %v, want %v", got, want)
	}
}

func orUnknown[T ~string](word T) string {
	if word == "" {
		return "?"
	}
	return string(word)
}

// TestDrivers checks that each row says what it was read from and has a class in the test above,
// and that a provisioner is in one row only.
func TestDrivers(t *testing.T) {
	source := regexp.MustCompile(`^[\w.-]+/[\w.-]+ [\w.-]+( [\w.-]+(/[\w.-]+)+| [\w-]+\.\w+)+$`)
	tested := map[*driver]bool{}
	names := map[string]bool{}
	for _, d := range drivers {
		for part := range strings.SplitSeq(d.Source, "; ") {
			if !source.MatchString(part) {
				t.Errorf("%s: %q is not a project, a version and files", d.Names, part)
			}
		}
		if d.Attach != AttachUnknown && !slices.Contains(Attaches(), d.Attach) || d.Pinned != PinUnknown && !slices.Contains(Pins(), d.Pinned) {
			t.Errorf("%s: unknown words: %v", d.Names, d.Behavior)
		}
		for _, name := range strings.Fields(d.Names) {
			if names[name] {
				t.Errorf("%s is listed twice", name)
			}
			names[name] = true
		}
	}
	examples := slices.Clone(classes)
	for name := range names {
		examples = append(examples, struct{ class, want string }{class: strings.ReplaceAll(name, "*", "")})
	}
	for _, test := range examples {
		provisioner, _ := class(test.class)
		var rows []string
		for _, d := range drivers {
			if d.named(provisioner) {
				rows = append(rows, d.Names)
				tested[d] = tested[d] || test.want != ""
			}
		}
		if len(rows) > 1 {
			t.Errorf("%s is in several rows: %q", provisioner, rows)
		}
	}
	for _, d := range drivers {
		if !tested[d] {
			t.Errorf("no class of %s in the test", d.Names)
		}
	}
}

func TestTopologyKey(t *testing.T) {
	for key, want := range map[string]string{
		"topology.ebs.csi.aws.com/zone":    "topology.kubernetes.io/zone",
		"topology.gke.io/zone":             "topology.kubernetes.io/zone",
		"topology.disk.csi.azure.com/zone": "topology.kubernetes.io/zone",
		"topology.topolvm.io/node":         "kubernetes.io/hostname",
		"openebs.io/nodename":              "kubernetes.io/hostname",
		"csi.hetzner.cloud/location":       "", // the region
		"topology.kubernetes.io/zone":      "", // not a driver's own
		"kubernetes.io/hostname":           "",
		"":                                 "",
	} {
		if got := TopologyKey(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	for key, label := range topologyKeys {
		if label != zone && label != hostname || TopologyKey(label) != "" {
			t.Errorf("%s is said to equal %s", key, label)
		}
	}
	for _, d := range drivers {
		if d.Key != "" && TopologyKey(d.Key) == "" {
			t.Errorf("%s is said to set %s", d.Names, d.Key)
		}
	}
}

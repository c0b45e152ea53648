// Package storage knows where a volume can be used after it has been made, by the provisioner of
// its StorageClass.
//
// Contract: Of takes the provisioner and the parameters of a StorageClass. It returns where the
// volumes can be used, and whether a volume with the access mode ReadWriteOnce can be used on a
// second node. TopologyKey tells which of the drivers' own node labels have the value of a
// well-known label. All of it was read from the source of the drivers, and each row of the table
// names the files.
//
// A provisioner writes the nodes that can use a volume into the node affinity of the
// PersistentVolume. So the pin is the topology that the driver returns for a new volume, in terms
// of the well-known labels. A volume without topology is free if its data is on a network. The
// attach-detach controller of Kubernetes keeps a ReadWriteOnce volume to one node, unless the
// CSIDriver object of its driver has attachRequired: false. It does so even if the driver itself
// does nothing on attach, and also if there is no CSIDriver object.
//
// Invariants: the answer depends on the arguments only, and not on the order of a map. If it
// depends on something else, such as the configuration of the driver, that half is unknown, and
// the row says why. There are two exceptions. A default that few people change counts, and the row
// names it. A name that users choose for a provisioner counts if the project's documents propose
// it. A provisioner that is not in the table is unknown.
//
// A pin is about nodes with the label in question. For example, a zonal Longhorn volume is free if
// nodes have no zone. On Azure, nodes outside of availability zones have a number as their zone,
// and a zonal disk can be used on all of them.
//
// Non-goals: volumes that somebody else makes (kubernetes.io/no-provisioner), allowedTopologies,
// volume binding modes, limits on the number of attachments, other access modes than
// ReadWriteOnce, the kinds of disks that a type of machine supports, and where the replicas of a
// volume are.
package storage

// Package condense prints nodes as few pools.
//
// Contract: Of takes the nodes of a topology and the objects that declare them. It puts Nodes that
// differ only in their names into pools, and Text prints these and the pools of the topology as a
// NodeTopology. Pools reserve what the pods among the objects request, apart from those of given
// workloads. Differences compares a cluster with a committed topology, and Change two revisions of a
// topology.
//
// Invariants: Text reads like the topology that it was made of, with three exceptions. Nodes have
// other names. Labels that tell single nodes apart are not known, so no answer depends on them. The
// amount of a resource that pods leave is the least of the pool, where nodes differ by less than 0.1
// percent. Nodes that pools cannot describe, or that a stored object names, stay v1 Nodes. The text
// is the same in each run.
//
// Non-goals: host ports, volumes and labels of pods.
package condense

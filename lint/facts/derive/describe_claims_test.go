package derive_test

import "testing"

// TestClaims checks the device claims of pods, in each version of the API.
func TestClaims(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  resourceClaims:
  - {name: own, resourceClaimTemplateName: gpus}
  - {name: shared, resourceClaimName: nic}
  - {name: absent, resourceClaimName: other}
  - {name: open, resourceClaimName: open}
  containers: [{name: c, image: c}]
---
apiVersion: v1
kind: Pod
metadata: {name: open, namespace: shop}
spec: {resourceClaims: "${CLAIMS}", containers: [{name: c, image: c}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus, namespace: shop}
spec:
  spec:
    devices:
      requests:
      - {name: one, exactly: {deviceClassName: gpu.example.com}}
      - {name: two, exactly: {deviceClassName: gpu.example.com, count: 2}}
      - {name: all, exactly: {deviceClassName: gpu.example.com, allocationMode: All}}
      - {name: some, exactly: {deviceClassName: gpu.example.com, count: "${N}"}}
      - name: any
        firstAvailable: [{name: large, deviceClassName: large.example.com}, {name: small, deviceClassName: small.example.com, count: 2}]
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: nic, namespace: shop}
spec: {devices: {requests: [{name: nic, deviceClassName: nic.example.com}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: other, namespace: data}
spec: {devices: {requests: [{name: nic, exactly: {deviceClassName: nic.example.com}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: open, namespace: shop}
spec: {devices: {requests: "${REQUESTS}"}}
`).Facts
	for _, c := range []struct{ path, want string }{
		{"claims name=own template", `"gpus"`},
		{"claims name=own claim", `""`},
		{"claims name=own requests_known", `true`},
		{"claims name=own requests name=one", `{"count_max":1,"count_min":1,"device_class":"gpu.example.com","name":"one"}`},
		{"claims name=own requests name=two", `{"count_max":2,"count_min":2,"device_class":"gpu.example.com","name":"two"}`},
		{"claims name=own requests name=all", `{"count_max":2147483647,"count_min":1,"device_class":"gpu.example.com","name":"all"}`},
		{"claims name=own requests name=some", `{"count_max":2147483647,"count_min":0,"device_class":"gpu.example.com","name":"some"}`},
		{"claims name=own requests device_class=large.example.com", `{"count_max":1,"count_min":0,"device_class":"large.example.com","name":"any"}`},
		{"claims name=own requests device_class=small.example.com", `{"count_max":2,"count_min":0,"device_class":"small.example.com","name":"any"}`},
		{"claims name=shared claim", `"nic"`},
		{"claims name=shared requests", `[{"count_max":1,"count_min":1,"device_class":"nic.example.com","name":"nic"}]`},
		{"claims name=absent requests_known", `false`},
		{"claims name=open requests_known", `false`},
		{"claims_known", `true`},
	} {
		if got := at(t, f, "workloads name=web "+c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	if got := at(t, f, "workloads name=open claims_known"); got != "false" {
		t.Errorf("claims that a variable stands for: %s", got)
	}
}

// TestRowsOfGrowingPools checks that expressions count the nodes that pools can add, and that
// drains name the pool of their node.
func TestRowsOfGrowingPools(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {tier: std}
      affinity:
        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: 1, preference: {matchExpressions: [{key: tier, operator: In, values: [gpu]}]}}
          - {weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [general-a-0]}]}}
          - {weight: 1, preference: {matchExpressions: [{key: tier, operator: In, values: [none]}]}}
      containers: [{name: c, image: c}]
`).Facts
	for _, c := range []struct{ path, want string }{
		{"workloads name=web node_rules source=nodeSelector nodes", `6`},
		{"workloads name=web node_rules source=nodeSelector nodes_max", `6`},
		{"workloads name=web node_rules alternative=0,source=nodeAffinity nodes", `2`},
		{"workloads name=web node_rules alternative=0,source=nodeAffinity nodes_max", `4`},
		{"workloads name=web node_rules alternative=1,source=nodeAffinity nodes", `1`},
		{"workloads name=web node_rules alternative=1,source=nodeAffinity nodes_max", `3`},
		{"workloads name=web node_rules alternative=2,source=nodeAffinity nodes_max", `0`},
		{"drains outcome=never pool", `"general"`},
	} {
		if got := at(t, f, c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

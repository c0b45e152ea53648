package facts

import "github.com/schedlint/schedlint/lint/diag"

// Crowd is workloads that each fit alone and that their rules, resources left
// aside, do not let be placed together.
type Crowd struct {
	ID int `json:"id"`
	// Workload is the one at which the finding stands, Workloads are all.
	Workload  string       `json:"workload"`
	W         int          `json:"w"`
	Workloads []string     `json:"workloads"`
	Outcome   diag.Outcome `json:"outcome"`
	// Pods is the number of their pods, Most how many fit, Pending the rest.
	Pods    int `json:"pods"`
	Most    int `json:"most"`
	Pending int `json:"pending"`
	Nodes   int `json:"nodes"`
	// Reasons are the rules that cannot be met together, as in
	// "Deployment shop/a has required anti-affinity on kubernetes.io/hostname".
	Reasons []string `json:"reasons"`
	Growth  string   `json:"growth"`
}

// Order is pods that fit nowhere once others are placed in the wrong way.
type Order struct {
	ID       int    `json:"id"`
	Workload string `json:"workload"`
	W        int    `json:"w"`
	// Pods is the number of its pods, Pending of them are left over.
	Pods    int `json:"pods"`
	Pending int `json:"pending"`
	// Placed says who is where by then, as in "2 pods of Deployment shop/a on n1,
	// n2"; Reason what refuses the pod on the nodes.
	Placed []string `json:"placed"`
	Reason string   `json:"reason"`
}

package workload

// validate finds what the API server refuses.
func validate(w *Workload) {}

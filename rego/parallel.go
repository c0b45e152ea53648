package rego

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls do with 0 to n-1 on as many goroutines as there are cores.
// A panic of do is the caller's.
func inParallel(n int, do func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	var panicked atomic.Value
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.CompareAndSwap(nil, &p)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
	if p, ok := panicked.Load().(*any); ok {
		panic(*p)
	}
}

// split deals the rules out to one part per core, and to few parts when there
// are few rules: each part pays for the libraries.
func split(rules []*rule) [][]*rule {
	const fewest = 4
	n := max(1, min(runtime.GOMAXPROCS(0), len(rules)/fewest))
	parts := make([][]*rule, 0, n)
	for i := range n {
		if part := rules[i*len(rules)/n : (i+1)*len(rules)/n]; len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// Command schedlint checks Kubernetes manifests against declared nodes. It reports pods that can
// never be scheduled, constraints that have no effect, and fields that the API server rejects.
package main

import "github.com/schedlint/schedlint/cmd/schedlint/cli"

func main() { cli.Main() }

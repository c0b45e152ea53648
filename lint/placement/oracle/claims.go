package main

import (
	"slices"
	"strings"
)

// beyond are parts of validation that our side does not claim, by the field
// that the API server names.
var beyond = []string{
	"containers.image", "containers.name", "containers: Required value", "ontainers.restartPolicy", "spec.restartPolicy", "metadata.name: ",
	"Job spec.selector", "StatefulSet metadata.labels: ", "StatefulSet spec.updateStrategy.rollingUpdate.maxUnavailable",
}

// claimed reports whether a refusal is one that our side is to find.
func claimed(kind, cause string) bool {
	return !slices.ContainsFunc(beyond, func(part string) bool { return strings.Contains(kind+" "+cause, part) })
}

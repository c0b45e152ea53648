package main

import (
	"slices"
	"strings"
)

// beyond are parts of validation that our side does not claim, by the field
// that the API server names.
var beyond = []string{
	"containers.image", "containers: Required value", "ontainers.restartPolicy", "StatefulSet metadata.labels: ",
}

// claimed reports whether a refusal is one that our side is to find.
func claimed(kind, cause string) bool {
	return !slices.ContainsFunc(beyond, func(part string) bool { return strings.Contains(kind+" "+cause, part) })
}

// Package page writes decisions as one HTML file, and the nodes of a run as an SVG picture.
//
// Contract: the file needs no network, no other file and no build step. Names of manifests are data: in
// the page they are JSON that the script shows as text nodes, and in static parts they are escaped. A
// Content-Security-Policy allows only the embedded script and style, by hash.
//
// Invariants: the same Page gives the same bytes. The page shows the numbers of the decision and counts
// nothing that the decision does not hold, except the pods and the free room of a step.
//
// Non-goals: reasoning about placement.
package page

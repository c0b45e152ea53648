// Package oracle runs schedlint vendor with the real helm and git against servers on this machine:
// a chart repository, an OCI registry and git repositories.
package oracle

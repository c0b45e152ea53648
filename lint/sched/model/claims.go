//go:build !ablation

package model

// Off reports whether a claim of THEORY.md is switched off: never, except in tests behind the tag ablation.
func Off(string) bool { return false }

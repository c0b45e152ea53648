//go:build ablation

package model

// SwitchedOff names the claim of THEORY.md that proves nothing in this run, or is empty.
var SwitchedOff string

// Off reports whether a claim is switched off.
func Off(claim string) bool { return claim == SwitchedOff }

package main

import (
	"encoding/json"
	"io"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
)

// ruleEntry is a rule in the JSON of the rules command.
type ruleEntry struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Category    string     `json:"category"`
	Level       diag.Level `json:"level"`
	// Kind is built-in, pack, template or own. File is the file of an own rule.
	Kind string `json:"kind"`
	File string `json:"file,omitempty"`
	// Use is the template of a rule that the configuration instantiates. Replaces is the built-in
	// rule that an own rule replaces.
	Pack     string   `json:"pack,omitempty"`
	Use      string   `json:"use,omitempty"`
	Replaces string   `json:"replaces,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	Runbook  string   `json:"runbook,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Since    string   `json:"since,omitempty"`
	Related  []string `json:"related,omitempty"`
	// Reads lists the lists of facts that the rule reads. It is empty for a rule that is off or
	// that may read all of them.
	Reads  []string     `json:"reads"`
	Params []paramEntry `json:"params"`
}

type paramEntry struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
}

// kindOf returns the source of a rule.
func kindOf(engine *rego.Engine, r *diag.Rule) string {
	switch {
	case r.Template:
		return "template"
	case engine.Own(r.ID):
		return "own"
	case r.Pack != "":
		return "pack"
	}
	return "built-in"
}

// writeRulesJSON writes rules as a JSON array.
func writeRulesJSON(w io.Writer, engine *rego.Engine, rules []diag.Rule) error {
	all := make([]ruleEntry, 0, len(rules))
	for i := range rules {
		r := &rules[i]
		e := ruleEntry{
			ID: r.ID, Title: r.Title, Description: r.Description, Category: r.Category, Level: r.Level, Kind: kindOf(engine, r), File: engine.File(r.ID),
			Pack: r.Pack, Use: r.Use, Replaces: r.Replaces, Owner: r.Owner, Runbook: r.Runbook, Tags: r.Tags, Since: r.Since, Related: r.Related,
			Reads: append([]string{}, engine.Reads(r.ID)...), Params: []paramEntry{},
		}
		for _, p := range r.Params {
			e.Params = append(e.Params, paramEntry{p.Name, p.Type, json.RawMessage(p.Default), p.Description})
		}
		all = append(all, e)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}

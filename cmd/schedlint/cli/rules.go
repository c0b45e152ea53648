package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/fixtures"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
)

func newRules() *cobra.Command {
	var dirs []string
	var named, format, source string
	var own, every bool
	cmd := &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules, or describe one with an example",
		Long: `Rules lists the rules that run, with their levels, or describes the rule ID.
--all also lists templates and the rules of packs that are off, --own only rules
of your own and those that your configuration makes of templates.`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return ruleIDs(dirs, named), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := config.Choose(named)
			if err != nil {
				return err
			}
			engine, err := policy.Load(policy.Source{Dirs: dirs, Listed: true}, conf)
			if err != nil {
				return err
			}
			rules := engine.All()
			if !every {
				rules = engine.Rules()
				for i := range rules {
					rules[i].Level = conf.Level(rules[i].ID, rules[i].Level)
				}
			}
			if own {
				rules = slices.DeleteFunc(rules, func(r diag.Rule) bool { return !engine.Own(r.ID) })
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case source != "":
				text := engine.Source(source)
				if text == "" {
					return policy.Unknown(engine, source)
				}
				out.WriteString(text)
			case len(args) > 0 && format == "json":
				rule, ok := engine.Rule(args[0])
				if !ok {
					return policy.Unknown(engine, args[0])
				}
				rule.Level = conf.Level(rule.ID, rule.Level)
				err = writeRulesJSON(out, engine, []diag.Rule{rule})
			case len(args) > 0:
				err = printRule(out, engine, conf, args[0])
			case format == "json":
				err = writeRulesJSON(out, engine, rules)
			default:
				rego.List(out, rules)
			}
			return errors.Join(err, out.Flush())
		},
	}
	addConfig(cmd.Flags(), &named)
	addRules(cmd.Flags(), &dirs)
	cmd.Flags().Var(choice(&format, []string{"text", "json"}), "format", "output `format`: text, json (default text)")
	cmd.Flags().StringVar(&source, "source", "", "print the Rego source of the rule `ID`")
	cmd.Flags().BoolVar(&own, "own", false, "list only your own rules")
	cmd.Flags().BoolVar(&every, "all", false, "also list templates and the rules of packs that are off")
	return cmd
}

func printRule(w io.Writer, engine *rego.Engine, conf *config.Config, id string) error {
	r, ok := engine.Rule(id)
	if !ok {
		return policy.Unknown(engine, id)
	}
	r.Level = conf.Level(id, r.Level)
	fmt.Fprintf(w, "%s (%s, %s", r.ID, r.Level, r.Category)
	if r.Since != "" {
		fmt.Fprintf(w, ", since %s", report.Visible(r.Since))
	}
	fmt.Fprint(w, ")\n\n")
	report.Fold(w, "", "", r.Title+".")
	fmt.Fprintln(w)
	for paragraph := range strings.Lines(strings.TrimSpace(r.Description)) {
		report.Fold(w, "", "", strings.TrimSpace(paragraph))
	}
	for _, f := range ruleFields(&r) {
		fmt.Fprintln(w)
		printLines(w, f.indent, f.text)
	}
	if example := fixtures.Example(id); example != "" {
		fmt.Fprint(w, "\nExample:\n\n")
		printLines(w, "    ", example)
	}
	return nil
}

// ruleField is an indented paragraph in the description of a rule.
type ruleField struct{ indent, text string }

// ruleFields returns a rule's properties other than its description.
func ruleFields(r *diag.Rule) (fields []ruleField) {
	var facts []string
	for _, f := range []struct{ name, value string }{
		{"Replaces the built-in rule ", r.Replaces}, {"Pack: ", r.Pack}, {"Uses the template ", r.Use},
		{"Owner: ", r.Owner}, {"Runbook: ", r.Runbook}, {"Tags: ", strings.Join(r.Tags, ", ")},
	} {
		if f.value != "" {
			facts = append(facts, f.name+f.value)
		}
	}
	if r.Template {
		facts = append(facts, "A template: it runs when a rule of the configuration uses it")
	}
	params := lists.Of(r.Params, func(p diag.Param) string { return strings.ReplaceAll(rego.Described(p), "\n", " ") })
	for _, f := range []ruleField{
		{"", strings.Join(facts, "\n")}, {"Parameter ", strings.Join(params, "\n")}, {"See ", strings.Join(r.Related, "\n")},
	} {
		if f.text != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// printLines prints untrusted text, indenting each line.
func printLines(w io.Writer, indent, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(w, strings.TrimRight(indent+report.Visible(strings.TrimRight(line, "\n")), " "))
	}
}

// ruleEntry is a rule in the JSON output of the rules command.
type ruleEntry struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Category    string     `json:"category"`
	Level       diag.Level `json:"level"`
	// Kind is built-in, pack, template or own. File is set only for own rules.
	Kind string `json:"kind"`
	File string `json:"file,omitempty"`
	// Use is the template that a configured rule is based on. Replaces is the built-in rule that an
	// own rule replaces.
	Pack     string   `json:"pack,omitempty"`
	Use      string   `json:"use,omitempty"`
	Replaces string   `json:"replaces,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	Runbook  string   `json:"runbook,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Since    string   `json:"since,omitempty"`
	Related  []string `json:"related,omitempty"`
	// Reads lists the facts that the rule reads. The list is empty if the rule is off or may read
	// every list.
	Reads  []string     `json:"reads"`
	Params []paramEntry `json:"params"`
}

type paramEntry struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
}

// kindOf returns the value for ruleEntry's Kind field.
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

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/fixtures"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
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
			conf, err := loadConfig(named)
			if err != nil {
				return err
			}
			engine, err := loadRulesOf(ruleSource{dirs: dirs, listed: true}, conf)
			if err != nil {
				return err
			}
			rules := configured(engine, conf)
			if every {
				rules = engine.All()
			}
			if own {
				rules = slices.DeleteFunc(rules, func(r diag.Rule) bool { return !engine.Own(r.ID) })
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			switch {
			case source != "":
				err = printSource(out, engine, source)
			case len(args) > 0 && format == "json":
				err = writeRulesJSON(out, engine, slices.DeleteFunc(engine.All(), func(r diag.Rule) bool { return r.ID != args[0] }))
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
	cmd.Flags().Var(fileFlag{&named}, "config", "configuration `file` (default: "+config.Name+" in the working directory or a parent)")
	cmd.Flags().Var(choiceFlag{&format, []string{"text", "json"}}, "format", "output `format`: text, json (default text)")
	cmd.Flags().StringVar(&source, "source", "", "print the Rego source of the rule `ID`")
	cmd.Flags().BoolVar(&own, "own", false, "list only your own rules")
	cmd.Flags().BoolVar(&every, "all", false, "also list templates and the rules of packs that are off")
	cmd.Flags().StringArrayVar(&dirs, "rules", nil, "`directory` with your own Rego rules (repeatable)")
	return cmd
}

// printSource prints the text of a rule.
func printSource(w io.Writer, engine *rego.Engine, id string) error {
	text := engine.Source(id)
	if text == "" {
		return unknownRule(engine, id)
	}
	_, err := io.WriteString(w, text)
	return err
}

// configured are the rules that may run, with the levels that the configuration gives.
func configured(engine *rego.Engine, conf *config.Config) []diag.Rule {
	all := engine.Rules()
	for i := range all {
		all[i].Level = conf.Level(all[i].ID, all[i].Level)
	}
	return all
}

func printRule(w io.Writer, engine *rego.Engine, conf *config.Config, id string) error {
	r, ok := engine.Rule(id)
	if !ok {
		return unknownRule(engine, id)
	}
	r.Level = conf.Level(id, r.Level)
	fmt.Fprintf(w, "%s (%s, %s", r.ID, r.Level, r.Category)
	if r.Since != "" {
		fmt.Fprintf(w, ", since %s", report.Visible(r.Since))
	}
	fmt.Fprint(w, ")\n\n")
	report.Fold(w, "", r.Title+".")
	fmt.Fprintln(w)
	for paragraph := range strings.Lines(strings.TrimSpace(r.Description)) {
		report.Fold(w, "", strings.TrimSpace(paragraph))
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

// ruleField is a paragraph about a rule, each line of which is behind an indent.
type ruleField struct{ indent, text string }

// ruleFields are what there is to know of a rule beside its description.
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
	var params []string
	for _, p := range r.Params {
		params = append(params, strings.ReplaceAll(rego.Described(p), "\n", " "))
	}
	for _, f := range []ruleField{
		{"", strings.Join(facts, "\n")}, {"Parameter ", strings.Join(params, "\n")}, {"See ", strings.Join(r.Related, "\n")},
	} {
		if f.text != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// unknownRule says which rule was probably meant.
func unknownRule(engine *rego.Engine, id string) error {
	near := diag.Nearest(id, engine.IDs())
	if near == "" {
		return fmt.Errorf("unknown rule %s: schedlint rules lists them all", id)
	}
	return fmt.Errorf("unknown rule %s%s", id, question(near, ""))
}

// printLines prints a text that somebody else wrote, each line behind an indent.
func printLines(w io.Writer, indent, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(w, strings.TrimRight(indent+report.Visible(strings.TrimRight(line, "\n")), " "))
	}
}

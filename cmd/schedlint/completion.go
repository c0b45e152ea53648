package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/report"
)

// addCompletion tells the shells what may follow a flag, by its type, so that a
// new flag needs nothing more. What takes a file needs nothing at all.
func addCompletion(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := completionOf(f); complete != nil {
			if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // the flag is there, and nobody else has registered it
			}
		}
	})
	for _, sub := range cmd.Commands() {
		addCompletion(sub)
	}
}

func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	switch v := f.Value.(type) {
	case choiceFlag:
		return cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
	case formatFlag:
		return cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
	case keyFlag:
		return cobra.FixedCompletions([]string{"node", "zone", "region"}, cobra.ShellCompDirectiveNoFileComp)
	}
	switch {
	case f.Name == "rules":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.Value.Type() == "factor":
		return cobra.NoFileCompletions
	}
	return nil
}

// ruleIDs completes the id of a rule, with its title. Rules that do not load
// complete to nothing: the shell is no place for their errors.
func ruleIDs(dirs []string, named string) []cobra.Completion {
	dirs = slices.Compact(slices.Sorted(slices.Values(dirs))) // cobra reads the flags twice before it asks
	conf, err := loadConfig(named)
	if err != nil {
		conf = &config.Config{}
	}
	engine, err := loadRulesOf(ruleSource{dirs: dirs, listed: true}, conf)
	if err != nil {
		return nil
	}
	var all []cobra.Completion
	for _, r := range engine.Rules() {
		all = append(all, cobra.CompletionWithDesc(r.ID, report.Visible(r.Title)))
	}
	return all
}

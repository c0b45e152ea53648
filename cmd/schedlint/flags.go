package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// fileFlag is the name of a file: an empty one, as from a variable that is not
// set, must not pass for a flag that is not there.
type fileFlag struct{ to *string }

// dirFlag is the name of a directory, as fileFlag is that of a file.
type dirFlag struct{ to *string }

// choiceFlag is one of some words.
type choiceFlag struct {
	to    *string
	words []string
}

// keyFlag gathers topology keys, or the words for them.
type keyFlag struct{ to *[]string }

// categoryFlag is a category of code scanning, which joins it to a run id with
// a slash.
type categoryFlag struct{ to *string }

// releaseFlag is the name of a release of Helm.
type releaseFlag struct{ to *string }

var _, _, _, _, _, _ pflag.Value = fileFlag{}, dirFlag{}, choiceFlag{}, keyFlag{}, categoryFlag{}, releaseFlag{}

func (fileFlag) String() string { return "" }
func (fileFlag) Type() string   { return "string" }
func (f fileFlag) Set(s string) error {
	if s == "" {
		return errors.New("expected a file name")
	}
	*f.to = s
	return nil
}

func (dirFlag) String() string { return "" }
func (dirFlag) Type() string   { return "string" }
func (f dirFlag) Set(s string) error {
	if s == "" {
		return errors.New("expected a directory")
	}
	*f.to = s
	return nil
}

func (choiceFlag) String() string { return "" }
func (choiceFlag) Type() string   { return "string" }
func (f choiceFlag) Set(s string) error {
	*f.to = s
	return oneOf(s, f.words)
}

func (keyFlag) String() string { return "" }
func (keyFlag) Type() string   { return "stringArray" }
func (f keyFlag) Set(s string) error {
	key, err := config.TopologyKey(s)
	if err != nil {
		return err
	}
	*f.to = append(*f.to, key)
	return nil
}

func (categoryFlag) String() string { return "" }
func (categoryFlag) Type() string   { return "string" }
func (f categoryFlag) Set(s string) error {
	*f.to = strings.TrimRight(s, "/")
	if *f.to == "" || strings.TrimSpace(*f.to) != *f.to || report.Visible(*f.to) != *f.to {
		return errors.New("expected a name without control characters, and not / alone")
	}
	return nil
}

func (releaseFlag) String() string { return "" }
func (releaseFlag) Type() string   { return "string" }
func (f releaseFlag) Set(s string) error {
	if *f.to = s; !chartutil.IsReleaseName(s) {
		return errors.New("expected the name of a Helm release: at most 53 lower case letters, digits, dashes and dots")
	}
	return nil
}

// oneOf refuses a word that is none of the words of a flag.
func oneOf(word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("expected one of %s%s", strings.Join(words, ", "), question(diag.Nearest(word, words), ""))
}

// question asks back whether something was meant, if there is anything near.
func question(near, before string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + before + near + "?"
}

// flagError adds the flag that was probably meant, of this command or of one
// below it.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	name, _, _ = strings.Cut(name, "=")
	err = fmt.Errorf("unknown flag --%s", name)
	if near := diag.Nearest(name, flagNames(cmd)); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	subs := cmd.Commands()
	if most, _, err := cmd.Find([]string{"lint"}); err == nil { // of several it is most likely meant
		subs = append([]*cobra.Command{most}, subs...)
	}
	for _, sub := range subs {
		if slices.Contains(flagNames(sub), name) {
			return fmt.Errorf("%w; did you mean %s --%s?", err, sub.CommandPath(), name)
		}
	}
	return err
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// acceptFlags say what is accepted.
type acceptFlags struct {
	baseline, write, reason, until, since, today string
	configFrom                                   string
	noInline, failOnSilenced                     bool
}

func (f *acceptFlags) add(flags *pflag.FlagSet) {
	flags.Var(fileFlag{&f.baseline}, "baseline", "`file` with accepted findings (default: the baseline of the configuration)")
	flags.Var(fileFlag{&f.write}, "write-baseline", "accept all current findings and write them to this `file`")
	flags.StringVar(&f.reason, "reason", "", "`reason` for accepting the findings of --write-baseline (default: the reason in the existing file, or the date)")
	flags.Var(dateFlag{&f.until}, "until", "last `date` on which the findings of --write-baseline are accepted")
	flags.Var(revisionFlag{&f.since}, "since", "report only findings introduced since this git `revision`")
	flags.BoolVar(&f.failOnSilenced, "fail-on-silenced", false, "with --since, fail if the change silences findings, for example by a suppression, a lower level or an ignored path")
	flags.Var(revisionFlag{&f.configFrom}, "config-from", "read configuration, baseline and --rules from this git `revision`; suppressions in manifests apply only if it has them too")
	flags.BoolVar(&f.noInline, "no-inline-suppressions", false, "ignore suppressions in annotations and comments of manifests")
	flags.Var(dateFlag{&f.today}, "today", "`date` that expiry dates are compared with (default: today, in UTC)")
}

// revisionFlag is a revision of git: an empty one, as from a variable that is not
// set, must not pass for a flag that is not there.
type revisionFlag struct{ to *string }

// dateFlag is a day.
type dateFlag struct{ to *string }

var _, _ pflag.Value = revisionFlag{}, dateFlag{}

func (revisionFlag) String() string { return "" }
func (revisionFlag) Type() string   { return "string" }
func (f revisionFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("expected a revision of git")
	}
	*f.to = s
	return nil
}

func (dateFlag) String() string { return "" }
func (dateFlag) Type() string   { return "string" }
func (f dateFlag) Set(s string) error {
	if !accept.IsDate(s) {
		return errors.New("expected a day as in 2027-03-31")
	}
	*f.to = s
	return nil
}

// today is the day on which this runs.
func today() string { return time.Now().UTC().Format("2006-01-02") }

// check refuses what does not go together.
func (f *acceptFlags) check(fix bool) error {
	switch {
	case fix && (f.write != "" || f.since != ""):
		return errors.New("--fix changes the files that --since and --write-baseline are about: use one after the other")
	case f.write != "" && f.since != "":
		return errors.New("--write-baseline accepts all findings and --since reports some: use one of them")
	case f.configFrom != "" && (fix || f.write != ""):
		return errors.New("--config-from checks a change, which --fix and --write-baseline make: use one after the other")
	case f.failOnSilenced && f.since == "":
		return errors.New("--fail-on-silenced belongs to --since")
	case f.write == "" && (f.reason != "" || f.until != ""):
		return errors.New("--reason and --until belong to --write-baseline")
	case strings.TrimSpace(f.reason) == "" && f.reason != "":
		return errors.New("--reason: expected why the findings are accepted")
	}
	return nil
}

// apply sets what the options of a run say of acceptance.
func (f *acceptFlags) apply(o *lint.Options) (err error) {
	o.Today = cmp.Or(f.today, today())
	o.NoInline = f.noInline
	if f.write != "" {
		o.Rebase = true
		o.Baseline, err = f.renewed(o.Today)
		return err
	}
	if f.configFrom == "" {
		o.Baseline, err = loadBaseline(f.baseline, o.Config)
	}
	return err
}

// renewed is the baseline that is about to be written. What a file of that name
// says of reason and day stays, unless told otherwise, and so do its entries about
// manifests that are not read this time; a file that is something else is not
// overwritten.
func (f *acceptFlags) renewed(today string) (*accept.Baseline, error) {
	b := accept.NewBaseline("found when this baseline was written, on "+today, "", nil)
	if err := refuseLink(f.write); err != nil {
		return nil, fmt.Errorf("--write-baseline: %w", err)
	}
	old, err := readBaseline(f.write)
	switch {
	case err == nil:
		b.Reason, b.Until, b.Entries = old.Reason, old.Until, old.Entries
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--write-baseline: %w", err)
	}
	if f.reason != "" {
		b.Reason = strings.TrimSpace(f.reason)
	}
	if f.until != "" {
		b.Until = f.until
	}
	if b.Until != "" && b.Until < today {
		return nil, fmt.Errorf("--write-baseline: %s accepts findings until %s, which is over: give another day with --until", f.write, b.Until)
	}
	b.Path = f.write
	return b, nil
}

// loadBaseline reads the baseline that was named, or else the one of the
// configuration; nil if there is none.
func loadBaseline(path string, conf *config.Config) (b *accept.Baseline, err error) {
	switch {
	case path != "":
		b, err = readBaseline(path)
	case conf.Baseline != "":
		path = here(absolute(conf.Dir, conf.Baseline))
		var text []byte
		if text, err = conf.Read(conf.Baseline); err == nil {
			b, err = accept.ReadBaseline(path, text)
		}
	default:
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline: %s: there is no such file; --write-baseline makes one", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return b, nil
}

// maxBaseline is how many bytes a baseline may have.
const maxBaseline = 64 << 20

func readBaseline(path string) (*accept.Baseline, error) {
	text, err := worktree.ReadTrusted(path, maxBaseline)
	if err != nil {
		return nil, err
	}
	return accept.ReadBaseline(path, text)
}

// writeBaseline writes the baseline of a run.
func writeBaseline(b *accept.Baseline) error {
	var buf bytes.Buffer
	if err := report.Encode(&buf, b); err != nil {
		return err
	}
	if err := writeFile(b.Path, buf.Bytes()); err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	return nil
}

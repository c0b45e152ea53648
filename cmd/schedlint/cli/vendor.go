package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/cmd/schedlint/vendor"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

func newVendor() *cobra.Command {
	var o vendor.Options
	var folder string
	cmd := &cobra.Command{
		Use:   "vendor [NAME...]",
		Short: "Copy charts and directories of other repositories, and lock them",
		Long: `Vendor copies what releases, Applications, kustomizations and charts take from
other repositories into a folder, so that lint renders it. It runs your own helm
and git with the logins that they have: helm pull for charts and dependencies
of charts, git fetch for charts and directories in git and for remote bases of
kustomizations. Addresses that remotes: of the configuration names are left out.

` + thirdparty.LockName + ` in the folder maps each address to its copy and
digest. lint reads it by itself; commit the folder. What matches the lock is not
fetched again; --update fetches it all, or what NAME is the address or chart of.
Copies that nothing wants any more are removed.

Run it where you trust the files: they say which servers helm and git ask.

Exit status:
  0  success
  1  something could not be copied, or --check found a difference
  2  usage error, or the folder cannot be read or written`,
		Example: `  schedlint vendor
  schedlint vendor --check
  schedlint vendor --update ingress-nginx`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !o.Update {
				return errors.New("vendor takes a NAME with --update only: it looks at the whole repository")
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			conf, err := config.Choose("")
			if err != nil {
				return err
			}
			root := worktree.Resolved(inputs.Repository(dir))
			base := worktree.Resolved(cmp.Or(conf.Dir, root))
			l, err := conf.Library(root)
			if err != nil {
				return err
			}
			at := thirdparty.Dir
			switch {
			case folder != "":
				at = worktree.Absolute(dir, folder)
			case conf.Vendor != "":
				at = filepath.FromSlash(conf.Vendor)
			case l != nil:
				at = filepath.Join(root, filepath.FromSlash(l.Folder))
			}
			o.Folder = worktree.Absolute(base, at)
			within, ok := worktree.Below(root, o.Folder)
			if !ok || within == "." {
				return fmt.Errorf("%s: expected a folder of its own in %s", at, worktree.Here(root))
			}
			if l, err = thirdparty.Open(root, within); err != nil {
				return err
			}
			o.Lock = thirdparty.New(nil)
			if l != nil {
				o.Lock = l.Lock
			}
			o.Find = func(l *thirdparty.Lock) ([]pointers.Wanted, error) {
				library := &thirdparty.Library{Lock: l, Root: root, Folder: filepath.ToSlash(within)}
				return inputs.Wanted(conf, base, library, func(all []render.Root) []*render.Output { return inputs.Render(cmd.Context(), all) })
			}
			o.Out, o.Names = cmd.OutOrStdout(), args
			problems, err := vendor.Run(o)
			if err == nil && len(problems) > 0 {
				err = statusError{exitFindings, errors.Join(problems...)}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.Var(dir(&folder), "dir", "`directory` of the copies (default "+thirdparty.Dir+" beside the configuration or at the root of the repository)")
	flags.BoolVar(&o.Print, "print", false, "print the commands and run none")
	flags.BoolVar(&o.Check, "check", false, "compare the folder with the lock and with what is wanted; run nothing")
	flags.BoolVar(&o.Update, "update", false, "fetch copies again that match the lock")
	flags.BoolVar(&o.Local, "allow-local", false, "allow file:// and http:// addresses, and registries that are not encrypted")
	cmd.MarkFlagsMutuallyExclusive("print", "check", "update")
	return cmd
}

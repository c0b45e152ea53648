package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// The versions of the code this program was built from. Like version, they are constants in the
// source. A test compares them with the go.mod files.
const (
	// kubernetesVersion is the Kubernetes release whose scheduler and API validation this program
	// implements. Tests compare this program with the same release.
	kubernetesVersion = "1.36.3"
	opaVersion        = "1.22.0"
)

// versions is the JSON output of the version command.
type versions struct {
	Version    string `json:"version"`
	Kubernetes string `json:"kubernetes"`
	OPA        string `json:"opa"`
	Go         string `json:"go"`
}

func newVersion() *cobra.Command {
	formats := []string{"text", "json"}
	format := formats[0]
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of schedlint, Kubernetes, OPA and Go",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{version, kubernetesVersion, opaVersion, strings.TrimPrefix(runtime.Version(), "go")}
			if format == "json" {
				out := json.NewEncoder(cmd.OutOrStdout())
				out.SetIndent("", "  ")
				return out.Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "schedlint %s\nkube-scheduler semantics of Kubernetes %s\nOPA %s\nGo %s\n", v.Version, v.Kubernetes, v.OPA, v.Go)
			return err
		},
	}
	cmd.Flags().Var(choice(&format, formats), "format", "output `format`: "+strings.Join(formats, ", ")+" (default text)")
	return cmd
}

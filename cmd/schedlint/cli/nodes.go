package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/topology"
)

func newNodes() *cobra.Command {
	var committed string
	var except []string
	cmd := &cobra.Command{
		Use:   "nodes [FILE...]",
		Short: "Condense the nodes of a cluster to a file that can be committed",
		Long: `Nodes reads node files, such as the output of kubectl get nodes -o yaml, and
prints them as a NodeTopology for --topology. Nodes that differ only in their
names are one pool. FILE is any node file that --topology accepts; the default
is standard input (-).

A pool has the least of each resource, if its nodes differ by less than 0.1
percent. Names, addresses and other fields that scheduling does not read are
left out. Labels that tell single nodes apart are listed as unknownLabels: a
placement that needs one is unknown. A node that a PersistentVolume names stays
a v1 Node. StorageClasses and volumes in the input are printed as well.

Pods in the input reserve what they request, so nodes share a pool only if their
pods leave about as much of each resource. --except leaves out the pods of the
workloads in your manifests. Without Pods, the nodes count as empty.

With --check, nodes prints how the input differs from a committed file instead.
A number of nodes within min and max of a pool is no difference, and neither are
names of pools. StorageClasses, volumes and what pods reserve are not compared.

Exit status:
  0  success
  1  --check found differences
  2  usage error, or the input declares no nodes or cannot be read`,
		Example: `  kubectl get nodes -o yaml | schedlint nodes > nodes.yaml
  kubectl get nodes -o yaml | schedlint nodes --check nodes.yaml
  kubectl get nodes,sc,pv,pvc,csinodes -A -o yaml | schedlint nodes > nodes.yaml
  kubectl get nodes,pods -A -o yaml | schedlint nodes --except app > nodes.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"-"}
			}
			if committed == "-" && slices.Contains(args, "-") {
				return errors.New("standard input holds either the nodes or the file of --check: name a file for one of them")
			}
			text, now, err := condensed(cmd, args, except)
			if err != nil {
				return err
			}
			if committed == "" {
				var out strings.Builder
				for line := range strings.Lines(string(text)) { // a name that Kubernetes refuses is not worth a command to a terminal
					out.WriteString(report.Visible(strings.TrimSuffix(line, "\n")) + "\n")
				}
				_, err = io.WriteString(cmd.OutOrStdout(), out.String())
				return err
			}
			_, was, err := condensed(cmd, []string{committed}, nil)
			if err != nil {
				return err
			}
			found := condense.Differences(was, now)
			for _, line := range found {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), report.Visible(line)); err != nil {
					return err
				}
			}
			if len(found) > 0 {
				return statusError{code: exitFindings}
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&except, "except", nil, "manifest `path`: pods of its workloads reserve nothing (repeatable)")
	cmd.Flags().Var(file(&committed), "check", "compare with this committed `file` and print the differences")
	return cmd
}

// condensed reads node files and condenses their nodes. Pods of workloads in the paths of except are
// left out.
func condensed(cmd *cobra.Command, files, except []string) ([]byte, *topology.Topology, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	topo, objects, err := lint.Nodes(cmd.Context(), lint.Options{Topology: files, Stdin: cmd.InOrStdin(), Dir: dir, Root: inputs.Repository(dir)})
	if err != nil {
		return nil, nil, err
	}
	var made []diag.Object
	if len(except) > 0 {
		f := inputFlags{topology: files}
		o, err := f.options(cmd, except, false)
		if err != nil {
			return nil, nil, err
		}
		if made, err = lint.Workloads(cmd.Context(), o); err != nil {
			return nil, nil, err
		}
	}
	return condense.Of(topo, objects, made...).Text()
}

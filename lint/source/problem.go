package source

import "github.com/schedlint/schedlint/lint/diag"

// ProblemKind is a kind of error in a text, found before anything is judged. It is the id of the
// rule that reports it.
type ProblemKind string

// Kinds of problems of a text.
const (
	Unparsable   ProblemKind = "unparsable-document"
	DuplicateKey ProblemKind = "duplicate-key"
	AliasBomb    ProblemKind = "alias-bomb"
	AliasCycle   ProblemKind = "alias-cycle"
	TooDeep      ProblemKind = "nesting-too-deep"
	Unreadable   ProblemKind = "unreadable-file"
	// Kinds of problems of renders.
	RenderFailed  ProblemKind = "render-failed"
	RenderRefused ProblemKind = "render-refused"
)

// Problem is one error in a text.
type Problem struct {
	Kind   ProblemKind
	Detail string
	Span   diag.Span
	// First is the first place of a repeated key.
	First diag.Span
	// LastCounts is set for a repeated key in a file that only Helm reads and in the output of a
	// chart, where the last value counts.
	LastCounts bool
	// Merged is set for a repeated key in the output of a chart for Flux or kustomize, which reject
	// it.
	Merged bool
}

// Skipped is a document that is not a Kubernetes object to be judged, or a path that was not read,
// which has no line.
type Skipped struct {
	Reason string
	File   string
	Line   int
}

// Reasons for leaving out a document.
const (
	SkipTemplate      = "Helm template"
	SkipOtherTemplate = "template" // Jinja, ERB and similar
	SkipNoManifest    = "unparsable non-manifest"
	SkipKustomization = "kustomization file"
	SkipHelmValues    = "Helm values file"
	SkipHelmChart     = "Helm chart file"
	SkipCRD           = "CRD schema"
	SkipJSONPatch     = "JSON patch"
	SkipPatch         = "strategic-merge patch"
	SkipNoObject      = "non-Kubernetes document"
	SkipEncrypted     = "encrypted file"
	SkipExcerpt       = "excerpt with an ellipsis"
	SkipSample        = "API serialisation sample"
	SkipConfig        = "schedlint configuration file"
	SkipList          = "List with no valid items"
	SkipIgnored       = "ignored path" // by the configuration
	SkipHidden        = "hidden directory"
	SkipOthers        = "package directory" // see Options.OwnOnly
	SkipLink          = "unfollowed link"
	SkipLarge         = "large non-manifest"
	SkipBound         = "file beyond the bounds of a run"
)

// Set is the result of Load.
type Set struct {
	Files    []*File
	Objects  []*Object
	Problems []Problem
	Skipped  []Skipped
	// Documents counts YAML documents and JSON values, except empty ones.
	Documents int
	// Untracked lists the files, by name, that Options.Tracked left out.
	Untracked []string
	// Unread lists paths, without lines, that were left out although they may contain manifests:
	// those that Options.Ignore declines; hidden directories and third-party directories that
	// contain a file that begins like a manifest; links that are hidden or not tracked; and files
	// beyond the limits of a run. Directories end in a slash.
	Unread []Skipped
	// Inflated holds the directories in which there may be charts that kustomizations render.
	Inflated map[string]bool
	// Placeholders lists, by file, placeholders that YAML treats as syntax. They count as texts, so
	// that the rest of their documents can be read.
	Placeholders map[string][]string

	plain *Node
}

// Plain returns the contents of the only document of a file that is not a Kubernetes object, such
// as a configuration, or nil.
func (s *Set) Plain() (*Node, *File) {
	if s.plain == nil {
		return nil, nil
	}
	return s.plain, s.Files[0]
}

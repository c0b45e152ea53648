package source

import "github.com/schedlint/schedlint/lint/diag"

// ProblemKind is what is wrong with a text before anything is judged; its
// string is the id of the rule that reports it.
type ProblemKind string

// The problems of a text.
const (
	Unparsable   ProblemKind = "unparsable-document"
	DuplicateKey ProblemKind = "duplicate-key"
	AliasBomb    ProblemKind = "alias-bomb"
	AliasCycle   ProblemKind = "alias-cycle"
	TooDeep      ProblemKind = "nesting-too-deep"
	Unreadable   ProblemKind = "unreadable-file"
	// What should be rendered and is not.
	RenderFailed  ProblemKind = "render-failed"
	RenderRefused ProblemKind = "render-refused"
)

// Problem is one thing that is wrong with a text.
type Problem struct {
	Kind   ProblemKind
	Detail string
	Span   diag.Span
	// First is where a repeated key stands for the first time.
	First diag.Span
	// LastCounts is set for a repeated key in a file that only Helm reads, and in what a
	// chart prints: the last value is taken.
	LastCounts bool
	// Merged is set for a repeated key in what a chart prints for Flux or kustomize, which
	// refuse it.
	Merged bool
}

// Skipped is a document that was recognised as something else than a
// Kubernetes object to be judged, or a path that was not read, which has no line.
type Skipped struct {
	Reason string
	File   string
	Line   int
}

// Reasons for leaving a document out.
const (
	SkipTemplate      = "Helm template"
	SkipOtherTemplate = "template" // of Jinja, ERB and the like
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

// Set is everything that Load found.
type Set struct {
	Files    []*File
	Objects  []*Object
	Problems []Problem
	Skipped  []Skipped
	// Documents counts YAML documents and JSON values, empty ones left out.
	Documents int
	// Untracked are the files, by name, that Options.Tracked left out.
	Untracked []string
	// Unread are the paths, without lines, that were left out although manifests may
	// be there: those that Options.Ignore declines, hidden directories and those of
	// others with a file that begins like a manifest, links that are hidden or not tracked, and files
	// beyond the bounds of a run.
	// Directories end in a slash.
	Unread []Skipped
	// Inflated are the directories where charts may be that kustomizations inflate.
	Inflated map[string]bool
	// Placeholders are texts, by file, that stand where YAML takes them for syntax. They
	// count as texts, so that the rest of their documents can be read.
	Placeholders map[string][]string

	plain *Node
}

// Plain is the content of the only document of a file that is no Kubernetes
// object, as a configuration is; nil if there is none.
func (s *Set) Plain() (*Node, *File) {
	if s.plain == nil {
		return nil, nil
	}
	return s.plain, s.Files[0]
}

// Package locate finds the source positions of findings and edits.
//
// Contract: findings concern the manifests as deployed, which may be rendered. They are reported in
// the files that a person edits. Files names the files that a run has read. Renders holds the
// results of renders and their sources. Renders.ToSources and Relocate move a finding together with
// its related locations and its edits. Positions are never guessed. If the source of a position is
// not found, the finding is reported at the start of the render. The finding then says that its
// source was not found. An edit is moved only if the sources contain exactly the text that it
// replaces. Otherwise the edit is withheld, with a reason.
//
// How the source of a position is found:
//
//	kustomization   the marks of the render (package origin), then the chart that it inflates
//	chart           the values file that sets the text, or else the line of a template that a
//	                person edits, or else a value that decides whether it is printed
//	pointer         the values that it passes to the chart (Render.WithEdit)
//	piped input     origin annotations, Helm comments, or the same object below --source-root
//	other files     the text itself; a Locator finds the object and the field there
//
// Invariants: file names are relative to the root of the run and use slashes. Files stores rendered
// text under a name that no real file can have.
//
// Non-goals: rendering (package render), and the wording of findings.
package locate

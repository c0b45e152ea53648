package render

// Overlay holds the changes that a GitOps controller makes to a kustomization before it builds it,
// and to the objects afterwards. Like the controllers, it changes the kustomization of Root.Dir
// itself instead of building one on top of it.
type Overlay struct {
	// File and Line are the place of the pointer; File is relative to Confinement.
	File string
	Line int
	// Generated is set if the directory has no kustomization and is built from Resources, whose
	// names are relative to it. Files without objects are left out.
	Generated bool
	Resources []string
	// Plain is set if files are used as they are, even if the directory has a kustomization.
	Plain bool
	// Fields holds fields of a kustomization, as JSON. Values replace existing ones; lists and maps
	// are appended, images and replicas by name.
	Fields []byte
	// Patches holds the lines of File at which the inline patches of Fields begin, or 0.
	Patches []int
	// Counts holds the places of the replica counts in Fields, by the names of their objects.
	Counts map[string]Variable
	// Namespace is set on objects without one.
	Namespace string
	// Labels are set on all objects, but not on their pod templates.
	Labels map[string]string
	// Variables are substituted in the result; nil substitutes nothing.
	Variables *Variables
}

// Changes reports whether an overlay needs kustomize. A namespace alone does not.
func (o *Overlay) Changes() bool {
	return o != nil && (len(o.Fields) > 0 || len(o.Labels) > 0 || o.Variables != nil)
}

// Variables holds the values of ${name} in a result.
type Variables struct {
	Given map[string]Variable
	// Open is set if something unknown may set names that are not in Given; otherwise such names
	// are unset.
	Open bool
	// Unknown lists names that are set to unknown values.
	Unknown []string
}

// Variable is a value and its place; File is relative to Confinement, and Line is 0 if the place is
// not known.
type Variable struct {
	Value        string
	File         string
	Line, Column int
}

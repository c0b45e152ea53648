package render

// Overlay is what a GitOps controller changes of a kustomization before it builds it and
// of the objects afterwards. The kustomization of Root.Dir is changed itself, as the
// controllers do: nothing refers to it from above.
type Overlay struct {
	// File and Line are where the pointer stands, from Confinement.
	File string
	Line int
	// Generated is set if the directory has no kustomization and is built from
	// Resources, which are relative to it. What holds no object is left out.
	Generated bool
	Resources []string
	// Plain is set if files are taken as they are, whether or not the directory has a
	// kustomization.
	Plain bool
	// Fields are those of a kustomization, in JSON. Values replace those that are there,
	// lists and maps are added to them, images and replicas by their names.
	Fields []byte
	// Patches are the lines at which the inline patches of Fields begin in File, or 0.
	Patches []int
	// Counts are where the numbers of replicas in Fields were written, by the names of their
	// objects.
	Counts map[string]Variable
	// Namespace is given to objects that have none.
	Namespace string
	// Labels are set on all objects, and not on their templates.
	Labels map[string]string
	// Variables are substituted in the result; nil substitutes nothing.
	Variables *Variables
}

// Changes reports whether an overlay needs kustomize: a namespace alone does not.
func (o *Overlay) Changes() bool {
	return o != nil && (len(o.Fields) > 0 || len(o.Labels) > 0 || o.Variables != nil)
}

// Variables are what stands for ${name} in a result.
type Variables struct {
	Given map[string]Variable
	// Open is set if what is not in Given may be given by something that is not known;
	// else it is not given.
	Open bool
	// Unknown are names that are given, by values that are not known.
	Unknown []string
}

// Variable is a value and where it was written, from Confinement; Line is 0 where that
// is not known.
type Variable struct {
	Value        string
	File         string
	Line, Column int
}

package chartutil

// Release is what templates see as .Release, but for what never differs in helm template.
type Release struct{ Name, Namespace string }

// Top is what the templates of a chart have as their dot, without what depends on the
// chart and the template.
func Top(r Release, caps *Capabilities, values Values) Values {
	return Values{
		"Capabilities": caps,
		"Release": map[string]any{
			"Name":      r.Name,
			"Namespace": r.Namespace,
			"IsUpgrade": false,
			"IsInstall": true,
			"Revision":  1,
			"Service":   "Helm",
		},
		"Values": values,
	}
}

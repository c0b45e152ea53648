package chart

import "text/template"

// Constants are the functions that a rendering has in place of random ones, of those that
// depend on the machine and of those with a random order, and what sets the template that
// calls them from then on. What holds Render against another engine gives it these.
func Constants(chart string) (functions template.FuncMap, start func(template string)) {
	c := &constants{chart: chart}
	functions = c.functions()
	functions["keys"], functions["values"] = sortedKeys, sortedValues
	return functions, c.start
}

package policy

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

//go:embed gatekeeper/gatekeeper.rego
var gatekeeperLibrary []byte

//go:embed gatekeeper/rule.rego.txt
var gatekeeperRule string

// imported holds rules made of the objects of Gatekeeper, and what was left out.
type imported struct {
	dir       string // where the rules will be
	files     map[string][]byte
	libraries map[string]*rego.Library // by package
	templates map[string]*template     // by the kind of their constraints
	instances []rego.Instance
	levels    []string // of the instances
	left      []string // what is not imported, or only in part
}

// template is a constraint template that has become a rule.
type template struct {
	id     string
	schema any // of the parameters
}

// constraintGroup is the API group of constraints. Each template adds a kind to it.
const constraintGroup = "constraints.gatekeeper.sh"

// Import turns constraint templates and constraints of Gatekeeper into rules and their
// configuration. It writes the rules to a new folder with a lock, and lists what it leaves out. If
// the argument "to" is empty, the folder is vendor/gatekeeper below the team's own rules.
func Import(out io.Writer, paths []string, to string) error {
	if to == "" {
		var err error
		if to, err = vendorDir("gatekeeper"); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists, and nothing is overwritten; remove it, or choose another folder with --to", filepath.ToSlash(to))
	}
	objects, err := objectsIn(paths)
	if err != nil {
		return err
	}
	conf, err := config.Choose("")
	if err != nil {
		return err
	}
	im := &imported{
		dir: to, files: map[string][]byte{"gatekeeper.rego": gatekeeperLibrary},
		libraries: map[string]*rego.Library{}, templates: map[string]*template{},
	}
	for _, o := range objects {
		switch {
		case o.Group() == "templates.gatekeeper.sh" && o.Kind == "ConstraintTemplate":
			im.leave(o, im.template(o))
		case o.Group() != constraintGroup:
			im.leave(o, foreignKind(o))
		}
	}
	if len(im.templates) == 0 {
		return fmt.Errorf("%sno constraint template to import; name files or folders that hold some", strings.Join(append(im.left, ""), "\n"))
	}
	dirs := slices.DeleteFunc((Source{}).with(conf), func(dir string) bool { return !worktree.IsDir(dir) })
	opts := rego.Options{Rules: rules.FS, Dirs: dirs, Off: every, Instead: &rego.Folder{Dir: to, Files: im.files}}
	engine, err := rego.Load(opts)
	if err != nil {
		return fmt.Errorf("nothing is written: %w", err)
	}
	taken := lists.SetOf(engine.All(), func(r diag.Rule) string { return r.ID })
	for _, c := range conf.Custom {
		taken[c.ID] = true
	}
	for _, o := range objects {
		if o.Group() == constraintGroup {
			im.leave(o, im.constraint(o, taken))
		}
	}
	opts.Instances, opts.Off = im.instances, func(id string) bool {
		return !slices.ContainsFunc(im.instances, func(i rego.Instance) bool { return i.ID == id })
	}
	if _, err := rego.Load(opts); err != nil {
		return fmt.Errorf("nothing is written: %w", err)
	}
	return im.write(out, paths, conf)
}

// objectsIn returns the objects in files and folders, in order.
func objectsIn(paths []string) ([]*source.Object, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		paths[i] = filepath.Clean(path)
	}
	root, ok := worktree.Root(here)
	if !ok {
		root = here
	}
	set, err := source.Load(source.Options{Dir: here, Root: root}, paths)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, p := range set.Problems {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", p.Span.File, p.Span.Line, p.Kind, p.Detail))
	}
	return set.Objects, errors.Join(errs...)
}

// partly says what is missing of an object that is imported.
type partly string

// Error returns the text.
func (p partly) Error() string { return string(p) }

// leave records why an object is left out, or left out in part.
func (im *imported) leave(o *source.Object, err error) {
	if err != nil {
		what := strings.Join(strings.Fields(err.Error()), " ")
		if !errors.As(err, new(partly)) {
			what = "not imported: " + what
		}
		im.left = append(im.left, fmt.Sprintf("%s:%d: %s %s is %s", o.File.Name, o.NameSpan().Line, o.Kind, o.Name, what))
	}
}

// foreignKind returns an error for an object that looks like a policy, or nil for any other object.
func foreignKind(o *source.Object) error {
	group := o.Group()
	switch {
	case group == "mutations.gatekeeper.sh":
		return errors.New("it changes objects, and rules only report; they see manifests as they are without the change")
	case group == "externaldata.gatekeeper.sh":
		return errors.New("rules have no access to the network")
	case group == "expansion.gatekeeper.sh":
		return partly("not needed, because imported rules look at the pods of every template")
	case strings.HasSuffix(group, ".gatekeeper.sh"):
		return partly("not needed, because data.inventory has every object of the input")
	case strings.HasSuffix(group, "kyverno.io"), group == "admissionregistration.k8s.io" && strings.Contains(o.Kind, "AdmissionPolicy"):
		return errors.New("only the templates and constraints of Gatekeeper are imported")
	}
	return nil
}

// decode returns part of an object as JSON would have it.
func decode(n *source.Node, into any) error {
	text, err := json.Marshal(n.Decoded((*source.Node).Plain))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// template turns a constraint template into a rule.
func (im *imported) template(o *source.Object) error {
	var t struct {
		Metadata struct{ Annotations map[string]string }
		Spec     struct {
			CRD struct {
				Spec struct {
					Names      struct{ Kind string }
					Validation struct{ OpenAPIV3Schema any }
				}
			}
			Targets []struct {
				Rego string
				Libs []string
				Code []struct {
					Engine string
					Source struct {
						Rego string
						Libs []string
					}
				}
			}
		}
	}
	if err := decode(o.Root, &t); err != nil {
		return err
	}
	names := &t.Spec.CRD.Spec
	switch {
	case rego.CheckID(o.Name) != nil:
		return rego.CheckID(o.Name)
	case names.Names.Kind == "":
		return errors.New("spec.crd.spec.names.kind is missing")
	case im.templates[names.Names.Kind] != nil:
		return fmt.Errorf("another template has the kind %s", names.Names.Kind)
	case len(t.Spec.Targets) != 1:
		return fmt.Errorf("found %d targets, expected one", len(t.Spec.Targets))
	}
	text, libs := t.Spec.Targets[0].Rego, t.Spec.Targets[0].Libs
	for _, c := range t.Spec.Targets[0].Code {
		if c.Engine == "Rego" {
			text, libs = c.Source.Rego, c.Source.Libs
		}
	}
	if text == "" {
		return errors.New("it has no Rego; write a rule in place of its CEL")
	}
	files, libraries := map[string][]byte{}, map[string]*rego.Library{}
	var policy *rego.Library
	for i, text := range append([]string{text}, libs...) {
		if strings.Contains(text, "external_data(") {
			return errors.New("it asks a provider of external data, and rules have no access to the network")
		}
		l, err := rego.NewLibrary(o.Name, strings.TrimRight(text, "\n")+"\n")
		if err != nil {
			return err
		}
		if !packageForm().MatchString(l.Package) {
			return fmt.Errorf("the package %s has another name than words with dots between them", l.Package)
		}
		name := strings.ReplaceAll(l.Package, ".", "/") + ".rego"
		if i == 0 {
			policy, name = l, o.Name+"/template.rego"
		}
		other := im.libraries[l.Package]
		switch {
		case other == nil && (im.files[name] != nil || files[name] != nil):
			return fmt.Errorf("the package %s would be in %s, which holds another one; give it another name", l.Package, name)
		case other == nil:
			files[name], libraries[l.Package] = []byte(l.Text), l
		case i == 0 || !other.Same(l):
			return fmt.Errorf("another template has a package %s that differs; give one of them another name", l.Package)
		}
	}
	if !policy.Defines("violation") {
		return errors.New("its Rego has no violation")
	}
	title := cmp.Or(t.Metadata.Annotations["metadata.gatekeeper.sh/title"], names.Names.Kind)
	description := cmp.Or(t.Metadata.Annotations["description"], "The constraint template "+o.Name+" of Gatekeeper.")
	files[o.Name+"/rule.rego"] = []byte(strings.NewReplacer(
		"@PACKAGE@", policy.Package, "@TITLE@", oneLine(title), "@DESCRIPTION@", oneLine(description),
	).Replace(string(withID(gatekeeperRule, o.Name))))
	alone := maps.Clone(im.files)
	maps.Copy(alone, files)
	if _, err := rego.Load(rego.Options{Instead: &rego.Folder{Dir: im.dir, Files: alone}}); err != nil {
		return err
	}
	maps.Copy(im.files, files)
	maps.Copy(im.libraries, libraries)
	im.templates[names.Names.Kind] = &template{o.Name, names.Validation.OpenAPIV3Schema}
	for _, field := range []string{"userInfo", "oldObject", "options", "_unstable", "namespaceObject"} {
		if policy.Reads("review." + field) {
			return partly("imported, but reads input.review." + field + ", which only a request to the API server has")
		}
	}
	return nil
}

// packageForm matches the names of packages that are imported as they are.
var packageForm = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// oneLine returns a text as a quoted string for METADATA.
func oneLine(text string) string {
	quoted, _ := json.Marshal(strings.Join(strings.Fields(report.Visible(text)), " ")) // cannot fail for a string
	return string(quoted)
}

// matchKeys lists the keys of a constraint's match that rules know.
var matchKeys = []string{"excludedNamespaces", "kinds", "labelSelector", "name", "namespaces", "scope"}

// idWords matches everything that separates the words of an id.
var idWords = lazy.Regexp(`[^a-z0-9]+`)

// constraint turns a constraint into a configured rule. The ids in taken belong to others.
func (im *imported) constraint(o *source.Object, taken map[string]bool) error {
	var c struct {
		Spec struct {
			EnforcementAction        string
			ScopedEnforcementActions []struct{ Action string }
			Match                    map[string]any
			Parameters               any
		}
	}
	if err := decode(o.Root, &c); err != nil {
		return err
	}
	of := im.templates[o.Kind]
	if of == nil {
		return fmt.Errorf("no template of the kind %s is imported", o.Kind)
	}
	level := ""
	actions := []string{c.Spec.EnforcementAction}
	for _, scoped := range c.Spec.ScopedEnforcementActions {
		actions = append(actions, scoped.Action)
	}
	for _, action := range actions { // the strictest action counts
		known, ok := map[string]string{"": "", "scoped": "", "deny": "error", "warn": "warning", "dryrun": "note"}[action]
		if !ok {
			return fmt.Errorf("unknown enforcementAction %s; expected deny, warn or dryrun", action)
		}
		if diag.Level(known).Rank() > diag.Level(level).Rank() {
			level = known
		}
	}
	level = cmp.Or(level, "error")
	match, original := c.Spec.Match, c.Spec.Match["source"] == "Original"
	for _, key := range sorting.Keys(match) {
		switch {
		case key == "source" && match[key] != "Generated", key == "namespaceSelector" && empty(match[key]):
			delete(match, key)
		case !slices.Contains(matchKeys, key):
			return fmt.Errorf("match.%s is not supported, and without it, the constraint would be about more objects; expected %s",
				key, strings.Join(matchKeys, ", "))
		}
	}
	parameters, ok := withDefaults(of.schema, c.Spec.Parameters).(map[string]any)
	if c.Spec.Parameters != nil && !ok {
		return errors.New("spec.parameters is no map")
	}
	id := strings.Trim(idWords().ReplaceAllString(strings.ToLower(o.Name), "-"), "-")
	if taken[id] {
		id = of.id + "-" + id
	}
	if taken[id] {
		return fmt.Errorf("the id %s exists already", id)
	}
	taken[id] = true
	params := map[string]any{}
	if len(match) > 0 {
		params["match"] = match
	}
	if len(parameters) > 0 {
		params["parameters"] = parameters
	}
	im.instances = append(im.instances, rego.Instance{
		ID: id, Use: of.id, Params: rego.Values{Values: params}, Place: fmt.Sprintf("%s:%d", o.File.Name, o.NameSpan().Line),
	})
	im.levels = append(im.levels, level)
	if original {
		return partly("imported, but sees the pods of templates as well, whatever match.source says")
	}
	return nil
}

func empty(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || ok && len(m) == 0
}

// withDefaults fills in the defaults of a schema, as the API server does.
func withDefaults(schema, value any) any {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if fallback, ok := s["default"]; ok && value == nil {
		value = fallback
	}
	switch v := value.(type) {
	case map[string]any:
		for name, property := range properties {
			if filled := withDefaults(property, v[name]); filled != nil {
				v[name] = filled
			}
		}
	case []any:
		for i := range v {
			v[i] = withDefaults(s["items"], v[i])
		}
	}
	return value
}

// write saves the imported rules. If there is no configuration yet, it creates one. It then prints
// the steps that are left to the user.
func (im *imported) write(out io.Writer, paths []string, conf *config.Config) error {
	s := &vendored.Source{Given: filepath.ToSlash(strings.Join(paths, " "))}
	for _, name := range sorting.Keys(im.files) {
		s.Files = append(s.Files, vendored.File{Name: name, Text: im.files[name]})
	}
	if err := s.Write(im.dir, false); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s with %s and the settings of %s\n", filepath.ToSlash(im.dir), report.Count(len(im.templates), "rule"), report.Count(len(im.instances), "constraint"))
	for _, line := range im.left {
		fmt.Fprintln(out, report.Visible(line))
	}
	var custom strings.Builder
	for i := range im.instances {
		one := &im.instances[i]
		fmt.Fprintf(&custom, "- id: %s\n  use: %s\n  level: %s\n", one.ID, one.Use, im.levels[i])
		if len(one.Params.Values) > 0 {
			custom.WriteString("  params:\n" + block(one.Params.Values, "    "))
		}
	}
	settings := ""
	if custom.Len() > 0 {
		settings = "custom:\n" + custom.String()
	}
	return hintVendored(out, im.dir, conf, settings)
}

// block returns a value as YAML in several lines. Scalars, and lists of scalars, take one line.
func block(v any, indent string) string {
	var b strings.Builder
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sorting.Keys(v) {
			if text := block(v[key], indent+"  "); strings.HasPrefix(text, " ") {
				fmt.Fprintf(&b, "%s%s:\n%s", indent, scalar(key), text)
			} else {
				fmt.Fprintf(&b, "%s%s: %s\n", indent, scalar(key), text)
			}
		}
	case []any:
		if !slices.ContainsFunc(v, nested) {
			words := lists.Of(v, scalar)
			return "[" + strings.Join(words, ", ") + "]"
		}
		for _, one := range v {
			fmt.Fprintf(&b, "%s- %s\n", indent, strings.TrimSpace(block(one, indent+"  ")))
		}
	}
	if b.Len() == 0 {
		return scalar(v)
	}
	return b.String()
}

func nested(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// plainWord matches strings that mean themselves in YAML without quotes.
var plainWord = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_./-]*$`)

func scalar(v any) string {
	text, ok := v.(string)
	if ok && plainWord().MatchString(text) && !slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	encoded, _ := json.Marshal(v) // cannot fail, because the value comes from JSON
	return string(encoded)
}

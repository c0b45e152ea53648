package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
)

type checker struct {
	w *Workload
	// unchecked is the stage of problems that core validation detects but virt-api does not
	// (R-W28). created is the stage of problems that appear only when a pod is created from the
	// template (R-V22). fromTemplate is the stage of problems with labels in the template.
	unchecked, created, fromTemplate Stage
	// partial is set if a chart may add fields to the values that are checked.
	partial bool
	// by is the object of the admission plugin that rejects the pods, or nil.
	by *source.Object
}

// pod checks the spec of a pod, or of a virtual machine from which a pod is created.
func (c *checker) pod(spec *place) {
	c.labels(c.unchecked, spec.field("nodeSelector"), "nodeSelector") // R-V1
	priority := spec.field("priorityClassName")
	if s, _ := priority.text(); s != "" {
		c.form(c.unchecked, priority, "", subdomain) // R-V19
	}
	c.affinity(spec)
	c.spread(spec)
	c.tolerations(spec)
	if c.w.Kind.VM {
		// As virt-api does.
		resources := spec.field("domain").field("resources")
		limits, requests := resources.field("limits"), resources.field("requests")
		for _, name := range [...]string{"cpu", "memory"} {
			limit, request := limits.field(name), requests.field(name)
			l, lok := c.size(limit)
			r, rok := c.size(request)
			if lok && rok && l.Sign() > 0 && r.Cmp(l) > 0 {
				c.compared(StageObject, request, r, l, above)
			}
		}
		return
	}
	c.names(spec)
	c.restarts(spec)
	c.gates(spec)
	c.ports(spec)
	c.containers(spec)
}

// place is a field of the object or an item in a list. It has a link to its parent rather than a
// path, because most paths are never printed.
type place struct {
	up *place
	// base is the path of a place that has no parent.
	base []string
	// name is the field name. List items have an index instead.
	name       string
	index      int
	key, value *source.Node
}

func (p *place) field(name string) *place {
	k, v := p.value.Field(name)
	return &place{up: p, name: name, key: k, value: v}
}

func (p *place) entry(k, v *source.Node) *place {
	return &place{up: p, name: k.Value, key: k, value: v}
}

func (p *place) item(i int, v *source.Node) *place {
	return &place{up: p, index: i, value: v}
}

func (p *place) len() int { return len(p.value.Items()) }

func (p *place) absent() bool { return p.value.IsNull() }

// broken reports whether the value has another type than map, although the field requires a map.
func (p *place) broken() bool { return !p.absent() && p.value.Kind != source.Map }

// brokenList reports whether the value has another type than list, although the field requires a
// list.
func (p *place) brokenList() bool { return !p.absent() && p.value.Kind != source.Sequence }

// text returns the value of a string field, or "" if the field is absent. ok is false if the value
// is a placeholder or not a string.
func (p *place) text() (s string, ok bool) {
	if p.absent() {
		return "", true
	}
	if p.value.Kind != source.Scalar || p.value.Type != source.String || placeholder(p.name, p.value) {
		return "", false
	}
	return p.value.Value, true
}

// number returns the value of a 32-bit integer field, or 0 if the field is absent. ok is false for
// any other value.
func (p *place) number() (n int64, ok bool) {
	if p.absent() {
		return 0, true
	}
	n, ok = p.value.Int()
	return n, ok && n == int64(int32(n))
}

// path returns the path of a place from the root of the object, for example spec.containers[0].
func (p *place) path() string { return string(p.appendPath(nil)) }

func (p *place) appendPath(b []byte) []byte {
	if p.up == nil {
		return append(b, strings.Join(p.base, ".")...)
	}
	b = p.up.appendPath(b)
	if p.name == "" {
		return append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, p.name...)
}

// span returns the location of a field or list item. For an absent field, it returns the location
// of the parent's key. A list item and the object itself have no key. For an absent field in one of
// them, it returns the location of the first key inside.
func (c *checker) span(p *place) diag.Span {
	file := c.w.File()
	if p.key != nil {
		return file.FieldSpan(p.key, p.value)
	}
	if p.value == nil && p.up != nil {
		if p.up.value.Len() == 0 {
			return c.span(p.up)
		}
		p = p.up
		key := p.key
		if n := len(p.base); p.up == nil && n > 0 { // validation started at this place
			key, _ = c.w.Object.Root.At(p.base[:n-1]...).Field(p.base[n-1])
		}
		if key != nil {
			return file.Span(key)
		}
	}
	for k := range p.value.Fields() {
		return file.Span(k)
	}
	if p.value == nil {
		return c.w.Object.NameSpan()
	}
	return file.Span(p.value)
}

func (c *checker) refuse(stage Stage, p *place, message, fix string) {
	if c.partial && p.mayBeAdded() {
		return
	}
	c.w.Problems = append(c.w.Problems, Problem{Stage: stage, Field: p.path(), Span: c.span(p), Message: message, Fix: fix, By: c.by})
}

// found describes a field's value for a message, for example "maxSkew is 0".
func found(p *place, name string) string {
	switch {
	case p.absent():
		return name + " is missing"
	case p.value.Type == source.String:
		return name + " is " + strconv.Quote(clipped(p.value.Value))
	}
	return name + " is " + clipped(p.value.Value)
}

// maxShown is the maximum length, in bytes, of a value in a message.
const maxShown = 300

// clipped returns a value, cut to at most maxShown bytes.
func clipped(value string) string {
	if len(value) <= maxShown {
		return value
	}
	return strings.ToValidUTF8(value[:maxShown], "") + fmt.Sprintf("... (%d bytes)", len(value))
}

// oneOf checks a field that allows only certain words. If empty is true, the field may also be
// empty.
func (c *checker) oneOf(stage Stage, p *place, empty bool, words []string) (word string, ok bool) {
	word, ok = p.text()
	if !ok || word == "" && empty || slices.Contains(words, word) {
		return word, ok
	}
	fix := ""
	if near := diag.Nearest(word, words); near != "" && word != "" {
		fix = "write " + p.name + ": " + near
	}
	c.refuse(stage, p, found(p, p.name)+": must be "+anyOf(words), fix)
	return "", false
}

// anyOf lists words in a sentence, for example "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// format is a required string format, such as a DNS label.
type format struct {
	check func(string) []string
	must  string
}

// fits reports whether a string has the format. It checks for plain words first, because most
// strings are plain words, which are valid in every format.
func (f format) fits(s string) bool { return plainWord(s) || len(f.check(s)) == 0 }

// plainWord reports whether a string consists of at most 63 lower-case letters, digits and dashes.
// The first and the last character must be a letter or digit.
func plainWord(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') })
}

// Formats of names, as defined by apimachinery.
var (
	labelKey   = format{validation.IsQualifiedName, "must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, after an optional DNS prefix and '/'"}
	labelValue = format{validation.IsValidLabelValue, "must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"}
	subdomain  = format{validation.IsDNS1123Subdomain, "must be at most 253 lowercase letters, digits, '-' and '.', with a letter or digit at both ends"}
	dnsLabel   = format{validation.IsDNS1123Label, "must be at most 63 lowercase letters, digits and '-', with a letter or digit at both ends"}
)

// form checks the format of a string field. Messages call the field by the text in noun or, if that
// is empty, by its name.
func (c *checker) form(stage Stage, p *place, noun string, f format) bool {
	s, ok := p.text()
	if !ok || f.fits(s) {
		return ok
	}
	noun = cmp.Or(noun, p.name)
	c.refuse(stage, p, found(p, noun)+": "+f.must, "")
	return false
}

// forms checks the format of every string in a list.
func (c *checker) forms(stage Stage, list *place, noun string, f format) {
	for i, n := range list.value.Items() {
		c.form(stage, list.item(i, n), noun, f)
	}
}

// labels checks a map of labels, such as metadata.labels, a nodeSelector, or the matchLabels of a
// selector.
func (c *checker) labels(stage Stage, p *place, noun string) {
	for k, v := range p.value.Fields() {
		at := p.entry(k, v)
		switch {
		case k.Placeholder():
		case !labelKey.fits(k.Value):
			c.refuse(stage, at, fmt.Sprintf("%s key is %q: %s", noun, k.Value, labelKey.must), "")
		default:
			c.form(stage, at, noun+" "+k.Value, labelValue)
		}
	}
}

// naming describes which names the API server allows for one kind of object.
type naming struct {
	format format
	// longest is the maximum number of characters, or 0 if only the format limits the length.
	longest int
	// why says why longer names are rejected, for use in messages.
	why string
}

// namings lists the kinds whose names are more restricted than DNS subdomains (R-V39). A
// StatefulSet's name is part of its pods' host names. A CronJob's name gets an 11-character suffix
// for each Job. A Job's name is the value of a label on its pods
// (pkg/apis/apps/validation/validation.go, ValidateStatefulSetName;
// pkg/apis/batch/validation/validation.go, ValidateCronJobCreate;
// pkg/registry/batch/job/strategy.go, generateSelector). Names of custom resources are DNS
// subdomains as well (apiextensions-apiserver: pkg/registry/customresource/validator.go).
var namings = map[string]naming{
	"StatefulSet": {format: dnsLabel},
	"CronJob":     {format: subdomain, longest: 52, why: "its Jobs get an 11-character suffix"},
	"Job":         {format: subdomain, longest: 63, why: "its pods carry it as a label value"},
}

// generatedSuffix is the number of characters that the API server appends to a generateName after
// shortening it to 58 characters (apiserver: pkg/storage/names/generate.go).
const generatedSuffix = 5

func (c *checker) metadata() *place { return (&place{value: c.w.Object.Root}).field("metadata") }

// identity checks the names in the object's metadata.
func (c *checker) identity(metadata *place) {
	if metadata.broken() {
		return
	}
	rule, ok := namings[c.w.Object.Kind]
	if !ok || c.w.Object.Group() != c.w.Kind.Group {
		rule = naming{format: subdomain}
	}
	name := metadata.field("name")
	if c.isText(name) && c.named(name, rule.format, false) {
		c.checkLength(name, rule, 0)
	}
	if generate := metadata.field("generateName"); c.isText(generate) && c.named(generate, rule.format, true) && name.absent() {
		c.checkLength(generate, rule, generatedSuffix)
	}
	if namespace := metadata.field("namespace"); c.isText(namespace) {
		c.named(namespace, dnsLabel, false)
	}
}

// named checks the format of a name, and returns true if the name is set and valid. prefix is set
// for a generateName, which may end in a dash (apimachinery: pkg/api/validation/generic.go).
func (c *checker) named(p *place, f format, prefix bool) (ok bool) {
	s, ok := p.text()
	if !ok || marker(p.value) {
		return false
	}
	whole := s
	if prefix && len(s) > 1 && strings.HasSuffix(s, "-") {
		whole = s[:len(s)-1] + "a"
	}
	if s == "" || f.fits(whole) {
		return s != ""
	}
	better, fix := unfit().ReplaceAllString(strings.ToLower(s), "-"), ""
	if len(validation.IsDNS1123Label(better)) > 0 && len(f.check("a.b")) > 0 {
		better = strings.ReplaceAll(better, ".", "-")
	}
	if better = strings.Trim(better, "-."); better != "" && len(f.check(better)) == 0 {
		if fix = "write " + p.name + ": " + better; prefix {
			fix += "-"
		}
	}
	c.refuse(StageObject, p, found(p, p.name)+": "+f.must, fix)
	return false
}

// checkLength checks the length of a name. added is the number of characters that the API server
// appends to it.
func (c *checker) checkLength(p *place, rule naming, added int) {
	s, _ := p.text()
	length := len(s)
	if added > 0 {
		length = min(length, 63-added) + added
	}
	if rule.longest > 0 && length > rule.longest {
		c.refuse(StageObject, p, fmt.Sprintf("%s has %d characters: must be no more than %d, because %s", p.name, len(s), rule.longest-added, rule.why), "")
	}
}

// indexName checks the host names of an Indexed Job's pods, which must be DNS labels
// (pkg/apis/batch/validation/validation.go, ValidateJob). A host name consists of the Job's name
// and the pod's index. The Job's name is the name of the object followed by suffix.
func (c *checker) indexName(spec *place, stage Stage, suffix string) {
	completions := field(spec.value, "completions", 1)
	name := c.metadata().field("name")
	s, ok := name.text()
	if !ok || s == "" || marker(name.value) || !completions.Known || completions.N == 0 || !subdomain.fits(s) {
		return
	}
	host := s + suffix + "-" + strconv.Itoa(completions.N-1)
	if !dnsLabel.fits(host) {
		c.refuse(stage, name, fmt.Sprintf("pods of an Indexed Job get hostnames such as %q: %s", host, dnsLabel.must), "")
	}
}

var (
	// markers matches names that contain placeholders of custom tools, for example <name>, @NAME@,
	// %NAME% or RELEASE-NAME-web.
	markers = lazy.Regexp(`[$<>{}\[\]%@!|()#]|__|\b[A-Z][A-Z0-9]*[-_][A-Z][A-Z0-9]*`)
	// unfit matches characters that are not allowed in a name.
	unfit = lazy.Regexp(`[^a-z0-9.-]+`)
)

// marker reports whether a name is unknown because a later tool replaces it.
func marker(n *source.Node) bool {
	return n.Placeholder() || !plainWord(n.Text()) && markers().MatchString(n.Text())
}

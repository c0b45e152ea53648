package workload

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/source"
)

// naming has the rules of the API server for the name of an object of one kind.
type naming struct {
	format format
	// longest is the largest number of characters; 0 leaves the limit to the format.
	longest int
	// why is the reason for longest.
	why string
}

// namings has the kinds whose names have stricter rules than DNS subdomains (R-V39): the pods of a
// StatefulSet have its name as host name, a CronJob adds 11 characters to its own for each Job, and
// the pods of a Job have its name as a label value (pkg/apis/apps/validation/validation.go,
// ValidateStatefulSetName; pkg/apis/batch/validation/validation.go, ValidateCronJobCreate;
// pkg/registry/batch/job/strategy.go, generateSelector). Names of custom resources are subdomains
// as well (apiextensions-apiserver: pkg/registry/customresource/validator.go).
var namings = map[string]naming{
	"StatefulSet": {format: dnsLabel},
	"CronJob":     {format: subdomain, longest: 52, why: "its Jobs get an 11-character suffix"},
	"Job":         {format: subdomain, longest: 63, why: "its pods carry it as a label value"},
}

// generatedSuffix is the number of characters that the API server adds to a generateName, which it
// first cuts to 58 characters (apiserver: pkg/storage/names/generate.go).
const generatedSuffix = 5

// identity checks the names in the metadata of the object.
func (c objectChecker) identity() {
	root := place{value: c.w.Object.Root}
	metadata := root.field("metadata")
	if metadata.broken() {
		return
	}
	rule, ok := namings[c.w.Object.Kind]
	if !ok || c.w.Object.Group() != c.w.Kind.Group {
		rule = naming{format: subdomain}
	}
	name, generate, namespace := metadata.field("name"), metadata.field("generateName"), metadata.field("namespace")
	if c.isText(&name) && c.named(&name, rule.format, false) {
		c.checkLength(&name, rule, 0)
	}
	if c.isText(&generate) && c.named(&generate, rule.format, true) && name.absent() {
		c.checkLength(&generate, rule, generatedSuffix)
	}
	if c.isText(&namespace) {
		c.named(&namespace, dnsLabel, false)
	}
}

// named checks the form of one name and reports whether there is a name of the right form. prefix
// is set for the beginning of a name, which may end in a dash (apimachinery:
// pkg/api/validation/generic.go).
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
	fix := ""
	if better := respelt(s, f, prefix); better != "" {
		fix = "write " + p.name + ": " + better
	}
	c.refuse(StageObject, p, found(p, p.name)+": "+f.must, fix)
	return false
}

// checkLength checks the length of a name to which a number of characters is added.
func (c objectChecker) checkLength(p *place, rule naming, added int) {
	s, _ := p.text()
	length := len(s)
	if added > 0 {
		length = min(length, 63-added) + added
	}
	if rule.longest > 0 && length > rule.longest {
		c.refuse(StageObject, p, fmt.Sprintf("%s has %d characters: must be no more than %d, because %s", p.name, len(s), rule.longest-added, rule.why), "")
	}
}

// indexName checks that the host names of an Indexed Job's pods, its name and their index, are DNS
// labels (pkg/apis/batch/validation/validation.go, ValidateJob). The name of the Job is the name of
// the object and the suffix.
func (c objectChecker) indexName(spec *place, stage Stage, suffix string) {
	completions := field(spec.value, "completions", 1)
	root := place{value: c.w.Object.Root}
	metadata := root.field("metadata")
	name := metadata.field("name")
	s, ok := name.text()
	if !ok || s == "" || marker(name.value) || !completions.Known || completions.N == 0 || !subdomain.fits(s) {
		return
	}
	host := s + suffix + "-" + strconv.Itoa(completions.N-1)
	if !dnsLabel.fits(host) {
		c.refuse(stage, &name, fmt.Sprintf("pods of an Indexed Job get hostnames such as %q: %s", host, dnsLabel.must), "")
	}
}

var (
	// markers match placeholders that people write for their own tools to replace, for example
	// <name>, @NAME@, %NAME% or RELEASE-NAME-web.
	markers = regexp.MustCompile(`[$<>{}\[\]%@!|()#]|__|\b[A-Z][A-Z0-9]*[-_][A-Z][A-Z0-9]*`)
	// unfit matches characters that are not allowed in a name.
	unfit = regexp.MustCompile(`[^a-z0-9.-]+`)
)

// marker reports whether a later tool will replace a name, so that the name is unknown.
func marker(n *source.Node) bool {
	return n.Placeholder() || !plainWord(n.Text()) && markers.MatchString(n.Text())
}

// respelt returns a similar name of the right form, or "".
func respelt(s string, f format, prefix bool) string {
	better := unfit.ReplaceAllString(strings.ToLower(s), "-")
	if len(validation.IsDNS1123Label(better)) > 0 && len(f.check("a.b")) > 0 {
		better = strings.ReplaceAll(better, ".", "-")
	}
	better = strings.Trim(better, "-.")
	if better == "" || len(f.check(better)) > 0 {
		return ""
	}
	if prefix {
		better += "-"
	}
	return better
}

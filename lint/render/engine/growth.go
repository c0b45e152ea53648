package engine

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// written returns the cost of writing names, labels, annotations and replacement values to the
// objects of a kustomization. For each label, kustomize searches about 25 fields and the existing
// labels of each object. Kustomize also compares the names of all objects.
func (p *plan) written(k *kustomization, objects int) sum {
	s := &k.spec
	names := len(s.NamePrefix) + len(s.NameSuffix)
	count, bytes := 0, 0
	for _, pairs := range commonPairs(s) {
		count += len(pairs)
		for key, value := range pairs {
			bytes += len(key) + len(value)
		}
	}
	of := limits.Cost{
		Bytes: limits.Product(objects, limits.Sum(2*names, 3*bytes)),
		Steps: limits.Sum(limits.Product(objects, limits.Sum(50*count, limits.Product(count, count)/8)), limits.Product(limits.Product(objects, objects), names/8192)),
	}
	fields := 0
	for _, r := range p.replacementsOf(k) {
		for _, t := range r.Targets {
			if t != nil {
				fields += len(t.FieldPaths)
			}
		}
	}
	of.Steps = limits.Sum(of.Steps, limits.Sum(limits.Product(objects, limits.Product(200, fields)), limits.Product(fields, fields)))
	if of.Steps <= p.most.Steps {
		of.Bytes = limits.Sum(of.Bytes, p.replace(k))
	}
	return sum{cost: of}
}

// replacementsOf returns the replacements of a kustomization, including those in separate files.
// It skips files that cannot be parsed, because kustomize rejects them.
func (p *plan) replacementsOf(k *kustomization) (all []types.Replacement) {
	for _, r := range k.spec.Replacements {
		if r.Path == "" {
			all = append(all, r.Replacement)
			continue
		}
		for _, e := range k.entries {
			if e.field != "replacements" || e.value != r.Path {
				continue
			}
			var one types.Replacement
			var list []types.Replacement
			text := p.tree.read(joined(e)).text
			if yaml.Unmarshal(text, &list) == nil {
				all = append(all, list...)
			} else if yaml.Unmarshal(text, &one) == nil {
				all = append(all, one)
			}
			break
		}
	}
	return all
}

// replace simulates the replacements of a kustomization in order. It returns the number of bytes
// that they write. A replacement may copy what an earlier one has written.
func (p *plan) replace(k *kustomization) (bytes int) {
	for _, r := range p.replacementsOf(k) {
		size := 0
		switch {
		case r.SourceValue != nil:
			size = len(*r.SourceValue)
		case r.Source != nil:
			size = p.sizeAt(r.Source.Kind, r.Source.FieldPath)
		}
		for _, t := range r.Targets {
			if t == nil || t.Select == nil {
				continue
			}
			objects := 0
			for range p.ofKind(t.Select.Kind) {
				objects++
			}
			objects = max(objects, 1)
			for _, field := range t.FieldPaths {
				at := pathKey(field)
				if t.Options != nil && t.Options.Delimiter != "" {
					p.grown[at] = limits.Sum(p.grown[at], size)
				} else {
					p.grown[at] = max(p.grown[at], size)
				}
				if bytes = limits.Sum(bytes, limits.Product(objects, size)); bytes > p.most.Bytes {
					return bytes
				}
			}
		}
	}
	return bytes
}

// pathKey converts a field path to a string. This string begins with the string of each parent
// path.
func pathKey(path string) string {
	return strings.Join(utils.SmarterPathSplitter(path, "."), "\x00") + "\x00"
}

// sizeAt returns the size in bytes of the largest value at a path, over all objects of a kind. The
// size includes what replacements have written at or below the path.
func (p *plan) sizeAt(kind, path string) int {
	path = cmp.Or(path, types.DefaultReplacementFieldPath)
	largest := 0
	for o := range p.ofKind(kind) {
		if o = target(o); !isMapping(o) {
			continue
		}
		if found, err := yaml.NewRNode(o).Pipe(yaml.Lookup(utils.SmarterPathSplitter(path, ".")...)); err == nil && found != nil {
			largest = max(largest, bytesIn(found.YNode(), 0))
		}
	}
	for at, size := range p.grown {
		if strings.HasPrefix(at, pathKey(path)) {
			largest = limits.Sum(largest, size)
		}
	}
	return largest
}

// bytesIn returns the approximate size of a value in bytes.
func bytesIn(n *yaml.Node, depth int) int {
	if n = target(n); n == nil || depth > maxNesting {
		return 0
	}
	size := len(n.Value) + depth
	for _, child := range n.Content {
		size = limits.Sum(size, bytesIn(child, depth+1))
	}
	return size
}

// ofKind iterates over the objects of a kind, or over all objects if kind is "".
func (p *plan) ofKind(kind string) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		for _, doc := range p.parsed {
			for _, root := range doc.docs {
				for _, o := range objectsOf(root) {
					if (kind == "" || text(field(o, "kind")) == kind) && !yield(o) {
						return
					}
				}
			}
		}
	}
}

// maxRefs is the maximum number of consecutive references that are followed in an OpenAPI schema.
const maxRefs = 100

// endless reports whether a definition in a schema refers to itself, directly or through other
// definitions. Kustomize would follow such references forever (kyaml/openapi: Resolve).
func endless(doc any) bool {
	var within func(part any) bool
	within = func(part any) bool {
		if table, ok := part.(map[string]any); ok {
			at := part
			for hops := 0; ; hops++ {
				table, _ := at.(map[string]any)
				ref, _ := table["$ref"].(string)
				ref, ok := strings.CutPrefix(ref, "#") // a JSON pointer into the same schema
				if !ok {
					break
				}
				if at = resolved(doc, ref); hops == maxRefs {
					return true
				}
			}
			return slices.ContainsFunc(slices.Collect(maps.Values(table)), within)
		}
		list, _ := part.([]any)
		return slices.ContainsFunc(list, within)
	}
	return within(doc)
}

// resolved returns the part of a document that a JSON pointer refers to, or nil.
func resolved(doc any, pointer string) any {
	for _, key := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch part := doc.(type) {
		case map[string]any:
			doc = part[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(part) {
				return nil
			}
			doc = part[i]
		default:
			return nil
		}
	}
	return doc
}

// sum is the total cost of a directory and everything that it includes. A directory counts each
// time that it is included.
type sum struct {
	cost limits.Cost
	// heavy is the number of patches for which kustomize compares all pairs of objects. Patches in
	// components are included.
	heavy int
	// schemas is the size in bytes of the CRD schemas that are omitted. schemaNodes is the maximum
	// number of YAML nodes in these schemas.
	schemas, schemaNodes int
	// references is the number of strings that are or look like references to kustomize variables.
	references int
}

// steps returns the cost of one kustomization in steps. The time that kustomize takes grows with
// the square of the number of objects. The cost reaches the limit of a root at 2,500 objects, or at
// 1,000 objects with five heavy patches. Kustomize v0.21.2 took 5 s for 2,000 objects on two levels
// and 40 s for 4,000. It took 100 s for 500 objects with 100 targeted patches.
func steps(objects, transforms, heavy int) int {
	each := limits.Sum(4, limits.Product(8, heavy))
	return limits.Sum(limits.Product(limits.Product(objects, objects), each), limits.Product(objects, limits.Product(200, transforms)))
}

func (s sum) plus(o sum) sum {
	return sum{
		s.cost.Plus(o.cost), s.heavy, limits.Sum(s.schemas, o.schemas), limits.Sum(s.schemaNodes, o.schemaNodes), limits.Sum(s.references, o.references),
	}
}

// beyond returns a message about an exceeded limit, or "" if there is none.
func (s sum) beyond(most limits.Cost) string {
	if what := s.cost.Beyond(most); what != "" {
		return "the build exceeds the limit of " + what + ", counting each directory as often as it is included: split the root"
	}
	return ""
}

// untouched is the number of passes over the objects for a kustomization that changes nothing.
const untouched = 1

// transforms returns the number of passes that kustomize makes over the objects of a kustomization.
func transforms(k *kustomization) int {
	s := &k.spec
	return untouched + deprecatedTransforms(s) + len(s.Patches) + len(s.Replacements) +
		len(s.Images) + len(s.Replicas) + len(s.Labels) + len(s.Transformers) + len(s.Validators)
}

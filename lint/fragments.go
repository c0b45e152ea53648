package lint

import (
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/fragments"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// releases finds the values that releases give to charts that are not available locally. For
// such a chart, only the values can be checked.
type releases struct {
	config  *config.Config
	files   *locate.Files
	renders *locate.Renders
	summary *summary
	finder  *fragments.Finder
	told    map[*source.Object]bool
	counted map[given]bool
}

// given identifies one map of values by its name and by where the release was written.
type given struct {
	name, file string
	line       int
}

// of returns a function that finds the values that releases give charts, for the part named p.
// It omits sources that are rendered, which are judged there, and values for another cluster,
// which this cluster's nodes do not concern.
func (r *releases) of(p string) func(*source.Object) *workload.Given {
	return func(o *source.Object) *workload.Given {
		found := r.finder.Of(o)
		if found == nil {
			return nil
		}
		if found.Over != "" && !r.told[o] {
			r.told[o] = true
			r.summary.leaveOpen("values fragments are left out: "+found.Over, r.renders.At(o))
		}
		rendered := r.rendered(o)
		given := found.Without(rendered)
		given.Judged = len(rendered) > 0 && !given.Left && len(given.Values) == 0
		if r.isElsewhere(p, o) {
			return &workload.Given{Left: given.Left || len(given.Values) > 0}
		}
		return given
	}
}

// rendered returns the indices of the sources of a release whose charts are rendered.
func (r *releases) rendered(o *source.Object) map[int]bool {
	all := map[int]bool{}
	at := r.renders.InSources(o.NameSpan())
	if raw := r.renders.RawObject(o); r.renders.Results[o.File.Name] != nil && raw != nil && raw.Kind == o.Kind {
		at = raw.NameSpan()
	}
	for _, x := range r.renders.All {
		if x.Root.Chart != nil && x.Pointer.File == at.File && x.Pointer.Line == at.Line {
			all[x.Source] = true
		}
	}
	return all
}

// join adds the releases that deploy to a cluster to its part, except objects that the part
// already declares.
func (r *releases) join(c *config.Cluster, p *part, objects []*source.Object, taken map[*source.Object]bool) {
	var known map[diag.Object]bool
	for _, o := range objects {
		if !r.goesTo(c, o) {
			continue
		}
		if known == nil {
			known = map[diag.Object]bool{}
			for _, other := range p.objects {
				known[other.ID()] = true
			}
		}
		if !known[o.ID()] {
			known[o.ID()], taken[o] = true, true
			p.objects = append(p.objects, o)
		}
	}
}

// count counts the fragments of a part, each map once regardless of how many renders contain
// it.
func (r *releases) count(set *workload.Set) {
	for _, w := range set.Fragments {
		if w.Within == "" {
			continue
		}
		at := r.renders.InSources(w.Object.NameSpan())
		if key := (given{w.String(), at.File, at.Line}); !r.counted[key] {
			r.counted[key] = true
			r.summary.Fragments++
		}
	}
}

// isElsewhere reports whether a release deploys to another cluster than the one it is judged
// with.
func (r *releases) isElsewhere(cluster string, o *source.Object) bool {
	elsewhere := false
	for i := range r.config.Clusters {
		switch c := &r.config.Clusters[i]; {
		case !r.goesTo(c, o):
		case c.Name == cluster:
			return false
		default:
			elsewhere = true
		}
	}
	return elsewhere
}

// goesTo reports whether a cluster of the configuration includes what a release deploys.
func (r *releases) goesTo(c *config.Cluster, o *source.Object) bool {
	to := fragments.Destinations(o)
	if len(c.Pointers)+len(c.Destinations) == 0 || to == nil {
		return false
	}
	file := r.files.FromConfig(r.renders.InSources(o.NameSpan()).File)
	return c.Deploys(config.Chosen{Pointers: []string{file}, Destinations: to})
}

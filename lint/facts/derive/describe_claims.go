package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// claims fills in the device claims of the pods.
func (d *describing) claims(w *workload.Workload, row *facts.Workload) {
	row.Claims = []facts.DeviceClaim{}
	listed := w.SpecNode.Get("resourceClaims")
	row.ClaimsKnown = listed.IsNull() || listed.Kind == source.Sequence
	for _, item := range listed.Items() {
		claim := facts.DeviceClaim{
			ID: d.within(w, item), Name: item.Get("name").Text(), Claim: item.Get("resourceClaimName").Text(), Template: item.Get("resourceClaimTemplateName").Text(),
			Requests: []facts.DeviceRequest{},
		}
		kind, name, path := "ResourceClaim", claim.Claim, []string{"spec", "devices", "requests"}
		if claim.Template != "" {
			kind, name, path = "ResourceClaimTemplate", claim.Template, slices.Insert(path, 0, "spec")
		}
		if o := d.claim(kind, w.Object.Namespace, name); o != nil {
			requests := o.Root.At(path...)
			claim.RequestsKnown = requests.IsNull() || requests.Kind == source.Sequence
			for _, request := range requests.Items() {
				claim.Requests = append(claim.Requests, deviceRequests(request)...)
			}
		}
		row.Claims = append(row.Claims, claim)
	}
}

// claim returns the last object of a kind and a name in a namespace, or nil.
func (d *describing) claim(kind, namespace, name string) *source.Object {
	if d.Set == nil {
		return nil
	}
	if d.declaredClaims == nil {
		d.declaredClaims = map[[3]string]*source.Object{}
		d.m.Run().Spend(len(d.Set.Claims))
		for _, o := range d.Set.Claims {
			d.declaredClaims[[3]string{o.Kind, o.Namespace, o.Name}] = o
		}
	}
	return d.declaredClaims[[3]string{kind, namespace, name}]
}

// deviceRequests returns the alternatives of a request, or the request itself. In v1beta1 the
// device class is a field of the request, in later versions it is below exactly
// (staging/src/k8s.io/api/resource).
func deviceRequests(n *source.Node) (all []facts.DeviceRequest) {
	name := n.Get("name").Text()
	for _, alternative := range n.Get("firstAvailable").Items() {
		one := deviceRequest(name, alternative)
		one.CountMin = 0
		all = append(all, one)
	}
	if len(all) > 0 {
		return all
	}
	if exactly := n.Get("exactly"); !exactly.IsNull() {
		n = exactly
	}
	return []facts.DeviceRequest{deviceRequest(name, n)}
}

// deviceRequest returns one request, for one device unless it says otherwise.
func deviceRequest(name string, n *source.Node) facts.DeviceRequest {
	r := facts.DeviceRequest{Name: name, DeviceClass: n.Get("deviceClassName").Text(), CountMin: 1, CountMax: 1}
	mode, count := n.Get("allocationMode"), n.Get("count")
	switch written, ok := count.Int(); {
	case mode.Text() == "All":
		r.CountMax = facts.NoBound
	case mode.Placeholder() || !count.IsNull() && (!ok || written < 1 || written > facts.NoBound):
		r.CountMin, r.CountMax = 0, facts.NoBound
	case !count.IsNull():
		r.CountMin, r.CountMax = int(written), int(written)
	}
	return r
}

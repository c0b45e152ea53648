package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"

	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// refusals is what the API server says of the objects of one recorded case: its
// error by object, and whether it takes the object and refuses the pods.
type refusals struct {
	Kubernetes string               `json:"kubernetes"`
	Objects    int                  `json:"objects"`
	Refused    map[string]rejection `json:"refused"`
}

type rejection struct {
	Stage  workload.Stage `json:"stage"`
	Reason string         `json:"reason"`
}

// uids are given to objects anew in each run.
var uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// refused asks the API server about each object of a text.
func refused(manifests string) (*refusals, error) {
	c := &Cluster{Refused: map[string]Refusal{}, Aside: map[string]bool{}}
	r := &refusals{Kubernetes: kubernetesVersion, Refused: map[string]rejection{}}
	for _, doc := range documents(manifests) {
		r.Objects++
		obj, kind, err := decode([]byte(doc))
		if err == nil && !makesPods(kind.Kind) {
			if err := admit(obj, kind); err != nil {
				meta := obj.(metav1.Object)
				c.Refused[kind.Kind+" "+meta.GetNamespace()+"/"+meta.GetName()] = Refusal{Reason: err.Error()}
			}
			continue
		}
		if err := c.manifest(doc); err != nil {
			return nil, err
		}
	}
	for name, refusal := range c.Refused {
		stage := workload.StageObject
		if refusal.Pods {
			stage = workload.StagePods
		}
		r.Refused[name] = rejection{stage, uids.ReplaceAllString(refusal.Reason, "UID")}
	}
	return r, nil
}

func makesPods(kind string) bool {
	return !slices.Contains([]string{"PodDisruptionBudget", "HorizontalPodAutoscaler"}, kind)
}

// record writes what the API server says into a recorded case.
func record(path string, a *txtar.Archive, r *refusals) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	a.Files = append(slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "expect.json" }), txtar.File{Name: "expect.json", Data: append(text, '\n')})
	return os.WriteFile(path, txtar.Format(a), 0o644)
}

package engine

import (
	"errors"
	"net/http"
	"os"
)

// Seal takes from this process what a build must not have: HTTP and the commands in
// PATH, such as git and helm. The plan refuses what would use them; this is the belt. It
// is for the main of a worker and cannot be undone.
func Seal() error {
	http.DefaultTransport = offline{}
	http.DefaultClient = &http.Client{Transport: offline{}}
	return os.Setenv("PATH", "")
}

// offline is a transport without a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("rendering does not use the network")
}

package storage

import (
	"encoding/json"
	"maps"
	"testing"
)

// TestOver checks that what one says wins, and that what it leaves out comes from the other.
func TestOver(t *testing.T) {
	over := Declared{Classes: map[string]Behavior{"a": {PinNode, ""}, "b": {"", AttachFree}}}
	got := over.Over(Declared{Default: "a", Classes: map[string]Behavior{"a": {PinZone, AttachSingleNode}, "b": {}, "c": {PinFree, ""}}, Cloud: true})
	want := map[string]Behavior{"a": {PinNode, AttachSingleNode}, "b": {"", AttachFree}, "c": {PinFree, ""}}
	if got.Default != "a" || !got.Cloud || !maps.Equal(got.Classes, want) {
		t.Errorf("got %+v", got)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]bool{
		`{"pinned": "zones-2", "attach": "free"}`: true, `{"attach": "single-node"}`: true, `{}`: true,
		`{"pinned": "Zone"}`: false, `{"pinned": ""}`: false, `{"attach": false}`: false,
	} {
		var b Behavior
		if err := json.Unmarshal([]byte(text), &b); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package app

import (
	"strings"
	"testing"
)

// Messages on a terminal are wrapped between words.
func TestWrapped(t *testing.T) {
	const note = "near-duplicates; keeper and distance of each are in kept.audit.jsonl"
	if got := Wrapped(note, 32, 80); got != "near-duplicates; keeper and distance of each are\n"+strings.Repeat(" ", 32)+"in kept.audit.jsonl" {
		t.Errorf("%q", got)
	}
	for _, width := range []int{0, 40, 1000} {
		if got := Wrapped(note, 32, width); got != note {
			t.Errorf("%d: %q", width, got)
		}
	}
}

package base

import (
	"strings"
	"testing"
)

// TestPrefixEnd compares PrefixEnd with the order of strings.
func TestPrefixEnd(t *testing.T) {
	var all []string
	for _, a := range []string{"", "\x00", "a", "\xfe", "\xff"} {
		for _, b := range []string{"", "\x00", "a", "\xfe", "\xff"} {
			for _, c := range []string{"", "\x00", "\xff"} {
				all = append(all, a+b+c)
			}
		}
	}
	for _, prefix := range all {
		end := PrefixEnd(prefix)
		for _, s := range all {
			if in := s >= prefix && (end == "" || s < end); in != strings.HasPrefix(s, prefix) {
				t.Errorf("%q has the prefix %q, which ends before %q: %v", s, prefix, end, !in)
			}
		}
	}
}

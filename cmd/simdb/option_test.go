package main

import (
	"testing"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// Option names in messages of libraries are flags here.
func TestOptionsAreFlags(t *testing.T) {
	flags := map[string]bool{}
	for _, n := range leaves(model(t)) {
		for p := n; p != nil; p = p.Parent {
			for _, f := range p.Flags {
				flags["--"+f.Name] = true
			}
		}
	}
	for _, field := range []string{
		"Comment", "Delimiter", "Exclude", "Fields", "Files", "FingerprintField", "Fingerprints", "Format", "IDField", "IDFrom",
		"Images", "Levenshtein", "Memory", "NoHeader", "RecordStart", "Records", "SetField", "Several", "TextField", "TimeField", "Times", "Unordered",
	} {
		if name := option.Name(field); !flags[name] {
			t.Errorf("%s is %s, which is no flag", field, name)
		}
	}
	for got, want := range map[string]string{
		option.Set("Delimiter", byte('\t')):                             "--delimiter tab",
		option.Set("Comment", byte('#')):                                "--comment '#'",
		option.Set("TextField", "messages[].content"):                   "--text-field 'messages[].content'",
		option.Set("IDFrom", records.IDFromLine):                        "--id-from line",
		option.All(option.Set("IDField", "2"), option.Name("NoHeader")): "--id-field 2 --no-header",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

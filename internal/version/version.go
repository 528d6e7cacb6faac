// Package version says which version of simdb is part of a program.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
)

const module = "github.com/simdb/simdb"

// release is the version of a release, which its script sets.
var release string

// String is the version of the release, or that of the module, with the revision it was built from.
// Programs of other modules have the version of simdb that they use, not their own.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(release, of(info), "(devel)")
}

// Number is the version without its v, for file formats that want a number; 0.0.0 if none is known.
func Number() string {
	if n, ok := strings.CutPrefix(String(), "v"); ok {
		return n
	}
	return "0.0.0"
}

func of(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == module {
			return cmp.Or(m.Replace, m).Version
		}
	}
	return ""
}

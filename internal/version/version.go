// Package version knows the version of simdb that a program contains.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
)

const module = "github.com/simdb/simdb"

// release is the version of a release, set by the release script.
var release string

// String returns the version of the release, or else the version of the module, with the revision
// it was built from. In programs of other modules, it is the version of simdb that they use, not
// their own.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(release, of(info), "(devel)")
}

// Number returns the version without its v, for file formats that require a number. It returns
// 0.0.0 if the version is unknown.
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

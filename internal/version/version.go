// Package version knows the version of simdb that a program contains.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
)

const module = "github.com/simdb/simdb"

// release and commit are the version of a release and its commit. The scripts that build the program
// and the wheel set them, because they build without the stamp of git.
var release, commit string

// String returns the version of the release, or else the version of the module, with the revision
// it was built from. In programs of other modules, it is the version of simdb that they use, not
// their own.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(release, of(info), "(devel)")
}

// Commit returns the commit that the program was built from, in hexadecimal, and whether files differed
// from it. It returns "" if the commit is unknown: in a program of another module, whose stamp is that of
// another repository, and in one that was built without the stamp of git.
func Commit() (revision string, modified bool) {
	info, _ := debug.ReadBuildInfo()
	return commitOf(info, commit)
}

func commitOf(info *debug.BuildInfo, set string) (revision string, modified bool) {
	revision, dirty := strings.CutSuffix(set, "+modified")
	if revision != "" || info == nil || info.Main.Path != module {
		return revision, dirty
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return revision, modified
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

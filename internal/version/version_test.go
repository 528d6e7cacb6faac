package version

import (
	"runtime/debug"
	"testing"
)

// TestOf has programs of simdb, and programs of modules that use it.
func TestOf(t *testing.T) {
	simdb := debug.Module{Path: module, Version: "v0.2.0"}
	other := debug.Module{Path: "example.org/other", Version: "v7.0.0"}
	replaced := simdb
	replaced.Replace = &debug.Module{Path: "../simdb"}
	for i, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, ""},
		{&debug.BuildInfo{Main: simdb, Deps: []*debug.Module{&other}}, "v0.2.0"},
		{&debug.BuildInfo{Main: other, Deps: []*debug.Module{&simdb}}, "v0.2.0"},
		{&debug.BuildInfo{Main: other, Deps: []*debug.Module{&replaced}}, ""},
		{&debug.BuildInfo{Main: other}, ""},
	} {
		if got := of(c.info); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// TestCommit has commits that a script set, those of git's stamp, and programs of other modules, whose stamp
// is not simdb's.
func TestCommit(t *testing.T) {
	simdb, other := debug.Module{Path: module}, debug.Module{Path: "example.org/other"}
	clean := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "44db"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(clean[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for i, c := range []struct {
		info     *debug.BuildInfo
		set      string
		revision string
		modified bool
	}{
		{nil, "", "", false},
		{&debug.BuildInfo{Main: simdb}, "", "", false},
		{&debug.BuildInfo{Main: simdb, Settings: clean}, "", "44db", false},
		{&debug.BuildInfo{Main: simdb, Settings: changed}, "", "44db", true},
		{&debug.BuildInfo{Main: other, Settings: changed}, "", "", false},
		{&debug.BuildInfo{Main: simdb}, "abcd", "abcd", false},
		{nil, "abcd+modified", "abcd", true},
	} {
		if revision, modified := commitOf(c.info, c.set); revision != c.revision || modified != c.modified {
			t.Errorf("%d: %q, %v, want %q, %v", i, revision, modified, c.revision, c.modified)
		}
	}
}

// TestRelease checks the number of a release, and of a program without one.
func TestRelease(t *testing.T) {
	defer func(before string) { release = before }(release)
	for set, want := range map[string][2]string{"v0.2.0": {"v0.2.0", "0.2.0"}, "(devel)": {"(devel)", "0.0.0"}} {
		release = set
		if got := [2]string{String(), Number()}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

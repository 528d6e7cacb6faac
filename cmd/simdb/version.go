package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/internal/version"
)

type versionCmd struct{}

// linkedAs says in which form the program was built.
var linkedAs = "static program"

// Run shows the version, and what else a report of a fault needs: lines of a name and a value.
func (versionCmd) Run(a *app.App) error {
	commit, modified := version.Commit()
	switch number := version.String(); {
	case modified:
		commit += ", with changes"
	case commit == "" && strings.HasPrefix(number, "v"): // of a module proxy
		commit = "that of " + number
	case commit == "":
		commit = "unknown: built without git"
	}
	var levels []string // kernels that this processor can run
	for _, l := range kernel.Available() {
		levels = append(levels, l.String())
	}
	_, err := fmt.Fprintf(a.Out, `simdb %s
commit    %s
built     %s %s/%s, %s
cores     %d
kernel    %s of %s
formats   table %d, tokenizer %d, hash %d
remote    %s
`, version.String(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, linkedAs, runtime.GOMAXPROCS(0), kernel.Name(), strings.Join(levels, ", "),
		table.FormatVersion, token.Version, token.HashVersion, strings.Join(place.Schemes(), ", "))
	return err
}

type versionFlag bool

// BeforeReset shows the version and ends the program.
func (versionFlag) BeforeReset(a *app.App, k *kong.Kong) error {
	if err := (versionCmd{}).Run(a); err != nil {
		return err
	}
	k.Exit(app.ExitOK)
	return nil
}

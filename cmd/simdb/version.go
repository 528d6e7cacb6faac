package main

import (
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/version"
)

type versionCmd struct{}

// Run shows the version.
func (versionCmd) Run(a *app.App) error {
	_, err := fmt.Fprintf(a.Out, "simdb %s\n%s %s/%s, %d cores, kernel %s\n", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), kernel.Name())
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

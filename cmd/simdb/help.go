package main

import (
	"bytes"
	"io"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
)

// help prints the help of a command as kong does, except that it shows flags of which one is
// required.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	to := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = to
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, app.CriterionUsage.Replace(text.String()))
	return err
}

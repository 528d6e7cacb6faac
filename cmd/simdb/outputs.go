package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/internal/outfile"
)

// Flags and arguments that name files say so with a tag, so that all of them are known, and checked, before a command
// begins:
//
//	file:"db"      a database, which is read or written
//	file:"in"      an input; it may be a database too
//	file:"rows"    an output of rows, in the format that its ending names; standard output where it is not given
//	file:"lines"   an output of lines of the input; standard output where it is not given
//	file:"jsonl"   an output of JSON lines
//	file:"table"   an output that is a table
const fileTag = "file"

// declare tells the opener of outputs what the command line reads and writes. It is an error if an output would replace
// something else than an earlier output. Nothing has been touched then.
func (a *app) declare(ctx *kong.Context) error {
	a.outputs.UsesFile(os.Stdin, "standard input")
	values := fileValues(ctx.Selected())
	for _, v := range values {
		for _, path := range paths(v) {
			if path == "-" {
				continue
			}
			if path == "" && v.Flag == nil && v.Required {
				return fmt.Errorf("<%s> is empty, where the name of a file or database is expected", v.Name)
			}
			switch v.Tag.Get(fileTag) {
			case "db":
				a.outputs.Uses(path, "the database")
			case "in":
				a.outputs.Uses(path, "an input file")
			}
		}
	}
	for _, v := range values {
		role := v.Tag.Get(fileTag)
		kind, output := outputKind(ctx, role)
		if !output {
			continue
		}
		for _, path := range paths(v) {
			if path == "" && role != "rows" && role != "lines" {
				continue
			}
			if err := a.outputs.Claim(flagName(v), cmp.Or(path, "-"), kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileValues returns the arguments and flags of a command that name files.
func fileValues(n *kong.Node) []*kong.Value {
	var all []*kong.Value
	for ; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			all = append(all, f.Value)
		}
		all = append(all, n.Positional...)
	}
	files := all[:0]
	for _, v := range all {
		if v.Tag.Has(fileTag) {
			files = append(files, v)
		}
	}
	return files
}

// paths returns what a flag or an argument was set to.
func paths(v *kong.Value) []string {
	switch p := v.Target.Interface().(type) {
	case string:
		return []string{p}
	case []string:
		return p
	}
	return nil
}

// outputKind returns what is written to an output of this role.
func outputKind(ctx *kong.Context, role string) (kind outfile.Kind, output bool) {
	switch role {
	case "rows":
		for _, f := range ctx.Flags() {
			if f.Name == "format" && f.Set {
				return outfile.AnyRows, true
			}
		}
		return outfile.Rows, true
	case "lines":
		return outfile.Lines, true
	case "jsonl":
		return outfile.JSONLines, true
	case "table":
		return outfile.Table, true
	}
	return kind, false
}

// flagName is how the user wrote a flag; an argument has none.
func flagName(v *kong.Value) string {
	switch {
	case v.Flag == nil:
		return ""
	case v.Flag.Short != 0:
		return "-" + string(v.Flag.Short)
	}
	return "--" + v.Name
}

// create begins to write the output of a flag. What is half written goes when the process ends: see cleanUp.
func (a *app) create(flag, path string, kind outfile.Kind) (*outfile.Writer, error) {
	return a.outputs.Create(a.context(), flag, path, kind)
}

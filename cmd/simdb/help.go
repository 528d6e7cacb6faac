package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/repl"
	"github.com/simdb/simdb/repl/output"
)

// description is the beginning of the help and of the manual page.
const description = `An embedded database for near-duplicates: have I seen something like this before?

A DB is a folder (corpus.simdb), a single table (corpus.sst, also on a server: https://host/corpus.sst) or, to read, a
pattern of several ('parts/*.sst'). A FILE holds documents: JSON lines, JSON, CSV, TSV, Parquet, WARC, mbox, plain text
or fingerprints, plain or compressed with gzip or zstd; - is standard input.

  simdb dedup crawl.jsonl -o kept.jsonl     deduplicate a file
  simdb load corpus.simdb crawl.jsonl       load it into a database
  simdb corpus.simdb "NEAR('doc-17', 3)"    search the database
  simdb corpus.simdb                        open a prompt`

// help prints the help of a command: the short help for -h.
func (h helper) help(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	write := long
	if h.short {
		write = short
	}
	if err := write(&text, options, ctx); err != nil {
		return err
	}
	to := ctx.Stdout
	if to == io.Writer(h.a.Out) && app.IsTerminal(h.a.Out) {
		p := h.a.NewPager()
		defer p.Close()
		to = p
	}
	_, err := io.WriteString(to, app.CriterionUsage.Replace(text.String()))
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

type helper struct {
	a     *app.App
	short bool // -h
}

// long writes the help of a command as kong does, except that it shows groups of flags where one is
// required, only names the flags of all commands, and ends with examples.
func long(text *bytes.Buffer, options kong.HelpOptions, ctx *kong.Context) error {
	to, selected := ctx.Stdout, ctx.Selected()
	ctx.Stdout = text
	global := shownFlags(ctx.Model.Flags)
	for _, f := range global {
		f.Hidden = selected != nil
	}
	err := kong.DefaultHelpPrinter(options, ctx)
	for _, f := range global {
		f.Hidden = false
	}
	ctx.Stdout = to
	if err == nil && selected != nil {
		text.WriteString("\nEvery command also has these flags; simdb --help explains them:\n")
		text.WriteString("  " + inOneLine(global) + "\n")
		writeExamples(text, examples[commandName(selected)])
	}
	return err
}

// usual lists the flags that the short help of a command shows first; it shows at most mostFlags.
var usual = strings.Fields(`near jaccard levenshtein within contains output add explain keep against only-against against-add
	input-format id-field text-field images files html time-field expires-field param header format create older ttl sample summary
	shingle bits memory resume verify level dry-run audit`)

const mostFlags = 10

// short writes usage, examples and the usual flags of a command; for the program, it lists the
// commands.
func short(text *bytes.Buffer, _ kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected == nil {
		fmt.Fprintf(text, "Usage: simdb COMMAND ..., or simdb DB ['STATEMENT'...]\n\n%s\n\n", description)
		for _, g := range groups {
			var names []string
			for _, n := range ctx.Model.Children {
				if n.Group != nil && n.Group.Key == g.Key {
					names = append(names, n.Name)
				}
			}
			if len(names) > 0 {
				fmt.Fprintf(text, "%s\n  %s\n", g.Title, strings.Join(names, ", "))
			}
		}
		text.WriteString("simdb COMMAND -h summarizes a command, --help explains it; simdb help TOPIC explains a word or a flag; simdb --help lists all.\n")
		return nil
	}
	name := commandName(selected)
	fmt.Fprintf(text, "Usage: simdb %s\n\n%s\n", selected.Summary(), selected.Help)
	for _, n := range selected.Children {
		fmt.Fprintf(text, "%-*s  %s\n", shortFlag, "  "+n.Name, n.Help)
	}
	all := examples[name]
	writeExamples(text, all[:min(len(all), 3)])
	flags := shownFlags(selected.Flags)
	slices.SortStableFunc(flags, func(a, b *kong.Flag) int { return rank(a.Name) - rank(b.Name) })
	if len(flags) > 0 {
		text.WriteString("\nFlags:\n")
	}
	for _, f := range flags[:min(len(flags), mostFlags)] {
		flag := "--" + f.Name
		if f.Short != 0 {
			flag = "-" + string(f.Short) + ", " + flag
		}
		if !f.IsBool() {
			flag += "=" + f.FormatPlaceHolder()
		}
		lines := display.Wrap(strings.TrimRight(clause.FindString(f.Help), " (.;:"), shortWidth-shortFlag-2)
		fmt.Fprintf(text, "%-*s  %s\n", shortFlag, "  "+flag, lines[0])
		if len(lines) > 1 {
			fmt.Fprintf(text, "%-*s  %s\n", shortFlag, "", display.Cut(strings.Join(lines[1:], " "), shortWidth-shortFlag-2))
		}
	}
	if more := len(flags) - mostFlags; more > 0 {
		fmt.Fprintf(text, "\nThere are %d more: simdb %s --help\n", more, name)
	}
	return nil
}

// clause matches the first part of a help text that can stand on its own.
var clause = regexp.MustCompile(`^.*?(?:[.;:]\s|\.?$| \()`)

// shortWidth is the width of the short help, and shortFlag the width of its column of flags.
const (
	shortWidth = 80
	shortFlag  = 26
)

// rank returns the place of a flag in usual, or len(usual) if it is not there.
func rank(name string) int {
	if at := slices.Index(usual, name); at >= 0 {
		return at
	}
	return len(usual)
}

// shownFlags returns the flags that are not hidden.
func shownFlags(flags []*kong.Flag) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f *kong.Flag) bool { return f.Hidden })
}

// inOneLine lists the names of flags on one line.
func inOneLine(flags []*kong.Flag) string {
	var names []string
	for _, f := range flags {
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func writeExamples(b *bytes.Buffer, all []example) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\nExamples:\n")
	for _, e := range all {
		fmt.Fprintf(b, "  %s\n      %s\n", e.line, e.does)
	}
}

// helpTopics are words of simdb help for the flags of a group, and for several flags.
var helpTopics = map[string]string{
	"criteria": "criterion", "criterion": "criterion", "keeping": "kept", "outputs": "output", "inputs": "input", "rows": "rows", "features": "features",
	"formats": "--input-format --format", "pictures": "--images --orientations", "limits": "--memory --temp-dir --threads",
}

// helpOn writes help on a word of the language, a dot-command, a flag or several flags.
func helpOn(a *app.App, topic string) error {
	word := strings.ToLower(strings.TrimLeft(topic, "-."))
	names := strings.Fields(cmp.Or(helpTopics[word], "--"+word))
	width, of := cmp.Or(app.TerminalWidth(a.Out), shortWidth), map[[2]string][]string{}
	var flags [][2]string // with their help
	all := slices.Collect(maps.Keys(helpTopics))
	for _, c := range allCommands() {
		for _, f := range c.flags {
			all = append(all, "--"+f.name)
			if !slices.Contains(names, "--"+f.name) && !slices.Contains(names, f.group) && (f.short == "" || f.short != topic[1:]) || topic[0] == '.' {
				continue
			}
			key := [2]string{strings.TrimSuffix("--"+f.name+"="+f.value, "="), f.help}
			if of[key] = append(of[key], cmp.Or(c.name, "all commands")); len(of[key]) == 1 {
				flags = append(flags, key)
			}
		}
	}
	var b bytes.Buffer
	cfg := repl.Config{Out: &b, Err: io.Discard, Output: output.Options{Width: width}}
	if slices.Contains([]string{"language", "query", "queries", "statement", "statements", "sql", "syntax"}, word) {
		word = ""
	}
	if (topic[0] == '-' || repl.Exec(a.Context(), cfg, ".help "+word) != repl.ExitOK) && len(flags) == 0 {
		all = slices.Concat(all, commandNames(), front.Language.Keywords)
		return fmt.Errorf("there is no help on %q, %s", topic, cmp.Or(spelling.Suggest(topic, all), elsewhere[topic], elsewhere["--"+topic], "but on each command, each flag, each word of statements, and "+strings.Join(slices.Sorted(maps.Keys(helpTopics)), ", ")+", language"))
	}
	for _, key := range flags {
		fmt.Fprintf(&b, "%s  (%s)\n    %s\n", key[0], strings.Join(of[key], ", "), strings.Join(display.Wrap(key[1], width-4), "\n    "))
	}
	_, err := io.Copy(a.Out, &b)
	return err
}

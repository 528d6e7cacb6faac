package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/version"
)

type manFlag bool

// BeforeReset writes the manual page and ends the program.
func (manFlag) BeforeReset(a *app.App, k *kong.Kong) error {
	if err := man(a.Out, commands(k.Model.Node)); err != nil {
		return err
	}
	k.Exit(app.ExitOK)
	return nil
}

// exitStatusText is the last section of the manual page.
const exitStatusText = `.SH EXIT STATUS
.TP
0
Done, or found.
.TP
1
A definite no: nothing matched where matches were asked for, or
.B check
found damage.
.TP
2
A mistake in the arguments or statements, or a failure.
.TP
130
Interrupted, also by SIGTERM and SIGHUP. The first Ctrl-C stops cleanly and keeps what is stored, a second one aborts.
.SH ENVIRONMENT
.TP
NO_COLOR
No colour on the terminal.
.TP
SIMDB_PAGER, PAGER
The pager for long results on a terminal.
.TP
COLUMNS
The width of tables on a terminal.
.TP
LESS
Options of less; without it FRSX.
.TP
XDG_STATE_HOME
Where the prompt keeps its history, in simdb/history.
.TP
XDG_CONFIG_HOME
Where the prompt finds its first commands, in simdb/simdbrc.
.TP
AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...
Where s3:// is and how to sign in, as for the AWS tools; GOOGLE_APPLICATION_CREDENTIALS for gs://,
HF_TOKEN for hf://. docs/formats.md has them all.
.TP
TMPDIR
Where dedup and tune keep their temporary files.
`

// man writes the manual page.
func man(w io.Writer, verbs []command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SIMDB 1 \"\" \"simdb %s\"\n.SH NAME\nsimdb \\- embedded database for near-duplicates\n", version.String())
	b.WriteString(".SH SYNOPSIS\n")
	for _, v := range verbs[1:] {
		fmt.Fprintf(&b, ".br\n.B simdb\n%s\n", roff(strings.TrimPrefix(v.usage, "simdb ")))
	}
	b.WriteString(".SH DESCRIPTION\n")
	for line := range strings.SplitSeq(description, "\n") {
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, "  "):
			fmt.Fprintf(&b, ".br\n.RS\n.B %s\n.RE\n", roff(strings.TrimSpace(line)))
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	often := map[[2]string]int{} // number of flags by name and help
	for _, v := range verbs {
		for _, f := range v.flags {
			often[[2]string{f.name, f.help}]++
		}
	}
	isShared := func(f flag) bool { return often[[2]string{f.name, f.help}] >= sharedBy }
	for i, v := range verbs {
		if i == 0 {
			b.WriteString(".SH OPTIONS OF ALL COMMANDS\n")
		} else {
			if i == 1 {
				b.WriteString(".SH COMMANDS\n")
			}
			fmt.Fprintf(&b, ".SS %s\n%s\n", roff(strings.TrimPrefix(v.usage, "simdb ")), roff(v.help))
		}
		var named []string
		for _, f := range v.flags {
			if isShared(f) {
				named = append(named, `\-\-`+roff(f.name))
			} else {
				manFlagOf(&b, f)
			}
		}
		if len(named) > 0 {
			fmt.Fprintf(&b, ".PP\nShared options: %s\n", strings.Join(named, ", "))
		}
		if all := examples[v.name]; i > 0 && len(all) > 0 {
			b.WriteString(".PP\nExamples:\n")
			for _, e := range all {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(e.line), roff(e.does))
			}
		}
	}
	b.WriteString(".SH SHARED OPTIONS\n")
	for _, v := range verbs {
		for _, f := range v.flags {
			if isShared(f) {
				manFlagOf(&b, f)
				often[[2]string{f.name, f.help}] = 0 // write it only once
			}
		}
	}
	b.WriteString(".SH QUERY LANGUAGE\n")
	manLanguage(&b)
	b.WriteString(exitStatusText)
	_, err := io.WriteString(w, b.String())
	return err
}

func manLanguage(b *strings.Builder) {
	plain := strings.NewReplacer("`", "", "*", "", ": see below", "") // of docs/query.md
	for _, t := range front.Language.Topics {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(t.Syntax), roff(t.Help))
		for _, r := range t.Rows {
			fmt.Fprintf(b, ".br\n%s: %s\n", roff(plain.Replace(r.Syntax)), roff(plain.Replace(r.Meaning)))
		}
	}
}

// sharedBy is the least number of commands that share a flag for it to be explained only once.
const sharedBy = 3

func manFlagOf(b *strings.Builder, f flag) {
	name := `\-\-` + roff(f.name)
	if f.short != "" {
		name = `\-` + f.short + ", " + name
	}
	fmt.Fprintf(b, ".TP\n.B %s %s\n%s\n", name, roff(f.value), roff(f.help))
}

// roff escapes text for roff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

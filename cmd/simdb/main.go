// Command simdb is the near-duplicate database on the command line: it loads documents, finds
// similar ones, removes near-duplicates from files, and runs statements at a prompt or in scripts.
//
// Data goes to standard output, messages and progress to standard error. Exit statuses are those of
// grep: 0 done or found, 1 nothing found, 2 an error, 130 interrupted.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/remote" // https, s3, gs, hf
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs the program and returns its exit status.
func run(args []string) int {
	a := app.New()
	defer a.CleanUp()
	if err := kernel.Err(); err != nil {
		return a.Fail(err)
	}
	code := app.ExitOK
	none := len(args) == 0
	if none {
		args = []string{"-h"}
	}
	if args[0] == "help" && len(args) > 1 && args[1] != "" && !slices.Contains(commandNames(), args[1]) && !inputs.Exists("help") {
		if err := helpOn(a, args[1]); err != nil {
			a.Complain(err)
			code = app.ExitError
		}
		return code
	}
	args = helpFor(args)
	parser, err := newParser(a, args, &code)
	if err != nil {
		return a.Fail(err)
	}
	if none {
		parser.Stdout, code = a.Err, app.ExitError
	}
	if err := unknown(args); err != nil {
		return misuse(a, err, args)
	}
	ctx, err := parse(parser, joinNegative(args))
	if done, ok := errors.AsType[exited](err); ok {
		return max(int(done), code)
	}
	if err != nil {
		return misuse(a, err, args)
	}
	a.Advice = func(err error) string { return advice(err, args) }
	if err := a.Declare(ctx); err != nil {
		return a.Fail(err)
	}
	err = ctx.Run(a)
	if err == nil && a.Interrupted() {
		err = app.ErrInterrupted // an interrupted script should not run its next command
	}
	if err != nil {
		return a.Fail(err)
	}
	return app.ExitOK
}

// helpFor turns "help COMMAND" into "COMMAND --help".
func helpFor(args []string) []string {
	if args[0] != "help" || inputs.Exists("help") {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}

// pathMarks are characters that occur in paths of databases but in no command name.
const pathMarks = `./\`

// unknown returns an error if the first word looks like a mistyped command: it is neither a command
// nor a database, and it stands alone, is followed by flags, or is close to the name of a command.
func unknown(args []string) error {
	word := args[0]
	if word == "" || strings.HasPrefix(word, "-") || strings.ContainsAny(word, pathMarks) || slices.Contains(commandNames(), word) || inputs.Exists(word) {
		return nil
	}
	if verb, ok := spelling.Closest(word, commandNames()); ok && elsewhere[word] == "" {
		return fmt.Errorf("unknown command %q, did you mean %q?", word, verb)
	}
	instead := cmp.Or(elsewhere[strings.ToLower(word)], spelling.Part(elsewhere, "@", strings.ToLower(word)))
	if slices.Contains(args, "--create") || instead == "" && strings.Contains(strings.Join(args[1:], "\n"), " ") { // for a database with this name
		return nil
	}
	return fmt.Errorf("unknown command %q, and there is no database of that name: %s", word, cmp.Or(instead, beside(word), elsewhere[".verb"]))
}

// joinNegative turns --flag -1 into --flag=-1. kong would read -1 as a flag; this way the flag
// reports its own error.
func joinNegative(args []string) []string {
	var out []string
	for i, arg := range args {
		if i > 0 && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") && isNegative(arg) {
			out[len(out)-1] += "=" + arg
		} else {
			out = append(out, arg)
		}
	}
	return out
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-" }

func isNegative(s string) bool {
	return len(s) > 1 && s[0] == '-' && s != "-0" && (s[1] >= '0' && s[1] <= '9' || s[1] == '.')
}

// parse parses the arguments. It returns an error of type exited if kong has already done
// everything.
func parse(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exited:
			err = r
		default:
			panic(r)
		}
	}()
	return parser.Parse(args)
}

// misuse reports wrong arguments.
func misuse(a *app.App, err error, args []string) int {
	a.Complain(explained(err, args))
	if slices.Contains(commandNames(), args[0]) {
		fmt.Fprintf(a.Err, "  simdb %s --help explains the command\n", args[0])
	} else {
		fmt.Fprintf(a.Err, "  simdb --help lists the commands, simdb COMMAND --help explains one\n")
	}
	return app.ExitError
}

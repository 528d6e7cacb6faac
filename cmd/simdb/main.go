// Command simdb is the near-duplicate database on the command line: it loads documents, finds those that are alike,
// removes duplicates from files, and answers statements at a prompt or in scripts.
//
// Data goes to standard output, talk and progress to standard error. The exit status is that of grep: 0 done or found,
// 1 a definite no, 2 a mistake or a failure, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	exitOK        = 0
	exitNo        = 1
	exitError     = 2
	exitInterrupt = 130
)

func main() { os.Exit(run(os.Args[1:])) }

// status is an error that ends the program with an exit status and no message.
type status int

// Error is never shown.
func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// run is the program: it returns the exit status.
func run(args []string) int {
	a := newApp()
	defer a.cleanUp()
	code := exitOK
	parser, err := newParser(a, &code)
	if err != nil {
		return a.fail(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
		parser.Stdout, code = a.err, exitError
	}
	ctx, err := parse(parser, joinNegative(args))
	if done, ok := errors.AsType[exited](err); ok {
		return max(int(done), code)
	}
	if err != nil {
		return a.misuse(err, args)
	}
	if err := a.declare(ctx); err != nil {
		return a.fail(err)
	}
	if err := ctx.Run(a); err != nil {
		return a.fail(err)
	}
	return exitOK
}

// exited is what kong's wish to end the program becomes: it wants so after printing help.
type exited int

// Error is never shown.
func (e exited) Error() string { return "exited" }

// joinNegative writes --flag -1 as --flag=-1, so that the flag can say what is wrong with the number: to kong it is a flag itself.
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

func isNegative(s string) bool {
	return len(s) > 1 && s[0] == '-' && (s[1] >= '0' && s[1] <= '9' || s[1] == '.')
}

// parse parses the arguments; an error of type exited says that everything is done.
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

// fail reports the error that ends the program and returns the exit status.
func (a *app) fail(err error) int {
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	if a.interrupted() {
		switch {
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(a.err, "simdb: interrupted")
		case !errors.Is(err, errInterrupted):
			fmt.Fprintf(a.err, "simdb: %v\n", err)
		}
		return exitInterrupt
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return exitOK // whoever reads has seen enough
	}
	fmt.Fprintf(a.err, "simdb: %v\n", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(a.err, "  %s\n", hint)
	}
	return exitError
}

// misuse reports wrong arguments. The first of them may be a command misspelt, which was taken for a database.
func (a *app) misuse(err error, args []string) int {
	if verb, ok := misspelt(args[0]); ok {
		err = fmt.Errorf("unknown command %q, did you mean %q?", args[0], verb)
	}
	fmt.Fprintf(a.err, "simdb: %v\n", err)
	if slices.Contains(verbs(), args[0]) {
		fmt.Fprintf(a.err, "  simdb %s --help explains the command\n", args[0])
	} else {
		fmt.Fprintf(a.err, "  simdb --help lists the commands, simdb COMMAND --help explains one\n")
	}
	return exitError
}

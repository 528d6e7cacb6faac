package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/records"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help says how to install the script.
func (completionCmd) Help() string {
	return `To install the script:

  bash:
    simdb completion bash > ~/.local/share/bash-completion/completions/simdb
  zsh:
    simdb completion zsh > "${fpath[1]}/_simdb"
  fish:
    simdb completion fish > ~/.config/fish/completions/simdb.fish
  PowerShell:
    simdb completion powershell >> $PROFILE`
}

// Run writes the script.
func (c *completionCmd) Run(a *app.App, k *kong.Kong) error {
	all := commands(k.Model.Node)
	verbs := slices.DeleteFunc(all[1:], func(v command) bool { return strings.Contains(v.name, " ") })
	at := slices.IndexFunc(verbs, func(v command) bool { return v.name == "shell" })
	bare := command{flags: verbs[at].flags} // a database without the word shell
	script := map[string]func(program, bare command, verbs []command) string{"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}[c.Shell]
	_, err := io.WriteString(a.Out, script(all[0], bare, slices.Clip(verbs)))
	return err
}

// command has the data about a command that completion and the manual need.
type command struct {
	name  string // "" for the program itself
	help  string
	usage string
	flags []flag
	words []string // possible values of the first argument, if they are known
}

type flag struct {
	name, short, help string
	group             string // key of its group, or ""
	value             string // placeholder of the flag's value: "FILE", or "" for a flag without a value
	choices           []string
}

// commands returns the program itself and then its commands; subcommands have their full names.
func commands(n *kong.Node) []command {
	var own []flag
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		g := flag{name: f.Name, help: f.Help}
		if f.Short != 0 {
			g.short = string(f.Short)
		}
		if f.Group != nil {
			g.group = f.Group.Key
		}
		if !f.IsBool() {
			if g.value = f.PlaceHolder; g.value == "" {
				g.value = strings.ToUpper(f.Name)
			}
			g.choices = choices(f)
		}
		own = append(own, g)
	}
	usage := app.CriterionUsage.Replace(n.Summary())
	var words []string
	for _, c := range n.Children {
		words = append(words, c.Name)
	}
	if len(n.Positional) > 0 && n.Positional[0].Enum != "" {
		words = strings.Split(n.Positional[0].Enum, ",")
	}
	all := []command{{name: commandName(n), help: n.Help, usage: usage, flags: own, words: words}}
	for _, c := range n.Children {
		all = append(all, commands(c)...)
	}
	return all
}

// commandName returns the name of a command, such as "debug layout", and "" for the program itself.
func commandName(n *kong.Node) string {
	return strings.TrimPrefix(strings.TrimPrefix(n.Path(), "simdb"), " ")
}

// choices returns the possible values of a flag, or nil if they are not known.
func choices(f *kong.Flag) []string {
	if f.Enum != "" {
		return strings.Split(f.Enum, ",")
	}
	switch v := f.Target.Interface().(type) {
	case interface{ Choices() []string }:
		return v.Choices()
	case records.Format:
		return records.Formats()
	case *imagehash.Kind:
		return strings.Fields(strings.Trim(fmt.Sprint(imagehash.Kinds()), "[]"))
	}
	return nil
}

func bash(program, bare command, verbs []command) string {
	var b strings.Builder
	b.WriteString("_simdb() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n" +
		"\tif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; elif [[ $cur == '=' ]]; then cur=; fi\n" +
		"\tcase ${COMP_WORDS[1]}:$prev in\n")
	for _, v := range append(verbs, bare, program) {
		verb := v.name
		if verb == "" { // a database without the word shell, or flags of all commands
			verb = "*"
		}
		for _, f := range v.flags {
			if len(f.choices) > 0 {
				fmt.Fprintf(&b, "\t%s:--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", verb, f.name, strings.Join(f.choices, " "))
			}
		}
	}
	for _, v := range append([]command{program}, verbs...) {
		if name := cmp.Or(v.name, "help"); len(v.words) > 0 {
			fmt.Fprintf(&b, "\t%s:%[1]s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", name, strings.Join(v.words, " "))
		}
	}
	b.WriteString("\tesac\n\tcase ${COMP_WORDS[1]} in\n")
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", v.name, strings.Join(flagNames(v, program), " "))
	}
	fmt.Fprintf(&b, "\t*) words='%s' ;;\n\tesac\n", strings.Join(flagNames(bare, program), " "))
	fmt.Fprintf(&b, "\t((COMP_CWORD == 1)) && words='%s %s'\n", strings.Join(names, " "), strings.Join(flagNames(program), " "))
	b.WriteString("\tif [[ $cur == -* ]] || ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); fi\n")
	b.WriteString("\tCOMPREPLY+=($(compgen -f -- \"$cur\"))\n}\ncomplete -o filenames -F _simdb simdb\n")
	return b.String()
}

func flagNames(of ...command) []string {
	var names []string
	for _, c := range of {
		for _, f := range c.flags {
			names = append(names, "--"+f.name)
		}
	}
	return names
}

func zsh(program, bare command, verbs []command) string {
	var b strings.Builder
	b.WriteString("#compdef simdb\n_simdb() {\n\tlocal -a verbs\n\tif ((CURRENT == 2)); then\n\t\tverbs=(\n")
	quote := strings.NewReplacer("'", "’", "[", "(", "]", ")", ":", ";")
	for _, v := range verbs {
		fmt.Fprintf(&b, "\t\t\t'%s:%s'\n", v.name, quote.Replace(v.help))
	}
	b.WriteString("\t\t)\n\t\t_describe command verbs\n\t\t_files\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	bare.name = "*"
	for _, v := range append(verbs, bare) {
		fmt.Fprintf(&b, "\t%s) _arguments", v.name)
		for _, f := range append(v.flags[:len(v.flags):len(v.flags)], program.flags...) {
			fmt.Fprintf(&b, " \\\n\t\t'--%s[%s]", f.name, quote.Replace(f.help))
			switch {
			case len(f.choices) > 0:
				fmt.Fprintf(&b, ":%s:(%s)", f.value, strings.Join(f.choices, " "))
			case f.value != "":
				fmt.Fprintf(&b, ":%s:_files", quote.Replace(f.value))
			}
			b.WriteString("'")
		}
		if len(v.words) > 0 {
			fmt.Fprintf(&b, " \\\n\t\t'2:what:(%s)'", strings.Join(v.words, " "))
		}
		b.WriteString(" \\\n\t\t'*:file:_files' ;;\n")
	}
	fmt.Fprintf(&b, "\thelp) _arguments '2:what:(%s)' ;;\n", strings.Join(program.words, " "))
	b.WriteString("\tesac\n}\n_simdb \"$@\"\n")
	return b.String()
}

func fish(program, _ command, verbs []command) string {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	for _, v := range verbs {
		fmt.Fprintf(&b, "complete -c simdb -n __fish_use_subcommand -a %s -d '%s'\n", v.name, quote.Replace(v.help))
	}
	for _, v := range append([]command{program}, verbs...) {
		when := " -n '__fish_seen_subcommand_from " + cmp.Or(v.name, "help") + "'"
		if len(v.words) > 0 {
			fmt.Fprintf(&b, "complete -c simdb%s -x -a '%s'\n", when, strings.Join(v.words, " "))
		}
		switch v.name {
		case "":
			when = ""
		case "shell": // the word can be omitted
			when = " -n 'not __fish_seen_subcommand_from " + strings.ReplaceAll(strings.Join(program.words, " "), " shell ", " ") + "'"
		}
		for _, f := range v.flags {
			fmt.Fprintf(&b, "complete -c simdb%s -l %s", when, f.name)
			if f.short != "" {
				b.WriteString(" -s " + f.short)
			}
			switch {
			case len(f.choices) > 0:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(f.choices, " "))
			case f.value != "":
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d '%s'\n", quote.Replace(f.help))
		}
	}
	return b.String()
}

// powershellRest completes the values of the word before, or of the flag before =; in the first
// place, commands; after a dash, flags. If it finds nothing, PowerShell completes files.
const powershellRest = `    $words = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
    $verb = ''
    if ($words.Count -gt 1 -and $flags.ContainsKey($words[1])) { $verb = $words[1] }
    $before = $words[-1]
    $prefix = ''
    if ($word -match '^(--[\w-]+=)(.*)$') { $prefix = $Matches[1]; $before = $prefix.TrimEnd('='); $word = $Matches[2] }
    $found = $values["$verb $before"]
    if (-not $found -and $words.Count -eq 1) { $found = $verbs }
    if (-not $found -and $word.StartsWith('-')) { $found = $flags[$verb] }
    -split $found | Where-Object { $_ -and $_.StartsWith($word) } |
        ForEach-Object { [System.Management.Automation.CompletionResult]::new($prefix + $_, $_, 'ParameterValue', $_) }
}
`

func powershell(program, bare command, verbs []command) string {
	var names []string
	var flags, values strings.Builder
	for _, v := range append(verbs, bare) {
		if v.name != "" {
			names = append(names, v.name)
		}
		fmt.Fprintf(&flags, "        '%s' = '%s'\n", v.name, strings.Join(flagNames(v, program), " "))
		for _, f := range append(v.flags[:len(v.flags):len(v.flags)], program.flags...) {
			if len(f.choices) > 0 {
				fmt.Fprintf(&values, "        '%s --%s' = '%s'\n", v.name, f.name, strings.Join(f.choices, " "))
			}
		}
		if len(v.words) > 0 {
			fmt.Fprintf(&values, "        '%s %[1]s' = '%s'\n", v.name, strings.Join(v.words, " "))
		}
	}
	fmt.Fprintf(&values, "        ' help' = '%s'\n", strings.Join(program.words, " "))
	return fmt.Sprintf("Register-ArgumentCompleter -Native -CommandName simdb -ScriptBlock {\n    param($word, $ast, $cursor)\n"+
		"    $flags = @{\n%s    }\n    $values = @{\n%s    }\n    $verbs = '%s'\n%s", &flags, &values, strings.Join(names, " "), powershellRest)
}

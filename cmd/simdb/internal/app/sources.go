package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/input/files"
	"github.com/simdb/simdb/engine"
)

// Sources are the inputs of a command. They add up their sizes, for progress.
type Sources struct {
	Names  []string    // of the inputs, as the user called them; with --files there is one, the list
	Tree   *files.Tree // of --files, else nil
	Total  int64       // bytes of all inputs, 0 if that is not known
	tally  *input.Tally
	before int64    // of the inputs that have been read
	same   []string // which names are of files that have come before
}

// NewSources returns the inputs that the arguments of a command name. With --files no output may
// replace one of them.
func (a *App) NewSources(args []string, f InputFlags) (Sources, error) {
	if f.IDField != "" && f.IDFrom != "" {
		return Sources{}, errors.New("--id-field and --id-from contradict each other")
	}
	if !f.WholeFiles {
		if len(f.Exclude) > 0 || f.Hidden {
			return Sources{}, errors.New("--exclude and --hidden are for --files")
		}
		var names []string
		for _, arg := range args { // not every shell does that
			found, err := files.Expand(arg, false)
			if err != nil {
				return Sources{}, err
			}
			names = append(names, found...)
		}
		s, err := FileSources(names)
		for _, text := range s.same {
			a.Say("%s", text)
		}
		return s, err
	}
	tree, err := files.List(args, files.ListOptions{Exclude: f.Exclude, Hidden: f.Hidden, Check: a.Outputs.CheckInput})
	if err != nil {
		return Sources{}, err
	}
	return Sources{Names: []string{tree.Name()}, Tree: tree, Total: tree.Size(), tally: &input.Tally{}}, nil
}

// NewSource is NewSources for a command that reads one file, or the files of a tree.
func (a *App) NewSource(arg string, f InputFlags) (Sources, error) {
	s, err := a.NewSources([]string{arg}, f)
	if err == nil && len(s.Names) > 1 {
		err = fmt.Errorf("%s: %d files match, and this command reads one", arg, len(s.Names))
	}
	return s, err
}

// FileSources are inputs without --files. It checks that every file is there, before anything is
// done. A file that has several of the names comes once.
func FileSources(names []string) (Sources, error) {
	s := Sources{tally: &input.Tally{}}
	var seen files.Set
	known, stdin := true, 0
	for _, name := range names {
		if name == "-" {
			s.Names = append(s.Names, name)
			known = false
			if stdin++; stdin > 1 {
				return s, errors.New("standard input (-) can be read only once")
			}
			continue
		}
		st, err := os.Stat(name)
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, cause(err))
		}
		if st.IsDir() {
			if what, err := engine.Identify(name); err == nil && what != "" {
				return s, fmt.Errorf("%s is %s, and not a file with documents: load, match and join name the database first; simdb clusters %s --jaccard 0.8 lists what is alike in it", name, what, name)
			}
			return s, fmt.Errorf("%s is a folder; %s--files reads the files in it, each as a document", name, dataIn(name))
		}
		if first, had := seen.Add(name, st); had && st.Mode().IsRegular() {
			s.same = append(s.same, fmt.Sprintf("%s and %s are the same file, which is read once", first, name))
			continue
		}
		s.Names = append(s.Names, name)
		known = known && st.Mode().IsRegular()
		s.Total += st.Size()
	}
	if !known {
		s.Total = 0
	}
	return s, nil
}

// cause is what went wrong with a file, without its name, which messages have already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// dataIn says how to name the files of a folder that have many documents each, by the ending of the
// first one: of those in the folder itself, else of those anywhere in it. It says nothing if there
// are none among the first files.
func dataIn(folder string) (hint string) {
	const looked = 1000
	seen := 0
	filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > looked || err != nil {
			return fs.SkipAll
		}
		name, compressed := e.Name(), ""
		for _, c := range []string{".gz", ".zst"} {
			if whole, ok := strings.CutSuffix(name, c); ok {
				name, compressed = whole, c
			}
		}
		ending := strings.ToLower(filepath.Ext(name))
		if e.IsDir() || !manyDocuments(ending) {
			return nil
		}
		pattern := filepath.Join(folder, "*"+ending+compressed)
		if filepath.Dir(path) == filepath.Clean(folder) {
			hint = pattern
			return fs.SkipAll
		}
		if hint == "" {
			hint = filepath.Join(folder, "**", "*"+ending+compressed)
		}
		return nil
	})
	if hint = filepath.ToSlash(hint); hint != "" && runtime.GOOS != "windows" {
		hint = "'" + hint + "'" // or the shell takes ** for *
	}
	if hint != "" {
		hint = fmt.Sprintf("%s reads the documents of its files, ", hint)
	}
	return hint
}

// manyDocuments reports whether files with this ending have many documents each. Those with .txt
// are as often one document.
func manyDocuments(ending string) bool {
	return ending != ".txt" && ending != ".text" && slices.ContainsFunc(input.Formats(), func(name string) bool {
		return slices.Contains(input.Format(name).Describe().Endings, ending)
	})
}

// Open opens an input.
func (s *Sources) Open(name string, opt input.Options) (input.Source, error) {
	opt.Tally = s.tally
	if s.Tree != nil {
		return s.Tree.Open(opt)
	}
	return input.Open(name, opt)
}

// TellSkipped says what was left out of the inputs, and what charsets were not known.
func (a *App) TellSkipped(s *Sources) {
	skipped, guessed := s.tally.All()
	if len(skipped) > 0 {
		a.Say("not read: %s", skipped)
	}
	if len(guessed) > 0 {
		a.Say("unknown charsets: %s; these texts were read as UTF-8, --encoding NAME says what they are", guessed)
	}
	if s.Tree != nil && s.Tree.Skipped() != "" {
		a.Say("%s: %s", s.Tree.Name(), s.Tree.Skipped())
	}
}

// Progress is how much of all files has been read.
func (s *Sources) Progress(stage string, in input.Source) engine.Progress {
	n, _ := in.Progress()
	return engine.Progress{Stage: stage, Done: s.before + n, Total: s.Total, Unit: "bytes"}
}

// Done notes that a file has been read.
func (s *Sources) Done(in input.Source) {
	n, _ := in.Progress()
	s.before += n
}

// Talk returns where warnings go while the meter, if there is one, is shown; nil with --quiet.
func (a *App) Talk(m *Meter) io.Writer {
	switch {
	case a.Global.Quiet:
		return nil
	case m == nil:
		return a.Err
	}
	return m
}

// OpenInput opens an input and shows its notice.
func (a *App) OpenInput(m *Meter, s *Sources, name string, opt input.Options) (input.Source, error) {
	in, err := s.Open(name, opt)
	if err == nil {
		a.TellTaken(m, in, opt)
	}
	return in, err
}

// TellTaken says what an input was taken for, where its content decided that. Of many files that
// were taken for the same, only the first ones are named.
func (a *App) TellTaken(m *Meter, in input.Source, opt input.Options) {
	const named = 3
	info := in.Info()
	taken := info.TakenFor(opt)
	if taken == "" {
		return
	}
	if a.taken == nil {
		a.taken = map[string]int{}
	}
	a.taken[taken]++
	switch n := a.taken[taken]; {
	case n <= named:
		a.TalkTo(m, "%s: %s", info.Name, taken)
	case n == named+1:
		a.TalkTo(m, "%s and perhaps further files: %s", info.Name, taken)
	}
}

// TalkTo prints a message while the meter is shown.
func (a *App) TalkTo(m *Meter, format string, args ...any) {
	if w := a.Talk(m); w != nil {
		fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
	}
}

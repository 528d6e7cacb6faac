package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/input/files"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
)

// Sources are the inputs of a command. They add up their sizes, for progress.
type Sources struct {
	Names  []string    // of the inputs, as the user called them; with --files there is one, the list
	Tree   *files.Tree // of --files, else nil
	Total  int64       // bytes of all inputs, 0 if that is not known
	before int64       // of the inputs that have been read
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
		return FileSources(args)
	}
	tree, err := files.List(args, files.ListOptions{Exclude: f.Exclude, Hidden: f.Hidden, Check: a.Outputs.CheckInput})
	if err != nil {
		return Sources{}, err
	}
	return Sources{Names: []string{tree.Name()}, Tree: tree, Total: tree.Size()}, nil
}

// FileSources are inputs without --files. It checks that every file is there, before anything is
// done.
func FileSources(files []string) (Sources, error) {
	s := Sources{Names: files}
	known, stdin := true, 0
	for _, name := range files {
		if name == "-" {
			known = false
			if stdin++; stdin > 1 {
				return s, errors.New("standard input (-) can be read only once")
			}
			continue
		}
		st, err := os.Stat(name)
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			return s, fmt.Errorf("%s: %w", name, p.Err)
		}
		if err != nil {
			return s, err
		}
		if st.IsDir() {
			return s, fmt.Errorf("%s is a folder; --files reads the files in it, each as a document", name)
		}
		known = known && st.Mode().IsRegular()
		s.Total += st.Size()
	}
	if !known {
		s.Total = 0
	}
	return s, nil
}

// Open opens an input.
func (s *Sources) Open(name string, opt input.Options) (input.Source, error) {
	if s.Tree != nil {
		return s.Tree.Open(opt)
	}
	return input.Open(name, opt)
}

// TellSkipped says what --files has left out.
func (a *App) TellSkipped(s *Sources) {
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

// Talk returns where warnings go while the meter is shown; nil with --quiet.
func (a *App) Talk(m *progress.Meter) io.Writer {
	if a.Global.Quiet {
		return nil
	}
	return m
}

// OpenInput opens an input and shows its notice.
func (a *App) OpenInput(m *progress.Meter, s *Sources, name string, opt input.Options) (input.Source, error) {
	in, err := s.Open(name, opt)
	if err == nil {
		a.TellNotice(m, in)
	}
	return in, err
}

// TellNotice prints the notice of an input: what it was taken for, where that could surprise.
func (a *App) TellNotice(m *progress.Meter, in input.Source) {
	if info := in.Info(); info.Notice != "" {
		a.TalkTo(m, "%s: %s", info.Name, info.Notice)
	}
}

// TalkTo prints a message while the meter is shown.
func (a *App) TalkTo(m *progress.Meter, format string, args ...any) {
	if w := a.Talk(m); w != nil {
		fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
	}
}

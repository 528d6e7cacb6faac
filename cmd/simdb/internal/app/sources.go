package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
)

// Sources adds up the sizes of several input files, for progress.
type Sources struct {
	Total  int64 // bytes of all files, 0 if that is not known
	before int64 // of the files that have been read
}

// NewSources checks that every file exists before work begins.
func NewSources(files []string) (Sources, error) {
	var s Sources
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
			return s, fmt.Errorf("%s is a folder; name the files in it", name)
		}
		known = known && st.Mode().IsRegular()
		s.Total += st.Size()
	}
	if !known {
		s.Total = 0
	}
	return s, nil
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

// OpenInput opens an input file and shows its notice.
func (a *App) OpenInput(m *progress.Meter, name string, opt input.Options) (input.Source, error) {
	in, err := input.Open(name, opt)
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

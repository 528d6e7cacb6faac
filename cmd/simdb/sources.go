package main

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

// options returns how files are to be read.
func (f inputFlags) options(format input.Format) input.Options {
	return input.Options{
		Format: format, IDField: f.IDField, TextField: f.TextField, FingerprintField: f.FingerprintField, NoHeader: f.NoHeader,
		Fingerprints: f.Fingerprints, Delimiter: byte(f.Delimiter),
	}
}

// sources adds up the sizes of several input files, for progress.
type sources struct {
	total  int64 // bytes of all files, 0 if that is not known
	before int64 // of the files that have been read
}

// newSources checks that every file is there, before anything is done.
func newSources(files []string) (sources, error) {
	var s sources
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
		s.total += st.Size()
	}
	if !known {
		s.total = 0
	}
	return s, nil
}

// progress is how far the reading of all files has come.
func (s *sources) progress(stage string, in input.Source) engine.Progress {
	n, _ := in.Progress()
	return engine.Progress{Stage: stage, Done: s.before + n, Total: s.total, Unit: "bytes"}
}

// done notes that a file has been read.
func (s *sources) done(in input.Source) {
	n, _ := in.Progress()
	s.before += n
}

// talk returns where warnings go while the meter is shown; nil with --quiet.
func (a *app) talk(m *progress.Meter) io.Writer {
	if a.global.Quiet {
		return nil
	}
	return m
}

// openInput opens a file to be read, and says what it was taken for where that could surprise.
func (a *app) openInput(m *progress.Meter, name string, opt input.Options) (input.Source, error) {
	in, err := input.Open(name, opt)
	if err == nil {
		a.tellNotice(m, in)
	}
	return in, err
}

// tellNotice says what a file was taken for where that could surprise.
func (a *app) tellNotice(m *progress.Meter, in input.Source) {
	if info := in.Info(); info.Notice != "" {
		a.talkTo(m, "%s: %s", info.Name, info.Notice)
	}
}

// talkTo says something while the meter is shown.
func (a *app) talkTo(m *progress.Meter, format string, args ...any) {
	if w := a.talk(m); w != nil {
		fmt.Fprintln(w, oneLine(fmt.Sprintf(format, args...)))
	}
}

package dedup

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// prepare opens a single input. If there are several, it looks at the beginning of each and
// checks that an output can hold copies of their records: one output if the inputs have the same
// format, or a folder.
func (m *Match) prepare(ctx context.Context) (err error) {
	names := m.l.sources.Names
	toFolder := outfile.IsFolderName(m.o.Output)
	if len(names) == 1 && !toFolder {
		if m.l.first, err = m.l.sources.Open(0, m.o.Read); err == nil {
			err = m.l.check(m.l.first)
		}
		return err
	}
	if toFolder {
		if m.folder, err = m.l.env.NewOutFolder(m.o.Output, m.l.sources, false); err != nil {
			return err
		}
	}
	_, _, formats, err := inputs.ProbeAll(len(names), !toFolder && m.o.Open != nil, func(i int) (records.Info, error) { return m.probe(ctx, i) })
	if err != nil {
		return err
	}
	if toFolder {
		return m.folder.Claim(names, formats)
	}
	return nil
}

// probe reads the beginning of one of several inputs and describes it.
func (m *Match) probe(ctx context.Context, i int) (info records.Info, err error) {
	name := m.l.sources.Names[i]
	if st, err := place.Stat(ctx, name); name == "-" || err == nil && !st.Mode().IsRegular() {
		return info, fmt.Errorf("%s is not a regular file, as several inputs and %s require: match it by itself", name, option.Set("Output", "DIR/"))
	}
	return m.l.env.Probe(ctx, m.l.sources, i, m.l.reading, func(in records.Source) error {
		if err := m.l.check(in); err != nil {
			return err
		}
		_, err := in.Info().Format.NewCopier(io.Discard, records.CopyOptions{Like: in})
		return cmp.Or(context.Cause(ctx), err)
	})
}

// Run reads the inputs, and writes copies of the new documents.
func (m *Match) Run(ctx context.Context) (err error) {
	defer m.tellUnknown()
	switch {
	case m.o.Open == nil:
		return m.l.eachInput(func(in records.Source) error { return m.records(ctx, in) })
	case m.folder != nil:
		return m.toFolder(ctx)
	}
	var to MatchOutput
	err = m.l.eachInput(func(in records.Source) (err error) {
		names := m.l.sources.Names
		if last := names[len(names)-1]; in.Info().Empty && len(names) > 1 && in.Info().Name != records.ShownName(last) {
			return nil // the first input that is not empty determines the output's format
		}
		if m.out == nil {
			if to, err = m.o.Open(inputs.CopyOf(in.Info())); err != nil {
				return err
			}
			const together = 64 << 10 // bytes of lines in one write, if a lot has as many
			w := io.Writer(to)
			if outfile.IsStdout(cmp.Or(m.o.Output, "-")) {
				m.lines = bufio.NewWriterSize(to, together)
				w = m.lines
			}
			if m.out, err = in.Info().Format.NewCopier(w, records.CopyOptions{Follow: true, Like: in, Null: m.o.Null}); err != nil {
				return err
			}
		}
		return m.records(ctx, in)
	})
	if m.out == nil {
		return err
	}
	if m.KeepsPart(err) {
		m.Kept = to.Close(m.endLines()) == nil
		return err
	}
	if err == nil {
		err = m.endLines()
	}
	return to.Close(err)
}

// flush writes buffered lines.
func (m *Match) flush() error {
	if m.lines == nil {
		return nil
	}
	return m.lines.Flush()
}

// endLines completes the single output.
func (m *Match) endLines() error { return cmp.Or(m.out.Close(), m.flush()) }

// KeepsPart reports whether outputs are published even though a failure has truncated them: the
// next run treats stored documents as known, so no other output would ever contain their lines.
func (m *Match) KeepsPart(failure error) bool {
	return failure != nil && m.o.Add && m.Fresh > 0
}

// toFolder writes an output for each input. It publishes all outputs or none; after a failure
// with Add it publishes the outputs written so far.
func (m *Match) toFolder(ctx context.Context) (err error) {
	var written []*outfile.Writer
	defer func() {
		if err == nil {
			return
		}
		for _, w := range written {
			w.Abort()
		}
	}()
	var ended error // error of the last output
	err = m.l.eachInput(func(in records.Source) error {
		format, name := in.Info().Format, m.l.sources.Names[len(written)]
		w, err := m.l.env.Create(ctx, option.Name("Output"), m.folder.Place(name), m.folder.Kind(name, format))
		if err != nil {
			return err
		}
		if m.out, err = format.NewCopier(w, records.CopyOptions{Like: in, Null: m.o.Null}); err != nil {
			w.Abort()
			return err
		}
		written = append(written, w)
		if err = m.records(ctx, in); err == nil || m.KeepsPart(err) {
			ended = m.out.Close()
			err = cmp.Or(err, ended)
		}
		if err == nil {
			err = w.Finish()
		}
		return err
	})
	if m.KeepsPart(err) {
		m.Kept = ended == nil && outfile.Commit(written...) == nil
		return err
	}
	if err != nil {
		return err
	}
	return outfile.Commit(written...)
}

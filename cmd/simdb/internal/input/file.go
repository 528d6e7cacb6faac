package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/simdb/simdb/internal/fptext"
)

// parser makes a document of a record. It returns what is wrong with the record, or "". It is used by several
// goroutines at once.
type parser interface {
	parse(raw []byte, rec *Record) (reason string)
}

// File is an open input file. It is read once, by Records.
type File struct {
	name   string
	opt    Options
	format Format
	packed string // "gzip", "zstd" or ""
	size   int64  // on disk, -1 if that is not known
	read   atomic.Int64
	src    io.ReadCloser
	r      io.Reader // the content, decompressed
	done   func()    // frees the decompressor

	head     []byte // the beginning of r, put back in front of it
	headEnds bool   // nothing can be read behind it

	parse     parser // nil until the header has been read, where that names the columns
	hasHeader bool   // the first line that is not blank is none of the data
	header    []byte
	notice    string
	seen      evidence
}

// Open opens a file; "-" is standard input.
func Open(path string, opt Options) (*File, error) {
	if path == "-" {
		size := int64(-1)
		if st, err := os.Stdin.Stat(); err == nil && st.Mode().IsRegular() {
			size = st.Size()
		}
		return NewFile("stdin", os.Stdin, size, opt)
	}
	src, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if st, err := src.Stat(); err == nil {
		if st.IsDir() {
			src.Close()
			return nil, &ReadError{File: path, Line: -1, Err: errors.New("it is a folder")}
		}
		if st.Mode().IsRegular() {
			size = st.Size()
		}
	}
	return NewFile(path, src, size, opt)
}

// NewFile reads documents from src, which Close closes. The name is used in messages and to tell the format; size is
// that of src in bytes, -1 if it is not known.
func NewFile(name string, src io.ReadCloser, size int64, opt Options) (*File, error) {
	f := &File{name: name, opt: opt, size: size, src: src, done: func() {}}
	if err := f.begin(); err != nil {
		f.done()
		src.Close()
		if re, ok := errors.AsType[*ReadError](err); ok {
			return nil, re
		}
		return nil, &ReadError{File: name, Line: -1, Err: err}
	}
	return f, nil
}

// begin looks at the beginning of the file and prepares the parser, unless that needs a header.
func (f *File) begin() error {
	var err error
	if f.r, f.packed, f.done, err = decompress(counting{f.src, &f.read}); err != nil {
		return err
	}
	if err := f.readHead(sampleBytes); err != nil {
		return err
	}
	f.head = bytes.TrimPrefix(f.head, []byte("\xef\xbb\xbf"))
	if err := f.refuse(); err != nil {
		return err
	}
	if err := f.choose(); err != nil {
		return err
	}
	if err := f.settle(); err != nil {
		return err
	}
	f.notice = f.describe()
	return nil
}

// choose decides on the format and makes the parser, unless that needs a header.
func (f *File) choose() error {
	lines := sampleLines(f.head, f.headEnds)
	s := newSample(lines, f.opt.Fingerprints)
	if f.opt.Delimiter != 0 && f.opt.Format != Auto && f.opt.Format != CSV {
		return fmt.Errorf("a delimiter is for csv, not for %s", f.opt.Format)
	}
	if f.format = f.opt.Format; f.format == Auto {
		if f.format = formatOf(f.name, lines, s, f.opt); f.format == TXT && bytes.IndexByte(f.head, 0) >= 0 {
			return errors.New("it has zero bytes, so it is no text; --format txt reads it all the same")
		}
	}
	switch f.format {
	case JSONL:
		f.parse = newObject(f.opt)
		return refuseSpread(lines)
	case TXT:
		f.parse = text{}
		if f.opt.Format == Auto {
			f.notice = almostList(s)
		}
	case Fingerprints, Hashes:
		l, err := newList(s, f.opt)
		f.parse, f.hasHeader = l, err == nil && l.header
		return err
	case CSV, TSV:
		f.hasHeader = true
	}
	return nil
}

// describe says what the file was taken for, "" where that goes without saying.
func (f *File) describe() string {
	if l, ok := f.parse.(*list); ok {
		decimal := l.notation == fptext.Decimal || l.notation == fptext.Auto && f.seen.decimal.line > 0
		return l.describe(decimal)
	}
	return f.notice
}

// readHeader makes the parser of a format whose header names the columns, and says whether raw is data all the same.
func (f *File) readHeader(raw []byte) (isData bool, err error) {
	f.hasHeader = false
	if f.parse != nil { // a list, whose columns are known
		f.header = bytes.Clone(raw)
		return false, nil
	}
	sep := f.opt.separator(f.format)
	cut := func(fields []string, raw []byte) []string { return cutRow(fields, raw, sep) }
	if f.format == TSV {
		cut = cutTabs
	}
	t, err := newTable(raw, cut, f.opt)
	if err != nil {
		return false, hintSeparator(err, raw, sep, f.opt)
	}
	f.parse = t
	if !f.opt.NoHeader {
		f.header = bytes.Clone(raw)
	}
	return f.opt.NoHeader, nil
}

// Name returns the name of the file as messages have it.
func (f *File) Name() string { return f.name }

// Format returns the format that the file is read in.
func (f *File) Format() Format { return f.format }

// Header returns the header line of a file in columns, with its line end, once the first record has been read;
// nil for other files.
func (f *File) Header() []byte { return f.header }

// NumbersLines says whether the documents have no ids but the numbers of their lines, which those of another such file have too.
func (f *File) NumbersLines() bool {
	l, ok := f.parse.(*list)
	return ok && l.id < 0
}

// Notice says in a few words what the file was taken for, where that was told by its content and could surprise; it is "" for
// other files. Users should be shown it.
func (f *File) Notice() string { return f.notice }

// Progress returns how many bytes of the file have been read, and its size, -1 if that is not known. Both are before
// decompression. It may be called at any time.
func (f *File) Progress() (done, size int64) { return f.read.Load(), f.size }

// Close closes the file. It does not wait for a read that is under way.
func (f *File) Close() error { return f.src.Close() }

// Records yields the records of the file in order. An error that is an *Issue concerns one record, and reading goes
// on; any other error is the last thing that is yielded: a *ReadError, or the cause of the context's end. Lines with
// nothing but blanks are passed over.
func (f *File) Records(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		held := semaphore.NewWeighted(heldBytes)
		batches := f.pipeline(ctx, held)
		for {
			b, err := receive(ctx, batches)
			if err != nil {
				yield(nil, err)
			}
			if b == nil {
				return
			}
			for _, o := range b.out {
				if o.issue != nil {
					if !yield(nil, o.issue) {
						return
					}
					continue
				}
				if err := f.seen.add(o.rec); err != nil {
					yield(nil, &ReadError{File: f.name, Line: -1, Err: err})
					return
				}
				if !yield(o.rec, nil) {
					return
				}
			}
			if b.issue != nil && !yield(nil, b.issue) {
				return
			}
			if b.err != nil {
				yield(nil, b.err)
				return
			}
			b.free(held)
		}
	}
}

// receive returns the next batch, parsed, nil at the end. It does not wait for a read that is under way when ctx ends.
func receive(ctx context.Context, batches <-chan *batch) (*batch, error) {
	select {
	case b, ok := <-batches:
		if !ok {
			return nil, context.Cause(ctx)
		}
		select {
		case <-b.parsed:
			return b, nil
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

// pipeline starts the splitter and the parsers and returns the batches in order. They end with ctx.
func (f *File) pipeline(ctx context.Context, held *semaphore.Weighted) <-chan *batch {
	workers := f.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ordered := make(chan *batch, 2*workers)
	work := make(chan *batch, 2*workers)
	s := &splitter{f: f, cut: lines{}, held: held, live: f.live()}
	if f.format == CSV {
		s.cut = &rows{sep: f.opt.separator(CSV)}
	}
	s.send = func(b *batch) {
		for _, c := range []chan *batch{ordered, work} {
			select {
			case c <- b:
			case <-ctx.Done():
				return
			}
		}
	}
	go func() {
		defer close(ordered)
		defer close(work)
		defer f.done()
		s.run(ctx, io.MultiReader(bytes.NewReader(f.head), f.r))
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for b := range work {
				f.parseBatch(b)
				close(b.parsed)
			}
		})
	}
	return ordered
}

// parseBatch parses the records of a batch.
func (f *File) parseBatch(b *batch) {
	recs := make([]Record, len(b.spans))
	b.out = make([]outcome, 0, len(b.spans))
	for i, sp := range b.spans {
		raw := b.buf[sp.from:sp.to:sp.to]
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		rec := &recs[i]
		*rec = Record{File: f.name, Line: sp.line, EndLine: sp.line + sp.lines - 1, Raw: raw, BadUTF8: !utf8.Valid(raw)}
		reason := ""
		if len(raw) > MaxRecord {
			reason = tooLarge(int64(len(raw)))
		} else {
			reason = f.parse.parse(raw, rec)
		}
		if reason != "" {
			b.out = append(b.out, outcome{issue: &Issue{File: f.name, Line: sp.line, Reason: reason, Raw: raw, Size: int64(len(raw))}})
			continue
		}
		b.out = append(b.out, outcome{rec: rec})
	}
}

// outcome is a record or what is wrong with one.
type outcome struct {
	rec   *Record
	issue *Issue
}

// counting counts the bytes read from r.
type counting struct {
	r io.Reader
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// failing is a reader that has failed.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

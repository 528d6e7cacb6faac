//go:build simdb_library

package main

// The program as a shared library, for python/ and for C (docs/c.md):
//
//	CGO_ENABLED=1 go build -buildmode=c-shared -tags simdb_library -o libsimdb.so ./cmd/simdb
//
// simdb.h says what each function does; the compiler compares its declarations with those of the
// functions here.

/*
#include <stdlib.h>
#include <string.h>
#include "lib.h"
*/
import "C"

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/cgo"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/library"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/tempdir"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records/arrow"
)

// opened has the open databases of the process.
var opened library.Library

func init() {
	option.Use(&library.Keywords)
	linkedAs = fmt.Sprintf("shared library, C interface %d", C.SIMDB_C_API)
}

// call is a call that is running or has ended.
type call struct {
	cancel context.CancelFunc
	done   chan struct{}
	reply  *library.Reply
	err    error
}

// simdb_start begins a call. Its arguments are a library.Request as JSON, a table for each of
// names, and the words of fingerprints. simdb_start becomes the owner of the streams. The request
// and the numbers must remain valid until the call has ended. If now is set, the call has ended
// when simdb_start returns, which suits calls of a few microseconds. The handle is an output
// argument, because an exception of a signal handler would lose a return value.
//
//export simdb_start
func simdb_start(request *C.simdb_char, size C.int64_t, streams **C.struct_ArrowArrayStream, names **C.simdb_char, tables C.int64_t, numbers *C.uint64_t, count C.int64_t, now C.int, handle *C.uintptr_t) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{cancel: cancel, done: make(chan struct{})}
	*handle = C.uintptr_t(cgo.NewHandle(c))
	text := unsafe.Slice((*byte)(unsafe.Pointer(request)), size)
	var inputs []*held
	for i, s := range unsafe.Slice(streams, tables) {
		in := &held{name: C.GoString((*C.char)(unsafe.Slice(names, tables)[i]))}
		in.stream = *s // moved as the Arrow C interface prescribes
		s.release = nil
		inputs = append(inputs, in)
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(numbers)), count)
	work := func() {
		defer close(c.done)
		defer func() {
			for _, in := range inputs {
				in.release()
			}
		}()
		c.reply, c.err = perform(ctx, text, inputs, words)
	}
	if now != 0 {
		work()
	} else {
		go work()
	}
}

// perform executes a call.
func perform(ctx context.Context, text []byte, inputs []*held, numbers []uint64) (*library.Reply, error) {
	r := &library.Request{Tables: map[string]*arrow.Table{}, Numbers: numbers}
	if err := json.Unmarshal(text, r); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s cannot be a %s: %w", e.Field[strings.LastIndex(e.Field, ".")+1:], e.Value, engine.ErrInvalid)
		}
		return nil, err
	}
	r.Shapes = map[string]*arrow.Table{}
	if r.Spooled == nil {
		r.Spooled = map[string]string{}
	}
	dir, remove := "", func() {}
	defer func() { remove() }()
	for _, in := range inputs {
		var err error
		if !slices.Contains(r.Streams, in.name) {
			if r.Tables[in.name], err = in.table(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if dir == "" {
			if dir, remove, err = tempdir.New(r.TempDir()); err != nil {
				return nil, err
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", len(r.Spooled)))
		if r.Shapes[in.name], err = in.spool(ctx, r, path); err != nil {
			return nil, err
		}
		r.Spooled[in.name] = path
	}
	return opened.Run(ctx, r)
}

// held is a stream of Arrow arrays and the arrays read from it, in C memory.
type held struct {
	name   string
	stream C.struct_ArrowArrayStream
	schema *C.struct_ArrowSchema
	arrays []*C.struct_ArrowArray
}

// table reads the stream.
func (h *held) table(ctx context.Context) (t *arrow.Table, err error) {
	return t, h.each(ctx, func(with *arrow.Table, a *C.struct_ArrowArray) error {
		if t = with; a != nil {
			h.arrays = append(h.arrays, a)
			t.Add((*arrow.Array)(unsafe.Pointer(a)))
		}
		return nil
	})
}

// spool copies the stream to a file. It returns a table of its columns.
func (h *held) spool(ctx context.Context, r *library.Request, path string) (t *arrow.Table, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = h.each(ctx, func(with *arrow.Table, a *C.struct_ArrowArray) error {
		if t = with; a == nil {
			return nil
		}
		defer freeArray(a)
		defer t.Reset()
		t.Add((*arrow.Array)(unsafe.Pointer(a)))
		return r.Spool(w, t)
	})
	return t, cmp.Or(err, w.Flush(), f.Close())
}

// each calls f with a table of the stream's columns and nil, and then with each of its arrays, which f owns.
func (h *held) each(ctx context.Context, f func(t *arrow.Table, a *C.struct_ArrowArray) error) error {
	if h.stream.release == nil {
		return errors.New("the table cannot be read: its stream has already been read")
	}
	s := (*C.struct_ArrowArrayStream)(C.malloc(C.sizeof_struct_ArrowArrayStream))
	defer C.free(unsafe.Pointer(s))
	*s = h.stream
	defer func() { h.stream = *s }()
	fail := func(code C.int) error {
		if text := C.simdb_stream_error(s); text != nil {
			return fmt.Errorf("the table could not be read: %s", C.GoString(text))
		}
		return fmt.Errorf("the table could not be read: error %d", int(code))
	}
	h.schema = (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	if code := C.simdb_stream_schema(s, h.schema); code != 0 {
		return fail(code)
	}
	t, err := arrow.NewTable(h.name, (*arrow.Schema)(unsafe.Pointer(h.schema)))
	if err == nil {
		err = f(t, nil)
	}
	for err == nil && ctx.Err() == nil {
		a := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
		if code := C.simdb_stream_next(s, a); code != 0 || a.release == nil {
			C.free(unsafe.Pointer(a))
			if code != 0 {
				err = fail(code)
			}
			return err
		}
		err = f(t, a)
	}
	return cmp.Or(err, ctx.Err())
}

func freeArray(a *C.struct_ArrowArray) {
	C.simdb_array_release(a)
	C.free(unsafe.Pointer(a))
}

// release frees the arrays, the schema and the stream.
func (h *held) release() {
	for _, a := range h.arrays {
		freeArray(a)
	}
	if h.schema != nil {
		C.simdb_schema_release(h.schema)
		C.free(unsafe.Pointer(h.schema))
	}
	s := (*C.struct_ArrowArrayStream)(C.malloc(C.sizeof_struct_ArrowArrayStream))
	*s = h.stream
	C.simdb_stream_release(s)
	C.free(unsafe.Pointer(s))
}

// simdb_wait waits until a call has ended, but at most the given number of milliseconds. It returns
// 1 if the call has ended.
//
//export simdb_wait
func simdb_wait(h C.uintptr_t, milliseconds C.int64_t) C.int {
	c := cgo.Handle(h).Value().(*call)
	t := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer t.Stop()
	select {
	case <-c.done:
		return 1
	case <-t.C:
		return 0
	}
}

// simdb_cancel asks a call to end early. simdb_wait and simdb_result are still needed to end it.
//
//export simdb_cancel
func simdb_cancel(h C.uintptr_t) { cgo.Handle(h).Value().(*call).cancel() }

// simdb_result waits until a call has ended and returns its outcome: JSON, with the values of the
// reply or an "error"; a table, or NULL; and for dedup a table with the mask, or NULL. It frees the
// handle.
//
//export simdb_result
func simdb_result(h C.uintptr_t, text **C.char, table, mask **C.struct_simdb_table) {
	handle := cgo.Handle(h)
	c := handle.Value().(*call)
	<-c.done
	c.cancel()
	handle.Delete()
	var out struct {
		Error  *library.Failure `json:"error,omitempty"`
		Values any              `json:"values,omitempty"`
	}
	*table, *mask = nil, nil
	if c.err != nil {
		out.Error = new(library.FailureOf(c.err))
	} else {
		out.Values = c.reply.Values
		if c.reply.Columns != nil {
			*table = tableOf(c.reply.Columns)
		}
		if c.reply.Keep != nil {
			*mask = tableOf([]*library.Column{c.reply.Keep})
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		b = []byte(`{"error":{"kind":"","text":"the reply is not JSON"}}`)
	}
	*text = C.CString(string(b))
}

// simdb_free frees the text of a result.
//
//export simdb_free
func simdb_free(p *C.char) { C.free(unsafe.Pointer(p)) }

// simdb_main runs the program simdb with these arguments. It ends the process.
//
//export simdb_main
func simdb_main(count C.int, args **C.char) {
	option.Use(&app.Flags) // whatever the order of initialization
	var all []string
	for _, a := range unsafe.Slice(args, count) {
		all = append(all, C.GoString(a))
	}
	os.Exit(run(all))
}

// simdb_version returns the version, in memory that is never freed.
//
//export simdb_version
func simdb_version() *C.simdb_char { return versionText }

var versionText = (*C.simdb_char)(C.CString(version.String()))

// tableOf copies columns to C memory.
func tableOf(columns []*library.Column) *C.struct_simdb_table {
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0].Valid)
	}
	t := C.simdb_table_new(C.int64_t(rows), C.int64_t(len(columns)))
	to := unsafe.Slice(t.column, len(columns))
	for i, c := range columns {
		out := &to[i]
		out.name, out.format, out.nulls, out.buffers = C.CString(c.Name), C.CString(c.Format), C.int64_t(c.Nulls), 2
		if c.Nulls > 0 {
			set(out, 0, bitmap(c.Valid))
		}
		switch c.Format {
		case library.Bool:
			set(out, 1, bitmap(c.Bools))
		case library.Int, library.Time:
			set(out, 1, bytesOf(c.Ints))
		case library.Uint:
			set(out, 1, bytesOf(c.Uints))
		case library.Float:
			set(out, 1, bytesOf(c.Floats))
		case library.String:
			out.buffers = 3
			set(out, 1, bytesOf(append([]int64{0}, c.Ends...)))
			set(out, 2, c.Data)
		}
	}
	return t
}

// set sets a buffer to a copy of data. The buffer is not NULL even if data is empty.
func set(c *C.struct_simdb_column, i int, data []byte) {
	p := C.malloc(C.size_t(len(data) + 1))
	if len(data) > 0 {
		C.memcpy(p, unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)))
	}
	c.buffer[i], c.bytes[i] = p, C.int64_t(len(data))
}

// bytesOf returns the memory of numbers as bytes.
func bytesOf[T any](values []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(one)))
}

// bitmap returns a bit for each value.
func bitmap(values []bool) []byte {
	b := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

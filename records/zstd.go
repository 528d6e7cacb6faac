package records

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/option"
)

// A zstd frame declares how far back its content may refer (its window), up to 2 GiB, and a decoder
// allocates a buffer of that size even for a short frame. Most files written with --long=31 are
// shorter than their window, or refer only to recent content. Therefore, if a window is larger than
// leastWindow and than its share of the memory, the header is changed to a smaller one. The decoder
// fails if the smaller window does not suffice.

const (
	leastWindow = 128 << 20 // output of `zstd --ultra --long=27` is always read
	windowShare = 4         // a window may use 1/windowShare of the memory
)

// frames is a reader of zstd frames that puts smaller windows into their headers.
type frames struct {
	b       *bufio.Reader
	most    byte   // the largest window descriptor that is passed on
	begun   []byte // a changed header, to be passed on first
	left    int64  // bytes to pass on before the next header
	inFrame bool   // the next header belongs to a block
	sum     int64  // size of the frame's checksum in bytes
	asked   uint64 // the largest window that was reduced, or 0
}

// newFrames reads frames from b and limits their windows for a run with this much memory.
func newFrames(b *bufio.Reader, memory int64) *frames {
	f := &frames{b: b}
	for window(f.most) < leastWindow || window(f.most+8) <= uint64(memory/windowShare) {
		f.most += 8
	}
	return f
}

// window returns the size in bytes that a window descriptor encodes.
func window(descriptor byte) uint64 {
	base := uint64(1) << (10 + descriptor>>3)
	return base + base/8*uint64(descriptor&7)
}

// window returns the largest window that is passed on, in bytes.
func (f *frames) window() uint64 { return window(f.most) }

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	for len(f.begun) == 0 && f.left == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if len(f.begun) > 0 {
		n := copy(p, f.begun)
		f.begun = f.begun[n:]
		return n, nil
	}
	n, err := f.b.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

// next parses the next header. Unknown data is passed on, and the decoder reports it.
func (f *frames) next() error {
	head, err := f.b.Peek(6)
	if len(head) == 0 {
		return err
	}
	f.left = math.MaxInt64
	switch {
	case f.inFrame && len(head) >= 3:
		block := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		if f.left = 3 + block>>3; block>>1&3 == 1 { // a block of one repeated byte
			f.left = 3 + 1
		}
		if block&1 != 0 { // the last block
			f.left, f.inFrame = f.left+f.sum, false
		}
	case f.inFrame:
	case isSkippable(head):
		if head, _ := f.b.Peek(8); len(head) == 8 {
			f.left = 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		}
	case len(head) == 6 && packing(head) == "zstd":
		return f.header(head)
	}
	return nil
}

// header passes on the header of a frame:
//
//	magic 4 | descriptor 1 | window 0 or 1 | dictionary 0 to 4 | content size 0 to 8
//
// A single-segment frame has no window descriptor; its content size acts as the window.
func (f *frames) header(head []byte) error {
	d := head[4]
	f.inFrame, f.sum = true, int64(d>>2&1)*4
	single := d>>5&1 == 1
	dictionary := []int{0, 1, 2, 4}[d&3]
	content := []int{0, 2, 4, 8}[d>>6]
	f.left = int64(5 + dictionary + content)
	asked := window(head[5])
	if single {
		if f.left += int64(1 - min(content, 1)); content < 4 {
			return nil
		}
		all, err := f.b.Peek(5 + dictionary + content)
		if err != nil {
			return nil // the decoder reports it
		}
		asked = binary.LittleEndian.Uint64(append(all[5+dictionary:len(all):len(all)], 0, 0, 0, 0)[:8])
	} else {
		f.left++
	}
	if asked <= f.window() {
		return nil
	}
	f.asked = max(f.asked, asked)
	f.begun = append([]byte(nil), head[:4]...)
	f.begun = append(f.begun, d&^(1<<5), f.most)
	passed := 6
	if single {
		passed = 5
	}
	f.left -= int64(passed)
	_, err := f.b.Discard(passed)
	return err
}

// explaining returns a reader of z, which decodes the frames, that explains errors due to a reduced
// window.
func (f *frames) explaining(z io.Reader) io.Reader { return windowReader{f, z} }

type windowReader struct {
	*frames
	z io.Reader
}

// Read reads from the decoder. If a window was reduced, errors are attributed to that, except for
// those at the end of the file or between frames.
func (r windowReader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	for _, other := range []error{nil, io.EOF, io.ErrUnexpectedEOF, zstd.ErrMagicMismatch} {
		if r.asked == 0 || errors.Is(err, other) {
			return n, err
		}
	}
	return n, &windowError{r.asked, err}
}

// windowError reports a window that is too large.
type windowError struct {
	asked uint64
	err   error
}

// Error says how to read the file.
func (e *windowError) Error() string {
	const mib = 1 << 20
	return fmt.Sprintf("its zstd window of %d MiB needs %s of %d MiB, unless zstd decompresses it first (%v)",
		e.asked/mib, option.Name("Memory"), windowShare*(e.asked/mib), e.err)
}

// isSkippable reports whether a zstd file begins with a skippable frame, as the files of pzstd do.
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

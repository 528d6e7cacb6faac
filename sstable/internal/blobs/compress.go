package blobs

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// MaxRecord is the most bytes that a text and its fields have together.
const MaxRecord = 64 << 20

// Limits of a block of records before compression, in bytes.
const (
	DefaultBlockSize = 24 << 10
	MaxBlockSize     = 16 << 20

	maxRawBlock = MaxBlockSize + MaxRecord + 64<<10 // a full block, one more record, and lengths

	// maxZstdRatio is the most that a byte of a zstd frame can stand for: a block of 128 KiB takes
	// 4 bytes or more. It bounds what is allocated for a block by the size of the file.
	maxZstdRatio = 32 << 10
)

// decoder returns the one decoder of the process; DecodeAll may be called by any number of
// goroutines.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0), // as many as GOMAXPROCS, each on its caller's goroutine
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxRawBlock),
		zstd.WithDecoderMaxWindow(1<<27),
		zstd.WithDecodeAllCapLimit(true)) // never more than the length that the table records
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// Compression levels. Readers need not know which was used.
const (
	LevelDefault = iota // zstd's default
	LevelFastest
	LevelBetter
)

// ValidLevel reports whether there is such a level.
func ValidLevel(level int) bool { return level >= 0 && level < len(encoders) }

// encoders are the encoders of the process by level, made on first use. EncodeAll may be called by
// any number of goroutines; its output depends on nothing but level and input.
var encoders = [...]func() *zstd.Encoder{
	LevelDefault: sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedDefault) }),
	LevelFastest: sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedFastest) }),
	LevelBetter:  sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedBetterCompression) }),
}

func newEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

// compress appends raw to dst, as a zstd frame if that is shorter than raw, else as it is.
func compress(e *zstd.Encoder, dst, raw []byte) []byte {
	start := len(dst)
	dst = e.EncodeAll(raw, dst)
	if len(dst)-start >= len(raw) {
		dst = append(dst[:start], raw...)
	}
	return dst
}

// decompress decodes what compress made of size bytes into dst, which is replaced if it is too
// short. stored must not be trusted, size must have been checked by checkRawSize.
func decompress(dst, stored []byte, size int) ([]byte, error) {
	if cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	if len(stored) == size {
		return append(dst[:0], stored...), nil
	}
	dst, err := decoder().DecodeAll(stored, dst[:0:size])
	if err != nil {
		return nil, err
	}
	if len(dst) != size {
		return nil, fmt.Errorf("a block of %d bytes, not %d", len(dst), size)
	}
	return dst, nil
}

// checkRawSize reports whether stored bytes can hold a block of size bytes.
func checkRawSize(stored, size int64) error {
	if size > maxRawBlock || stored > size || (size+maxZstdRatio-1)/maxZstdRatio > stored {
		return fmt.Errorf("a block of %d bytes can't be stored in %d", size, stored)
	}
	return nil
}

package blobs

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// MaxRecord is the maximum size of a text and its fields together, in bytes.
const MaxRecord = 64 << 20

// Limits of a block of records before compression, in bytes.
const (
	blockSize    = 24 << 10
	MaxBlockSize = 16 << 20

	// A block ends after smallRecords records of smallBlockSize bytes: then 60 bytes are read in
	// two fifths of the time, for 1 to 5 % more bytes of records (BenchmarkBlockSize).
	smallBlockSize = 8 << 10
	smallRecords   = 128

	maxRawBlock = MaxBlockSize + MaxRecord + 64<<10 // a full block, one more record, and lengths

	// maxZstdRatio is the highest possible ratio of decoded bytes to bytes of a zstd frame: a block
	// of 128 KiB needs at least 4 bytes. It bounds the memory allocated for a block by the size of
	// the file.
	maxZstdRatio = 32 << 10
)

// decoder returns the decoder of the process. Any number of goroutines may call DecodeAll.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0), // GOMAXPROCS decoders, each used on its caller's goroutine
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxRawBlock),
		zstd.WithDecoderMaxWindow(1<<27),
		zstd.WithDecodeAllCapLimit(true)) // never more than the length recorded in the table
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// Compression levels. Readers need not know which one was used.
const (
	LevelDefault = iota // zstd's default
	LevelFastest
	LevelBetter
)

// ValidLevel reports whether level exists.
func ValidLevel(level int) bool { return level >= 0 && level < len(encoders) }

// encoders are the encoders of the process by level, created on first use. Any number of goroutines
// may call EncodeAll; its output depends only on level and input.
var encoders = [...]func() *zstd.Encoder{
	LevelDefault: sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedDefault) }),
	LevelFastest: sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedFastest) }),
	LevelBetter:  sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedBetterCompression) }),
}

func newEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
}

// compress appends raw to dst, as a zstd frame if that is shorter, otherwise unchanged.
func compress(e *zstd.Encoder, dst, raw []byte) []byte {
	start := len(dst)
	dst = e.EncodeAll(raw, dst)
	if len(dst)-start >= len(raw) {
		dst = append(dst[:start], raw...)
	}
	return dst
}

// decompress decodes a block of size bytes that compress made. It uses the memory of dst if that is
// large enough. stored is not trusted; size must have passed checkRawSize.
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

// checkRawSize returns an error if a block of size bytes cannot be stored in the given number of
// bytes.
func checkRawSize(stored, size int64) error {
	if size > maxRawBlock || stored > size || (size+maxZstdRatio-1)/maxZstdRatio > stored {
		return fmt.Errorf("a block of %d bytes can't be stored in %d", size, stored)
	}
	return nil
}

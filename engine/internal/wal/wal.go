// Package wal is the write-ahead log: a file of frames, each an opaque payload, that are on disk
// before a write is acknowledged. The payloads are batches of writes (batch.go).
//
// A Writer collects frames in memory. Whoever needs them durable calls Sync; one of the callers,
// the leader, writes everything collected so far and fsyncs once for all who wait (group commit).
// Replay reads a log back after a crash.
//
// # What a damaged frame means
//
// A power cut leaves of the unsynced end of a log any of its sectors, so the end of the log that
// was being written may be torn. Damage anywhere else is corruption and must not be taken for a
// torn end: that would silently drop acknowledged writes. Replay tells them apart by what follows
// the damage:
//
//   - Every frame records how far the log was known to be durable when the frame was appended.
//     Damage before a position that some intact frame vouches for is corruption.
//   - If intact frames follow, none of which vouches for the damaged place, it is a torn end only
//     if it shows a sector that was not written: one that is zero from the damaged frame's start
//     on. Logs grow by appending alone, so that is what a lost sector holds; anything else was
//     changed after it had been written.
//   - If no intact frame follows, it is a torn end.
//   - A log that was closed, or cut by Cut, ends with an end frame; every log but the last one
//     must. So a shortened log is noticed.
//
// What cannot be noticed is damage to the frames that were synced last before a crash, with nothing
// intact after them.
package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// Version is the version of the format that this package writes. Version 1 is the first.
const Version = 1

// A format is what a version of the format has of its own: its frames. The file header is the same
// in all versions, since it says which version the file is in.
type format struct {
	// appendFrame appends the frame that will stand at position pos to buf.
	appendFrame func(buf []byte, seed uint32, pos, synced int64, typ byte, payload []byte) []byte
	// decodeHead decodes the header of the frame at position pos in a file of the given size. ok
	// says that its values are possible; only the checksum tells whether they are true.
	decodeHead func(buf []byte, pos, size int64) (h frameHead, ok bool)
}

// formats are the versions that this package reads. Cut continues in the version of the log.
var formats = map[uint32]format{
	1: {appendFrame, decodeHead},
}

// unknownVersion returns the error for a log in a version that is not one of formats.
func unknownVersion(v uint32) error {
	return fmt.Errorf("%w %d; this program reads %s", ErrVersion, v, strings.Join(
		slices.Collect(func(yield func(string) bool) {
			for _, known := range slices.Sorted(maps.Keys(formats)) {
				if !yield(fmt.Sprint(known)) {
					return
				}
			}
		}), ", "))
}

// MaxPayload is the greatest length of a payload, in bytes.
const MaxPayload = 1 << 30

// Section is the Section of this package's corruption errors.
const Section = "wal"

var (
	// ErrClosed is returned by every use of a Writer after Close.
	ErrClosed = errors.New("log is closed")
	// ErrTooLarge is returned for a payload longer than MaxPayload. The Writer continues.
	ErrTooLarge = errors.New("payload too large for the log")
	// ErrVersion is returned for a log in a version that this package does not know.
	ErrVersion = errors.New("unknown log format version")
)

// Header says which log a file is.
type Header struct {
	Database [16]byte // UUID of the database
	Number   uint64   // of the log in the database
}

// The file header. It is durable before the first frame is written.
//
//	offset  size
//	     0     8  magic "simdbWAL"
//	     8     4  version, 1
//	    12     4  zero
//	    16    16  database UUID
//	    32     8  log number
//	    40     4  zero
//	    44     4  CRC32C of bytes 0..43
//	    48        frames
const (
	HeaderSize = 48 // bytes of it
	magic      = "simdbWAL"
)

// A frame. Frames start on multiples of 8. The checksum starts from the file header's CRC32C
// instead of from zero and takes in the frame's position, so that a frame of another log, or of
// another place in this one, is refused.
//
//	offset  size
//	     0     4  CRC32C, from the header's on, of the frame's position in the file (8 bytes) and
//	              of bytes 4..16+n+p-1
//	     4     4  n, the payload's length
//	     8     7  synced: the log was known durable up to this position when the frame was added
//	    15     1  type: 1 payload, 2 end of the log (n = 0)
//	    16     n  payload
//	  16+n     p  zeros up to a multiple of 8
const (
	frameHeader = 16
	frameAlign  = 8

	typeData = 1
	typeEnd  = 2

	maxPosition = 1<<56 - 1 // what fits into synced
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeHeader returns the file header of a log in this version, and the checksum in it, from which
// those of the frames start.
func encodeHeader(h Header) (buf []byte, seed uint32) { return encodeHeaderOf(Version, h) }

// encodeHeaderOf is encodeHeader for any version.
func encodeHeaderOf(version uint32, h Header) (buf []byte, seed uint32) {
	buf = make([]byte, HeaderSize)
	copy(buf, magic)
	binary.LittleEndian.PutUint32(buf[8:], version)
	copy(buf[16:], h.Database[:])
	binary.LittleEndian.PutUint64(buf[32:], h.Number)
	seed = crc32.Checksum(buf[:44], castagnoli)
	binary.LittleEndian.PutUint32(buf[44:], seed)
	return buf, seed
}

// decodeHeader is the inverse of encodeHeaderOf. A version that is not one of formats is
// ErrVersion.
func decodeHeader(buf []byte) (version uint32, h Header, seed uint32, err error) {
	if string(buf[:8]) != magic {
		return 0, Header{}, 0, errors.New("not a log: bad magic")
	}
	seed = binary.LittleEndian.Uint32(buf[44:])
	if crc32.Checksum(buf[:44], castagnoli) != seed {
		return 0, Header{}, 0, errors.New("header checksum differs")
	}
	version = binary.LittleEndian.Uint32(buf[8:])
	if _, ok := formats[version]; !ok {
		return 0, Header{}, 0, unknownVersion(version)
	}
	copy(h.Database[:], buf[16:])
	h.Number = binary.LittleEndian.Uint64(buf[32:])
	return version, h, seed, nil
}

// frameSize returns the size of a frame with n bytes of payload.
func frameSize(n int64) int64 { return (frameHeader + n + frameAlign - 1) &^ (frameAlign - 1) }

// appendFrame appends a frame of version 1.
func appendFrame(buf []byte, seed uint32, pos, synced int64, typ byte, payload []byte) []byte {
	start := len(buf)
	buf = append(buf, 0, 0, 0, 0)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(payload)))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(synced)|uint64(typ)<<56)
	buf = append(buf, payload...)
	for (len(buf)-start)%frameAlign != 0 {
		buf = append(buf, 0)
	}
	binary.LittleEndian.PutUint32(buf[start:], frameCRC(seed, pos, buf[start:]))
	return buf
}

// frameCRC returns the checksum that belongs into the frame at position pos.
func frameCRC(seed uint32, pos int64, frame []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(pos))
	return crc32.Update(crc32.Update(seed, castagnoli, at[:]), castagnoli, frame[4:])
}

type frameHead struct {
	payload int64 // length
	synced  int64
	typ     byte
}

// decodeHead decodes the header of a frame of version 1.
func decodeHead(buf []byte, pos, size int64) (h frameHead, ok bool) {
	word := binary.LittleEndian.Uint64(buf[8:])
	h = frameHead{
		payload: int64(binary.LittleEndian.Uint32(buf[4:])),
		synced:  int64(word & maxPosition),
		typ:     byte(word >> 56),
	}
	switch {
	case h.typ != typeData && h.typ != typeEnd,
		h.typ == typeEnd && h.payload != 0,
		h.payload > MaxPayload,
		frameSize(h.payload) > size-pos,
		h.synced > pos:
		return h, false
	}
	return h, true
}

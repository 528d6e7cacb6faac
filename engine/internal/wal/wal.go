// Package wal is the write-ahead log: a file of frames with opaque payloads. A frame must be on
// disk before its write is acknowledged. The payloads are batches of writes (batch.go).
//
// A Writer collects frames in memory. A caller that needs them durable calls Sync; one of the
// callers, the leader, writes everything collected so far and calls fsync once for all waiting
// callers (group commit). Replay reads a log back after a crash.
//
// # How damage is interpreted
//
// After a power cut, any subset of the sectors of the unsynced end of a log may be missing, so the
// end of the log that was being written may be torn. Damage anywhere else is corruption. It must
// not be mistaken for a torn end, because that would silently drop acknowledged writes. Replay
// distinguishes the two by the frames after the damage:
//
//   - Every frame records how far the log was known to be durable when the frame was appended.
//     Damage before a position that some intact frame records as durable is corruption.
//   - If intact frames follow that do not record the damaged place as durable, it is a torn end
//     only if it includes a sector that was not written: one that is zero from the damaged frame's
//     start on. Logs only grow, so a lost sector is zero; other contents were changed after they
//     had been written.
//   - If no intact frame follows, it is a torn end.
//   - A log that was closed, or cut by Cut, ends with an end frame; every log except the last with
//     frames must have one (New). A shortened log is therefore detected.
//
// Damage to the frames that were synced last before a crash cannot be detected if no intact frame
// follows.
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

// A format holds the functions that differ between versions of the format: those for frames. The
// file header is the same in all versions, since it contains the version.
type format struct {
	// appendFrame appends a frame to buf; pos is the position of the frame in the file.
	appendFrame func(buf []byte, seed uint32, pos, synced int64, typ byte, payload []byte) []byte
	// decodeHead decodes the header of the frame at position pos in a file of the given size. ok
	// reports whether its values are possible; only the checksum tells whether they are right.
	decodeHead func(buf []byte, pos, size int64) (h frameHead, ok bool)
}

// formats lists the versions that this package reads. Cut continues in the version of the log.
var formats = map[uint32]format{
	1: {appendFrame, decodeHead},
}

// unknownVersion returns the error for a log whose version is not in formats.
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

// Section is the Section in this package's corruption errors.
const Section = "wal"

var (
	// ErrClosed is returned by every use of a Writer after Close.
	ErrClosed = errors.New("log is closed")
	// ErrTooLarge is returned for a payload longer than MaxPayload. The Writer continues.
	ErrTooLarge = errors.New("payload too large for the log")
	// ErrVersion is returned for a log in a version that this package does not know.
	ErrVersion = errors.New("unknown log format version")
)

// Header identifies a log.
type Header struct {
	Database [16]byte // UUID of the database
	Number   uint64   // number of the log in the database
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
	HeaderSize = 48 // size of the header in bytes
	magic      = "simdbWAL"
)

// A frame. Frames start at multiples of 8. The checksum starts with the file header's CRC32C
// instead of zero and includes the frame's position, so that a frame of another log, or from
// another place in this log, is refused.
//
//	offset  size
//	     0     4  CRC32C, starting with the file header's, of the frame's position in the file
//	              (8 bytes) and of bytes 4..16+n+p-1
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

	maxPosition = 1<<56 - 1 // greatest value of synced
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeHeader returns the file header of a log in this version, and its checksum, with which the
// checksums of the frames start.
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

// decodeHeader is the inverse of encodeHeaderOf. It returns ErrVersion if the version is not in
// formats.
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

// frameCRC returns the checksum of the frame at position pos.
func frameCRC(seed uint32, pos int64, frame []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(pos))
	return crc32.Update(crc32.Update(seed, castagnoli, at[:]), castagnoli, frame[4:])
}

type frameHead struct {
	payload int64 // length of the payload
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

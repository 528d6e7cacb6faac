package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
)

// All records are in one bucket, "simdb". Every value starts with the CRC32C of the key's length (4
// bytes), the key and the rest of the value, so that a damaged value, or a value under the wrong
// key, is refused.
//
//	key                               value, after its checksum
//	"state"                           the fixed fields, below
//	"params"                          the parameters
//	"options/" name                   the option's value
//	"tables/" number                  a table, below
//	"tombstones/" number chunk        a Roaring bitmap in the portable format, never empty: the
//	                                  deleted documents of the table among 65,536 chunk to
//	                                  65,536 chunk + 65,535
//	"tombstones/" number delta        the same, with any deleted documents of the table: further
//	                                  ones, which were deleted after the chunks were written
//	"marks/" name                     a position, 8 bytes
//	"closed"                          where the newest log ended at the last clean close: the
//	                                  log's number, 8 bytes; its size, 8 bytes. Absent if there
//	                                  was no log to close
//	"seq"                             an upper bound of the sequence numbers of all writes when
//	                                  this was written, 8 bytes. Absent before the first change
//	"removed/" number                 removed documents, below; the number is the greatest among
//	                                  theirs. Without payload: documents removed up to the
//	                                  number are not known
//	"allowed/" hash                   an allowed pair of documents, below; the hash is its
//	                                  SHA-256, 32 bytes
//	"digest"                          the number of other records, 8 bytes; the sum of their
//	                                  hashes, modulo 2^64, 8 bytes; bbolt's number of the
//	                                  transaction that wrote it, 8 bytes
//
// Numbers in keys are big-endian, so that they sort: the number of a table or of a write has 8 bytes,
// that of a chunk 2, that of a delta 4. In values numbers are little-endian. The hash of a record is the
// 64-bit XXH3 of the value, including its checksum, seeded with the XXH3 of the key.
const (
	bucketName = "simdb"

	keyState        = "state"
	keyParams       = "params"
	keyClosed       = "closed"
	keyDigest       = "digest"
	keySeq          = "seq"
	prefixOption    = "options/"
	prefixTable     = "tables/"
	prefixTombstone = "tombstones/"
	prefixMark      = "marks/"
	prefixAllowed   = "allowed/"
	prefixRemoved   = "removed/"

	crcSize = 4
)

const (
	maxName  = 4 << 10 // longest name of an option or a mark
	maxValue = 1 << 20 // longest value of an option, and longest params
	maxID    = 65535   // longest ID of a document
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a key and its value, including the checksum. An empty value removes the key.
type record struct{ key, value []byte }

func newRecord(key string, payload []byte) record {
	value := make([]byte, crcSize, crcSize+len(payload))
	value = append(value, payload...)
	binary.LittleEndian.PutUint32(value, recordCRC([]byte(key), payload))
	return record{[]byte(key), value}
}

func recordCRC(key, payload []byte) uint32 {
	var size [4]byte
	binary.LittleEndian.PutUint32(size[:], uint32(len(key)))
	crc := crc32.Update(0, castagnoli, size[:])
	crc = crc32.Update(crc, castagnoli, key)
	return crc32.Update(crc, castagnoli, payload)
}

// payload checks the checksum and returns the rest of the value.
func (r record) payload() ([]byte, error) {
	if len(r.value) < crcSize {
		return nil, fmt.Errorf("value of %d bytes", len(r.value))
	}
	if recordCRC(r.key, r.value[crcSize:]) != binary.LittleEndian.Uint32(r.value) {
		return nil, errors.New("checksum differs")
	}
	return r.value[crcSize:], nil
}

// digest is a checksum of a set of records: the hash of a record is added when the record is added
// and subtracted when it is removed. Every transaction writes the digest again with its own number,
// which binds the records to the root page: the tree of an earlier transaction is often still in
// the file, and a damaged root could lead to it.
type digest struct{ count, sum uint64 }

func (d *digest) add(key, value []byte) {
	d.count++
	d.sum += recordHash(key, value)
}

func (d *digest) remove(key, value []byte) {
	d.count--
	d.sum -= recordHash(key, value)
}

func recordHash(key, value []byte) uint64 { return xxh3.HashSeed(value, xxh3.Hash(key)) }

func (d digest) record(txid uint64) record {
	buf := binary.LittleEndian.AppendUint64(nil, d.count)
	buf = binary.LittleEndian.AppendUint64(buf, d.sum)
	return newRecord(keyDigest, binary.LittleEndian.AppendUint64(buf, txid))
}

// fixed holds the fields of the state that share one record.
//
//	offset  size
//	     0     4  format version
//	     4     4  zero
//	     8    16  UUID
//	    24     8  time of creation, unix microseconds
//	    32     8  next file number
//	    40     8  flushed sequence number
//	    48     8  first log
type fixed struct {
	version    uint32
	uuid       [16]byte
	created    int64
	nextFile   uint64
	flushedSeq uint64
	firstWAL   uint64
}

const fixedSize = 56

func fixedOf(s State) fixed {
	return fixed{
		version: s.FormatVersion, uuid: s.UUID, created: s.Created.UnixMicro(),
		nextFile: s.NextFile, flushedSeq: s.FlushedSeq, firstWAL: s.FirstWAL,
	}
}

func (f fixed) encode() []byte {
	buf := make([]byte, fixedSize)
	binary.LittleEndian.PutUint32(buf, f.version)
	copy(buf[8:], f.uuid[:])
	for i, v := range []uint64{uint64(f.created), f.nextFile, f.flushedSeq, f.firstWAL} {
		binary.LittleEndian.PutUint64(buf[24+8*i:], v)
	}
	return buf
}

// decodeVersion returns the version at the start of the record of the fixed fields.
func decodeVersion(buf []byte) (uint32, error) {
	if len(buf) < 4 {
		return 0, fmt.Errorf("%d bytes", len(buf))
	}
	return binary.LittleEndian.Uint32(buf), nil
}

// decodeFixed sets the fields of s except the version, for version 1.
func decodeFixed(buf []byte, s *State) error {
	if len(buf) != fixedSize {
		return fmt.Errorf("%d bytes instead of %d", len(buf), fixedSize)
	}
	copy(s.UUID[:], buf[8:])
	s.Created = time.UnixMicro(int64(binary.LittleEndian.Uint64(buf[24:]))).UTC()
	s.NextFile = binary.LittleEndian.Uint64(buf[32:])
	s.FlushedSeq = binary.LittleEndian.Uint64(buf[40:])
	s.FirstWAL = binary.LittleEndian.Uint64(buf[48:])
	return nil
}

func decodeUint64(buf []byte) (uint64, error) {
	if len(buf) != 8 {
		return 0, fmt.Errorf("%d bytes instead of 8", len(buf))
	}
	return binary.LittleEndian.Uint64(buf), nil
}

func (e LogEnd) encode() []byte {
	buf := binary.LittleEndian.AppendUint64(nil, e.Number)
	return binary.LittleEndian.AppendUint64(buf, uint64(e.Size))
}

func decodeLogEnd(buf []byte) (LogEnd, error) {
	if len(buf) != 16 {
		return LogEnd{}, fmt.Errorf("%d bytes instead of 16", len(buf))
	}
	return LogEnd{Number: binary.LittleEndian.Uint64(buf), Size: int64(binary.LittleEndian.Uint64(buf[8:]))}, nil
}

// The value of a table:
//
//	offset  size
//	     0     8  file size
//	     8     4  documents
//	    12     4  fingerprints
//	    16     8  least time, unix microseconds
//	    24     8  greatest time
//	    32     8  least sequence number
//	    40     8  greatest sequence number
//	    48     4  digest of the footer
//	    52     4  unused: zero, and ignored
const tableSize = 56

func encodeTable(t Table) []byte {
	buf := make([]byte, tableSize)
	binary.LittleEndian.PutUint64(buf, uint64(t.Size))
	binary.LittleEndian.PutUint32(buf[8:], t.Docs)
	binary.LittleEndian.PutUint32(buf[12:], t.Fingerprints)
	for i, v := range []uint64{uint64(t.MinTime), uint64(t.MaxTime), t.MinSeq, t.MaxSeq} {
		binary.LittleEndian.PutUint64(buf[16+8*i:], v)
	}
	binary.LittleEndian.PutUint32(buf[48:], t.Digest)
	return buf
}

func decodeTable(number uint64, buf []byte) (Table, error) {
	if len(buf) != tableSize {
		return Table{}, fmt.Errorf("%d bytes instead of %d", len(buf), tableSize)
	}
	t := Table{
		Number:       number,
		Size:         int64(binary.LittleEndian.Uint64(buf)),
		Docs:         binary.LittleEndian.Uint32(buf[8:]),
		Fingerprints: binary.LittleEndian.Uint32(buf[12:]),
		MinTime:      int64(binary.LittleEndian.Uint64(buf[16:])),
		MaxTime:      int64(binary.LittleEndian.Uint64(buf[24:])),
		MinSeq:       binary.LittleEndian.Uint64(buf[32:]),
		MaxSeq:       binary.LittleEndian.Uint64(buf[40:]),
		Digest:       binary.LittleEndian.Uint32(buf[48:]),
	}
	return t, t.check()
}

// check returns an error if a table contradicts itself.
func (t Table) check() error {
	switch {
	case t.Size < 0:
		return fmt.Errorf("table %d: size %d", t.Number, t.Size)
	case t.Fingerprints > t.Docs:
		return fmt.Errorf("table %d: %d fingerprints in %d documents", t.Number, t.Fingerprints, t.Docs)
	}
	return nil
}

// The value of an allowed pair of documents:
//
//	offset  size
//	     0     4  n, the length of A
//	     4     n  A
//	  4+n        B, which is greater than A
func encodePair(p IDPair) []byte {
	buf := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(p.A)+len(p.B)), uint32(len(p.A)))
	return append(append(buf, p.A...), p.B...)
}

func decodePair(buf []byte) (p IDPair, err error) {
	if len(buf) < 4 || uint64(binary.LittleEndian.Uint32(buf)) > uint64(len(buf)-4) {
		return p, fmt.Errorf("%d bytes", len(buf))
	}
	n := binary.LittleEndian.Uint32(buf)
	p = IDPair{string(buf[4 : 4+n]), string(buf[4+n:])}
	return p, p.check()
}

// check returns an error if a pair is not in order, or has an invalid ID.
func (p IDPair) check() error {
	if p.A == "" || p.A >= p.B || len(p.A) > maxID || len(p.B) > maxID {
		return fmt.Errorf("a pair of %.40q and %.40q", p.A, p.B)
	}
	return nil
}

// comparePairs orders pairs by A, then by B.
func comparePairs(a, b IDPair) int {
	return cmp.Or(strings.Compare(a.A, b.A), strings.Compare(a.B, b.B))
}

// allowedKey returns the key of a pair. It has a fixed length because IDs may exceed the longest
// key of bbolt.
func allowedKey(p IDPair) string {
	sum := sha256.Sum256(encodePair(p))
	return prefixAllowed + string(sum[:])
}

func tableKey(number uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte(prefixTable), number))
}

func tombstonePrefix(table uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(prefixTombstone), table)
}

func tombstoneKey(table uint64, chunk uint16) string {
	return string(binary.BigEndian.AppendUint16(tombstonePrefix(table), chunk))
}

func deltaKey(table uint64, delta uint32) string {
	return string(binary.BigEndian.AppendUint32(tombstonePrefix(table), delta))
}

func removedKey(seq uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte(prefixRemoved), seq))
}

// section returns the name of a record in errors: "tables/12", "tombstones/12/0", and
// "tombstones/12/+0" for a delta.
func section(key []byte) string {
	for _, prefix := range []string{prefixTable, prefixRemoved} {
		if rest, ok := bytes.CutPrefix(key, []byte(prefix)); ok && len(rest) == 8 {
			return fmt.Sprintf("%s%d", prefix, binary.BigEndian.Uint64(rest))
		}
	}
	if rest, ok := bytes.CutPrefix(key, []byte(prefixTombstone)); ok && len(rest) == 10 {
		return fmt.Sprintf("%s%d/%d", prefixTombstone, binary.BigEndian.Uint64(rest), binary.BigEndian.Uint16(rest[8:]))
	}
	if rest, ok := bytes.CutPrefix(key, []byte(prefixTombstone)); ok && len(rest) == 12 {
		return fmt.Sprintf("%s%d/+%d", prefixTombstone, binary.BigEndian.Uint64(rest), binary.BigEndian.Uint32(rest[8:]))
	}
	return strings.Trim(strconv.Quote(string(key[:min(len(key), 80)])), `"`)
}

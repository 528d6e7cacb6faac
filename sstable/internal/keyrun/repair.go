package keyrun

import (
	"encoding/binary"

	"github.com/simdb/simdb/sstable/internal/crc"
)

// Repair returns a directory with a damaged byte corrected, in its trailer and in the rest, by the
// checksums of both. What can't be corrected is left as it is, for Open to refuse.
func Repair(dir []byte) []byte {
	at := len(dir) - frameTrailerSize
	if at < 0 {
		return dir
	}
	le := binary.LittleEndian
	fixed := append([]byte{}, dir...)
	t := fixed[at:]
	if good, ok := crc.Correct(t[:60], le.Uint32(t[60:])); ok {
		copy(t, good)
		le.PutUint32(t[60:], crc.Sum(t[:60]))
	}
	want := le.Uint32(t[48:])
	if good, ok := crc.Correct(fixed[:at], want); ok && crc.Sum(good) == want {
		copy(fixed, good)
	}
	return fixed
}

// CountOf returns how many values and bytes the section of a directory has; ok is false if that is
// damaged.
func CountOf(dir []byte) (count uint64, size int64, ok bool) {
	at := len(dir) - frameTrailerSize
	if at < 0 {
		return 0, 0, false
	}
	le := binary.LittleEndian
	t := dir[at:]
	return le.Uint64(t[8:]), int64(le.Uint64(t[16:])), crc.Sum(t[:60]) == le.Uint32(t[60:])
}

// DirSize returns the size of the directory of a section with a number of values.
func DirSize(count uint64) int64 {
	return int64((count+BlockLen-1)/BlockLen)*dirEntry + frameTrailerSize
}

// IsDir reports whether dir, of DirSize bytes, is the directory of a section with that many values
// and bytes.
func IsDir(dir []byte, count uint64, size int64) bool {
	n, bytes, ok := CountOf(dir)
	return ok && n == count && bytes == size
}

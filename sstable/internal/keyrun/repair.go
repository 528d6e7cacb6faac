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

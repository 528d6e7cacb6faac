// Package blobtest helps tests to damage the blocks of package blobs.
package blobtest

import (
	"encoding/binary"

	"github.com/simdb/simdb/sstable/internal/crc"
)

// Reseal corrects the checksums of a directory with entries of size bytes, where they or their
// blocks, which are in the area, have been changed. Entries of blocks beyond the area stay.
func Reseal(dir []byte, size int, area []byte) {
	le := binary.LittleEndian
	for ; len(dir) >= size; dir = dir[size:] {
		off, length := le.Uint64(dir)&(1<<48-1), uint64(le.Uint32(dir[8:]))
		if off <= uint64(len(area)) && length <= uint64(len(area))-off {
			le.PutUint32(dir[size-4:], crc.Update(crc.Sum(area[off:][:length]), dir[:size-4]))
		}
	}
}

package sketchidx

import (
	"encoding/binary"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
)

// Every table stores a list of its hot hashes (see package hot), which defines its order of hashes.
// Any list gives right answers, because the prefix argument (see postings) only requires that the
// sketches of a table, and the queries, use the same order. KindHot is
//
//	+----------------------+ ... +------------------+--------+
//	| hash  4 | documents 4 |     | entry of hash H  | CRC32C |
//	+----------------------+ ... +------------------+--------+
//	hashes ascend, each in one document or more

const (
	hotSection = "hot" // for errors
	hotEntry   = 8
)

// checkHot returns an error if a list is not valid in a table.
func checkHot(hashes []hot.Hash) error {
	for i, h := range hashes {
		if i > 0 && h.Hash <= hashes[i-1].Hash || h.Documents == 0 {
			return fmt.Errorf("hot hash %d of %d is out of order or not in a document", i, len(hashes))
		}
	}
	return nil
}

// appendHot appends the section of a list.
func appendHot(dst []byte, hashes []hot.Hash) []byte {
	start := len(dst)
	for _, h := range hashes {
		dst = binary.LittleEndian.AppendUint32(dst, h.Hash)
		dst = binary.LittleEndian.AppendUint32(dst, h.Documents)
	}
	return binary.LittleEndian.AppendUint32(dst, kernel.CRC32C(0, dst[start:]))
}

// parseHot decodes a section, which must have a valid size and is not trusted otherwise.
func parseHot(data []byte, file string, off int64) ([]hot.Hash, error) {
	end := len(data) - 4
	if kernel.CRC32C(0, data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, base.Corruptf(file, hotSection, off, "wrong checksum")
	}
	hashes := make([]hot.Hash, end/hotEntry)
	for i := range hashes {
		e := data[i*hotEntry:][:hotEntry]
		hashes[i] = hot.Hash{Hash: binary.LittleEndian.Uint32(e), Documents: binary.LittleEndian.Uint32(e[4:])}
	}
	if err := checkHot(hashes); err != nil {
		return nil, base.Corruptf(file, hotSection, off, "%w", err)
	}
	return hashes, nil
}

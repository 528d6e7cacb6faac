package sketchidx

import (
	"encoding/binary"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
)

// Every table keeps a list of its hot hashes (see package hot), which say its order of hashes. Any
// list gives right answers, because the prefix argument (see postings) asks only that all sketches
// of a table, and those it is searched for, are in one order. KindHot is
//
//	+----------------------+ ... +------------------+--------+
//	| hash  4 | documents 4 |     | entry of hash H  | CRC32C |
//	+----------------------+ ... +------------------+--------+
//	hashes ascend, each in one document or more

const (
	hotSection = "hot" // for errors
	hotEntry   = 8
)

// checkHot reports whether a list is one that a table can have.
func checkHot(hashes []hot.Hash) error {
	for i, h := range hashes {
		if i > 0 && h.Hash <= hashes[i-1].Hash || h.Documents == 0 {
			return fmt.Errorf("hot hash %d of %d is out of order or in no document", i, len(hashes))
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

// parseHot decodes a section of the right size, which may hold anything.
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

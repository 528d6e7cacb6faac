package catalog

import "encoding/binary"

// IsCatalog reports whether a file that starts with prefix looks like a bbolt file, as a catalog
// does: the first root page has a magic number after its header of 16 bytes.
func IsCatalog(prefix []byte) bool {
	return len(prefix) >= 20 && (binary.LittleEndian.Uint32(prefix[16:]) == boltMagic || binary.BigEndian.Uint32(prefix[16:]) == boltMagic)
}

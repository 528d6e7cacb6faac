package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A format is how a version of the format decodes its records. The record with the version is
// decoded first: it begins with the version in all of them.
type format struct {
	fixed  func(buf []byte, s *State) error          // the record of the fixed fields, from its start on
	record func(s *State, key, payload []byte) error // any other record but the digest
}

// formats are the versions that this package reads. A catalog stays in its version when it is
// changed.
var formats = map[uint32]format{
	1: {fixed: decodeFixed, record: (*State).decode},
}

// formatOf returns the format of a version, or ErrVersion.
func formatOf(version uint32) (format, error) {
	f, ok := formats[version]
	if !ok {
		var known []string
		for _, v := range slices.Sorted(maps.Keys(formats)) {
			known = append(known, fmt.Sprint(v))
		}
		return f, fmt.Errorf("%w %d; this program reads %s", ErrVersion, version, strings.Join(known, ", "))
	}
	return f, nil
}

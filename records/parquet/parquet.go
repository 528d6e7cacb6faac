package parquet

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/records"
)

func init() {
	records.Register(records.Family{
		Formats:      []records.Description{{Name: Parquet, Label: "Parquet", Unit: unit, Endings: []string{".parquet", ".parq", ".pq"}, Whole: true}},
		Detect:       detect,
		Fingerprints: true,
		Open:         open,
		NewCopier:    newCopier,
	})
}

// detect recognises Parquet by its first bytes or its name.
func detect(in *records.Stream, _ records.Options) bool {
	ending := strings.ToLower(filepath.Ext(in.Name()))
	return slices.Contains(Parquet.Describe().Endings, ending) || hasMagic(in)
}

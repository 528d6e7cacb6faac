package parquet

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/records"
)

func init() {
	records.Register(records.Family{
		Formats: []records.Description{{Name: Parquet, Label: "Parquet", Unit: unit, Endings: []string{".parquet", ".parq", ".pq"}, Whole: true}},
		Detect: func(in *records.Stream, _ records.Options) bool {
			ending := strings.ToLower(filepath.Ext(in.Name()))
			return slices.Contains(Parquet.Describe().Endings, ending) || hasMagic(in)
		},
		Fingerprints: true,
		Open:         open,
		NewCopier:    newCopier,
	})
}

package salvage

import (
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// inventory is the files of a database by what they are. Content counts more than the name: files
// may have changed places.
type inventory struct {
	catalog string // "" if there is none
	tables  []foundFile
	logs    []foundLog
	uuid    [16]byte // of the database, as a log says; zero if none does
}

// foundFile is a file with the number in its name, 0 if there is none.
type foundFile struct {
	name   string
	number uint64
	temp   bool // it has not got its final name
}

type foundLog struct {
	foundFile
	header *wal.Header // nil if it is damaged
}

// look says what the files in a folder are. What is neither a table nor a log nor the catalog, by
// content or by name, is not of the database.
func look(fsys vfs.FS, dir string, names []string) (inv inventory, err error) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := fsys.Stat(path)
		if err != nil {
			return inv, err
		}
		if info.IsDir || name == files.Lock || strings.HasSuffix(name, files.OrphanSuffix) || name == files.NewCatalog {
			continue
		}
		if err := inv.add(fsys, path, info.Size); err != nil {
			return inv, err
		}
	}
	return inv, nil
}

// add adds a file of some size.
func (inv *inventory) add(fsys vfs.FS, path string, size int64) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, tail := make([]byte, min(size, 64)), make([]byte, min(size, int64(len(sstable.Magic))))
	f.ReadAt(head, 0) // what can't be read is zero, and so of no kind
	f.ReadAt(tail, size-int64(len(tail)))
	found := foundFile{name: path}
	name := filepath.Base(path)
	table, isTable := files.Number(name, ".sst")
	temp, isTemp := files.Number(name, ".sst"+files.TempSuffix)
	log, isLog := files.Number(name, ".wal")
	found.number, found.temp = max(table, temp, log), isTemp
	switch {
	case sstable.IsTable(head), sstable.IsTable(tail):
		inv.tables = append(inv.tables, found)
	case wal.IsLog(head):
		inv.addLog(found, head)
	case catalog.IsCatalog(head):
		if inv.catalog == "" || name == files.Catalog {
			inv.catalog = path
		}
	case isTable, isTemp:
		inv.tables = append(inv.tables, found)
	case isLog:
		inv.addLog(found, head)
	case name == files.Catalog && inv.catalog == "":
		inv.catalog = path
	}
	return nil
}

// addLog adds a log, whose first bytes are head.
func (inv *inventory) addLog(found foundFile, head []byte) {
	h, ok := wal.ParseHeader(head)
	l := foundLog{foundFile: found}
	if ok {
		l.header, l.number = &h, h.Number
		inv.uuid = h.Database
	}
	for i, have := range inv.logs {
		if ok && have.header != nil && *have.header == h { // a copy of another log
			if filepath.Base(found.name) == files.LogName(l.number) {
				inv.logs[i] = l
			}
			return
		}
	}
	inv.logs = append(inv.logs, l)
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// changers are the functions of package os that change files.
var changers = []string{
	"Create", "CreateTemp", "OpenFile", "WriteFile", "Rename", "Remove", "RemoveAll", "Truncate", "Mkdir", "MkdirAll", "MkdirTemp", "Symlink",
	"Link", "Chmod", "Chown",
}

// mayChange lists the functions that may call changers: for temporary folders, the history, and the
// folder of a job of many processes. Files that a user names are opened by outfile.Guard, temporary
// files by vfs.Temp.
var mayChange = []string{
	"cmd/simdb/internal/app/append.go:OpenToAppend", // appends answers and decisions to files that were read before
	"cmd/simdb/internal/app/append.go:takeBack",     // takes back what it appended
	"cmd/simdb/lib.go:spool",                        // a stream, to a temporary file
	"cmd/simdb/internal/app/append.go:RemoveEmpty",  // removes a file without answers that learn has created
	"records/inputs/sources.go:copyTo",
	"records/inputs/folder.go:NewOutFolder", "records/inputs/folder.go:MakeParents", "records/inputs/folder.go:Undo",
	"dedup/shard/files.go:fetch", "dedup/shard/files.go:send", "dedup/shard/files.go:tempDir", "dedup/shard/files.go:store", "dedup/shard/files.go:Put",
	"dedup/shard/files.go:makeDir", "dedup/shard/run.go:RunAll", "dedup/shard/run.go:RunStep", "dedup/shard/run.go:runKeys",
	"repl/history.go:openHistory", "repl/history.go:tidy",
}

// No other code of the program changes files directly.
func TestOnlyTheGuardOpensOutputs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, dir := range []string{"cmd/simdb", "dedup", "records", "repl", "query"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(f, func(n ast.Node) bool {
					call, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "os" && slices.Contains(changers, call.Sel.Name) {
						place := filepath.ToSlash(name) + ":" + f.Name.Name
						if seen[place] = true; !slices.Contains(mayChange, place) {
							t.Errorf("%s calls os.%s: outputs are opened by outfile.Guard", place, call.Sel.Name)
						}
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range mayChange {
		if !seen[place] {
			t.Errorf("%s changes no files", place)
		}
	}
}

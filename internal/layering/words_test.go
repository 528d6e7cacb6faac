package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fronts are the folders of programs. The packages that they import have other users, too. The
// browser that tests run has flags of its own.
var fronts = []string{"cmd/", "bench/", "tools/", "distributed/", "examples/", "python/"}

// commandLine matches a flag, or a command of simdb.
var commandLine = regexp.MustCompile(`--[a-z]|^"-o\b|-o DIR|\bsimdb (\.\.\.|[a-z]+ (-|[A-Z]+\b))`)

// TestMessagesNameNoFlags checks that messages of libraries name no flags and no commands, which do
// not exist in Go and Python: package option chooses the name for each front end. The fields that
// it is called with must exist.
func TestMessagesNameNoFlags(t *testing.T) {
	type use struct {
		at    token.Position
		field string
	}
	var uses []use
	fields := map[string]bool{ // fields that only front ends have
		"Files": true, "Images": true, "Levenshtein": true, "TimeField": true, "Times": true,
	}
	fset := token.NewFileSet()
	walk(t, func(path string) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		for _, front := range fronts {
			if strings.HasPrefix(name, front) {
				return nil
			}
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING && commandLine.MatchString(n.Value) {
					t.Errorf("%s: a message with a flag or a command: %s", fset.Position(n.Pos()), n.Value)
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, name := range field.Names {
						fields[name.Name] = true
					}
				}
			case *ast.CallExpr:
				called, _ := n.Fun.(*ast.SelectorExpr)
				if called == nil || called.Sel.Name != "Name" && called.Sel.Name != "Set" || len(n.Args) == 0 {
					break
				}
				in, _ := called.X.(*ast.Ident)
				field, _ := n.Args[0].(*ast.BasicLit)
				if in != nil && in.Name == "option" && field != nil {
					name, _ := strconv.Unquote(field.Value)
					uses = append(uses, use{fset.Position(n.Pos()), name})
				}
			}
			return true
		})
		return nil
	})
	for _, u := range uses {
		if !fields[u.field] {
			t.Errorf("%s: there is no field %s", u.at, u.field)
		}
	}
	if len(uses) < 30 {
		t.Errorf("only %d options are named", len(uses))
	}
}

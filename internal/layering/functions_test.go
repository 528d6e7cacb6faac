package layering

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxFunction is the largest number of lines of a function.
const maxFunction = 70

// TestFunctions checks that functions are short enough to be read at once, and that exported names
// have comments.
func TestFunctions(t *testing.T) {
	functions, exported := 0, 0
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated")) {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions++
				if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > maxFunction {
					t.Errorf("%v: %s has %d lines, at most %d are allowed", set.Position(f.Pos()), f.Name, n, maxFunction)
				}
			}
			if file.Name.Name == "main" {
				continue
			}
			for _, d := range undocumented(decl) {
				t.Errorf("%v: %s has no comment", set.Position(d.Pos()), d.Name)
			}
			exported++
		}
		return nil
	})
	if functions < 1000 || exported < 1000 {
		t.Errorf("only %d functions and %d declarations were read", functions, exported)
	}
}

// undocumented returns the exported names in a declaration that have neither a comment of their own
// nor one of their group.
func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !trivial[d.Name.Name] {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc == nil && s.Doc == nil && s.Comment == nil {
					for _, name := range s.Names {
						if name.IsExported() {
							names = append(names, name)
						}
					}
				}
			}
		}
	}
	return names
}

// trivial are methods of standard interfaces, which need no comment.
var trivial = map[string]bool{"Error": true, "Unwrap": true, "String": true, "Len": true, "Less": true, "Swap": true}

// exportedReceiver reports whether a function is not a method, or is a method of an exported type.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch x := typ.(type) {
	case *ast.IndexExpr:
		typ = x.X
	case *ast.IndexListExpr:
		typ = x.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

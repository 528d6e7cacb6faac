package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSignatures checks that parameters have the same order everywhere: a context is first. A
// callback that reports progress is called progress and follows all values; only other callbacks
// come after it.
func TestSignatures(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"testdata", "bench", "tools", "examples"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				for _, wrong := range wrongOrder(fn.Type.Params.List) {
					t.Errorf("%s: %s: %s", files.Position(fn.Pos()), fn.Name.Name, wrong)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wrongOrder returns the errors in the order and the names of parameters.
func wrongOrder(params []*ast.Field) (wrong []string) {
	for i, p := range params {
		if sel, ok := p.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Context" && i > 0 {
			wrong = append(wrong, "the context is not the first parameter")
		}
		if !reportsProgress(p) {
			continue
		}
		if len(p.Names) != 1 || p.Names[0].Name != "progress" {
			wrong = append(wrong, "the callback for progress is not called progress")
		}
		for _, later := range params[i+1:] {
			if _, ok := later.Type.(*ast.FuncType); !ok {
				wrong = append(wrong, "a value follows the callback for progress")
				break
			}
		}
	}
	return wrong
}

// reportsProgress reports whether a parameter is a func(Progress), or a func(done, total int64).
func reportsProgress(p *ast.Field) bool {
	of := p.Type
	if may, ok := of.(*ast.Ellipsis); ok { // a variadic parameter
		of = may.Elt
	}
	fn, ok := of.(*ast.FuncType)
	if !ok || len(fn.Params.List) != 1 || fn.Results != nil {
		return false
	}
	arg := fn.Params.List[0]
	switch typ := arg.Type.(type) {
	case *ast.SelectorExpr:
		return typ.Sel.Name == "Progress"
	case *ast.Ident:
		return typ.Name == "Progress" || typ.Name == "int64" && len(arg.Names) == 2 && arg.Names[1].Name == "total"
	}
	return false
}

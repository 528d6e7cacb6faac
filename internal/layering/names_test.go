package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommentNames checks that a comment that begins with the declared name spells it correctly:
// exporting a name must change its comment, too.
func TestCommentNames(t *testing.T) {
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		check := func(doc *ast.CommentGroup, name *ast.Ident) {
			first, _, _ := strings.Cut(doc.Text(), " ")
			if first != name.Name && strings.EqualFold(first, name.Name) {
				t.Errorf("%s: %s in the comment of %s", fset.Position(doc.Pos()), first, name.Name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				check(n.Doc, n.Name)
			case *ast.TypeSpec:
				check(n.Doc, n.Name)
			case *ast.ValueSpec:
				check(n.Doc, n.Names[0])
			case *ast.GenDecl:
				if len(n.Specs) == 1 {
					switch s := n.Specs[0].(type) {
					case *ast.TypeSpec:
						check(n.Doc, s.Name)
					case *ast.ValueSpec:
						check(n.Doc, s.Names[0])
					}
				}
			}
			return true
		})
		return nil
	})
}

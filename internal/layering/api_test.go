package layering

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/golden"
	"github.com/simdb/simdb/internal/quantity"
)

// limits are the numbers of exported names (constants, variables, functions, types and methods)
// that packages may have. Limits may only decrease.
var limits = map[string]int{
	"engine": 150, "sstable": 60, "compaction": 20, "query": 80, "repl": 9, "repl/output": 25,
}

// variadic are the numbers of signatures that may still have variadic options. They may only
// decrease.
var variadic = map[string]int{}

// TestAPI compares the exported declarations of each public package with its golden file in
// testdata/api, so that a review shows each change, and checks the limits. An exported
// declaration must not mention a type of an internal package, which users cannot name; an exported
// alias gives such a type a name. Options are one trailing pointer: with variadic ones, a second
// value would be ignored.
func TestAPI(t *testing.T) {
	var names []string
	for _, dir := range publicPackages(t) {
		p := readAPI(t, dir)
		name := strings.ReplaceAll(dir, "/", "-") + ".txt"
		names = append(names, name)
		golden.Compare(t, filepath.Join("testdata", "api", name), p.text())
		if most, limited := limits[dir]; limited && p.count() > most {
			t.Errorf("%s exports %d names, at most %d are allowed", dir, p.count(), most)
		}
		for _, where := range p.internal() {
			t.Errorf("%s: %s", dir, where)
		}
		if found := p.variadic(); len(found) > variadic[dir] {
			t.Errorf("%s: %d functions have variadic options, at most %d are allowed: %v", dir, len(found), variadic[dir], found)
		}
	}
	files, err := os.ReadDir("testdata/api")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(names, f.Name()) {
			t.Errorf("testdata/api/%s is of no package", f.Name())
		}
	}
	if len(names) < 5 {
		t.Errorf("only %v were found", names)
	}
}

// platform selects the files of a package, which does not depend on the machine of the test.
var platform = build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"}

// publicPackages returns the folders of the packages of this module that other modules may import.
func publicPackages(t *testing.T) (dirs []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == root {
			return err
		}
		if slices.Contains([]string{"internal", "testdata", "cmd", "examples", "fuzz"}, d.Name()) || strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			return filepath.SkipDir
		}
		if p, err := platform.ImportDir(path, 0); err == nil && p.Name != "main" && len(p.GoFiles) > 0 {
			dirs = append(dirs, filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator))))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// api has the exported declarations of a package.
type api struct {
	*doc.Package
	set     *token.FileSet
	imports map[string]map[string]bool // file: names of imported internal packages
	aliases map[string]bool            // unexported names of types of internal packages
}

func readAPI(t *testing.T, dir string) *api {
	found, err := platform.ImportDir(filepath.Join(root, dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{set: token.NewFileSet(), imports: map[string]map[string]bool{}, aliases: map[string]bool{}}
	var files []*ast.File
	for _, name := range found.GoFiles {
		name = filepath.Join(found.Dir, name)
		f, err := parser.ParseFile(a.set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		a.imports[name] = map[string]bool{}
		for _, i := range f.Imports {
			if from, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(from, module) && strings.Contains(from+"/", "/internal/") {
				as := path.Base(from)
				if i.Name != nil {
					as = i.Name.Name
				}
				a.imports[name][as] = true
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() && !s.Name.IsExported() && len(a.mentions(s.Type)) > 0 {
				a.aliases[s.Name.Name] = true
			}
			return true
		})
	}
	if a.Package, err = doc.NewFromFiles(a.set, files, module+dir); err != nil {
		t.Fatal(err)
	}
	return a
}

// decls returns the declarations in the order of go doc. A method that a type has from an embedded
// type is not among these.
func (a *api) decls() (all []ast.Decl) {
	values := func(list []*doc.Value) {
		for _, v := range list {
			all = append(all, v.Decl)
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			if f.Level == 0 {
				all = append(all, f.Decl)
			}
		}
	}
	values(a.Consts)
	values(a.Vars)
	functions(a.Funcs)
	for _, t := range a.Types {
		all = append(all, t.Decl)
		values(t.Consts)
		values(t.Vars)
		functions(t.Funcs)
		functions(t.Methods)
	}
	return all
}

// count returns the number of exported names. The fields of structs and the methods of interfaces
// do not count.
func (a *api) count() (n int) {
	for _, d := range a.decls() {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			n++
			continue
		}
		for _, s := range g.Specs {
			n++
			if v, ok := s.(*ast.ValueSpec); ok {
				n += len(v.Names) - 1
			}
		}
	}
	return n
}

// text returns the declarations, without comments. It changes them.
func (a *api) text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n", a.Name)
	functions := false
	for _, d := range a.decls() {
		g, general := d.(*ast.GenDecl)
		if general && g.Tok == token.VAR {
			for _, s := range g.Specs {
				shorten(s.(*ast.ValueSpec))
			}
		}
		if general || !functions { // an empty line before types and values, and before a list of functions
			b.WriteString("\n")
		}
		functions = !general
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok && s.Incomplete {
				s.Incomplete = false
				s.Fields.List = append(s.Fields.List, &ast.Field{Type: rest})
			}
			return true
		})
		// Without positions, the layout depends on neither comments nor unexported fields.
		if err := (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, token.NewFileSet(), d); err != nil {
			return err.Error()
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n// %s\n", quantity.Plain(a.count(), "exported name", "exported names"))
	return b.String()
}

// rest stands for what text leaves out: unexported fields, and parts of values.
var rest = ast.NewIdent("...")

// shorten removes from variables what does not say their type: the text of an error, for example.
func shorten(s *ast.ValueSpec) {
	if s.Type != nil {
		s.Values = nil
	}
	for i, v := range s.Values {
		switch v := v.(type) {
		case *ast.CallExpr:
			s.Values[i] = &ast.CallExpr{Fun: v.Fun, Args: []ast.Expr{rest}}
		case *ast.CompositeLit:
			s.Values[i] = &ast.CompositeLit{Type: v.Type, Elts: []ast.Expr{rest}}
		case *ast.FuncLit:
			s.Values[i] = v.Type
		}
	}
}

// internal describes where the declarations mention types of internal packages.
func (a *api) internal() (all []string) {
	for _, d := range a.decls() {
		switch d := d.(type) {
		case *ast.FuncDecl:
			for _, m := range a.mentions(d.Type) {
				all = append(all, fmt.Sprintf("the signature of %s has the type %s", d.Name, m))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				var name *ast.Ident
				var of ast.Expr
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Assign.IsValid() {
						continue
					}
					name, of = s.Name, s.Type
				case *ast.ValueSpec:
					name, of = s.Names[0], s.Type
				}
				for _, m := range a.mentions(of) {
					all = append(all, fmt.Sprintf("%s has the type %s", name, m))
				}
			}
		}
	}
	return all
}

// variadic returns the functions with variadic options: pointers, callbacks or times.
func (a *api) variadic() (names []string) {
	for _, d := range a.decls() {
		f, ok := d.(*ast.FuncDecl)
		if !ok || len(f.Type.Params.List) == 0 {
			continue
		}
		last, ok := f.Type.Params.List[len(f.Type.Params.List)-1].Type.(*ast.Ellipsis)
		if !ok {
			continue
		}
		switch of := last.Elt.(type) {
		case *ast.StarExpr, *ast.FuncType:
			names = append(names, f.Name.Name)
		case *ast.SelectorExpr:
			if of.Sel.Name == "Time" {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// mentions returns the types of internal packages in a type or signature.
func (a *api) mentions(in ast.Expr) (found []string) {
	if in == nil {
		return nil
	}
	names := a.imports[a.set.Position(in.Pos()).Filename]
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && names[x.Name] {
				found = append(found, x.Name+"."+n.Sel.Name)
			}
			return false
		case *ast.Field: // not the names
			found = append(found, a.mentions(n.Type)...)
			return false
		case *ast.Ident:
			if a.aliases[n.Name] {
				found = append(found, n.Name)
			}
		}
		return true
	})
	return found
}

package mutants

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tree is the source of the module: its declarations, and the places of its tests.
type tree struct {
	root  string
	fset  *token.FileSet
	decls []*decl
	tests map[string][]string // names of test functions, by directory
}

// decl is a top-level function, or one name of a top-level type, variable or constant.
type decl struct {
	dir  string // from the root of the module, with slashes
	path string // absolute path of the file
	recv string // receiver type, "" if there is none
	name string
	node ast.Node
	src  []byte // the whole file
	toks []tok  // the declaration without comments
}

// likeness returns how well the declaration matches a name such as "name" or "Type.name", in
// increasing order of preference: 0 for another name, 1 for a method of another type, 2 for a
// name that differs in being exported, 3 for the name itself.
func (d *decl) likeness(name string) int {
	recv, method, found := strings.Cut(name, ".")
	if !found {
		recv, method = "", name
	}
	switch {
	case !sameExported(d.name, method):
		return 0
	case found && !sameExported(d.recv, recv):
		return 1
	case d.name != method || found && d.recv != recv:
		return 2
	}
	return 3
}

// in reports whether the declaration is in a directory or below it.
func (d *decl) in(dir string) bool { return within(d.dir, dir) }

func within(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

// targets is the platform whose files are mutated, on any machine.
var targets = func() build.Context {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = "linux", "amd64", false
	return c
}()

// load parses the module with the given root.
func load(root string) (*tree, error) {
	t := &tree{root: root, fset: token.NewFileSet(), tests: map[string][]string{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && t.other(path, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		return t.add(path)
	})
	return t, err
}

// other reports whether a directory has nothing to mutate: test data, or another module.
func (t *tree) other(path, name string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".")
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// add reads a file: the names in a test file, the declarations in any other.
func (t *tree) add(path string) error {
	dir, err := filepath.Rel(t.root, filepath.Dir(path))
	if err != nil {
		return err
	}
	dir = filepath.ToSlash(dir)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, "_test.go") {
		for _, m := range testFunction.FindAllSubmatch(src, -1) {
			t.tests[dir] = append(t.tests[dir], string(m[1]))
		}
		return nil
	}
	if built, err := targets.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || !built {
		return err
	}
	return t.parse(dir, path, src)
}

// parse adds the declarations of a source file.
func (t *tree) parse(dir, path string, src []byte) error {
	file, err := parser.ParseFile(t.fset, path, src, 0)
	if err != nil {
		return err
	}
	base := decl{dir: dir, path: path, src: src}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			t.addDecl(base, receiver(f), f.Name.Name, f)
			continue
		}
		for _, spec := range d.(*ast.GenDecl).Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				t.addDecl(base, "", s.Name.Name, s)
			case *ast.ValueSpec:
				t.addDecl(base, "", s.Names[0].Name, s)
			}
		}
	}
	return nil
}

func (t *tree) addDecl(d decl, recv, name string, node ast.Node) {
	d.recv, d.name, d.node = recv, name, node
	d.toks = tokens(d.src[t.offset(node.Pos()):t.offset(node.End())], t.offset(node.Pos()))
	t.decls = append(t.decls, &d)
}

func (t *tree) offset(p token.Pos) int { return t.fset.Position(p).Offset }

// receiver returns the type that f is a method of, "" if f is a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// find returns the declarations with a name in a directory or below it. If there are none,
// because the declaration was renamed, it returns the closest matches, possibly all declarations:
// the code may be unique among them.
func (t *tree) find(dir, name string) []*decl {
	var fit [4][]*decl
	for _, d := range t.decls {
		if d.in(dir) {
			l := d.likeness(name)
			fit[l] = append(fit[l], d)
		}
	}
	for l := 3; l > 0; l-- {
		if len(fit[l]) > 0 {
			return fit[l]
		}
	}
	return fit[0]
}

// packages returns the directories, dir or below it, with tests whose names match run.
func (t *tree) packages(dir, run string) ([]string, error) {
	re, err := regexp.Compile(run)
	if err != nil {
		return nil, err
	}
	var found []string
	for d, names := range t.tests {
		if !within(d, dir) {
			continue
		}
		for _, name := range names {
			if re.MatchString(name) {
				found = append(found, "./"+d)
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no test in %s matches %s", dir, run)
	}
	return found, nil
}

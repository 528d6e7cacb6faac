package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// An edit is a mistake to make in a declaration.
type edit interface {
	// places returns all places in the declarations where the mistake can be made. A mutant is
	// valid if there is exactly one.
	places(t *tree, decls []*decl) []place
}

// place is a part of a declaration and its replacement.
type place struct {
	d          *decl
	start, end int // offsets in the file
	text       string
}

// mutated returns the file with the mistake.
func (p place) mutated() string {
	return string(p.d.src[:p.start]) + p.text + string(p.d.src[p.end:])
}

// skip is the edit that disables a call, whose error becomes nil: the only call of a function or
// method with this name ("Sync"), or of this selector on any value ("log.Flush").
type skip string

func (s skip) places(t *tree, decls []*decl) (found []place) {
	for _, d := range decls {
		statements := map[ast.Node]bool{}
		ast.Inspect(d.node, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ExprStmt:
				statements[x.X] = true
			case *ast.DeferStmt:
				statements[x.Call] = true
			case *ast.CallExpr:
				if !s.names(x.Fun) {
					break
				}
				start, end := t.offset(x.Pos()), t.offset(x.End())
				call := string(d.src[start:end])
				text := "func() error { if false { return " + call + " }; return nil }()"
				if statements[x] {
					text = "func() { if false { " + call + " } }()"
				}
				found = append(found, place{d, start, end, text})
			}
			return true
		})
	}
	return found
}

// names reports whether fun is a function with the name.
func (s skip) names(fun ast.Expr) bool {
	wanted := strings.Split(string(s), ".")
	for i := len(wanted) - 1; i >= 0; i-- {
		switch x := fun.(type) {
		case *ast.SelectorExpr:
			if x.Sel.Name != wanted[i] {
				return false
			}
			fun = x.X
		case *ast.Ident:
			return i == 0 && x.Name == wanted[0]
		default:
			return false
		}
	}
	return true
}

// never and always are the edits that make a condition false or true. The condition is given as
// Go source; it is a whole condition or an operand of && and ||.
type (
	never  string
	always string
)

func (c never) places(t *tree, decls []*decl) []place {
	return conditions(t, decls, string(c), "(false && (%s))")
}

func (c always) places(t *tree, decls []*decl) []place {
	return conditions(t, decls, string(c), "(true || (%s))")
}

func conditions(t *tree, decls []*decl, condition, format string) (found []place) {
	for _, p := range swap(condition, "").places(t, decls) {
		if p.whole() {
			p.text = fmt.Sprintf(format, p.d.src[p.start:p.end])
			found = append(found, p)
		}
	}
	return found
}

// whole reports whether the place is a whole condition or operand: the operators around it bind
// less tightly.
func (p place) whole() bool {
	before, after := token.LBRACE, token.RBRACE
	for _, t := range p.d.toks {
		if t.end <= p.start {
			before = t.kind
		}
		if t.start >= p.end {
			after = t.kind
			break
		}
	}
	return binds(before) && binds(after)
}

func binds(k token.Token) bool {
	switch k {
	case token.LAND, token.LOR, token.LPAREN, token.RPAREN, token.LBRACE, token.RBRACE, token.SEMICOLON, token.IF, token.FOR,
		token.CASE, token.COLON, token.COMMA, token.RETURN, token.ASSIGN, token.DEFINE, token.NOT:
		return true
	}
	return false
}

// replace is the edit that replaces one piece of Go source with another. It ignores layout and
// comments.
type replace struct{ old, new string }

// swap returns the edit that replaces old with new.
func swap(old, new string) replace { return replace{old, new} }

// drop returns the edit that removes old: whole statements, or an operand with its operator.
func drop(old string) replace { return replace{old, ""} }

// places searches for the source as it is written, and if that fails, with other names of
// variables.
func (r replace) places(t *tree, decls []*decl) (found []place) {
	pattern := tokens([]byte(r.old), 0)
	for _, rename := range []bool{false, true} {
		for _, d := range decls {
			at, as := matches(d.toks, pattern, d.locals(), rename)
			for i, first := range at {
				last := d.toks[first+len(pattern)-1]
				found = append(found, place{d, d.toks[first].start, last.end, as[i].apply(r.new)})
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// locals returns the names of the receiver, the parameters and the variables of a function.
func (d *decl) locals() map[string]bool {
	set := map[string]bool{}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			for _, name := range x.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				add(x.Lhs...)
			}
		case *ast.RangeStmt:
			add(x.Key, x.Value)
		case *ast.ValueSpec:
			for _, name := range x.Names {
				add(name)
			}
		}
		return true
	})
	return set
}

package syntax

// The syntax tree: what a statement of each form leaves of its tokens.

// Statement is one statement. Exactly one of the pointers from Put on is set.
type Statement struct {
	Explain  *Explain
	Count    *Count
	Put      *Put
	Get      *Get
	Delete   *Delete
	Pairs    *Pairs
	Clusters *Clusters
	Prune    *Prune
	Stats    *Stats
	Two      *Two
	Bare     *Token
	Select   *Select
}

// Explain is EXPLAIN [ANALYZE].
type Explain struct {
	Word    Token
	Analyze bool
}

// Count is COUNT [select | PAIRS ... | CLUSTERS ...]; alone it counts all documents.
type Count struct {
	Word     Token
	Pairs    *Pairs
	Clusters *Clusters
	Select   *Select
}

// Put is PUT {...} [UNLESS criterion [VERIFY]].
type Put struct {
	Word   Token
	Doc    Token
	Unless *Criterion
	Verify *Token
}

// Get is GET 'a' [SHOW columns].
type Get struct {
	Word Token
	ID   Token
	Show *Show
}

// Delete is DELETE 'a', or DELETE WHERE select.
type Delete struct {
	Word  Token
	Where *Select
	ID    *Token
}

// Pairs is PAIRS criterion [LIMIT n] [OFFSET n] [VERIFY].
type Pairs struct {
	Word      Token
	Criterion *Criterion
	Clauses   []*Clause
}

// Clusters is CLUSTERS criterion [VERIFY] [MODE star|components] [LIMIT n] [OFFSET n] [VERIFY]
// [SHOW columns].
type Clusters struct {
	Word      Token
	Criterion *Criterion
	Verify    *Token
	Mode      *Token
	Clauses   []*Clause
}

// Stats is STATS [CLUSTERS ...].
type Stats struct {
	Word     Token
	Clusters *Clusters
}

// Criterion is NEAR k or JACCARD t. The caller decides which predicates are criteria.
type Criterion struct {
	Word  Token
	Value Token
}

// Two is WHY 'a' 'b', or another statement with two ids.
type Two struct {
	Word Token
	A    Token
	B    Token
}

// Prune is PRUNE OLDER 30d.
type Prune struct {
	Word  Token
	Older Token
}

// Select is an expression and its clauses: SINCE, ORDER BY, LIMIT, OFFSET, VERIFY, SHOW in any
// order. Clauses alone are of all documents.
type Select struct {
	Expr    *Or
	Clauses []*Clause
}

// Or is terms joined by OR.
type Or struct {
	Terms []*And
}

// And is terms joined by AND.
type And struct {
	Terms []*Not
}

// Not is a primary after any number of NOTs.
type Not struct {
	Not  []*NotWord
	Term *Primary
}

// NotWord is one NOT.
type NotWord struct {
	Word Token
}

// Operand is an element of the list of ID IN (...), or a bound of ID BETWEEN.
type Operand struct {
	Value Token
}

// Primary is a predicate or an expression in parentheses.
type Primary struct {
	Call  *Call
	Paren *Or
	ID    *IDTest
	Since *Since
	Field *FieldTest
}

// IDTest tests the ID: ID = 'a', ID >= 'a', ID [NOT] IN ('a', 'b'), ID [NOT] LIKE 'a%' [ESCAPE
// '\'], ID [NOT] BETWEEN 'a' AND 'b'.
type IDTest struct {
	Word   Token
	Op     *Token
	Value  *Token
	Not    bool
	Like   *Token
	Escape *Token
	From   *Operand
	To     *Operand
	In     []*Operand
}

// FieldTest tests a field, or the text: lang = 'en', stars >= 3, url [NOT] LIKE 'http%' [ESCAPE
// '\\'], stars [NOT] BETWEEN 3 AND 5, lang [NOT] IN ('en', 'de'), meta.lang IS [NOT] NULL.
type FieldTest struct {
	Name   Token
	Op     *Token
	Value  *FieldValue
	Is     *Token
	IsNot  bool
	Not    bool
	Like   *Token
	Escape *Token
	From   *FieldValue
	To     *FieldValue
	In     []*FieldValue
}

// FieldValue is what a field is compared with.
type FieldValue struct {
	Value Token
}

// Since is SINCE 2d, or SINCE '2026-01-02'.
type Since struct {
	Word  Token
	Value Token
}

// Call is a predicate written as a call, such as NEAR('a', 3).
type Call struct {
	Name Token
	Args []*Argument
}

// Argument is a value, or ANY OF several. Text says that TEXT precedes it: the value is a text, not
// an id.
type Argument struct {
	Any   []*Argument
	Text  bool
	Value Token
}

// Clause is a clause of a Select, of GET, PAIRS or CLUSTERS. Exactly one field is set but for Word.
type Clause struct {
	Word   Token // that it starts with
	Limit  *Token
	Since  *Since
	Order  []*OrderTerm
	Offset *Token
	Verify *Token
	Show   *Show
}

// Show is SHOW id, url, text: the columns of the rows.
type Show struct {
	Word    Token
	Columns []*ShowColumn
}

// ShowColumn is a column of SHOW, or * for all.
type ShowColumn struct {
	Name Token
}

// OrderTerm is one key of ORDER BY.
type OrderTerm struct {
	Key  Token
	Desc *Token
}

// FirstToken returns the token that an expression starts with.
func FirstToken(e *Or) Token {
	first := e.Terms[0].Terms[0]
	if len(first.Not) > 0 {
		return first.Not[0].Word
	}
	switch t := first.Term; {
	case t.Paren != nil:
		return FirstToken(t.Paren)
	case t.ID != nil:
		return t.ID.Word
	case t.Since != nil:
		return t.Since.Word
	case t.Field != nil:
		return t.Field.Name
	default:
		return t.Call.Name
	}
}

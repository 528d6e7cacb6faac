package syntax

import "github.com/alecthomas/participle/v2/lexer"

// The syntax tree. The tag of each field is the rule of the grammar that fills it, as participle
// reads it.

// Statement is one statement. Exactly one of the pointers from Put on is set.
type Statement struct {
	Explain  *Explain  `parser:"@@?"`
	Count    *Count    `parser:"( @@"`
	Put      *Put      `parser:"| @@"`
	Get      *Get      `parser:"| @@"`
	Delete   *Delete   `parser:"| @@"`
	Pairs    *Pairs    `parser:"| @@"`
	Clusters *Clusters `parser:"| @@"`
	Cluster  *Cluster  `parser:"| @@"`
	Why      *Why      `parser:"| @@"`
	End      *Token    `parser:"| @( 'BEGIN' | 'COMMIT' | 'ROLLBACK' )"`
	Select   *Select   `parser:"| @@ ) ';'*"`
}

type queryStatement struct {
	Select *Select `parser:"@@ ';'*"`
}

// Explain is EXPLAIN [ANALYZE].
type Explain struct {
	Word    Token `parser:"@'EXPLAIN'"`
	Analyze bool  `parser:"@'ANALYZE'?"`
}

// Count is COUNT [select | PAIRS ... | CLUSTERS ...]; alone it counts all documents.
type Count struct {
	Word     Token     `parser:"@'COUNT'"`
	Pairs    *Pairs    `parser:"( @@"`
	Clusters *Clusters `parser:"| @@"`
	Select   *Select   `parser:"| @@ )?"`
}

// Put is PUT {...} [UNLESS criterion [VERIFY]].
type Put struct {
	Word   Token      `parser:"@'PUT'"`
	Doc    Token      `parser:"@( JSON | Param | Named )"`
	Unless *Criterion `parser:"( 'UNLESS' @@"`
	Verify *Token     `parser:"  @'VERIFY'? )?"`
}

// Get is GET 'a' [SHOW columns].
type Get struct {
	Word Token `parser:"@'GET'"`
	ID   Token `parser:"@( String | Param | Named )"`
	Show *Show `parser:"@@?"`
}

// Delete is DELETE 'a', or DELETE WHERE select.
type Delete struct {
	Word  Token   `parser:"@'DELETE'"`
	Where *Select `parser:"( 'WHERE' @@"`
	ID    *Token  `parser:"| @( String | Param | Named ) )"`
}

// Pairs is PAIRS criterion [AND a.lang != b.lang] [LIMIT n] [OFFSET n] [VERIFY].
type Pairs struct {
	Word      Token      `parser:"@'PAIRS'"`
	Criterion *Criterion `parser:"@@"`
	Across    *Across    `parser:"( 'AND' @@ )?"`
	Clauses   []*Clause  `parser:"@@*"`
}

// Across compares a field of both documents of a pair, a and b: a.lang = b.lang, a.lang != b.lang.
type Across struct {
	A  Token `parser:"@Ident"`
	Op Token `parser:"@( '=' | '!=' | '<>' )"`
	B  Token `parser:"@( Ident | String | Number | 'TRUE' | 'FALSE' )"`
}

// Clusters is CLUSTERS criterion [VERIFY] [MODE star|components] [LIMIT n] [OFFSET n] [VERIFY]
// [SHOW columns].
type Clusters struct {
	Word      Token      `parser:"@'CLUSTERS'"`
	Criterion *Criterion `parser:"@@"`
	Verify    *Token     `parser:"@'VERIFY'?"`
	Mode      *Token     `parser:"( 'MODE' @( Keyword | Predicate | Ident | String ) )?"`
	Clauses   []*Clause  `parser:"@@*"`
}

// Cluster is CLUSTER OF 'a' [criterion] and what CLUSTERS takes after it.
type Cluster struct {
	Word      Token      `parser:"@'CLUSTER' 'OF'"`
	ID        Token      `parser:"@( String | Param | Named )"`
	Criterion *Criterion `parser:"@@?"`
	Verify    *Token     `parser:"@'VERIFY'?"`
	Mode      *Token     `parser:"( 'MODE' @( Keyword | Predicate | Ident | String ) )?"`
	Clauses   []*Clause  `parser:"@@*"`
}

// Criterion is NEAR k or JACCARD t. The caller decides which predicates are criteria.
type Criterion struct {
	Word  Token `parser:"@Predicate"`
	Value Token `parser:"@( Number | Percent | Param | Named )"`
}

// Why is WHY 'a' 'b'.
type Why struct {
	A Token `parser:"'WHY' @( String | Param | Named )"`
	B Token `parser:"','? @( String | Param | Named )"`
}

// Select is an expression and its clauses: SINCE, ORDER BY, LIMIT, OFFSET, VERIFY, SHOW in any
// order. Clauses alone are of all documents.
type Select struct {
	Expr    *Or       `parser:"( @@"`
	Clauses []*Clause `parser:"  @@* | @@+ )"`
}

// Or is terms joined by OR.
type Or struct {
	Terms []*And `parser:"@@ ( 'OR' @@ )*"`
}

// And is terms joined by AND.
type And struct {
	Terms []*Not `parser:"@@ ( 'AND' @@ )*"`
}

// Not is a primary after any number of NOTs.
type Not struct {
	Not  []*NotWord `parser:"@@*"`
	Term *Primary   `parser:"@@"`
}

// NotWord is one NOT. (participle keeps only the last of a list of bare tokens.)
type NotWord struct {
	Word Token `parser:"@'NOT'"`
}

// Operand is an element of the list of ID IN (...), or a bound of ID BETWEEN.
type Operand struct {
	Value Token `parser:"@( String | Param | Named )"`
}

// Primary is a predicate, which may be followed by BY, or an expression in parentheses.
type Primary struct {
	Call  *Call      `parser:"( @@"`
	By    *Token     `parser:"  ( 'BY' @Predicate )?"`
	Paren *Or        `parser:"| '(' @@ ')'"`
	ID    *IDTest    `parser:"| @@"`
	Since *Since     `parser:"| @@"`
	Field *FieldTest `parser:"| @@ )"`
}

// IDTest tests the ID: ID = 'a', ID >= 'a', ID [NOT] IN ('a', 'b'), ID [NOT] LIKE 'a%' [ESCAPE
// '\'], ID [NOT] BETWEEN 'a' AND 'b'.
type IDTest struct {
	Word   Token      `parser:"@'ID'"`
	Op     *Token     `parser:"( @( '=' | '!=' | '<>' | '<=' | '>=' | '<' | '>' )"`
	Value  *Token     `parser:"  @( String | Param | Named )"`
	Not    bool       `parser:"| @'NOT'?"`
	Like   *Token     `parser:"  ( 'LIKE' @( String | Param | Named )"`
	Escape *Token     `parser:"    ( 'ESCAPE' @( String | Param | Named ) )?"`
	From   *Operand   `parser:"  | 'BETWEEN' @@"`
	To     *Operand   `parser:"    'AND' @@"`
	In     []*Operand `parser:"  | 'IN' '(' @@ ( ',' @@ )* ')' ) )"`
}

// FieldTest tests a field, or the text: lang = 'en', stars >= 3, url [NOT] LIKE 'http%' [ESCAPE
// '\\'], stars [NOT] BETWEEN 3 AND 5, lang [NOT] IN ('en', 'de'), meta.lang IS [NOT] NULL.
type FieldTest struct {
	Name   Token         `parser:"@( Ident | 'TEXT' )"`
	Op     *Token        `parser:"( @( '=' | '!=' | '<>' | '<=' | '>=' | '<' | '>' )"`
	Value  *FieldValue   `parser:"  @@"`
	Is     *Token        `parser:"| @'IS'"`
	IsNot  bool          `parser:"  @'NOT'? 'NULL'"`
	Not    bool          `parser:"| @'NOT'?"`
	Like   *Token        `parser:"  ( 'LIKE' @( String | Param | Named )"`
	Escape *Token        `parser:"    ( 'ESCAPE' @( String | Param | Named ) )?"`
	From   *FieldValue   `parser:"  | 'BETWEEN' @@"`
	To     *FieldValue   `parser:"    'AND' @@"`
	In     []*FieldValue `parser:"  | 'IN' '(' @@ ( ',' @@ )* ')' ) )"`
}

// FieldValue is what a field is compared with.
type FieldValue struct {
	Value Token `parser:"@( String | Number | Hex | 'TRUE' | 'FALSE' | Param | Named )"`
}

// Since is SINCE 2d, or SINCE '2026-01-02'.
type Since struct {
	Word  Token `parser:"@'SINCE'"`
	Value Token `parser:"@( Duration | String | Number | Param | Named )"`
}

// Call is a predicate written as a call, such as NEAR('a', 3).
type Call struct {
	Name Token       `parser:"@Predicate"`
	Args []*Argument `parser:"'(' @@ ( ',' @@ )* ')'"`
}

// Argument is a value, or ANY OF several. Text says that TEXT precedes it: the value is a text, not
// an id.
type Argument struct {
	Any   []*Argument `parser:"(  'ANY' 'OF' '(' @@ ( ',' @@ )* ')'"`
	Text  bool        `parser:"| @'TEXT'?"`
	Value Token       `parser:"@( String | Hex | Number | Percent | Duration | Param | Named ) )"`
}

// Clause is a clause of a Select, of GET, PAIRS or CLUSTERS. Exactly one field is set.
type Clause struct {
	Pos    lexer.Position
	Limit  *Token       `parser:"  'LIMIT' @( Number | Param | Named )"`
	Since  *Since       `parser:"| @@"`
	Order  []*OrderTerm `parser:"| 'ORDER' 'BY' @@ ( ',' @@ )*"`
	Offset *Token       `parser:"| 'OFFSET' @( Number | Param | Named )"`
	Verify *Token       `parser:"| @'VERIFY'"`
	Show   *Show        `parser:"| @@"`
}

// Show is SHOW id, url, text: the columns of the rows.
type Show struct {
	Word    Token         `parser:"@'SHOW'"`
	Columns []*ShowColumn `parser:"@@ ( ',' @@ )*"`
}

// ShowColumn is a column of SHOW, or * for all.
type ShowColumn struct {
	Name Token `parser:"@( Keyword | Predicate | Ident | '*' )"`
}

// OrderTerm is one key of ORDER BY.
type OrderTerm struct {
	Key  Token  `parser:"@( Keyword | Predicate | Ident )"`
	Desc *Token `parser:"( @'DESC' | 'ASC' )?"`
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

package syntax

import "github.com/alecthomas/participle/v2/lexer"

// The syntax tree. Each field's tag is the grammar rule that fills it, in the notation of
// participle.

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
	Seen     *Seen     `parser:"| @@"`
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

// Count is COUNT [select | PAIRS ... | CLUSTERS ...] [BY field [LIMIT n] [OFFSET n]]; COUNT alone
// counts all documents.
type Count struct {
	Word     Token     `parser:"@'COUNT'"`
	Pairs    *Pairs    `parser:"( @@"`
	Clusters *Clusters `parser:"| @@"`
	Select   *Select   `parser:"| @@ )?"`
	By       *Token    `parser:"( 'BY' @( Keyword | Ident )"`
	Clauses  []*Clause `parser:"  @@* )?"`
}

// Put is PUT {...} [UNLESS criterion [ESTIMATE] | UNLESS rule].
type Put struct {
	Word     Token     `parser:"@'PUT'"`
	Doc      Token     `parser:"@( JSON | Param | Named )"`
	Unless   *Matching `parser:"( 'UNLESS' @@"`
	Estimate *Token    `parser:"  ( @'ESTIMATE' | 'VERIFY' )? )?"`
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

// Pairs is PAIRS criterion [ESTIMATE] [LIMIT n] [OFFSET n] [SHOW columns], or the same with a rule.
type Pairs struct {
	Word    Token     `parser:"@'PAIRS'"`
	By      *Matching `parser:"@@"`
	Clauses []*Clause `parser:"@@*"`
}

// Clusters is CLUSTERS, followed by the same as PAIRS.
type Clusters struct {
	Word    Token     `parser:"@'CLUSTERS'"`
	By      *Matching `parser:"@@"`
	Clauses []*Clause `parser:"@@*"`
}

// Cluster is CLUSTER OF 'a' [criterion or rule], followed by the same clauses as CLUSTERS.
type Cluster struct {
	Word    Token     `parser:"@'CLUSTER' 'OF'"`
	ID      Token     `parser:"@( String | Param | Named )"`
	By      *Matching `parser:"@@?"`
	Clauses []*Clause `parser:"@@*"`
}

// Matching says which two documents match.
type Matching struct {
	Criterion *Criterion  `parser:"  @@"`
	Rule      []*RulePart `parser:"| @@+"`
}

// RulePart is a part of a rule of pairs, which package pairrule parses, or a parameter in it.
type RulePart struct {
	Token Token `parser:"@( RuleText | Param | Named )"`
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

// Seen is SEEN('a'), or SEEN(TEXT '...').
type Seen struct {
	Word Token     `parser:"@'SEEN' '('"`
	What *Argument `parser:"@@ ')'"`
}

// Select is an expression and its clauses: SINCE, ORDER BY, LIMIT, OFFSET, ESTIMATE, SHOW in any
// order. Clauses without an expression apply to all documents.
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

// NotWord is one NOT. (From a list of bare tokens, participle would capture only the last.)
type NotWord struct {
	Word Token `parser:"@'NOT'"`
}

// Primary is a predicate, optionally followed by BY, or an expression in parentheses.
type Primary struct {
	Call  *Call  `parser:"( @@"`
	By    *Token `parser:"  ( 'BY' @Predicate )?"`
	Paren *Or    `parser:"| '(' @@ ')'"`
	Since *Since `parser:"| @@"`
	Test  *Test  `parser:"| @@ )"`
}

// Test tests the id, the text or a field: lang = 'en', stars >= 3, ID [NOT] LIKE 'x%' [ESCAPE '\\'],
// stars [NOT] BETWEEN 3 AND 5, lang [NOT] IN ('en', 'de'), meta.lang IS [NOT] NULL.
type Test struct {
	Name   Token    `parser:"@( Ident | 'TEXT' )"`
	Op     *Token   `parser:"( @( '=' | '!=' | '<>' | '<=' | '>=' | '<' | '>' )"`
	Value  *Value   `parser:"  @@"`
	Is     *Token   `parser:"| @'IS'"`
	IsNot  bool     `parser:"  @'NOT'? 'NULL'"`
	Not    bool     `parser:"| @'NOT'?"`
	Like   *Token   `parser:"  ( 'LIKE' @( String | Param | Named )"`
	Escape *Token   `parser:"    ( 'ESCAPE' @( String | Param | Named ) )?"`
	From   *Value   `parser:"  | 'BETWEEN' @@"`
	To     *Value   `parser:"    'AND' @@"`
	In     []*Value `parser:"  | 'IN' '(' @@ ( ',' @@ )* ')' ) )"`
}

// Value is the value that the id, the text or a field is compared with.
type Value struct {
	Token Token `parser:"@( String | Number | Hex | Bool | Param | Named )"`
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

// Argument is a value, or ANY OF several values. Text says that TEXT precedes it: the value is a
// text, not an id.
type Argument struct {
	Any   []*Argument `parser:"(  'ANY' 'OF' '(' @@ ( ',' @@ )* ')'"`
	Text  bool        `parser:"| @'TEXT'?"`
	Value Token       `parser:"@( String | Hex | Number | Percent | Duration | Param | Named ) )"`
}

// Clause is a clause of a Select, GET, PAIRS or CLUSTERS. Exactly one field is set. VERIFY, which
// once made texts decide, has no effect.
type Clause struct {
	Pos      lexer.Position
	Limit    *Token       `parser:"  'LIMIT' @( Number | Param | Named )"`
	Since    *Since       `parser:"| @@"`
	Order    []*OrderTerm `parser:"| 'ORDER' 'BY' @@ ( ',' @@ )*"`
	Offset   *Token       `parser:"| 'OFFSET' @( Number | Param | Named )"`
	Estimate *Token       `parser:"| @'ESTIMATE'"`
	Verify   *Token       `parser:"| @'VERIFY'"`
	Show     *Show        `parser:"| @@"`
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
	Key  Token `parser:"@( Keyword | Predicate | Ident )"`
	Desc bool  `parser:"@'DESC'?"`
}

// FirstToken returns the first token of an expression.
func FirstToken(e *Or) Token {
	first := e.Terms[0].Terms[0]
	if len(first.Not) > 0 {
		return first.Not[0].Word
	}
	switch t := first.Term; {
	case t.Paren != nil:
		return FirstToken(t.Paren)
	case t.Since != nil:
		return t.Since.Word
	case t.Test != nil:
		return t.Test.Name
	default:
		return t.Call.Name
	}
}

package query

import "github.com/alecthomas/participle/v2/lexer"

// The syntax tree, with the grammar beside it as participle reads it. What a word means, and whether a value fits its
// place, is not the grammar's business: bind.go checks that, where it can say more than "unexpected token".

// statement is one statement. Exactly one of the pointers from Put on is set.
type statement struct {
	Explain  *explainPrefix `parser:"@@?"`
	Count    *countStmt     `parser:"( @@"`
	Put      *putStmt       `parser:"| @@"`
	Get      *getStmt       `parser:"| @@"`
	Delete   *deleteStmt    `parser:"| @@"`
	Pairs    *pairsStmt     `parser:"| @@"`
	Clusters *clustersStmt  `parser:"| @@"`
	Prune    *pruneStmt     `parser:"| @@"`
	Two      *twoStmt       `parser:"| @@"`
	Bare     *lexer.Token   `parser:"| @Bare"`
	Select   *selectStmt    `parser:"| @@ ) ';'*"`
}

// queryStmt is a statement that is a query.
type queryStmt struct {
	Select *selectStmt `parser:"@@ ';'*"`
}

// explainPrefix is EXPLAIN [ANALYZE].
type explainPrefix struct {
	Word    lexer.Token `parser:"@'EXPLAIN'"`
	Analyze bool        `parser:"@'ANALYZE'?"`
}

// countStmt is COUNT [select | PAIRS ... | CLUSTERS ...]; alone it counts all documents.
type countStmt struct {
	Word     lexer.Token   `parser:"@'COUNT'"`
	Pairs    *pairsStmt    `parser:"( @@"`
	Clusters *clustersStmt `parser:"| @@"`
	Select   *selectStmt   `parser:"| @@ )?"`
}

// putStmt is PUT {...} [UNLESS criterion [VERIFY]].
type putStmt struct {
	Word   lexer.Token    `parser:"@'PUT'"`
	Doc    lexer.Token    `parser:"@( JSON | Param | Named )"`
	Unless *criterionExpr `parser:"( 'UNLESS' @@"`
	Verify *lexer.Token   `parser:"  @'VERIFY'? )?"`
}

// getStmt is GET 'a'.
type getStmt struct {
	Word lexer.Token `parser:"@'GET'"`
	ID   lexer.Token `parser:"@( String | Param | Named )"`
}

// deleteStmt is DELETE 'a', or DELETE WHERE select.
type deleteStmt struct {
	Word  lexer.Token  `parser:"@'DELETE'"`
	Where *selectStmt  `parser:"( 'WHERE' @@"`
	ID    *lexer.Token `parser:"| @( String | Param | Named ) )"`
}

// pairsStmt is PAIRS criterion [LIMIT n] [OFFSET n] [VERIFY].
type pairsStmt struct {
	Word      lexer.Token    `parser:"@'PAIRS'"`
	Criterion *criterionExpr `parser:"@@"`
	Clauses   []*clause      `parser:"@@*"`
}

// clustersStmt is CLUSTERS criterion [VERIFY] [MODE star|components] [LIMIT n] [OFFSET n] [VERIFY].
type clustersStmt struct {
	Word      lexer.Token    `parser:"@'CLUSTERS'"`
	Criterion *criterionExpr `parser:"@@"`
	Verify    *lexer.Token   `parser:"@'VERIFY'?"`
	Mode      *lexer.Token   `parser:"( 'MODE' @( Keyword | Predicate | Bare | TwoIDs | Ident | String ) )?"`
	Clauses   []*clause      `parser:"@@*"`
}

// criterionExpr is NEAR k or JACCARD t; which predicates are criteria, their table says.
type criterionExpr struct {
	Word  lexer.Token `parser:"@Predicate"`
	Value lexer.Token `parser:"@( Number | Percent | Param | Named )"`
}

// twoStmt is WHY 'a' 'b', and the other statements with two ids.
type twoStmt struct {
	Word lexer.Token `parser:"@TwoIDs"`
	A    lexer.Token `parser:"@( String | Param | Named )"`
	B    lexer.Token `parser:"','? @( String | Param | Named )"`
}

// pruneStmt is PRUNE OLDER 30d.
type pruneStmt struct {
	Word  lexer.Token `parser:"@'PRUNE'"`
	Older lexer.Token `parser:"'OLDER' @( Duration | String | Number | Param | Named )"`
}

// selectStmt is a predicate and what comes after it: SINCE, ORDER BY, LIMIT, OFFSET, VERIFY in any order.
type selectStmt struct {
	Expr    *orExpr   `parser:"@@"`
	Clauses []*clause `parser:"@@*"`
}

type orExpr struct {
	Terms []*andExpr `parser:"@@ ( 'OR' @@ )*"`
}

type andExpr struct {
	Terms []*notExpr `parser:"@@ ( 'AND' @@ )*"`
}

// notExpr is a primary behind any number of NOTs.
type notExpr struct {
	Not  []*notWord `parser:"@@*"`
	Term *primary   `parser:"@@"`
}

// notWord is one NOT. (Of a list of bare tokens participle would keep the last.)
type notWord struct {
	Word lexer.Token `parser:"@'NOT'"`
}

// operand is one string of a list.
type operand struct {
	Value lexer.Token `parser:"@( String | Param | Named )"`
}

// primary is one predicate, or an expression in parentheses.
type primary struct {
	Call  *call        `parser:"( @@"`
	Paren *orExpr      `parser:"| '(' @@ ')'"`
	ID    *idPredicate `parser:"| @@"`
	Since *sinceClause `parser:"| @@ )"`
}

// idPredicate compares the ID: ID = 'a', ID != 'a', ID [NOT] IN ('a', 'b'), ID [NOT] LIKE 'a%' [ESCAPE '\'].
type idPredicate struct {
	Word   lexer.Token  `parser:"@'ID'"`
	Op     *lexer.Token `parser:"( @( '=' | '!=' | '<>' )"`
	Value  *lexer.Token `parser:"  @( String | Param | Named )"`
	Not    bool         `parser:"| @'NOT'?"`
	Like   *lexer.Token `parser:"  ( 'LIKE' @( String | Param | Named )"`
	Escape *lexer.Token `parser:"    ( 'ESCAPE' @( String | Param | Named ) )?"`
	In     []*operand   `parser:"  | 'IN' '(' @@ ( ',' @@ )* ')' ) )"`
}

// sinceClause is SINCE 2d, or SINCE '2026-01-02'.
type sinceClause struct {
	Word  lexer.Token `parser:"@'SINCE'"`
	Value lexer.Token `parser:"@( Duration | String | Number | Param | Named )"`
}

// call is NEAR(...) and its like.
type call struct {
	Name lexer.Token `parser:"@Predicate"`
	Args []*argument `parser:"'(' @@ ( ',' @@ )* ')'"`
}

// argument is a value, behind TEXT if it is meant as a text.
type argument struct {
	Text  bool        `parser:"@'TEXT'?"`
	Value lexer.Token `parser:"@( String | Hex | Number | Percent | Duration | Param | Named )"`
}

// clause is one of the clauses of a selectStmt.
type clause struct {
	Limit  *lexer.Token `parser:"  'LIMIT' @( Number | Param | Named )"`
	Since  *sinceClause `parser:"| @@"`
	Order  []*orderTerm `parser:"| 'ORDER' 'BY' @@ ( ',' @@ )*"`
	Offset *lexer.Token `parser:"| 'OFFSET' @( Number | Param | Named )"`
	Verify *lexer.Token `parser:"| @'VERIFY'"`
}

// orderTerm is one key of ORDER BY.
type orderTerm struct {
	Key  lexer.Token  `parser:"@( Keyword | Predicate | Bare | TwoIDs | Ident )"`
	Desc *lexer.Token `parser:"( @'DESC' | 'ASC' )?"`
}

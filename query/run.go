package query

import (
	"fmt"
	"iter"

	"github.com/simdb/simdb/query/internal/predicate"
)

// run is one running statement.
type run struct {
	*predicate.Scope
	rows *Rows // what the statement returns
}

// answer sets the rows that the statement returns.
func (x *run) answer(columns []string, seq iter.Seq2[Row, error]) {
	x.rows.columns, x.rows.seq = columns, seq
}

// say sets the message that the statement returns.
func (x *run) say(format string, args ...any) { x.rows.message = fmt.Sprintf(format, args...) }

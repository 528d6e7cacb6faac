// What the Go side of the shared library needs of C, beside what users call.
#ifndef SIMDB_LIB_H
#define SIMDB_LIB_H
#include "simdb.h"

// The table lies in memory of C, so that other code, also a process that has forked, frees it
// without Go.
struct simdb_table *simdb_table_new(int64_t rows, int64_t columns);

// What a producer's functions are called by, as Go cannot.
int simdb_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out);
int simdb_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out);
const char *simdb_stream_error(struct ArrowArrayStream *s);
void simdb_stream_release(struct ArrowArrayStream *s);
void simdb_schema_release(struct ArrowSchema *s);
void simdb_array_release(struct ArrowArray *a);
#endif

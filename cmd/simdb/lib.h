// The C side of the shared library: the Arrow C data interface, and tables that it hands out. What
// is in a table lies in memory of C, so that other code, also a process that has forked, frees it
// without Go.
#ifndef SIMDB_LIB_H
#define SIMDB_LIB_H
#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

// A column has up to three buffers: validity or NULL, values or offsets, and bytes of strings.
struct simdb_column {
	char *name, *format;
	int64_t nulls, buffers;
	void *buffer[3];
	int64_t bytes[3];
};
struct simdb_table {
	int64_t references, rows, columns;
	struct simdb_column *column;
};
struct simdb_table *simdb_table_new(int64_t rows, int64_t columns);
void simdb_table_free(struct simdb_table *t);
int simdb_table_stream(struct simdb_table *t, struct ArrowArrayStream *out);
int simdb_table_column(struct simdb_table *t, int64_t column, struct ArrowSchema *schema, struct ArrowArray *array);

// What a producer's functions are called by, as Go cannot.
int simdb_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out);
int simdb_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out);
const char *simdb_stream_error(struct ArrowArrayStream *s);
void simdb_stream_release(struct ArrowArrayStream *s);
void simdb_schema_release(struct ArrowSchema *s);
void simdb_array_release(struct ArrowArray *a);
#endif

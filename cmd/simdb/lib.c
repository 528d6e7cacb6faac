//go:build simdb_library

#include "lib.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct simdb_table *simdb_table_new(int64_t rows, int64_t columns) {
	struct simdb_table *t = calloc(1, sizeof *t);
	if (!t) return NULL;
	t->references = 1, t->rows = rows, t->columns = columns;
	t->column = calloc(columns ? columns : 1, sizeof *t->column);
	if (!t->column) { free(t); return NULL; }
	return t;
}

void simdb_table_free(struct simdb_table *t) {
	if (!t || __atomic_sub_fetch(&t->references, 1, __ATOMIC_ACQ_REL) > 0) return;
	for (int64_t c = 0; c < t->columns; c++) {
		free(t->column[c].name), free(t->column[c].format);
		for (int b = 0; b < 3; b++) free(t->column[c].buffer[b]);
	}
	free(t->column), free(t);
}

static struct simdb_table *shared(struct simdb_table *t) {
	__atomic_add_fetch(&t->references, 1, __ATOMIC_ACQ_REL);
	return t;
}

// Children are freed by their parent, unless a consumer has taken them: then release is NULL.
static void free_schema(struct ArrowSchema *s) {
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i]->release) s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	simdb_table_free(s->private_data);
	s->release = NULL;
}

static void free_array(struct ArrowArray *a) {
	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i]->release) a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children), free(a->buffers);
	simdb_table_free(a->private_data);
	a->release = NULL;
}

static int column_schema(struct simdb_table *t, int64_t c, struct ArrowSchema *s) {
	memset(s, 0, sizeof *s);
	s->format = t->column[c].format, s->name = t->column[c].name, s->flags = ARROW_FLAG_NULLABLE;
	s->private_data = shared(t), s->release = free_schema;
	return 0;
}

static int column_array(struct simdb_table *t, int64_t c, struct ArrowArray *a) {
	struct simdb_column *from = &t->column[c];
	memset(a, 0, sizeof *a);
	a->buffers = calloc(3, sizeof *a->buffers);
	if (!a->buffers) return ENOMEM;
	for (int64_t b = 0; b < from->buffers; b++) a->buffers[b] = from->buffer[b];
	a->length = t->rows, a->null_count = from->nulls, a->n_buffers = from->buffers;
	a->private_data = shared(t), a->release = free_array;
	return 0;
}

int simdb_table_column(struct simdb_table *t, int64_t c, struct ArrowSchema *s, struct ArrowArray *a) {
	if (c < 0 || c >= t->columns) return EINVAL;
	int failed = column_array(t, c, a);
	return failed ? failed : column_schema(t, c, s);
}

struct stream {
	struct simdb_table *t;
	int done;
};

static int stream_schema(struct ArrowArrayStream *st, struct ArrowSchema *s) {
	struct simdb_table *t = ((struct stream *)st->private_data)->t;
	memset(s, 0, sizeof *s);
	s->children = calloc(t->columns ? t->columns : 1, sizeof *s->children);
	if (!s->children) return ENOMEM;
	s->format = "+s", s->name = "", s->private_data = shared(t), s->release = free_schema;
	for (int64_t c = 0; c < t->columns; c++, s->n_children++) {
		if (!(s->children[c] = calloc(1, sizeof **s->children))) { free_schema(s); return ENOMEM; }
		column_schema(t, c, s->children[c]);
	}
	return 0;
}

static int stream_next(struct ArrowArrayStream *st, struct ArrowArray *a) {
	struct stream *from = st->private_data;
	struct simdb_table *t = from->t;
	memset(a, 0, sizeof *a);
	if (from->done) return 0;
	a->children = calloc(t->columns ? t->columns : 1, sizeof *a->children);
	a->buffers = calloc(1, sizeof *a->buffers);
	if (!a->children || !a->buffers) { free(a->children), free(a->buffers); return ENOMEM; }
	a->length = t->rows, a->n_buffers = 1, a->private_data = shared(t), a->release = free_array;
	for (int64_t c = 0; c < t->columns; c++) {
		if (!(a->children[c] = calloc(1, sizeof **a->children))) { free_array(a); return ENOMEM; }
		a->n_children++;
		if (column_array(t, c, a->children[c])) { free_array(a); return ENOMEM; }
	}
	from->done = 1;
	return 0;
}

static const char *stream_error(struct ArrowArrayStream *st) { return "out of memory"; }

static void stream_release(struct ArrowArrayStream *st) {
	simdb_table_free(((struct stream *)st->private_data)->t);
	free(st->private_data);
	st->release = NULL;
}

int simdb_table_stream(struct simdb_table *t, struct ArrowArrayStream *out) {
	struct stream *s = calloc(1, sizeof *s);
	if (!s) return ENOMEM;
	s->t = shared(t);
	*out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, s};
	return 0;
}

int simdb_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) { return s->get_schema(s, out); }
int simdb_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) { return s->get_next(s, out); }
const char *simdb_stream_error(struct ArrowArrayStream *s) { return s->get_last_error(s); }
void simdb_stream_release(struct ArrowArrayStream *s) { if (s->release) s->release(s); }
void simdb_schema_release(struct ArrowSchema *s) { if (s->release) s->release(s); }
void simdb_array_release(struct ArrowArray *a) { if (a->release) a->release(a); }

/* simdb.h: simdb as a shared library, for C and for languages that call C.
 *
 * A call is a request in JSON, which docs/c.md describes, with tables in the Arrow C data interface:
 *
 *	uintptr_t call;
 *	simdb_start(json, strlen(json), NULL, NULL, 0, NULL, 0, 1, &call);
 *	char *reply;
 *	struct simdb_table *table, *mask;
 *	simdb_result(call, &reply, &table, &mask);
 *
 * All functions may be called from any thread, at the same time. A process that was forked from one
 * that had called a function must not call any but simdb_free and simdb_table_free, and must not use
 * the databases: the threads of Go are not there.
 *
 * SIMDB_C_API changes when a function or a request stops to work as it did, not when one is added.
 */
#ifndef SIMDB_H
#define SIMDB_H
#include <stdint.h>

#define SIMDB_C_API 1

#ifdef __cplusplus
extern "C" {
#endif

/* The Arrow C data interface, as https://arrow.apache.org/docs/format/CDataInterface.html has it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
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
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* A column of a result. format is Arrow's: "b" booleans, "l" and "L" integers of 64 bits, "g" doubles,
 * "U" strings with offsets of 64 bits, "tsu:UTC" microseconds since 1970. Up to three buffers, laid out
 * as Arrow prescribes: the validity bits, or NULL if no value is null; the values or the offsets; the
 * bytes of strings. The memory is C's. */
struct simdb_column {
	char *name, *format;
	int64_t nulls, buffers;
	void *buffer[3];
	int64_t bytes[3]; /* of each buffer */
};

/* A result with rows. It counts its references; the reader of a result has one. */
struct simdb_table {
	int64_t references, rows, columns;
	struct simdb_column *column;
};

typedef const char simdb_char;

/* simdb_start begins a call. request is JSON of size bytes. streams has the tables, as many as names
 * has; simdb_start becomes the owner of the streams, and releases them. numbers has the words of
 * fingerprints that a search asks for. request and numbers must remain valid until the call has ended.
 * If now is not 0, the call has ended when simdb_start returns, which suits calls of a few
 * microseconds. */
void simdb_start(simdb_char *request, int64_t size, struct ArrowArrayStream **streams, simdb_char **names,
	int64_t tables, uint64_t *numbers, int64_t count, int now, uintptr_t *call);

/* simdb_wait waits until a call has ended, but at most the given number of milliseconds. It returns 1 if
 * the call has ended, otherwise 0. */
int simdb_wait(uintptr_t call, int64_t milliseconds);

/* simdb_cancel asks a call to end early. simdb_result is still needed. */
void simdb_cancel(uintptr_t call);

/* simdb_result waits until a call has ended, sets its outcome, and frees the handle, which must not be
 * used again. *reply is {"values": ...} or {"error": {"kind": ..., "text": ...}}, which the caller frees
 * by simdb_free. *table is a table or NULL, *mask a table with the column of kept rows or NULL; the
 * caller frees each by simdb_table_free. */
void simdb_result(uintptr_t call, char **reply, struct simdb_table **table, struct simdb_table **mask);

/* simdb_free frees a reply. */
void simdb_free(char *reply);

/* simdb_table_free gives up a reference to a table. NULL is allowed. */
void simdb_table_free(struct simdb_table *t);

/* simdb_table_stream sets *out to a stream of the table, as one batch. simdb_table_column sets *schema
 * and *array to a column, counted from 0. Both share the memory of the table, and hold a reference until
 * they are released. They return 0, EINVAL if there is no such column, or ENOMEM. */
int simdb_table_stream(struct simdb_table *t, struct ArrowArrayStream *out);
int simdb_table_column(struct simdb_table *t, int64_t column, struct ArrowSchema *schema, struct ArrowArray *array);

/* simdb_main runs the command simdb: arguments are those of the command line without the name of the
 * program. It ends the process. */
void simdb_main(int count, char **arguments);

/* simdb_version returns the version, in memory that is never freed. */
simdb_char *simdb_version(void);

#ifdef __cplusplus
}
#endif
#endif

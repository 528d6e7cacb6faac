/* An extension of DuckDB, over its C API for extensions. docs/c.md says how to compile and load it.
 *
 *	FROM simdb_query('corpus.simdb', 'NEAR(''a'', 3)');      -- the rows of a statement
 *	FROM simdb_dedup('shard-*.parquet', '{"jaccard": 0.8}'); -- a row for each row of the files to drop
 *
 * The second argument of simdb_dedup has keywords of the Python function dedup. DuckDB asks for the columns
 * before it asks for rows, so the call is made when DuckDB prepares a query, which must not be much larger
 * than what fits into memory. A database is opened for reading, and closed after the call.
 */
#define DUCKDB_EXTENSION_NAME simdb
#include "duckdb_extension.h"
#include "simdb.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN


/* A text that grows. */
struct text {
	char *at;
	size_t size, space;
};

static void append(struct text *t, const char *s, size_t n) {
	if (t->size + n + 1 > t->space) t->at = realloc(t->at, t->space = 2 * (t->size + n + 1));
	memcpy(t->at + t->size, s, n);
	t->at[t->size += n] = 0;
}

/* json appends the parts up to NULL: the first, the third and so on as they are, the others as strings of JSON. */
static void json(struct text *t, const char **parts) {
	for (int i = 0; parts[i]; i++) {
		if (i % 2 == 0) {
			append(t, parts[i], strlen(parts[i]));
			continue;
		}
		append(t, "\"", 1);
		for (const unsigned char *c = (const unsigned char *)parts[i]; *c; c++) {
			char escaped[8];
			if (*c >= ' ' && *c != '"' && *c != '\\') append(t, (const char *)c, 1);
			else append(t, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *c));
		}
		append(t, "\"", 1);
	}
}

/* call makes a call whose request has these parts. It returns the error, which the caller frees by
 * simdb_free, or NULL. */
static char *call(struct simdb_table **table, const char **parts) {
	struct text request = {0};
	struct simdb_table *mask;
	uintptr_t started;
	char *reply;
	json(&request, parts);
	simdb_start(request.at, (int64_t)request.size, NULL, NULL, 0, NULL, 0, 1, &started);
	simdb_result(started, &reply, table, &mask);
	simdb_table_free(mask);
	free(request.at);
	if (strncmp(reply, "{\"error\"", 8) == 0) return reply;
	simdb_free(reply);
	return NULL;
}

static void free_table(void *table) { simdb_table_free(table); }

/* finish ends a bind: with an error, which it frees, or with the columns of a table. */
static void finish(duckdb_bind_info info, char *error, struct simdb_table *table) {
	if (error || !table) {
		duckdb_bind_set_error(info, error ? error : "the statement has no rows");
		simdb_free(error);
		return;
	}
	for (int64_t i = 0; i < table->columns; i++) {
		const struct simdb_column *c = &table->column[i];
		duckdb_logical_type type = duckdb_create_logical_type(
			*c->format == 'b' ? DUCKDB_TYPE_BOOLEAN : *c->format == 'l' ? DUCKDB_TYPE_BIGINT : *c->format == 'L' ? DUCKDB_TYPE_UBIGINT :
			*c->format == 'g' ? DUCKDB_TYPE_DOUBLE : *c->format == 't' ? DUCKDB_TYPE_TIMESTAMP_TZ : DUCKDB_TYPE_VARCHAR);
		duckdb_bind_add_result_column(info, c->name, type);
		duckdb_destroy_logical_type(&type);
	}
	duckdb_bind_set_cardinality(info, (idx_t)table->rows, true);
	duckdb_bind_set_bind_data(info, table, free_table);
}

/* argument returns an argument as a string, which the caller frees by duckdb_free; NULL is "". */
static char *argument(duckdb_bind_info info, idx_t number) {
	duckdb_value value = duckdb_bind_get_parameter(info, number);
	if (duckdb_is_null_value(value)) {
		duckdb_destroy_value(&value);
		value = duckdb_create_varchar("");
	}
	char *text = duckdb_get_varchar(value);
	duckdb_destroy_value(&value);
	return text;
}

static void bind_query(duckdb_bind_info info) {
	static atomic_uint opened = 1u << 31; /* numbers of databases, apart from those of other users of the library */
	char number[16], *path = argument(info, 0), *statement = argument(info, 1);
	struct simdb_table *table = NULL, *none = NULL;
	snprintf(number, sizeof number, "%u", atomic_fetch_add(&opened, 1));
	char open[64], query[64], close[64];
	snprintf(open, sizeof open, "{\"op\":\"open\",\"readonly\":true,\"db\":%s,\"path\":", number);
	snprintf(query, sizeof query, "{\"op\":\"query\",\"db\":%s,\"statement\":", number);
	snprintf(close, sizeof close, "{\"op\":\"close\",\"db\":%s}", number);
	char *error = call(&none, (const char *[]){open, path, "}", NULL});
	if (!error) {
		error = call(&table, (const char *[]){query, statement, "}", NULL});
		call(&none, (const char *[]){close, NULL});
	}
	duckdb_free(path);
	duckdb_free(statement);
	finish(info, error, table);
}

static void bind_dedup(duckdb_bind_info info) {
	char *files = argument(info, 0), *keywords = argument(info, 1);
	struct simdb_table *table = NULL;
	struct text rest = {0};
	json(&rest, (const char *[]){"]},\"keywords\":", NULL});
	append(&rest, keywords, strlen(keywords));
	append(&rest, "}", 1);
	char *error = call(&table, (const char *[]){"{\"op\":\"dedup\",\"files\":{\"<table>\":[", files, rest.at, NULL});
	free(rest.at);
	duckdb_free(files);
	duckdb_free(keywords);
	finish(info, error, table);
}

/* init starts a scan, whose state is the number of rows that are done. */
static void init(duckdb_init_info info) {
	duckdb_init_set_max_threads(info, 1);
	duckdb_init_set_init_data(info, calloc(1, sizeof(int64_t)), free);
}

/* bit returns a bit of an Arrow bitmap. */
static int bit(const void *bits, int64_t i) { return ((const unsigned char *)bits)[i / 8] >> (i % 8) & 1; }

/* scan copies the next rows. */
static void scan(duckdb_function_info info, duckdb_data_chunk output) {
	const struct simdb_table *table = duckdb_function_get_bind_data(info);
	int64_t *done = duckdb_function_get_init_data(info), n = table->rows - *done;
	if (n > (int64_t)duckdb_vector_size()) n = (int64_t)duckdb_vector_size();
	for (int64_t i = 0; i < table->columns; i++) {
		const struct simdb_column *c = &table->column[i];
		duckdb_vector to = duckdb_data_chunk_get_vector(output, (idx_t)i);
		duckdb_vector_ensure_validity_writable(to);
		uint64_t *validity = duckdb_vector_get_validity(to);
		void *data = duckdb_vector_get_data(to);
		for (int64_t row = 0; row < n; row++) {
			int64_t from = *done + row;
			if (c->buffer[0] && !bit(c->buffer[0], from)) {
				duckdb_validity_set_row_invalid(validity, (idx_t)row);
			} else if (*c->format == 'U') {
				const int64_t *ends = c->buffer[1];
				duckdb_vector_assign_string_element_len(to, (idx_t)row, (const char *)c->buffer[2] + ends[from], (idx_t)(ends[from + 1] - ends[from]));
			} else if (*c->format == 'b') {
				((bool *)data)[row] = bit(c->buffer[1], from);
			} else { /* all others have 64 bits */
				((uint64_t *)data)[row] = ((const uint64_t *)c->buffer[1])[from];
			}
		}
	}
	duckdb_data_chunk_set_size(output, (idx_t)n);
	*done += n;
}

static void add(duckdb_connection connection, const char *name, duckdb_table_function_bind_t bind) {
	duckdb_table_function f = duckdb_create_table_function();
	duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
	duckdb_table_function_set_name(f, name);
	duckdb_table_function_add_parameter(f, text);
	duckdb_table_function_add_parameter(f, text);
	duckdb_table_function_set_bind(f, bind);
	duckdb_table_function_set_init(f, init);
	duckdb_table_function_set_function(f, scan);
	duckdb_register_table_function(connection, f);
	duckdb_destroy_logical_type(&text);
	duckdb_destroy_table_function(&f);
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info, struct duckdb_extension_access *access) {
	(void)info, (void)access;
	add(connection, "simdb_query", bind_query);
	add(connection, "simdb_dedup", bind_dedup);
	return true;
}

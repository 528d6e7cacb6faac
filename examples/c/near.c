/* Stores texts and lists which of them resemble another one. docs/c.md says how to compile it.
 *
 *	./near corpus.simdb
 */
#include "simdb.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* call makes a call and prints its error, if it has one. It returns 0 if the call succeeded. The caller
 * frees *table, which is NULL unless the call returns rows. */
static int call(const char *request, struct simdb_table **table) {
	uintptr_t started;
	char *reply;
	struct simdb_table *mask;
	simdb_start(request, (int64_t)strlen(request), NULL, NULL, 0, NULL, 0, 1, &started);
	simdb_result(started, &reply, table, &mask);
	simdb_table_free(mask);
	int failed = strncmp(reply, "{\"error\"", 8) == 0;
	if (failed) fprintf(stderr, "%s\n", reply);
	simdb_free(reply);
	return failed;
}

/* string returns the bytes of a value of a column of strings, and their number. */
static const char *string(const struct simdb_column *c, int64_t row, int *size) {
	const int64_t *ends = c->buffer[1];
	*size = (int)(ends[row + 1] - ends[row]);
	return (const char *)c->buffer[2] + ends[row];
}

int main(int count, char **arguments) {
	struct simdb_table *table = NULL;
	char open[4096];
	if (count != 2 || strpbrk(arguments[1], "\"\\")) return fprintf(stderr, "usage: near DB\n"), 2;
	snprintf(open, sizeof open, "{\"op\": \"open\", \"db\": 1, \"path\": \"%s\"}", arguments[1]);
	if (call(open, &table)) return 1;

	const char *add = "{\"op\": \"add\", \"db\": 1, \"docs\": {\"<table>\": \""
		"{\\\"id\\\": \\\"a\\\", \\\"text\\\": \\\"the quick brown fox jumps over the lazy dog\\\"}\\n"
		"{\\\"id\\\": \\\"b\\\", \\\"text\\\": \\\"the quick brown fox jumps over the lazy cat\\\"}\\n"
		"{\\\"id\\\": \\\"c\\\", \\\"text\\\": \\\"a database of documents that resemble one another\\\"}\\n\"}}";
	const char *search = "{\"op\": \"search\", \"db\": 1, \"by\": {\"jaccard\": 0.7},"
		" \"texts\": [\"the quick brown fox jumps over the lazy dog\"]}";
	int failed = call(add, &table) || call(search, &table);
	for (int64_t row = 0; !failed && row < table->rows; row++) {
		int size;
		const char *id = string(&table->column[1], row, &size); /* the columns are query, id, score, ... */
		printf("%.*s %.3f\n", size, id, ((const double *)table->column[2].buffer[1])[row]);
	}
	simdb_table_free(table);
	return call("{\"op\": \"close\", \"db\": 1}", &table) || failed;
}

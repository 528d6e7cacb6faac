package syntax

import (
	"strings"
	"testing"
)

// The expected literal is read from the text of participle's errors. This test fails with a version
// of participle that words its errors differently.
func TestExpectation(t *testing.T) {
	for text, want := range map[string]string{
		"lang = en":                    `unexpected "en", strings are written in quotes: 'en'`,
		"lang == 'en'":                 `unexpected "=", equality is written =`,
		"ID LIKE a%":                   `unexpected '%', there is no arithmetic, and no space in 80%; patterns are written in single quotes, as in LIKE 'a%'; similar texts are found by JACCARD(TEXT 'some words', 0.5)`,
		"COUNT *":                      `unexpected "*", COUNT alone counts the documents, COUNT lang = 'en' those it finds, COUNT BY lang those of each value; SHOW * shows all fields`,
		"NEAR('a', 3) SINCE 2 days":    `unexpected "days", write 2d for days, 2h for hours`,
		"PRUNE OLDER 30d":              "unknown statement \"PRUNE\", it is a command: `simdb prune DB`, or .prune at the prompt",
		"allowed":                      "unknown statement \"allowed\", it is a command: `simdb allowed DB`, or .allowed at the prompt",
		"NEAR('a', 3":                  `the statement ends where ")" as in NEAR('a', 3) AND lang IN ('en', 'de') ORDER BY lang should follow`,
		"NEAR 'a'":                     `unexpected 'a', expected "(" as in NEAR('a', 3)`,
		"ID IN 'a'":                    `unexpected 'a', a list follows, as in IN ('a', 'b')`,
		"NEAREST('a', ten)":            `unexpected "ten", expected a number such as 3`,
		"NEAR('a', k=3)":               `unexpected "k", expected a number such as 3`,
		"ID IN ('a', b)":               `unexpected "b", document ids are written in quotes: 'b'`,
		"NEAR('a', 3) && lang = 'en'":  `unexpected '&', write AND`,
		"NEAR('a', 3) || lang = 'en'":  `unexpected '|', write OR`,
		"NEAR('a', 3) WHERE a = 'x'":   `unexpected "WHERE", write only the condition: lang = 'en' SHOW text, COUNT lang = 'en'; AND stands before another`,
		"NEAR('a', 3) NEAR('b', 3)":    `unexpected "NEAR", AND or OR is written between predicates; SHOW, ORDER BY and LIMIT follow all`,
		"LIMIT":                        `unexpected "LIMIT", expected a number such as 3 after it`,
		"'MIT'":                        `unexpected 'MIT', expected a statement such as NEAR('a', 3), TEXT LIKE '%word%' or GET 'a'`,
		"MITT":                         `unknown statement "MITT", NEAR('MITT', 6) finds documents like MITT, GET 'MITT' shows it, TEXT LIKE '%MITT%' finds the word`,
		"FIND 'a'":                     `unknown statement "FIND", write NEAR('a', 3), or NEAR(TEXT '...', 3)`,
		"NEAR(9f3c5a00112233, 3)":      `"9f3c5a00112233" is not a number, a hexadecimal number is written 0x9f3c5a00112233`,
		"NEAR('a', 3) ORDER distance":  `unexpected "distance", write NEAR('a', 3), JACCARD('a', 0.8), LEVENSHTEIN('a', 0.9) or WHY 'a' 'b'`,
		"NEAR('a', 3) AND":             "the statement ends where a predicate such as NEAR('a', 3) should follow",
		"NEAR('a',)":                   `unexpected ")", expected a number such as 3`,
		"GET":                          "the statement ends where a document id in quotes such as 'a' should follow",
		"GET 'a' GET 'b'":              `unexpected "GET", a statement ends with ;`,
		"GET 'a'; 'b'":                 `unexpected 'b' after the end of the statement, run them one by one`,
		"WHY 'a'":                      "the statement ends where a second document id in quotes such as 'b' should follow",
		"NEER('a', 3)":                 `unknown predicate "NEER", did you mean NEAR?`,
		"COUNTT":                       `unknown statement "COUNTT", did you mean COUNT?`,
		"SHOW TABLES":                  `unknown statement "SHOW", SHOW * LIMIT 5 shows some documents, .fields lists the fields, .stats describes the database`,
		"SELECT *":                     `unknown statement "SELECT", write only the condition, such as NEAR('a', 3) or lang = 'en'; SHOW * LIMIT 5 shows some documents, COUNT BY lang counts by value, PAIRS JACCARD 0.8 lists similar ones, .import FILE loads a file`,
		"NEAR(doc, 3)":                 `unexpected "doc", document ids are written in quotes: 'doc'`,
		strings.Repeat("(", 201) + "1": "parentheses nest deeper than 200",
		"ID IN (" + strings.Repeat("'a',", maxTokens/2) + "'a')": "a statement of more than 262144 words, split it",
		"NEAR('a', 3) LIMIT '" + "x'":                            `unexpected 'x', expected a number such as 3`,
		"ID NOT 'a'":                                             `unexpected 'a', expected LIKE 'a%', IN ('a', 'b') or BETWEEN 'a' AND 'b'`,
		"lang ILIKE 'e%'":                                        `unexpected "ILIKE", LIKE distinguishes upper and lower case: write lang LIKE 'en%' OR lang LIKE 'EN%'`,
		"lang ~ 'e'":                                             `unexpected '~', write LIKE, with % for any characters, as in lang LIKE 'e%'`,
		"select id from d where a == 1":                          `unknown statement "select", write a = 1 SHOW id`,
		"SELECT count(*) FROM d":                                 `unknown statement "SELECT", write COUNT`,
		"GROUP BY lang":                                          `unknown statement "GROUP", COUNT BY lang counts the documents of each value of a field`,
		"COUNT lang":                                             `the statement ends where =, <, LIKE, IN or BETWEEN should follow, COUNT BY lang counts the documents of each value`,
		"GET 'a', 'b'":                                           `unexpected ",", one id stands here: write ID IN ('a', 'b') SHOW *, or DELETE WHERE ID IN ('a', 'b')`,
		"GET id = 'a'":                                           `unexpected "id", write GET 'a', or ID = 'a' SHOW *`,
		"GET 'a' 'b'":                                            `unexpected 'b', one id stands here: write ID IN ('a', 'b') SHOW *, or DELETE WHERE ID IN ('a', 'b')`,
		"lang = 'a', b = 3":                                      `unexpected "b", write AND between conditions; COUNT BY and ORDER BY have one field`,
		"group ILIKE 'a%'":                                       `unexpected "ILIKE", LIKE distinguishes upper and lower case: write group LIKE 'en%' OR group LIKE 'EN%'`,
		"text <-> 'a'":                                           `unexpected '-', write NEAREST(TEXT 'some words', 10), or JACCARD(TEXT 'some words', 0.5)`,
		"lang IN (en)":                                           `unexpected "en", strings are written in quotes: 'en'`,
		"PAIRS JACCARD > 0.8":                                    `expected >=, as in JACCARD >= 0.8, not ">"`,
		"GET MIT":                                                `unexpected "MIT", document ids are written in quotes: 'MIT'`,
		"NEAR('a', 3) LIMIT 5, 10":                               `unexpected ",", write LIMIT 10 OFFSET 5`,
		"NEAR('a', 3) UNION GET 'a'":                             `unexpected "UNION", write OR, AND or AND NOT between predicates; SHOW id, lang names the columns wanted`,
		"lang IS 'en'":                                           `unexpected 'en', write = or !=, or IS NULL or IS NOT NULL`,
		`\d`:                                                     `unexpected '\\', commands of the prompt begin with a point: .schema, .fields, .quit; .help lists them`,
		"to be or not to be":                                     "unknown statement \"to\", a statement looks like NEAR('a', 3), lang = 'en' or COUNT; TEXT LIKE '%words%' finds words, .import FILE loads a file",
		"NEAR('a', 3) AND ID LIKE ESCAPE":                        `unexpected "ESCAPE", expected a pattern in quotes such as 'a%'`,
	} {
		_, err := vocabulary.Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// A command with paths of nested fields gives the same result as with fields of the top level:
// in JSON lines, Parquet, CSV with columns of these names, and databases.
func TestNestedFields(t *testing.T) {
	type message struct {
		Content string `parquet:"content" json:"content"`
	}
	type meta struct {
		ID       string             `parquet:"id" json:"id"`
		Text     string             `parquet:"text" json:"text"`
		Rank     float64            `parquet:"rank" json:"rank"`
		Dump     string             `parquet:"dump" json:"dump"`
		Print    string             `parquet:"print" json:"print"`
		Time     string             `parquet:"time" json:"time"`
		Tags     []string           `parquet:"tags,list" json:"tags"`
		Messages []message          `parquet:"messages,list" json:"messages"`
		Turns    map[string]message `parquet:"turns" json:"turns"`
	}
	type row struct {
		M meta `parquet:"m" json:"m"`
	}
	names := []string{"id", "text", "rank", "dump", "print", "time", "tags", "messages", "turns"}
	paths := map[string]string{"messages": "m.messages[].content", "said": "m.messages[].content", "turns": "m.turns.*.content"}
	dir := t.TempDir()
	var rows []row
	var nested, flat, table bytes.Buffer
	var cells bytes.Buffer
	columns := csv.NewWriter(&cells)
	var header []string
	for _, n := range names {
		if paths[n] == "" {
			paths[n] = "m." + n
		}
		header = append(header, paths[n])
	}
	columns.Write(append(header, "said"))
	for i := range 60 {
		words := strings.Fields(strings.Repeat(fmt.Sprintf("one%d two three%d four five ", i%9, i%4), 1+i%3))
		rank := float64(i*7%23) - 3.5
		m := meta{fmt.Sprint("one two three four ", i), strings.Join(words, " "), rank, fmt.Sprint("dump", i%5), fmt.Sprintf("%016x", 0xabcd<<40|uint64(i*i%17)), fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+i%28),
			[]string{fmt.Sprint("t", i%5), "u", fmt.Sprint("v", i%2)}, []message{{words[0] + " was said here"}, {words[2] + " was the answer to it"}}, map[string]message{fmt.Sprint("k", i): {strings.Join(words[:5], " ")}}}
		rows = append(rows, row{m})
		json.NewEncoder(&nested).Encode(row{m})
		said, turns, tags := m.Messages[0].Content+"\n"+m.Messages[1].Content, strings.Join(words[:5], " "), asText(m.Tags)
		json.NewEncoder(&flat).Encode(map[string]any{"id": m.ID, "text": m.Text, "rank": m.Rank, "dump": m.Dump, "print": m.Print, "time": m.Time, "tags": m.Tags, "messages": said, "said": strings.Split(said, "\n"), "turns": turns})
		columns.Write([]string{m.ID, m.Text, fmt.Sprint(rank), m.Dump, m.Print, m.Time, tags, said, turns, asText(strings.Split(said, "\n"))})
	}
	columns.Flush()
	w := pq.NewGenericWriter[row](&table, pq.MaxRowsPerRowGroup(25))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"flat.jsonl": flat.Bytes(), "nested.jsonl": nested.Bytes(), "nested.parquet": table.Bytes(), "nested.csv": cells.Bytes()}
	for name, b := range files {
		write(t, filepath.Join(dir, name), b)
	}
	dropped := regexp.MustCompile(`"(id|keeper|a|b|cluster|score)":("[^"]*"|[0-9.]+)`)
	run := func(file, line string) string {
		t.Helper()
		line = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(line, func(name string) string {
			switch name = strings.Trim(name, "{}"); {
			case name == "FILE":
				return file
			case file == "flat.jsonl":
				return name
			}
			if name == "said" && file == "nested.csv" {
				return "said"
			}
			return paths[name]
		})
		if file == "nested.csv" && strings.Contains(line, ".db|") { // a key with points has quotes in a statement
			line = regexp.MustCompile(`(SHOW |BY |WHERE |, |AND [ab]\.|!= [ab]\.)(m\.\w+)`).ReplaceAllString(line, "${1}fields.'$2'")
			line = strings.NewReplacer("a.fields.", "a.", "b.fields.", "b.").Replace(line)
		}
		code, data, talk := simdbIn(t, dir, "", strings.Split(line, "|")...)
		if code != 0 {
			t.Errorf("%s: exit status %d, %s", line, code, talk)
		}
		return data
	}
	for i, line := range []string{
		"dedup|{FILE}|--id-field|{id}|--text-field|{text}|--keep|max:{rank}",
		"dedup|{FILE}|--id-field|{id}|--text-field|{text}|--keep|min:{dump},max:{rank}",
		"dedup|{FILE}|--id-field|{id}|--text-field|{text}|--across|{dump}",
		"dedup|{FILE}|--id-field|{id}|--text-field|{text}|--within-field|{dump}|--jaccard|0.1",
		"dedup|{FILE}|--id-field|{id}|--text-field|{messages}|--keep|last",
		"dedup|{FILE}|--id-field|{id}|--text-field|{turns}",
		"dedup|{FILE}|--id-field|{id}|--text-field|{turns},{text}|--jaccard|0.5",
		"dedup|{FILE}|--id-field|{id}|--field|{text}:3,{messages}:1|--jaccard|0.6",
		"dedup|{FILE}|--id-field|{id}|--set-field|{tags}|--jaccard|0.4",
		"dedup|{FILE}|--id-field|{id}|--set-field|{said}|--jaccard|0.4",
		"dedup|{FILE}|--id-field|{id}|--fingerprint-field|{print}|--text-field|{text}|--near|2",
		"dedup|{FILE}|--id-field|{id}|--text-field|{id}|--jaccard|0.5",
		"pairs|{FILE}|--id-field|{id}|--text-field|{text}|--across|{dump}|--jaccard|0.7|--format|jsonl",
		"dedup|{FILE}.db|--keep|max:{rank}",
		"dedup|{FILE}.db|--within-field|{dump}|--jaccard|0.1",
		"pairs|{FILE}.db|--across|{dump}|--jaccard|0.7|--format|jsonl",
		"{FILE}.db|ORDER BY {rank} LIMIT 20",
		"{FILE}.db|ORDER BY {dump} DESC, {rank} DESC SHOW id, {rank}, time",
		"{FILE}.db|COUNT BY {dump}",
		"{FILE}.db|PAIRS JACCARD 0.7 AND a.{dump} != b.{dump}",
		"{FILE}.db|DELETE WHERE {rank} > 9",
		"{FILE}.db|ORDER BY id",
	} {
		want := ""
		for _, file := range []string{"flat.jsonl", "nested.jsonl", "nested.parquet", "nested.csv"} {
			if i == 0 {
				run(file, "load|{FILE}.db|{FILE}|--id-field|{id}|--text-field|{text}|--time-field|{time}|--index|"+map[bool]string{true: "fields.'m.rank'", false: "{rank}"}[file == "nested.csv"])
			}
			got := ""
			switch {
			case strings.HasPrefix(line, "dedup"):
				run(file, line+"|-o|"+map[bool]string{true: "kept.jsonl", false: "kept.{FILE}"}[strings.Contains(line, ".db|")]+"|--audit|audit.jsonl|-q")
				got = string(readFile(t, filepath.Join(dir, "audit.jsonl")))
				_, got, _ = strings.Cut(got, "\n")
			default:
				got = run(file, line)
			}
			if strings.HasPrefix(line, "dedup") || strings.HasPrefix(line, "pairs") {
				got = fmt.Sprint(dropped.FindAllString(got, -1))
			}
			if want == "" {
				want = got
			}
			if got != want || len(want) < 30 && !strings.Contains(line, "DELETE") {
				t.Errorf("%s: %s has\n%s\nwant\n%s", line, file, got, want)
			}
		}
	}
}

func asText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

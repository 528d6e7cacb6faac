package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// levelDoc is a document of TestLevel. Its text consists of lines, or of paragraphs of one line.
type levelDoc struct {
	id    string
	units []string
}

// levelModel returns the texts that stay, "" for a dropped document, and the lines of the audit:
// line of the input, unit, line and unit of the keeper; or line and "empty".
func levelModel(docs []levelDoc, separator string, minWords, minCount int) (texts, audit []string) {
	type place struct{ doc, unit int }
	count, first := map[string]int{}, map[string]place{}
	key := func(unit string) string { return strings.ToLower(strings.Join(strings.Fields(unit), " ")) }
	for d, doc := range docs {
		for u, unit := range doc.units {
			if count[key(unit)]++; count[key(unit)] == 1 {
				first[key(unit)] = place{d, u}
			}
		}
	}
	for d, doc := range docs {
		var stay []string
		for u, unit := range doc.units {
			k := first[key(unit)]
			if len(strings.Fields(unit)) < minWords || count[key(unit)] < minCount || k == (place{d, u}) {
				stay = append(stay, unit)
				continue
			}
			audit = append(audit, fmt.Sprintln(d+1, u+1, k.doc+1, k.unit+1))
		}
		if len(stay) == 0 && len(doc.units) > 0 {
			audit = append(audit, fmt.Sprintln(d+1, "empty"))
		}
		texts = append(texts, strings.Join(stay, separator))
	}
	return texts, audit
}

// randomDocs returns documents of units that often repeat, with other spaces and in other case.
func randomDocs(r *rand.Rand) []levelDoc {
	docs := make([]levelDoc, 120)
	for d := range docs {
		docs[d].id = fmt.Sprint("d", r.IntN(60)) // ids repeat, too
		for range r.IntN(5) {
			unit := strings.Repeat("word ", r.IntN(4)) + fmt.Sprint("Unit ", r.IntN(40))
			switch r.IntN(4) {
			case 0:
				unit = strings.ToUpper(unit)
			case 1:
				unit = "  " + strings.ReplaceAll(unit, " ", "\t ")
			}
			docs[d].units = append(docs[d].units, unit)
		}
	}
	return docs
}

// TestLevel compares dedup --level with a model: the kept text, in the form of the input, and the
// audit, with much and with little memory, on one thread and on several.
func TestLevel(t *testing.T) {
	for round := range exhaustive.Every(t, 3).Of(8) {
		docs := randomDocs(rand.New(rand.NewPCG(15, uint64(round))))
		level, separator := "line", "\n"
		if round%2 == 1 {
			level, separator = "paragraph", "\n \n"
		}
		minWords, minCount := 1+round%4, 2+round/4
		texts, audit := levelModel(docs, separator, minWords, minCount)
		forms := map[string]func(docs []levelDoc, texts []string, dropped bool) []byte{"jsonl": levelJSON, "csv": levelCSV}
		if round < 2 {
			forms["wet"] = levelWARC
		}
		for form, write := range forms {
			var whole []string
			for _, d := range docs {
				whole = append(whole, strings.Join(d.units, separator))
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "in."+form), write(docs, whole, false), 0o666); err != nil {
				t.Fatal(err)
			}
			for threads, memory := range map[string]string{"1": "1MiB", "4": "64MiB"} {
				c := exec.Command("simdb", "dedup", "in."+form, "-o", "out."+form, "--level", level, "--min-words", fmt.Sprint(minWords), "--min-count", fmt.Sprint(minCount), "--memory", memory, "-q")
				c.Dir, c.Env = dir, append(os.Environ(), "GOMAXPROCS="+threads)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				got, err := os.ReadFile(filepath.Join(dir, "out."+form))
				if want := write(docs, texts, true); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, %s words, %d times, in %s: %v, kept\n%s\nwant\n%s", level, fmt.Sprint(minWords), minCount, memory, err, got, want)
				}
				if got := levelAudit(t, filepath.Join(dir, "out.audit.jsonl")); form == "jsonl" && got != strings.Join(audit, "") {
					t.Fatalf("audit:\n%s\nwant:\n%s", got, strings.Join(audit, ""))
				}
			}
		}
	}
}

// levelJSON writes documents as JSON lines. It omits dropped documents unless dropped is set.
func levelJSON(docs []levelDoc, texts []string, dropped bool) []byte {
	var b bytes.Buffer
	for d, doc := range docs {
		if dropped && texts[d] == "" && len(doc.units) > 0 {
			continue
		}
		text, _ := json.Marshal(texts[d])
		fmt.Fprintf(&b, `{ "n" : %d.50, "text":%s , "id":"%s","b":{"text":1}}`+"\n", d, text, doc.id)
	}
	return b.Bytes()
}

func levelCSV(docs []levelDoc, texts []string, dropped bool) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "id,more,text")
	for d, doc := range docs {
		if dropped && texts[d] == "" && len(doc.units) > 0 {
			continue
		}
		fmt.Fprintf(&b, "%s,\"a \"\" b\",\"%s\"\r\n", doc.id, texts[d])
	}
	return b.Bytes()
}

func levelWARC(docs []levelDoc, texts []string, dropped bool) []byte {
	var b bytes.Buffer
	for d, doc := range docs {
		if dropped && texts[d] == "" && len(doc.units) > 0 {
			continue
		}
		sum := sha1.Sum([]byte(texts[d]))
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: %s\r\nWARC-Block-Digest: sha1:%s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			doc.id, base32.StdEncoding.EncodeToString(sum[:]), len(texts[d]), texts[d])
	}
	return b.Bytes()
}

// levelAudit returns an audit in the form of levelModel.
func levelAudit(t *testing.T, path string) string {
	t.Helper()
	type auditRow struct {
		Line, Unit int
		KeeperLine int `json:"keeper_line"`
		KeeperUnit int `json:"keeper_unit"`
		Rule       string
		Simdb      string // from the head
	}
	var b strings.Builder
	for _, row := range jsonLines[auditRow](t, path) {
		switch {
		case row.Simdb != "":
		case row.Rule == "empty":
			fmt.Fprintln(&b, row.Line, "empty")
		default:
			fmt.Fprintln(&b, row.Line, row.Unit, row.KeeperLine, row.KeeperUnit)
		}
	}
	return b.String()
}

// TestLevelFolder cuts several files to a folder; a dry run reports the same counts and writes
// nothing.
func TestLevelFolder(t *testing.T) {
	dir := t.TempDir()
	same := "these are ten words that come again in every file here"
	for name, text := range map[string]string{
		"a.jsonl": `{"id":1,"text":"` + same + `\nA"}` + "\n" + `{"id":2,"text":"` + strings.ToUpper(same) + `"}` + "\n",
		"b.txt":   same + "\nother\n",
		"c.csv":   "id,text\n1,\"x\n\n" + same + "\n\ny\"\n2,\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	args := []string{"dedup", "a.jsonl", "b.txt", "c.csv", "--level", "line", "-o", "out/"}
	dryCode, _, dry := simdbIn(t, dir, "", append(args, "--dry-run")...)
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a dry run makes the folder")
	}
	code, _, said := simdbIn(t, dir, "", args...)
	for name, want := range map[string]string{
		"a.jsonl": `{"id":1,"text":"` + same + `\nA"}` + "\n", "b.txt": "other\n", "c.csv": "id,text\n1,\"x\n\ny\"\n2,\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, "out", name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %q, want %q", name, err, got, want)
		}
	}
	for _, line := range []string{"repeated            3", "dropped             2", "kept                4"} {
		if dryCode != 0 || code != 0 || !strings.Contains(said, line) || !strings.Contains(dry, line) {
			t.Errorf("no %q in\n%s\nor in\n%s", line, said, dry)
		}
	}
}

// A text that is a list cannot be cut, wherever it is in a file.
func TestLevelOfLists(t *testing.T) {
	for _, n := range []int{0, 3, 20_000} {
		dir := t.TempDir()
		line := `{"id":1,"text":"a text of some words that is in each line"}` + "\n"
		write(t, filepath.Join(dir, "a.jsonl"), strings.Repeat(line, n)+`{"id":2,"text":["one","two"]}`+"\n"+line)
		code, out, talk := simdbIn(t, dir, "", "dedup", "a.jsonl", "--level", "line")
		if code != 2 || out != "" || !strings.Contains(talk, "the text is in a list or a map and cannot be cut") ||
			n > 1000 && !strings.Contains(talk, fmt.Sprintf("a.jsonl:%d: ", n+1)) {
			t.Errorf("after %d lines: status %d, %q", n, code, talk)
		}
	}
}

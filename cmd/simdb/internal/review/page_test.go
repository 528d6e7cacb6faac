package review

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/webpage"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// hostile are texts and ids that would break out of a page that treated them as markup.
var hostile = []string{
	`<script>window.pwned = 1</script>`,
	`</script><script>window.pwned = 1</script>`,
	`<!--<script>`,
	`<img src=x onerror="window.pwned = 1">`,
	`"'` + "`" + `${window.pwned = 1}\u003c{{.}}`,
	"\u202egnp.exe \u2067\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627",
	"\u2028\u2029\x00\x1b[31m\r\n",
	"lone \xed\xa0\x80 surrogate, bad \xff byte",
	"javascript:window.pwned=1",
	"__proto__", "constructor",
}

func doc(id, text string, score float64) Doc {
	var exact = true
	j := &job{room: pageBytes}
	d := Doc{ID: id, Score: &score, Exact: &exact}
	j.setText(&d, text)
	return d
}

func hostilePage() *Page {
	p := &Page{Source: hostile[1], Criterion: hostile[3], Notices: []string{hostile[0]}}
	for i, h := range hostile {
		keeper := doc(h, h+" common words here", 1)
		keeper.Place = h
		p.Clusters = append(p.Clusters, Cluster{Size: 3, Keeper: keeper, Members: []Doc{
			doc(fmt.Sprint(h, i), "other common words here "+h, 0.5), doc(fmt.Sprint("plain", i), h, 0.6),
		}})
	}
	return p
}

func written(t testing.TB, p *Page) (path string, page []byte) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, p.Write(&b))
	path = filepath.Join(t.TempDir(), "page.html")
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o666))
	return path, b.Bytes()
}

// TestPageStructure writes a page of hostile texts. It must have exactly the elements of the
// template, its policy must permit its script and style, and its data must equal the input.
func TestPageStructure(t *testing.T) {
	_, page := written(t, hostilePage())
	tags := func(page []byte) (all []string) {
		for _, m := range regexp.MustCompile(`<(/?[a-z][a-z0-9]*|!--|!doctype)`).FindAllSubmatch(page, -1) {
			all = append(all, string(m[1]))
		}
		return all
	}
	_, plain := written(t, &Page{Source: "plain", Criterion: "plain", Notices: []string{"plain"}, Clusters: []Cluster{{}}})
	if got, want := tags(page), tags(plain); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("elements %v, want %v", got, want)
	}
	for _, attribute := range []string{" src=", " href=", " onclick=", " style="} {
		if i := bytes.Index(page[:bytes.Index(page, []byte("<script"))], []byte(attribute)); i >= 0 && !bytes.Contains([]byte(hostile[3]), []byte(attribute)) {
			t.Errorf("the page has%s", attribute)
		}
	}
	policy := regexp.MustCompile(`default-src 'none'; script-src '([^']*)'; style-src '([^']*)'`).FindSubmatch(bytes.ReplaceAll(page, []byte("&#43;"), []byte("+")))
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(string(page), from)
		part, _, ok := strings.Cut(rest, to)
		if !ok {
			t.Fatalf("no %s", from)
		}
		return part
	}
	if got := webpage.Hash(between("<script>", "</script>")); got != string(policy[1]) {
		t.Errorf("the script's hash is %s, the policy has %s", got, policy[1])
	}
	if got := webpage.Hash(between("<style>", "</style>")); got != string(policy[2]) {
		t.Errorf("the style's hash is %s, the policy has %s", got, policy[2])
	}
	for _, m := range regexp.MustCompile(`sha256-([^']*)'`).FindAllSubmatch(bytes.ReplaceAll(page, []byte("&#43;"), []byte("+")), -1) {
		if sum, err := base64.StdEncoding.DecodeString(string(m[1])); err != nil || len(sum) != 32 {
			t.Errorf("%s is no hash", m[1])
		}
	}
	data := between(`<script type="application/json" id="data">`, "</script>")
	if strings.ContainsAny(data, "<>&\u2028\u2029") {
		t.Error("the data have characters that are not escaped")
	}
	var got struct{ Clusters []Cluster }
	must.Do(t, json.Unmarshal([]byte(data), &got))
	for i, h := range hostile {
		if want := strings.ToValidUTF8(h, "\ufffd") + " common words here"; *got.Clusters[i].Keeper.Text != want {
			t.Errorf("text %q, want %q", *got.Clusters[i].Keeper.Text, want)
		}
	}
}

// TestLongText checks that a text is cut between characters, with a note.
func TestLongText(t *testing.T) {
	for pad := range 4 {
		d := doc("a", strings.Repeat("x", pad)+strings.Repeat("\U0001F600", docBytes/4+9), 1)
		if n := len(*d.Text); n > docBytes || n < docBytes-3 || !utf8.ValidString(*d.Text) || d.Note == "" {
			t.Errorf("%d bytes, note %q", n, d.Note)
		}
	}
}

// manyPage returns a page with n clusters of three documents of a few hundred words.
func manyPage(n int) *Page {
	p := &Page{Source: "many", Criterion: "Near-duplicates: they share at least 80 % of their shingles."}
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog and runs away from it ", 20))
	for i := range n {
		text := func(k int) string {
			w := append([]string(nil), words...)
			w[(i*7+k*31)%len(w)] = fmt.Sprintf("word%d", k)
			w[(i*11+k*17)%len(w)] = fmt.Sprintf("other%d", i)
			return strings.Join(w, " ")
		}
		c := Cluster{Size: 3, Keeper: doc(fmt.Sprintf("keeper-%04d", i), text(0), 1)}
		for k := 1; k < 3; k++ {
			c.Members = append(c.Members, doc(fmt.Sprintf("member-%04d-%d", i, k), text(k), 0.8+float64(k)/20))
		}
		p.Clusters = append(p.Clusters, c)
	}
	return p
}

// TestInBrowser reviews pages in Chromium. With SIMDB_SCREENSHOTS=DIR it writes screenshots there.
func TestInBrowser(t *testing.T) {
	b := newBrowser(t)
	downloads := t.TempDir()
	b.Call("Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": downloads}, nil)
	for name, test := range map[string]func(*testing.T, *browser, string){
		"hostile": browseHostile, "pictures": browsePictures, "decisions": browseDecisions, "filters": browseFilters, "served": browseServed,
		"overview": browseOverview, "many": browseMany, "long": browseLong, "narrow": browseNarrow,
	} {
		t.Run(name, func(t *testing.T) {
			b.Use(t)
			test(t, b, downloads)
		})
	}
}

// browseHostile views every pair of hostile texts: they must appear as text, and nothing may run.
func browseHostile(t *testing.T, b *browser, _ string) {
	path, _ := written(t, hostilePage())
	b.Open(path)
	b.Want("pairs.length === " + fmt.Sprint(2*len(hostile)))
	for range 2 * len(hostile) {
		b.Want("window.pwned === undefined")
		b.Want("document.scripts.length === 2 && document.images.length === 0")
		b.Want(`document.querySelector("#sides article:last-child pre").textContent === pairs[at].doc.text.replace(/\r\n?/g, (s) => s)`)
		b.Want(`document.querySelector("#sides article:first-child pre").textContent === pairs[at].keeper.text`)
		b.Want(`document.querySelector("#sides article:first-child bdi").textContent === pairs[at].keeper.id`)
		b.Press("j")
	}
	b.Screenshot("hostile", 1280, 900, "light")
}

// browsePictures views pictures beside the page, whatever their names, side by side.
func browsePictures(t *testing.T, b *browser, _ string) {
	names := []string{"plain.png", "a b#c?d%20&<i>.png", "javascript:x.png", "ä\\xffö.png"}
	var p Page
	path, _ := written(t, &p)
	j := &job{c: &Command{Output: path}}
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 30, 20))))
	for _, name := range names {
		at := filepath.Join(filepath.Dir(filepath.Dir(path)), name) // beside the folder of the page
		must.Do(t, os.WriteFile(at, file.Bytes(), 0o666))
		d := Doc{ID: name, Picture: j.pictureAt(records.ShownName(at)), Bits: []string{strings.Repeat("f", 64), strings.Repeat("0", 64)}}
		other := d
		other.Bits = []string{"8" + strings.Repeat("0", 62) + "3"} // nearest to the second: 3 bits differ, in the corners
		p.Clusters = append(p.Clusters, Cluster{Size: 2, Keeper: d, Members: []Doc{other}})
	}
	var page bytes.Buffer
	must.Do(t, p.Write(&page))
	must.Do(t, os.WriteFile(path, page.Bytes(), 0o666))
	b.Open(path)
	for range names {
		b.Eval("Promise.all([...document.images].map((i) => i.decode()))")
		b.Want("document.images.length === 2 && [...document.images].every((i) => i.naturalWidth === 30)")
		b.Want("window.pwned === undefined")
		b.Want(`[...document.querySelectorAll(".bits .differs")].map((r) => r.getAttribute("class") + r.getAttribute("x") + "," + r.getAttribute("y")).join() ===
			"off differs0,0,off differs14,15,off differs15,15,on differs0,0,on differs14,15,on differs15,15"`)
		b.Want(`[...document.querySelectorAll(".bits figcaption")].every((e) => e.textContent.endsWith("3 of 256 bits differ")) && document.querySelectorAll(".bits .on").length === 3`)
		b.Press("j")
	}
	b.Screenshot("pictures", 1280, 900, "light")
}

// browseDecisions decides by keys and buttons, undoes, filters, reloads and downloads.
func browseDecisions(t *testing.T, b *browser, downloads string) {
	p := manyPage(5)
	p.Reviewer = "ann"
	p.Clusters[4].Members[1].Said = []Said{{By: "bob", At: "2026-12-01T09:00:00Z", Decision: "allow"}}
	path, _ := written(t, p)
	b.Open(path)
	b.Eval("localStorage.clear()")
	b.Open(path)
	b.Want("at === 0")
	const decisions = "pairs.map(decided).join()"
	press := func(keys ...string) {
		b.Press(keys...)
		b.Eval("busy") // decisions are stored one after the other
	}
	press("1", "y", "n")
	press("ArrowDown", "k", "2") // pairs 0, 1, 2; to 4 and back to 3
	b.Want(decisions + ` === "keep,drop,allow,drop,,,,,,allow"`)
	press("u", "u")
	b.Want(decisions + ` === "keep,drop,,,,,,,,allow"`)
	b.Want("at === 2")
	b.Eval(`document.querySelector("[data-decision=allow]").click(); busy`)
	b.Want(decisions + ` === "keep,drop,allow,,,,,,,allow" && at === 3`)
	b.Press("k", "k", "k", "s")
	b.Want("at === 3")
	b.Eval(`$("skip").click()`)
	b.Want("at === 4")
	b.Press("k")
	b.Eval(`document.querySelector("#members button").focus()`)
	b.Press("k")
	b.Want(`at === 2 && document.activeElement.getAttribute("aria-current") === "true"`)
	b.Press("j")
	b.Press("?")
	b.Want(`$("help").open`)
	press("1")
	b.Want(`decided(pairs[3]) === ""`)
	b.Eval(`$("help").close()`)
	b.Press("/")
	b.Want(`document.activeElement === $("find")`)
	press("1") // typed into the field
	b.Want(`decided(pairs[3]) === "" && $("find").value === "1"`)
	b.Press("Escape")
	b.Eval(`$("find").value = "member-0004"; filter()`)
	b.Want(`shown.join() === "8,9" && $("list").children.length === 1`)
	b.Press("j")
	b.Want(`$("said").textContent === "bob: not a duplicate, 2026-12-01 09:00 UTC"`)
	press("3")
	b.Want(`!disputed(pairs[9])`)
	press("2") // the last pair stays on show
	b.Want(`$("said").className === "disputed" && $("said").textContent.startsWith("bob: not a duplicate, 2026-12-01 09:00 UTC · ann: drop, 2")`)
	for state, want := range map[string]string{"drop": "1,9", "none": "3,4,5,6,7,8", "decided": "0,1,2,9", "disputed": "9"} {
		b.Eval(`$("find").value = ""; $("state").value = "` + state + `"; $("state").dispatchEvent(new Event("change"))`)
		b.Want(`shown.join() === "` + want + `"`)
	}
	b.Open(path)
	b.Want(decisions + ` === "keep,drop,allow,,,,,,,drop"`)
	b.Want(`$("progress").value === 4 && $("progress-text").textContent === "4 of 10 pairs decided"`)
	b.Eval(`$("download").click()`)
	want := `{"a":"member-0000-1","b":"keeper-0000","decision":"keep","by":"ann","at":""}` + "\n" +
		`{"a":"member-0000-2","b":"keeper-0000","decision":"drop","by":"ann","at":""}` + "\n" +
		`{"a":"member-0001-1","b":"keeper-0001","decision":"allow","by":"ann","at":""}` + "\n" +
		`{"a":"member-0001-2","b":"keeper-0001","decision":"none","by":"ann","at":""}` + "\n" +
		`{"a":"member-0004-2","b":"keeper-0004","decision":"allow","by":"bob","at":""}` + "\n" +
		`{"a":"member-0004-2","b":"keeper-0004","decision":"drop","by":"ann","at":""}` + "\n"
	var got []byte
	file := filepath.Join(downloads, "decisions.jsonl")
	for end := time.Now().Add(20 * time.Second); len(got) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		got, _ = os.ReadFile(file)
	}
	if times := regexp.MustCompile(`"at":"20\d\d-[^"]*Z"`); times.ReplaceAllString(string(got), `"at":""`) != want {
		t.Errorf("downloaded\n%s\nwant\n%s", got, want)
	}
	if all, err := dedup.ReadDecisions(t.Context(), file, nil); err != nil || len(all) != 4 {
		t.Errorf("%d decisions, %v", len(all), err)
	}
	p.Clusters[0].Members[0].Said = []Said{{By: "ann", At: "2999-01-01T00:00:00Z", Decision: "allow"}, {By: "bob", At: "2000-01-01T00:00:00Z", Decision: "drop"}}
	p.Clusters[0].Members[1].Said = []Said{{By: "bob", At: "2999-01-01T00:00:00.5Z", Decision: "allow"}}
	var page bytes.Buffer // the same pairs with a newer file of decisions: the browser's decisions are merged with it
	must.Do(t, p.Write(&page))
	must.Do(t, os.WriteFile(path, page.Bytes(), 0o666))
	b.Open(path)
	b.Want(decisions + ` === "allow,allow,allow,,,,,,,drop" && pairs[0].said.map((s) => s.by).join() === "bob,ann" && pairs[1].said.map((s) => s.by).join() === "ann,bob"`)
	b.Eval("localStorage.clear()")
	b.Screenshot("light", 1280, 900, "light")
	b.Screenshot("dark", 1280, 900, "dark")
}

// browseFilters filters by score and rule, changes the order, and refuses decisions that contradict
// each other about one document.
func browseFilters(t *testing.T, b *browser, _ string) {
	p := manyPage(3) // scores 0.85, 0.9 in each cluster
	p.Clusters[1].Members[0].Rule, p.Clusters[2].Members[0].Rule = "longest", "first"
	*p.Clusters[2].Members[0].Score = 0.7
	p.Clusters[2].Members[1].ID = p.Clusters[0].Members[0].ID
	path, _ := written(t, p)
	b.Open(path)
	b.Eval("localStorage.clear()")
	b.Want(`!$("rule-box").hidden && [...$("rule").options].map((o) => o.value).join() === ",first,longest" && $("measure").textContent === "Score"`)
	for _, c := range []struct{ from, to, rule, order, want string }{
		{"", "", "", "", "0,1,2,3,4,5"}, {"0.84", "0.86", "", "", "0,2"}, {"0.86", "", "", "", "1,3,5"}, {"", "0.86", "", "", "0,2,4"},
		{"", "", "longest", "", "2"}, {"0.9", "", "longest", "", ""}, {"", "", "", "strong", "0,1,2,3,4,5"}, {"0", "0", "", "strong", ""},
	} {
		b.Eval(fmt.Sprintf(`$("from").value = %q; $("to").value = %q; $("rule").value = %q; $("order").value = %q; filter()`, c.from, c.to, c.rule, c.order))
		b.Want(`shown.join() === "` + c.want + `"`)
	}
	b.Want(`$("heading").textContent === "No pair passes the filter"`)
	b.Eval(`for (const id of filters) $(id).value = ""; data.clusters[0].members[0].score = 0.6; filter()`)
	b.Want(`shown.join() === "2,3,4,5,0,1"`)
	b.Press("n")
	b.Eval(`busy.then(() => { show(0); return decide("drop"); })`)
	b.Eval(`show(5); decide("keep")`)
	b.Want(`decided(pairs[0]) === "drop" && decided(pairs[5]) === "" && $("status").textContent.includes("It cannot be both")`)
	b.Eval(`decide("drop")`)
	b.Want(`decided(pairs[5]) === "drop"`)
	b.Eval("localStorage.clear()")
}

// browseOverview clicks through the charts, at two sizes of a window.
func browseOverview(t *testing.T, b *browser, _ string) {
	p := manyPage(5) // risks of weakest edges and scores of members: 0.85, 0.9
	p.Clusters[3].Size = 40
	counted := newTally()
	for i := range p.Clusters {
		counted.sizes[p.Clusters[i].Size]++
		for _, m := range p.Clusters[i].Members {
			counted.add(m.Score, nil)
		}
	}
	p.Overview = counted.plots(p.Clusters)
	path, _ := written(t, p)
	b.Size(1280, 900)
	b.Open(path)
	b.Want(`document.documentElement.scrollWidth <= 1280 && $("overview").open`)
	b.Want(`new Set([...document.querySelector(".tools").children].map((e) => Math.round(e.getBoundingClientRect().top + e.getBoundingClientRect().height / 2))).size === 1`)
	b.Want(`document.querySelectorAll("#overview figure").length === 3 && document.querySelectorAll(".bar").length === 2 && document.querySelectorAll("[data-show]").length === 2`)
	click := func(element string) {
		b.Eval(`document.querySelector("` + element + `").dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	}
	click("[data-show='3']")
	b.Want(`at === 6 && document.querySelectorAll(".dot.now").length === 1 && document.querySelector(".dot.now").dataset.show === "3"`)
	click("[data-show='0 1 2 4']") // the next of four; after the last, the first
	b.Want(`at === 8`)
	click("[data-show='0 1 2 4']")
	b.Want(`at === 0`)
	click(".bar:last-of-type") // scores from 0.9 on: the second member of each cluster
	b.Want(`at === 1`)
	b.Eval(`$("find").value = "member-0004"; filter()`)
	b.Want(`at === 8`)
	click("[data-show='0 1 2 4']") // among those that the filter hides
	b.Want(`at === 0 && $("find").value === "" && shown.length === 10`)
	b.Screenshot("overview", 1280, 900, "light")
	b.Size(390, 740)
	b.Open(path)
	b.Want(`document.documentElement.scrollWidth <= 390 && !$("overview").open`)
	b.Eval(`$("overview").open = true`)
	b.Want("document.documentElement.scrollWidth <= 390")
	b.Call("Emulation.clearDeviceMetricsOverride", nil, nil)
}

// browseMany opens a page of a thousand clusters, which must not need more than a second.
func browseMany(t *testing.T, b *browser, _ string) {
	path, _ := written(t, manyPage(1000))
	took := b.Open(path)
	busy := b.Busy()
	t.Logf("1,000 clusters are on the screen after %v, %v of processor time", took, busy)
	if busy > time.Second { // CPU time, because other processes may delay the page
		t.Errorf("the page takes %v of processor time to open", busy)
	}
	b.Want(`$("list").children.length === 1000`)
	b.Want(`document.querySelectorAll("del, ins").length > 0`)
}

// browseLong views lines of a megabyte: the page shows a part at first, and more on demand.
func browseLong(t *testing.T, b *browser, _ string) {
	line := strings.Repeat("a line without end ", docBytes/19)
	other := strings.Repeat("one line without an end ", docBytes/24)
	solid := strings.Repeat("x", docBytes)
	path, _ := written(t, &Page{Source: "long", Clusters: []Cluster{
		{Size: 2, Keeper: doc("a", line, 1), Members: []Doc{doc("b", line[:500000]+"CHANGED"+line[500000:], 0.9)}},
		{Size: 2, Keeper: doc("c", line, 1), Members: []Doc{doc("d", other, 0.9)}},
		{Size: 2, Keeper: doc("e", solid, 1), Members: []Doc{doc("f", "y"+solid, 0.9)}},
	}})
	b.Open(path)
	for _, rounds := range []int{3, 1, 1} { // 20,000 characters, then twice as many each time
		for range rounds {
			before := b.Busy()
			b.Eval(`show(at); document.body.offsetHeight`)
			if took := b.Busy() - before; took > 2*time.Second {
				t.Errorf("a pair takes %v of processor time", took)
			}
			b.Want(`$("notes").textContent.includes(limit.toLocaleString("en") + " characters of each text are compared")`)
			b.Want(`$("sides").textContent.length < 2 * limit + 1000`)
			b.Want(`document.querySelectorAll("ins").length > 0`)
			b.Eval(`$("more").click()`)
		}
		b.Want(fmt.Sprintf(`$("more").hidden === %v`, rounds > 1))
		b.Press("j")
	}
}

// browseNarrow views a page on a phone.
func browseNarrow(t *testing.T, b *browser, _ string) {
	p := manyPage(3)
	p.Clusters[0].Keeper.ID = strings.Repeat("long-id-", 60)
	p.Clusters[0].Members[0].ID = strings.Repeat("W", 300)
	path, _ := written(t, p)
	b.Size(360, 740)
	b.Open(path)
	b.Want("document.documentElement.scrollWidth <= 360")
	b.Want(`!$("list-box").open`)
	b.Want(`[...document.querySelectorAll(".decide button")].every((e) => e.getBoundingClientRect().height >= 44)`)
	b.Want(`[...document.querySelectorAll(".decide button")].every((e) => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= 360 && r.bottom <= 740; })`)
	b.Screenshot("phone", 360, 740, "dark")
	b.Call("Emulation.clearDeviceMetricsOverride", nil, nil)
}

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const words = { keep: "keep", drop: "drop", allow: "not a duplicate" };
const firstChars = 20000; // of two texts that are compared before more is asked for
const mostChars = 80000; // and at most: a browser is slow to lay out more

// A pair is a member of a cluster and its keeper. A decision is about the member; said has the last
// one of each reviewer, and the latest one, which holds, last.
const pairs = [];
data.clusters.forEach((c, n) => {
  c.first = pairs.length;
  c.members.forEach((doc) => pairs.push({ cluster: n, keeper: c.keeper, doc, said: doc.said || [], mine: false }));
});
const decided = (p) => words[p.said.at(-1)?.decision] ? p.said.at(-1).decision : "";
// merged returns the last entry of each reviewer, the latest one last.
function merged(...said) {
  const last = new Map();
  const time = (s) => Date.parse(s.at) || 0;
  for (const s of said.flat().sort((a, b) => time(a) - time(b))) { last.delete(s.by); last.set(s.by, s); }
  return [...last.values()];
}
const disputed = (p) => new Set(p.said.map((s) => s.decision).filter((d) => words[d])).size > 1;
let shown = []; // the pairs that the filter passes, as indexes
let at = -1; // the index of the pair on show
let limit = firstChars;
const done = []; // for undo: [pair, what was said before]

const measure = (doc) => [
  doc.score === undefined ? "" : `score ${doc.score.toFixed(3)}${doc.exact === false ? " estimated" : ""}`,
  doc.distance === undefined ? "" : `distance ${doc.distance}`,
].filter(Boolean).join(", ");

const differing = (doc) => [doc.lacks && `lacks ${doc.lacks}`, doc.adds && `adds ${doc.adds}`].filter(Boolean).join(" · ");

// Decisions are appended to a file by the program that shows the page, or else kept in this browser
// under a key of the content.

const storeKey = "simdb-review-" + data.key;

function load() {
  if (data.shown) return;
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey) || "{}");
    for (const n in kept) if (pairs[n] && Array.isArray(kept[n])) Object.assign(pairs[n], { said: merged(pairs[n].said, kept[n]), mine: true });
  } catch { /* a browser that keeps nothing */ }
}

function save() {
  const kept = {};
  pairs.forEach((p, n) => { if (p.mine) kept[n] = p.said; });
  try {
    localStorage.setItem(storeKey, JSON.stringify(kept));
  } catch {
    $("unsaved").hidden = false;
  }
}

// send sends a request to the program that shows the page.
async function send(what, body) {
  const answer = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const tell = (text) => { $("status").textContent = text; };

// skipped returns how much of the beginning of two texts is left out, as they are equal there.
function skipped(a, b) {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return cut(a, Math.max(0, n - foldChars)).length;
}

// The bits of fingerprints.

const bit = (hex, i) => parseInt(hex[i >> 2], 16) >> (3 - i % 4) & 1;

// nearest returns the fingerprint of a document that is nearest to one of another, and the bits that differ.
function nearest(a, b) {
  let best = null;
  for (const x of a) for (const y of b) {
    const differ = [...Array(4 * x.length).keys()].filter((i) => bit(x, i) !== bit(y, i));
    if (!best || differ.length < best[1].length) best = [x, differ];
  }
  return best || [a[0], []];
}

// grid draws the bits of a document row by row, and marks those that differ in the other one.
function grid(doc, other) {
  const [hex, differ] = nearest(doc.bits, other.bits || []);
  const n = 4 * hex.length, wide = 2 ** Math.floor(Math.log2(n) / 2);
  const box = make("figure", undefined, { className: "bits" });
  const svg = (tag, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    return e;
  };
  const all = svg("svg", { viewBox: `-0.5 -0.5 ${wide + 1} ${n / wide + 1}`, role: "img", "aria-label": hex });
  for (let i = 0; i < n; i++) {
    const on = bit(hex, i) ? "on" : "off";
    all.append(svg("rect", { class: differ.includes(i) ? on + " differs" : on, x: i % wide, y: Math.floor(i / wide), width: 1, height: 1 }));
  }
  box.append(all, make("figcaption", hex.replace(/(.{16})(?=.)/g, "$1 ") + (other.bits ? ` · ${differ.length} of ${n} bits differ` : "")));
  return box;
}

// The pair on show.

function side(title, doc, other, runs, own) {
  const box = make("article");
  const name = make("h3", title + " ");
  name.append(make("bdi", doc.id));
  box.append(name, make("p", [measure(doc), doc.rule && "rule " + doc.rule, doc.place].filter(Boolean).join(" · "), { className: "meta", dir: "auto" }));
  if (differing(doc)) box.append(make("p", differing(doc), { className: "words", dir: "auto" }));
  const look = make("div", undefined, { className: "look" });
  if (doc.picture) look.append(make("img", undefined, { loading: "lazy", src: doc.picture, alt: doc.id }));
  if (doc.bits) look.append(grid(doc, other));
  if (doc.picture || doc.bits) box.append(look);
  if (doc.note) box.append(make("p", doc.note, { className: "notice" }));
  if (doc.text !== undefined) box.append(marked(runs, own));
  return box;
}

function show(n, quiet) {
  const inMembers = $("members").contains(document.activeElement);
  if (n !== at) limit = firstChars;
  at = n;
  const p = pairs[n], c = p && data.clusters[p.cluster];
  $("heading").textContent = p ? `Cluster ${p.cluster + 1} of ${data.clusters.length.toLocaleString("en")}: ${count(c.size, "document")}` : "No pair passes the filter";
  for (const id of ["members", "sides", "notes"]) $(id).replaceChildren();
  $("rest").textContent = p && c.size - 1 > c.members.length ? `${c.members.length.toLocaleString("en")} of ${count(c.size - 1, "member")} are here.` : "";
  $("more").hidden = true;
  document.querySelectorAll("[data-decision]").forEach((b) => {
    b.disabled = !p || p.keeper.id === p.doc.id;
    b.setAttribute("aria-pressed", Boolean(p) && decided(p) === b.dataset.decision);
  });
  $("said").textContent = p ? p.said.map((s) => `${s.by || "somebody"}: ${words[s.decision] || "undecided again"}${s.at ? `, ${s.at.slice(0, 16).replace("T", " ")} UTC` : ""}`).join(" · ") : "";
  $("said").classList.toggle("disputed", Boolean(p) && disputed(p));
  if (!p) return;
  c.members.forEach((doc, i) => {
    const b = make("button", undefined, { type: "button" });
    b.append(make("bdi", doc.id), make("span", [measure(doc), differing(doc), words[decided(pairs[c.first + i])]].filter(Boolean).join(" · ")));
    if (c.first + i === n) b.setAttribute("aria-current", "true");
    b.addEventListener("click", () => show(c.first + i));
    const li = make("li");
    li.append(b);
    $("members").append(li);
    if (inMembers && c.first + i === n) b.focus();
  });
  const left = p.keeper.text || "", right = p.doc.text || "";
  const from = Math.max(left.length, right.length) > limit ? skipped(left, right) : 0;
  const d = diff(wordsOf(cut(left.slice(from), limit)), wordsOf(cut(right.slice(from), limit)));
  const note = (text) => $("notes").append(make("p", text, { className: "notice" }));
  if (p.keeper.id === p.doc.id) note("Both have one id, so that a decision could not say which is meant.");
  if (!d.exact) note("The texts differ in too many places to align: words that the other text does not have are marked.");
  if (from > 0) note(`The first ${count(from, "character")} of both texts are equal and left out.`);
  if (Math.max(left.length, right.length) - from > limit) {
    note(`${limit.toLocaleString("en")} characters of each text are compared, no more are shown.`);
    $("more").hidden = limit >= mostChars;
  }
  $("sides").append(side("Keeper", p.keeper, p.doc, d.runs, "-"), side("Document", p.doc, p.keeper, d.runs, "+"));
  document.querySelectorAll("[data-show]").forEach((d) => d.classList.toggle("now", d.dataset.show.split(" ").includes(String(p.cluster))));
  document.querySelectorAll("#list [aria-current]").forEach((b) => b.removeAttribute("aria-current"));
  if (c.button) {
    c.button.setAttribute("aria-current", "true");
    const list = $("list"), top = c.button.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 60) list.scrollTop = top - 60;
  }
  if (!quiet) tell(`Pair ${(shown.indexOf(n) + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}${decided(p) ? ": " + words[decided(p)] : ""}`);
}

// The list of clusters, the filter and the progress.

function label(c) {
  const own = pairs.slice(c.first, c.first + c.members.length);
  const n = own.filter(decided).length;
  return `${count(c.size, "document")} · ${measure(c.members[0])}${n ? ` · ${n}/${own.length} decided` : ""}`;
}

const value = (doc) => doc.score ?? doc.distance;

// passes reports whether the state of a pair is that of the filter.
const passes = (p, state) => !state || (state === "decided" ? decided(p) !== "" : state === "disputed" ? disputed(p) : (decided(p) || "none") === state);

function filter() {
  const find = $("find").value.toLowerCase(), state = $("state").value, rule = $("rule").value;
  const from = $("from").valueAsNumber, to = $("to").valueAsNumber; // NaN if there is none
  const has = (doc) => [doc.id, doc.place || "", doc.text || ""].some((s) => s.toLowerCase().includes(find));
  shown = [];
  pairs.forEach((p, n) => {
    if (!passes(p, state) || rule && p.doc.rule !== rule) return;
    if (!isNaN(from) && !(value(p.doc) >= from) || !isNaN(to) && !(value(p.doc) <= to)) return;
    if (!find || has(p.keeper) || has(p.doc)) shown.push(n);
  });
  if ($("order").value) { // the first pair of a cluster is its weakest
    const edge = (p) => value(data.clusters[p.cluster].members[0]) ?? 0, sign = pairs[0]?.doc.score === undefined ? 1 : -1;
    shown.sort((a, b) => sign * (edge(pairs[a]) - edge(pairs[b])) || a - b);
  }
  const clusters = [...new Set(shown.map((n) => pairs[n].cluster))];
  data.clusters.forEach((c) => { c.button = null; });
  const items = clusters.map((n) => {
    const c = data.clusters[n], b = make("button", undefined, { type: "button" });
    b.append(make("bdi", c.keeper.id), make("span", label(c)));
    b.addEventListener("click", () => show(shown.find((i) => pairs[i].cluster === n)));
    c.button = b;
    const li = make("li");
    li.append(b);
    return li;
  });
  $("list").replaceChildren(...items);
  $("count").textContent = `(${clusters.length.toLocaleString("en")})`;
  show(shown.includes(at) ? at : shown.length ? shown[0] : -1, true);
}

function progress() {
  const n = pairs.filter(decided).length;
  $("progress-text").textContent = `${n.toLocaleString("en")} of ${count(pairs.length, "pair")} decided`;
  $("progress").max = pairs.length || 1;
  $("progress").value = n;
  for (const id of ["download", "copy"]) if ($(id)) $(id).disabled = !pairs.some((p) => p.said.length);
  $("undo").disabled = done.length === 0;
}

const filters = ["find", "state", "from", "to", "rule"];

// The overview: a click shows the next pair of a bar, or the next cluster of a dot.

function next(among) {
  const n = among.find((i) => i > at) ?? among[0];
  if (n === undefined) { tell("No pair on this page is in that bar."); return; }
  if (!shown.includes(n)) {
    for (const id of filters) $(id).value = "";
    filter();
  }
  show(n);
}
document.querySelectorAll(".clicks .bar").forEach((b) => b.addEventListener("click", () => {
  const { from, to } = b.dataset;
  next([...pairs.keys()].filter((n) => value(pairs[n].doc) >= from && value(pairs[n].doc) < to));
}));
document.querySelectorAll("[data-show]").forEach((d) => d.addEventListener("click", () => next(d.dataset.show.split(" ").map((n) => data.clusters[n].first))));

// What the keys and buttons do.

// set stores a decision of the reviewer about a pair, and reports whether it is stored.
async function set(n, decision) {
  const p = pairs[n], c = data.clusters[p.cluster];
  let entry = { by: $("reviewer").value.trim(), at: new Date().toISOString(), decision };
  if (data.shown) {
    try {
      entry = await (await send("decide", { a: p.doc.id, b: p.keeper.id, decision, by: entry.by })).json();
    } catch (e) {
      tell(`The decision is not stored: ${e.message}`);
      return false;
    }
  }
  p.said = merged(p.said, [{ by: entry.by || "", at: entry.at, decision }]);
  p.mine = true;
  if (c.button) c.button.lastChild.textContent = label(c);
  if (!data.shown) save();
  progress();
  return true;
}

// against returns a decision to keep the same document as one that is to be dropped, or the reverse.
const against = (p, decision) => decision !== "allow" && pairs.find((q) => q !== p && q.doc.id === p.doc.id && (decided(q) || "allow") !== "allow" && decided(q) !== decision);

let busy = Promise.resolve(); // decisions are stored one after the other

function decide(decision) {
  busy = busy.then(async () => {
    const n = at, p = pairs[n];
    if (!p || p.keeper.id === p.doc.id) return;
    const other = against(p, decision);
    if (other) { tell(`Beside ${other.keeper.id}, the decision about this document is: ${words[decided(other)]}. It cannot be both.`); return; }
    const before = decided(p);
    if (!await set(n, decision)) return;
    done.push([n, before]);
    progress();
    const i = shown.indexOf(n);
    if (at === n) show(i + 1 < shown.length ? shown[i + 1] : n);
  });
  return busy;
}

function undo() {
  busy = busy.then(async () => {
    const last = done.at(-1);
    if (!last || !await set(last[0], last[1] || "none")) return;
    done.pop();
    progress();
    show(last[0]);
  });
  return busy;
}

function move(by) {
  const n = shown[shown.indexOf(at) + by];
  if (n !== undefined) show(n);
}

function nextUndecided() {
  const i = shown.indexOf(at);
  const n = [...shown.slice(i + 1), ...shown.slice(0, i + 1)].find((k) => !decided(pairs[k]) && k !== at);
  if (n === undefined) tell("Every pair shown is decided."); else show(n);
}

const lines = () => pairs.flatMap((p) => p.said.map((s) =>
  JSON.stringify({ a: p.doc.id, b: p.keeper.id, decision: s.decision, by: s.by || undefined, at: s.at }) + "\n")).join("");

function download() {
  const url = URL.createObjectURL(new Blob([lines()], { type: "application/jsonl" }));
  make("a", "", { href: url, download: "decisions.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  tell("decisions.jsonl is downloaded.");
}

async function copy() {
  try {
    await navigator.clipboard.writeText(lines());
  } catch { // a browser that does not let a file do it
    const area = document.body.appendChild(make("textarea", undefined, { value: lines() }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("The decisions are copied.");
}

const keys = {
  j: () => move(1), ArrowDown: () => move(1), ArrowRight: () => move(1),
  k: () => move(-1), ArrowUp: () => move(-1), ArrowLeft: () => move(-1),
  1: () => decide("keep"), 2: () => decide("drop"), 3: () => decide("allow"), y: () => decide("drop"), n: () => decide("allow"),
  u: undo, s: nextUndecided, "/": () => $("find").focus(), "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (e) => {
  const typing = e.target.matches("input, select, textarea");
  if (typing && e.key === "Escape") { $("main").focus(); return; }
  if (typing || e.ctrlKey || e.metaKey || e.altKey || $("help").open || !Object.hasOwn(keys, e.key)) return;
  e.preventDefault();
  keys[e.key]();
});
document.querySelectorAll("[data-decision]").forEach((b) => b.addEventListener("click", () => decide(b.dataset.decision)));

// again chooses among all pairs, by the filter.
function again() {
  const query = new URLSearchParams({ seed: data.selection.seed });
  for (const id of ["from", "to", "rule", "sample"]) if ($(id).value) query.set(id, $(id).value);
  if ($("state").value === "none") query.set("undecided", "1");
  location.search = query;
}

async function finish() {
  await busy;
  try {
    await send("finish", {});
    document.body.replaceChildren(make("p", "The program has ended. Every decision is stored."));
  } catch (e) {
    tell(`The program did not end: ${e.message}`);
  }
}

const click = { prev: () => move(-1), next: () => move(1), skip: nextUndecided, undo, download, copy, again, finish, "help-button": keys["?"], more: () => { limit *= 2; show(at); } };
for (const id in click) $(id)?.addEventListener("click", click[id]);
let typed;
for (const id of ["find", "from", "to"]) $(id).addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(filter, 200); });
for (const id of ["state", "rule", "order"]) $(id).addEventListener("change", filter);
const names = () => data.shown ? sessionStorage : localStorage; // the name of the reviewer is typed once
$("reviewer").addEventListener("change", () => { try { names().setItem("simdb-reviewer", $("reviewer").value); } catch { /* typed again next time */ } });

// What the page begins with: the reviewer, the rules, and what the pairs were chosen by.
try { $("reviewer").value = names().getItem("simdb-reviewer") || data.reviewer; } catch { /* as it is */ }
const rules = [...new Set(pairs.map((p) => p.doc.rule).filter(Boolean))].sort();
if (data.selection.rule && !rules.includes(data.selection.rule)) rules.push(data.selection.rule);
for (const rule of rules) $("rule").append(make("option", rule, { value: rule }));
$("rule-box").hidden = rules.length < 2 && !data.selection.rule;
$("measure").textContent = pairs.length && pairs[0].doc.score === undefined ? "Distance" : "Score";
if (data.shown) {
  const s = data.selection;
  for (const id of ["from", "to", "rule"]) $(id).value = s[id] ?? "";
  $("sample").value = s.sample || "";
  if (s.undecided) $("state").value = "none";
}
$("list-box").open = $("filter-box").open = innerWidth > 720;
if ($("overview")) $("overview").open = innerWidth > 720 && innerHeight > 760;
load();
filter();
progress();

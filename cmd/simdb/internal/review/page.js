"use strict";
// All that comes from documents enters the page as text: nothing here makes markup of a string.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const words = { keep: "keep", drop: "drop", allow: "not a duplicate" };
const firstChars = 20000; // of two texts that are compared before more is asked for
const mostChars = 80000; // and at most: a browser is slow to lay out more
const foldChars = 600; // equal stretches longer than this are folded

// A pair is a member of a cluster and its keeper. A decision is about the member.
const pairs = [];
data.clusters.forEach((c, n) => {
  c.first = pairs.length;
  c.members.forEach((doc) => pairs.push({ cluster: n, keeper: c.keeper, doc, decision: "" }));
});
let shown = []; // the pairs that the filter passes, as indexes
let at = -1; // the index of the pair on show
let limit = firstChars;
const done = []; // for undo: [pair, decision before]

// make returns an element with a text.
function make(tag, text, props) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  return Object.assign(e, props);
}

const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const measure = (doc) => [
  doc.score === undefined ? "" : `score ${doc.score.toFixed(3)}${doc.exact === false ? " estimated" : ""}`,
  doc.distance === undefined ? "" : `distance ${doc.distance}`,
].filter(Boolean).join(", ");

// Decisions are kept in this browser under a key of the content.

const storeKey = "simdb-review-" + data.key;

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey) || "{}");
    for (const n in kept) if (pairs[n] && words[kept[n]]) pairs[n].decision = kept[n];
  } catch { /* a browser that keeps nothing */ }
}

function save() {
  const kept = {};
  pairs.forEach((p, n) => { if (p.decision) kept[n] = p.decision; });
  try {
    localStorage.setItem(storeKey, JSON.stringify(kept));
  } catch {
    $("unsaved").hidden = false;
  }
}

const tell = (text) => { $("status").textContent = text; };

// Word differences.

// wordsOf splits a text into words, white space and other characters. Scripts that write no spaces
// have a word for each character.
const solid = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]";
const wordPattern = new RegExp(`${solid}\\p{M}*|(?:(?!${solid})[\\p{L}\\p{M}\\p{N}])+|\\s+|[^\\p{L}\\p{M}\\p{N}\\s]`, "gu");
const wordsOf = (text) => text.match(wordPattern) || [];

// diff returns runs [kind, text]: "=" for both, "-" for a alone, "+" for b alone; exact is false if
// there are too many differences for Myers' algorithm: then words that the other text lacks are marked.
function diff(a, b) {
  let from = 0, endA = a.length, endB = b.length;
  while (from < endA && from < endB && a[from] === b[from]) from++;
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const middle = myers(a.slice(from, endA), b.slice(from, endB));
  const runs = [];
  const add = (kind, text) => {
    const last = runs[runs.length - 1];
    if (last && last[0] === kind) last[1].push(text); else runs.push([kind, [text]]);
  };
  a.slice(0, from).forEach((w) => add("=", w));
  if (middle) {
    middle.forEach(([kind, w]) => add(kind, w));
  } else {
    const inA = new Set(a), inB = new Set(b);
    a.slice(from, endA).forEach((w) => add(inB.has(w) ? "a" : "-", w));
    b.slice(from, endB).forEach((w) => add(inA.has(w) ? "b" : "+", w));
  }
  a.slice(endA).forEach((w) => add("=", w));
  return { exact: middle !== null, runs: runs.map(([kind, parts]) => [kind, parts.join("")]) };
}

// myers returns the shortest edit script, or null if it is long.
function myers(a, b) {
  const n = a.length, m = b.length;
  const most = Math.min(n + m, Math.max(50, Math.min(1500, Math.floor(2e7 / (n + m + 1)))));
  const v = new Int32Array(2 * most + 3), mid = most + 1;
  const trace = [];
  for (let d = 0; d <= most; d++) {
    trace.push(v.slice(mid - d - 1, mid + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1]) ? v[mid + k + 1] : v[mid + k - 1] + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      v[mid + k] = x;
      if (x >= n && x - k >= m) return script(a, b, trace);
    }
  }
  return null;
}

// script walks back through the furthest points of each number of edits.
function script(a, b, trace) {
  const out = [];
  let x = a.length, y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d], mid = d + 1, k = x - y;
    const down = k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1]);
    const px = d === 0 ? 0 : down ? v[mid + k + 1] : v[mid + k - 1];
    const py = d === 0 ? 0 : px - (down ? k + 1 : k - 1);
    while (x > px && y > py) { out.push(["=", a[--x]]); y--; }
    if (d > 0) out.push(down ? ["+", b[--y]] : ["-", a[--x]]);
  }
  return out.reverse();
}

// cut returns the first chars of a text, and no half of a character.
function cut(text, chars) {
  if (text.length <= chars) return text;
  const high = text.charCodeAt(chars - 1);
  return text.slice(0, high >= 0xd800 && high < 0xdc00 ? chars - 1 : chars);
}

// skipped returns how much of the beginning of two texts is left out, as they are equal there.
function skipped(a, b) {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return cut(a, Math.max(0, n - foldChars)).length;
}

// The pair on show.

function addEqual(pre, text) {
  if (text.length <= foldChars) { pre.append(text); return; }
  const head = cut(text, foldChars / 3), rest = text.slice(head.length);
  const hidden = cut(rest, rest.length - foldChars / 3);
  const b = make("button", `${count(hidden.length, "equal character")}`, { type: "button" });
  b.addEventListener("click", () => b.replaceWith(hidden));
  pre.append(head, b, rest.slice(hidden.length));
}

function side(title, doc, runs, own, mark) {
  const box = make("article");
  const name = make("h3", title + " ");
  name.append(make("bdi", doc.id));
  box.append(name, make("p", [measure(doc), doc.rule && "rule " + doc.rule, doc.place].filter(Boolean).join(" · "), { className: "meta", dir: "auto" }));
  if (doc.picture) box.append(make("img", undefined, { src: doc.picture, alt: doc.id }));
  if (doc.note) box.append(make("p", doc.note, { className: "notice" }));
  if (doc.text !== undefined) {
    const pre = make("pre", undefined, { dir: "auto" });
    for (const [kind, text] of runs) {
      if (kind === "=") addEqual(pre, text);
      else if (kind === own) pre.append(make(mark, text));
      else if (kind === (own === "-" ? "a" : "b")) pre.append(text);
    }
    box.append(pre);
  }
  return box;
}

function show(n, quiet) {
  const inMembers = $("members").contains(document.activeElement);
  if (n !== at) limit = firstChars;
  at = n;
  const p = pairs[n], c = p && data.clusters[p.cluster];
  $("heading").textContent = p ? `Cluster ${p.cluster + 1} of ${data.clusters.length.toLocaleString("en")}: ${count(c.size, "document")}` : "No pair passes the filter";
  for (const id of ["members", "sides", "notes"]) $(id).replaceChildren();
  $("rest").textContent = p && c.size - 1 > c.members.length ? `The ${count(c.members.length, "member")} least like the keeper are here, ${(c.size - 1 - c.members.length).toLocaleString("en")} are left out.` : "";
  $("more").hidden = true;
  document.querySelectorAll("[data-decision]").forEach((b) => {
    b.disabled = !p || p.keeper.id === p.doc.id;
    b.setAttribute("aria-pressed", Boolean(p) && p.decision === b.dataset.decision);
  });
  if (!p) return;
  c.members.forEach((doc, i) => {
    const b = make("button", undefined, { type: "button" });
    b.append(make("bdi", doc.id), make("span", [measure(doc), words[pairs[c.first + i].decision]].filter(Boolean).join(" · ")));
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
  $("sides").append(side("Keeper", p.keeper, d.runs, "-", "del"), side("Document", p.doc, d.runs, "+", "ins"));
  document.querySelectorAll("#list [aria-current]").forEach((b) => b.removeAttribute("aria-current"));
  if (c.button) {
    c.button.setAttribute("aria-current", "true");
    const list = $("list"), top = c.button.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 60) list.scrollTop = top - 60;
  }
  if (!quiet) tell(`Pair ${(shown.indexOf(n) + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}${p.decision ? ": " + words[p.decision] : ""}`);
}

// The list of clusters, the filter and the progress.

function label(c) {
  const own = pairs.slice(c.first, c.first + c.members.length);
  const n = own.filter((p) => p.decision).length;
  return `${count(c.size, "document")} · ${measure(c.members[0])}${n ? ` · ${n}/${own.length} decided` : ""}`;
}

function filter() {
  const find = $("find").value.toLowerCase(), state = $("state").value;
  const has = (doc) => [doc.id, doc.place || "", doc.text || ""].some((s) => s.toLowerCase().includes(find));
  shown = [];
  pairs.forEach((p, n) => {
    if (state && (p.decision || "none") !== state) return;
    if (!find || has(p.keeper) || has(p.doc)) shown.push(n);
  });
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
  const n = pairs.filter((p) => p.decision).length;
  $("progress-text").textContent = `${n.toLocaleString("en")} of ${count(pairs.length, "pair")} decided`;
  $("progress").max = pairs.length || 1;
  $("progress").value = n;
  for (const id of ["download", "copy"]) $(id).disabled = n === 0;
  $("undo").disabled = done.length === 0;
}

// What the keys and buttons do.

function set(n, decision) {
  const p = pairs[n], c = data.clusters[p.cluster];
  p.decision = decision;
  if (c.button) c.button.lastChild.textContent = label(c);
  save();
  progress();
}

function decide(decision) {
  const p = pairs[at];
  if (!p || p.keeper.id === p.doc.id) return;
  done.push([at, p.decision]);
  set(at, decision);
  const i = shown.indexOf(at);
  show(i + 1 < shown.length ? shown[i + 1] : at);
}

function undo() {
  const last = done.pop();
  if (!last) return;
  set(last[0], last[1]);
  show(last[0]);
}

function move(by) {
  const n = shown[shown.indexOf(at) + by];
  if (n !== undefined) show(n);
}

function nextUndecided() {
  const i = shown.indexOf(at);
  const n = [...shown.slice(i + 1), ...shown.slice(0, i + 1)].find((k) => !pairs[k].decision);
  if (n === undefined) tell("Every pair shown is decided."); else show(n);
}

const lines = () => pairs.filter((p) => p.decision)
  .map((p) => JSON.stringify({ a: p.doc.id, b: p.keeper.id, decision: p.decision }) + "\n").join("");

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
  1: () => decide("keep"), 2: () => decide("drop"), 3: () => decide("allow"),
  u: undo, n: nextUndecided, "/": () => $("find").focus(), "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (e) => {
  const typing = e.target.matches("input, select, textarea");
  if (typing && e.key === "Escape") { $("main").focus(); return; }
  if (typing || e.ctrlKey || e.metaKey || e.altKey || $("help").open || !Object.hasOwn(keys, e.key)) return;
  e.preventDefault();
  keys[e.key]();
});
document.querySelectorAll("[data-decision]").forEach((b) => b.addEventListener("click", () => decide(b.dataset.decision)));
const click = { prev: () => move(-1), next: () => move(1), undo, download, copy, "help-button": keys["?"], more: () => { limit *= 2; show(at); } };
for (const id in click) $(id).addEventListener("click", click[id]);
let typed;
$("find").addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(filter, 200); });
$("state").addEventListener("change", filter);
$("list-box").open = innerWidth > 720;
load();
filter();
progress();

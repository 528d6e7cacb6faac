const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const words = { keep: "keep", drop: "drop", allow: "not a duplicate" };
const firstChars = 20000; // of two texts that are compared before more is asked for
const mostChars = 80000; // and at most: a browser is slow to lay out more

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

const measure = (doc) => [
  doc.score === undefined ? "" : `score ${doc.score.toFixed(3)}${doc.exact === false ? " estimated" : ""}`,
  doc.distance === undefined ? "" : `distance ${doc.distance}`,
].filter(Boolean).join(", ");

const differing = (doc) => [doc.lacks && `lacks ${doc.lacks}`, doc.adds && `adds ${doc.adds}`].filter(Boolean).join(" · ");

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
  $("rest").textContent = p && c.size - 1 > c.members.length ? `The ${count(c.members.length, "member")} least like the keeper are here, ${(c.size - 1 - c.members.length).toLocaleString("en")} are left out.` : "";
  $("more").hidden = true;
  document.querySelectorAll("[data-decision]").forEach((b) => {
    b.disabled = !p || p.keeper.id === p.doc.id;
    b.setAttribute("aria-pressed", Boolean(p) && p.decision === b.dataset.decision);
  });
  if (!p) return;
  c.members.forEach((doc, i) => {
    const b = make("button", undefined, { type: "button" });
    b.append(make("bdi", doc.id), make("span", [measure(doc), differing(doc), words[pairs[c.first + i].decision]].filter(Boolean).join(" · ")));
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

// The overview: a click shows the next pair of a bar, or the next cluster of a dot.

const value = (doc) => doc.score ?? doc.distance;

function next(among) {
  const n = among.find((i) => i > at) ?? among[0];
  if (n === undefined) { tell("No pair on this page is in that bar."); return; }
  if (!shown.includes(n)) {
    $("find").value = $("state").value = "";
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
if ($("overview")) $("overview").open = innerWidth > 720 && innerHeight > 760;
load();
filter();
progress();

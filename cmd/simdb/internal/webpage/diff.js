"use strict";
// What pages about texts share: elements, and the words in which two texts differ.
// All that comes from documents enters a page as text: nothing here makes markup of a string.

const foldChars = 600; // equal stretches longer than this are folded

// make returns an element with a text.
function make(tag, text, props) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  return Object.assign(e, props);
}

const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

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

function addEqual(pre, text) {
  if (text.length <= foldChars) { pre.append(text); return; }
  const head = cut(text, foldChars / 3), rest = text.slice(head.length);
  const hidden = cut(rest, rest.length - foldChars / 3);
  const b = make("button", `${count(hidden.length, "equal character")}`, { type: "button" });
  b.addEventListener("click", () => b.replaceWith(hidden));
  pre.append(head, b, rest.slice(hidden.length));
}

// marked returns a text as it is in runs of diff: own is "-" for the first one, "+" for the second.
function marked(runs, own) {
  const pre = make("pre", undefined, { dir: "auto" });
  for (const [kind, text] of runs) {
    if (kind === "=") addEqual(pre, text);
    else if (kind === own) pre.append(make(own === "-" ? "del" : "ins", text));
    else if (kind === (own === "-" ? "a" : "b")) pre.append(text);
  }
  return pre;
}

// The words in which the two texts of a pair differ are marked.
document.querySelectorAll(".pair").forEach((pair) => {
  const texts = [...pair.querySelectorAll("pre")];
  if (texts.length < 2) return;
  const { runs } = diff(...texts.map((pre) => wordsOf(pre.textContent)));
  texts.forEach((pre, i) => pre.replaceWith(marked(runs, "-+"[i])));
});

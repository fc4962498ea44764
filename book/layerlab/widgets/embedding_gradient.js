// A sentence, the ids of its words, and how the gradients of repeated words add up in the table.

const MOST = 12, D = 2;

// Ids by first appearance. Each token's gradient is (t, t) for token t, so that sums are easy to read.
function tokenize(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const vocabulary = [], ids = [];
  for (const word of words.slice(0, MOST)) {
    if (!vocabulary.includes(word)) vocabulary.push(word);
    ids.push(vocabulary.indexOf(word));
  }
  return { vocabulary, ids, dropped: Math.max(0, words.length - MOST) };
}

function gradients({ vocabulary, ids }) {
  const zeros = () => vocabulary.map(() => new Array(D).fill(0));
  const dout = ids.map((_, t) => new Array(D).fill(t + 1));
  const [added, written] = [zeros(), zeros()];
  ids.forEach((id, t) => dout[t].forEach((g, d) => {
    added[id][d] += g;
    // dtable[ids] += dout reads all rows first, then writes them one after the other.
    written[id][d] = g;
  }));
  return { dout, added, written };
}

function table(caption, head, rows) {
  const cell = (tag, text, scope) => html(tag, scope ? { scope } : {}, text);
  return html("table", { class: "ll-table" }, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...head.map((text) => cell("th", text, "col")))),
    html("tbody", {}, ...rows.map(({ cells, style }) =>
      html("tr", { class: style }, cell("th", cells[0], "row"), ...cells.slice(1).map((text) => cell("td", text))))));
}

const pair = (values) => `(${values.join(", ")})`;

function sentences({ vocabulary, ids, dropped }, { dout, added, written }) {
  if (!ids.length) return ["Type a word or two."];
  const repeated = vocabulary.map((_, id) => ids.filter((other) => other === id).length);
  const wrong = repeated.filter((count) => count > 1).length;
  const said = [];
  const id = repeated.findIndex((count) => count > 1);
  if (wrong) {
    const terms = ids.flatMap((other, t) => (other === id ? [pair(dout[t])] : []));
    said.push(`“${vocabulary[id]}” occurs ${repeated[id]} times: its row gets ${terms.join(" + ")} = ${pair(added[id])}. With += it keeps only ${pair(written[id])}.`);
    said.push(`${wrong} of ${vocabulary.length} rows ${wrong === 1 ? "is" : "are"} wrong with +=.`);
  } else said.push("No word is repeated, so both ways agree. Repeat one.");
  if (dropped) said.push(`Only the first ${MOST} words are used.`);
  return said;
}

function render({ model, el }) {
  const it = state(model, ["sentence"], redraw), { values } = it;
  const id = freshId(), input = html("input", { type: "text", id, autocomplete: "off", spellcheck: "false", maxlength: 200 });
  input.value = values.sentence;
  input.addEventListener("input", () => it.put("sentence", input.value));
  it.follow("sentence", (text) => { input.value = text; });
  const words = html("p", { class: "ll-words" }), spoken = announcer(), tables = html("div", { class: "ll-panels ll-tables" });

  function redraw() {
    const read = tokenize(values.sentence), result = gradients(read);
    const { vocabulary, ids } = read, { dout, added, written } = result;
    const repeated = (id) => ids.filter((other) => other === id).length > 1;
    tables.replaceChildren(
      table("Tokens", ["word", "id", "dout"], ids.map((id, t) => ({
        cells: [vocabulary[id], id, pair(dout[t])], style: repeated(id) ? "ll-again" : "",
      }))),
      table("Gradient of the table", ["row", "np.add.at", "+="], vocabulary.map((word, id) => {
        const wrong = pair(added[id]) !== pair(written[id]);
        return { cells: [`${id} ${word}`, pair(added[id]), wrong ? `${pair(written[id])} wrong` : pair(written[id])], style: wrong ? "ll-removed" : "" };
      })));
    const said = sentences(read, result);
    words.replaceChildren(...said.map((text) => html("span", {}, text)));
    spoken.say(said.join(" "));
    el.measured = () => ({ ids, ...result });
  }

  frame(el, "embedding-gradient",
    html("div", { class: "ll-control" }, html("label", { for: id }, "A sentence"), input), words, tables, spoken.root);
  redraw();
}

export default { render };

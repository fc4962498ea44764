// A grid of examples, tokens and features: which numbers share a mean, and what one token moves.

const [B, T, D] = [3, 4, 5];
const NORMS = {
  batchnorm: { name: "BatchNorm", shared: (a, b) => a.d === b.d, mean: true },
  layernorm: { name: "LayerNorm", shared: (a, b) => a.b === b.b && a.t === b.t, mean: true },
  rmsnorm: { name: "RMSNorm", shared: (a, b) => a.b === b.b && a.t === b.t, mean: false },
};
const PLACES = Array.from({ length: B * T * D }, (_, i) => ({ b: Math.floor(i / (T * D)), t: Math.floor(i / D) % T, d: i % D }));
const CELL = 22, GAP = 17, LEFT = 56, TOP = 20;
const sameToken = (a, b) => a.b === b.b && a.t === b.t;

// A batch by feature grid turned over is a batch of features: BatchNorm runs the same kernel.
function normalized(memory, x, norm) {
  memory.clear();
  const [rows, width] = norm === "batchnorm" ? [D, B * T] : [B * T, D];
  const turned = (values) => values.map((_, i) => values[(i % (B * T)) * D + Math.floor(i / (B * T))]);
  const back = (values) => values.map((_, i) => values[(i % D) * B * T + Math.floor(i / D)]);
  const at = memory.put(norm === "batchnorm" ? turned(x) : x);
  const [ones, zeros] = [1, 0].map((v) => memory.put(new Array(width).fill(v)));
  const out = memory.take(4 * x.length);
  if (norm === "rmsnorm") memory.run.rmsnorm(at, ones, out, rows, width, 1e-5);
  else memory.run.layernorm(at, ones, zeros, out, rows, width, 1e-5);
  const values = [...memory.floats(out, x.length)];
  return norm === "batchnorm" ? back(values) : values;
}

function grid(title, onPick) {
  const height = TOP + B * (T * CELL + GAP), width = LEFT + D * CELL + 4;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "ll-chart ll-grid-of-cells", "aria-hidden": "true" });
  const nodes = PLACES.map(({ b, t, d }, i) => {
    const x = LEFT + d * CELL, y = TOP + b * (T * CELL + GAP) + t * CELL;
    const rect = svg("rect", { x, y, width: CELL - 2, height: CELL - 2, rx: 2, class: "ll-cell" });
    const dot = svg("circle", { cx: x + CELL / 2 - 1, cy: y + CELL / 2 - 1, r: 3, class: "ll-mark" });
    rect.addEventListener("pointerdown", () => onPick(PLACES[i]));
    root.append(rect, dot);
    return { rect, dot };
  });
  const words = (text, x, y, anchor = "end") => root.append(svg("text", { x, y, "text-anchor": anchor }, text));
  words("feature", LEFT + (D * CELL) / 2, 12, "middle");
  for (let b = 0; b < B; b++) {
    const y = TOP + b * (T * CELL + GAP);
    words(`example ${b + 1}`, 0, y - 4, "start");
    for (let t = 0; t < T; t++) words(`token ${t + 1}`, LEFT - 6, y + t * CELL + 15);
  }
  return {
    root: html("figure", {}, html("figcaption", {}, title), root),
    draw(styles) {
      nodes.forEach(({ rect, dot }, i) => {
        const { fill, strength, chosen, marked } = styles(PLACES[i], i);
        rect.setAttribute("fill", fill);
        rect.setAttribute("fill-opacity", strength);
        rect.classList.toggle("ll-chosen", chosen);
        dot.setAttribute("visibility", marked ? "visible" : "hidden");
      });
    },
  };
}

function describe({ norm, example, token, change }, moved) {
  const at = { b: example - 1, t: token - 1, d: 0 }, rule = NORMS[norm];
  const sharing = PLACES.filter((p) => rule.shared(p, at)).length;
  const what = rule.mean ? "mean and variance" : "mean square";
  const first = `${rule.name}: ${sharing} numbers share one ${what}, ` +
    (norm === "batchnorm" ? "all examples and tokens of one feature." : "the features of one token.");
  if (change === 0) return [first, "Change the token to see what moves."];
  const outside = PLACES.map((p, i) => [p, Math.abs(moved[i])]).filter(([p]) => !sameToken(p, at));
  const count = outside.filter(([, by]) => by > 1e-6).length;
  const earlier = Math.max(0, ...outside.filter(([p]) => p.b === at.b && p.t < at.t).map(([, by]) => by));
  const others = count
    ? `${count} of the ${outside.length} outputs of other tokens move, by up to ${fixed(Math.max(...outside.map(([, by]) => by)))}.`
    : `None of the ${outside.length} outputs of other tokens move.`;
  const leak = earlier > 1e-6 ? " Earlier tokens of the same text are among them: the future leaks." : "";
  return [first, `Feature 1 of token ${token} of example ${example} changed by ${written(change)}. ${others}${leak}`];
}

async function render({ model, el }) {
  const memory = await startLoops();
  const x = new Float32Array(B * T * D);
  normals(x, 7, 1);
  const it = state(model, ["norm", "example", "token", "change"], redraw), { values } = it;
  const pick = ({ b, t }) => { put("example", b + 1); put("token", t + 1); };
  const grids = [grid("Inputs", pick), grid("What moves", pick)];
  const words = html("p", { class: "ll-words" }), spoken = announcer();
  const norm = choice({
    label: "Norm", value: values.norm, use: (v) => it.put("norm", v),
    options: Object.fromEntries(Object.entries(NORMS).map(([key, { name }]) => [key, name])),
  });
  const slide = (label, value, range, use) => slider({ label, value, show: (v) => written(v), ...range, use });
  const controls = {
    norm,
    example: slide("Example", values.example, { min: 1, max: B }, (v) => it.put("example", v)),
    token: slide("Token", values.token, { min: 1, max: T }, (v) => it.put("token", v)),
    change: slide("Added to its feature 1", values.change, { min: -5, max: 5, step: 0.5 }, (v) => it.put("change", v)),
  };
  for (const [name, control] of Object.entries(controls)) it.follow(name, control.set);
  function put(name, value) {
    controls[name].set(value);
    it.put(name, value);
  }

  function redraw() {
    const at = { b: values.example - 1, t: values.token - 1, d: 0 };
    const changed = x.map((v, i) => (sameToken(PLACES[i], at) && PLACES[i].d === 0 ? v + values.change : v));
    const [before, after] = [x, changed].map((input) => normalized(memory, [...input], values.norm));
    const moved = after.map((v, i) => v - before[i]);
    const signed = (v, most) => ({ fill: v < 0 ? "var(--ll-blue)" : "var(--ll-orange)", strength: v ? clamp(Math.abs(v) / most, 0.2, 1) : 0 });
    grids[0].draw((p, i) => ({ ...signed(changed[i], 3), chosen: sameToken(p, at), marked: NORMS[values.norm].shared(p, at) }));
    grids[1].draw((p, i) => ({ ...signed(Math.abs(moved[i]) > 1e-6 ? moved[i] : 0, 1.5), chosen: sameToken(p, at), marked: false }));
    const said = describe(values, moved);
    words.replaceChildren(...said.map((text) => html("span", {}, text)));
    spoken.say(said.join(" "));
    el.measured = () => ({ x: [...x], changed: [...changed], before, after });
  }

  frame(el, "who-shares-a-mean",
    html("div", { class: "ll-controls" }, ...Object.values(controls).map((c) => c.root)), words,
    html("div", { class: "ll-panels ll-two" }, ...grids.map((g) => g.root)),
    html("p", { class: "ll-legend" }, "Blue: below 0. Orange: above 0. Dots: share a mean with feature 1 of the framed token. Press a cell to choose its token."),
    spoken.root);
  redraw();
}

export default { render };

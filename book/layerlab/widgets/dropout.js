// A hundred units under dropout: one mask, and the average over many.

const UNITS = 100, ROUNDS = 300;
const W = 340, H = 190, LEFT = 40, RIGHT = 6, TOP = 10, BOTTOM = 34;
// keep: probability of surviving; scale: what survivors are multiplied with; use: at inference.
const VERSIONS = {
  right: { name: "right", keep: (p) => 1 - p, scale: (p) => 1 / (1 - p), use: () => 1 },
  keeps: { name: "bug: keeps with probability p", keep: (p) => p, scale: (p) => 1 / (1 - p), use: () => 1 },
  divides: { name: "bug: divides by p", keep: (p) => 1 - p, scale: (p) => 1 / p, use: () => 1 },
  both: { name: "bug: both", keep: (p) => p, scale: (p) => 1 / p, use: () => 1 },
};

// Uniform numbers from a seed, one stream for each round: a larger p then only zeroes more.
function uniforms(count, seed) {
  let a = (seed + 1) | 0;
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return Float64Array.from({ length: count }, next);
}

// The first mask, and after each round the mean of all outputs so far, for inputs of 1.
function simulate({ p, mode, version }, draws) {
  const { keep, scale, use } = VERSIONS[version];
  if (mode === "inference") return { output: new Float64Array(UNITS).fill(use(p)), means: new Float64Array(ROUNDS).fill(use(p)), survivors: UNITS, factor: use(p) };
  const kept = keep(p), factor = scale(p);
  if (!Number.isFinite(factor)) return { output: new Float64Array(UNITS), means: [], survivors: 0, factor };
  const output = Float64Array.from({ length: UNITS }, (_, i) => (draws[i] < kept ? factor : 0));
  const means = new Float64Array(ROUNDS);
  let total = 0, survivors = 0;
  for (let i = 0; i < draws.length; i++) {
    const survives = draws[i] < kept;
    total += survives ? factor : 0;
    survivors += survives && i < UNITS ? 1 : 0;
    if ((i + 1) % UNITS === 0) means[Math.floor(i / UNITS)] = total / (i + 1);
  }
  return { output, means, survivors, factor };
}

function maskGrid() {
  const root = svg("svg", { viewBox: "0 0 204 204", class: "ll-chart ll-still ll-mask", "aria-hidden": "true" });
  const cells = Array.from({ length: UNITS }, (_, i) => {
    const cell = svg("rect", { x: 2 + (i % 10) * 20, y: 2 + Math.floor(i / 10) * 20, width: 18, height: 18, rx: 2 });
    root.append(cell);
    return cell;
  });
  return {
    root,
    draw(output) {
      cells.forEach((cell, i) => cell.setAttribute("class", output[i] ? "ll-fill-blue" : "ll-zeroed"));
    },
  };
}

function meanChart() {
  const grid = svg("g", { class: "ll-grid" }), path = svg("path", { class: "ll-line ll-blue" });
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "ll-chart ll-still", "aria-hidden": "true" }, grid, path);
  const across = (round) => LEFT + ((W - LEFT - RIGHT) * round) / ROUNDS;
  return {
    root,
    draw(means) {
      const top = [2, 4, 10, 100].find((end) => end >= Math.max(0, ...means)) ?? 1000;
      const up = (v) => TOP + (H - TOP - BOTTOM) * (1 - v / top);
      const words = (text, x, y, anchor) => svg("text", { x, y, "text-anchor": anchor }, text);
      const across1 = svg("line", { x1: LEFT, x2: W - RIGHT, y1: up(1), y2: up(1), class: "ll-one ll-dashed" });
      const floor = svg("line", { x1: LEFT, x2: W - RIGHT, y1: up(0), y2: up(0) });
      const ticks = [0, 1, top].map((v) => words(v, LEFT - 6, up(v) + 4, "end"));
      const rounds = [100, 200, 300].map((v) => words(v, across(v), H - BOTTOM + 16, v === 300 ? "end" : "middle"));
      grid.replaceChildren(across1, floor, ...ticks, ...rounds, words("masks drawn", across(ROUNDS / 2), H - 3, "middle"));
      path.setAttribute("d", line(Array.from(means, (v, i) => [across(i + 1), up(v)])));
    },
  };
}

function sentences({ p, mode, version }, { means, survivors, factor }) {
  if (mode === "inference") return ["At inference nothing is zeroed and nothing is scaled.", "The output is the input: 1."];
  if (!Number.isFinite(factor)) return ["At p = 0 this bug divides by 0.", "The right version leaves the input as it is."];
  const last = means[ROUNDS - 1];
  const right = Math.abs(last - 1) < 0.03 ? "close to 1, as it should be" : "it should be 1";
  const said = [
    `Of ${UNITS} units ${survivors} survive, each times ${written(factor)}; ${written(100 * (1 - p))} would be expected to.`,
    `The mean over ${ROUNDS} masks is ${fixed(last, 3)}: ${right}.`,
  ];
  if (version !== "right" && Math.abs(p - 0.5) < 0.005) said.push("At p = 0.5 this bug does not show. Move p.");
  return said;
}

function render({ model, el }) {
  const it = state(model, ["p", "seed", "mode", "version"], redraw), { values } = it;
  const mask = maskGrid(), chart = meanChart();
  const words = html("p", { class: "ll-words" }), spoken = announcer();
  let draws, drawn;
  const seed = field({
    label: "Seed", value: values.seed, ok: (x) => Number.isInteger(x) && x >= 0 && x < 2 ** 31,
    rule: "A whole number of 0 or more.", use: (x) => it.put("seed", x),
  });
  const controls = {
    p: slider({ label: "p, chance of zeroing", min: 0, max: 0.95, step: 0.01, value: values.p, show: (x) => x.toFixed(2), use: (x) => it.put("p", x) }),
    mode: choice({ label: "Mode", options: { training: "training", inference: "inference" }, value: values.mode, use: (x) => it.put("mode", x) }),
    version: choice({ label: "Version", options: Object.fromEntries(Object.entries(VERSIONS).map(([key, v]) => [key, v.name])), value: values.version, use: (x) => it.put("version", x) }),
    seed,
  };
  for (const [name, control] of Object.entries(controls)) it.follow(name, control.set);
  const again = button("Draw again", () => { seed.set(values.seed + 1); it.put("seed", values.seed + 1); });

  function redraw() {
    if (drawn !== values.seed) draws = uniforms(UNITS * ROUNDS, values.seed);
    drawn = values.seed;
    const result = simulate(values, draws);
    mask.draw(result.output);
    chart.draw(result.means);
    const said = sentences(values, result);
    words.replaceChildren(...said.map((text) => html("span", {}, text)));
    spoken.say(said.join(" "));
    el.measured = () => ({ ...values, draws: [...draws], output: [...result.output], means: [...result.means] });
  }

  frame(el, "dropout",
    html("div", { class: "ll-controls" }, ...Object.values(controls).map((c) => c.root), again), words,
    html("div", { class: "ll-panels" },
      html("figure", {}, html("figcaption", {}, "One mask: filled units survive"), mask.root),
      html("figure", {}, html("figcaption", {}, "Mean output so far, for inputs of 1"), chart.root)),
    spoken.root);
  redraw();
}

export default { render };

// Four numbers through LayerNorm and RMSNorm, and a gradient back through both.

const START = { x: [1, 2, 3, 4], gamma: 1, beta: 0, eps: 1e-5, dout: [1, 0, 0, 0] };
const LARGEST = 1e6;
const usable = (v) => Number.isFinite(v) && Math.abs(v) <= LARGEST;
const RULE = "A number from −1,000,000 to 1,000,000.";
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
const round4 = (x) => (Math.abs(x) >= 1000 || (x !== 0 && Math.abs(x) < 5e-4) ? written(x) : fixed(x, 3));

// ---- the computation -------------------------------------------------------------------------

// The normalized rows come from the compiled kernels, with gamma 1 and beta 0.
function forward(memory, { x, gamma, beta, eps }, center) {
  memory.clear();
  const [at, ones, zeros] = [x, [1, 1, 1, 1], [0, 0, 0, 0]].map((v) => memory.put(v));
  const out = memory.take(16);
  if (center) memory.run.layernorm(at, ones, zeros, out, 1, 4, eps);
  else memory.run.rmsnorm(at, ones, out, 1, 4, eps);
  const hat = [...memory.floats(out, 4)];
  const middle = center ? mean(x) : 0;
  const spread = Math.sqrt(mean(x.map((v) => (v - middle) ** 2)) + eps);
  return { hat, mean: middle, spread, y: hat.map((v) => gamma * v + (center ? beta : 0)) };
}

function backward({ dout, gamma }, { hat, spread }, center) {
  const g = dout.map((v) => gamma * v);
  const common = center ? mean(g) : 0, along = mean(g.map((v, i) => v * hat[i]));
  const rest = g.map((v, i) => v - common - hat[i] * along);
  const square = (values) => values.reduce((sum, v) => sum + v * v, 0);
  return {
    g, common: g.map(() => common), along: hat.map((v) => v * along),
    dx: rest.map((v) => v / spread), removed: square(g) ? 1 - square(rest) / square(g) : NaN,
  };
}

// ---- one norm on the page --------------------------------------------------------------------

function card(title, center) {
  const stats = html("p", { class: "ll-readout" }), bars = barChart();
  const rows = [["x", "x"], ["hat", "x̂"], ["y", "y"], ["g", "g"], ["common", "mean of g"], ["along", "along x̂"], ["dx", "dx"]];
  const cells = {};
  const body = rows.filter(([key]) => center || key !== "common").map(([key, name]) => {
    cells[key] = Array.from({ length: 4 }, () => html("td"));
    const removed = key === "common" || key === "along";
    return html("tr", { class: removed ? "ll-removed" : key === "g" ? "ll-begin" : "" },
      html("th", { scope: "row" }, removed ? `− ${name}` : name), ...cells[key]);
  });
  const head = html("tr", {}, html("th", { scope: "col" }, "feature"), ...[1, 2, 3, 4].map((i) => html("th", { scope: "col" }, i)));
  return {
    root: html("figure", {}, html("figcaption", {}, title), stats, bars.root,
      html("table", { class: "ll-table" }, html("thead", {}, head), html("tbody", {}, ...body))),
    draw(x, there, back) {
      stats.textContent = center
        ? `mean ${round4(there.mean)}, spread √(var + eps) ${round4(there.spread)}`
        : `root mean square √(mean of x² + eps) ${round4(there.spread)}`;
      const shown = { x, ...there, ...back };
      for (const [key, row] of Object.entries(cells))
        row.forEach((cell, i) => { cell.textContent = Number.isFinite(shown[key][i]) ? round4(shown[key][i]) : "–"; });
      bars.draw(there.hat, there.y);
    },
  };
}

function barChart() {
  const W = 300, H = 110, root = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "ll-chart ll-still", "aria-hidden": "true" });
  const axis = svg("line", { x1: 0, x2: W, class: "ll-axis" });
  const bars = Array.from({ length: 8 }, (_, i) => svg("rect", {
    x: 18 + Math.floor(i / 2) * 72 + (i % 2) * 26, width: 22, class: i % 2 ? "ll-fill-orange" : "ll-fill-blue",
  }));
  const ends = [svg("text", { x: W, y: 10, "text-anchor": "end" }), svg("text", { x: W, y: H - 2, "text-anchor": "end" })];
  root.append(axis, ...bars, ...ends);
  return {
    root,
    draw(hat, y) {
      const values = hat.flatMap((v, i) => [v, y[i]]).map((v) => (Number.isFinite(v) ? v : 0));
      const top = Math.max(2, ...values), low = Math.min(-2, ...values), scale = H / (top - low);
      values.forEach((v, i) => {
        bars[i].setAttribute("y", (top - Math.max(v, 0)) * scale);
        bars[i].setAttribute("height", Math.abs(v) * scale);
      });
      axis.setAttribute("y1", top * scale);
      axis.setAttribute("y2", top * scale);
      ends[0].textContent = round4(top);
      ends[1].textContent = round4(low);
    },
  };
}

// ---- together --------------------------------------------------------------------------------

const NAMES = ["LayerNorm", "RMSNorm"];

function sentences(moved, results) {
  if (results.some(([there]) => !there.hat.every(Number.isFinite)))
    return ["All numbers are equal, or zero, and eps is 0: that would be 0 / 0. A small eps prevents it."];
  const [layer, rms] = results.map(([, back]) => (Number.isFinite(back.removed) ? `${Math.round(100 * back.removed)} %` : "nothing"));
  const said = [`Of the gradient's squared length, LayerNorm removes ${layer} and RMSNorm ${rms}.`];
  if (moved) said.unshift(`The last change moved x̂ by at most ${written(moved[0])} in LayerNorm and ${written(moved[1])} in RMSNorm.`);
  return said;
}

async function render({ model, el }) {
  const memory = await startLoops();
  const it = state(model, Object.keys(START), redraw), { values } = it;
  const cards = NAMES.map((name, i) => card(name, i === 0));
  const words = html("p", { class: "ll-words" }), spoken = announcer();
  let before = null;

  const quartet = (key, label) => values[key].map((value, i) => field({
    label: `${label} ${i + 1}`, value, ok: usable, rule: RULE,
    use: (v) => it.put(key, values[key].map((old, k) => (k === i ? v : old))),
  }));
  const single = (key, ok = usable, rule = RULE) => {
    const control = field({ label: key, value: values[key], ok, rule, use: (v) => it.put(key, v) });
    it.follow(key, control.set);
    return control;
  };
  const fields = { x: quartet("x", "x"), dout: quartet("dout", "dout") };
  for (const key of ["x", "dout"]) it.follow(key, (v) => fields[key].forEach((f, i) => f.set(v[i])));
  const [gamma, beta] = [single("gamma"), single("beta")];
  const eps = single("eps", (v) => v >= 0 && v <= 10, "A number from 0 to 10.");
  const note = html("span", { class: "ll-hint", role: "status" });
  const change = (f) => {
    const next = values.x.map((v) => Number(f(v).toPrecision(7)));
    note.textContent = next.every(usable) ? "" : "The numbers would leave the range of the fields.";
    if (!next.every(usable)) return;
    fields.x.forEach((control, i) => control.set(next[i]));
    it.put("x", next);
  };
  const restart = () => {
    for (const [key, value] of Object.entries(START)) {
      it.put(key, value);
      if (Array.isArray(value)) fields[key].forEach((control, i) => control.set(value[i]));
    }
    [gamma, beta, eps].forEach((control, i) => control.set([START.gamma, START.beta, START.eps][i]));
    note.textContent = "";
  };

  function redraw() {
    const results = [true, false].map((center) => {
      const there = forward(memory, values, center);
      return [there, backward(values, there, center)];
    });
    cards.forEach((one, i) => one.draw(values.x, ...results[i]));
    const hats = results.map(([there]) => there.hat);
    const moved = before && hats.map((hat, i) => Math.max(...hat.map((v, k) => Math.abs(v - before[i][k]))));
    before = hats;
    const said = sentences(moved && moved.every(Number.isFinite) && Math.max(...moved) > 0 ? moved : null, results);
    words.replaceChildren(...said.map((text) => html("span", {}, text)));
    spoken.say(said.join(" "));
    el.measured = () => ({ results });
  }

  frame(el, "normalization-anatomy",
    html("div", { class: "ll-controls ll-four", role: "group", "aria-label": "the four numbers" }, ...fields.x.map((f) => f.root)),
    html("div", { class: "ll-marks", role: "group", "aria-label": "Change all four numbers" },
      button("x × 10", () => change((v) => 10 * v)), button("x + 100", () => change((v) => v + 100)), button("Start again", restart), note),
    html("div", { class: "ll-controls ll-four" }, gamma.root, beta.root, eps.root),
    html("div", { class: "ll-controls ll-four", role: "group", "aria-label": "gradient with respect to y" }, ...fields.dout.map((f) => f.root)),
    words,
    html("p", { class: "ll-legend" }, html("span", {}, html("span", { class: "ll-swatch ll-back-blue" }), "x̂"), html("span", {}, html("span", { class: "ll-swatch ll-back-orange" }), "y"),
      html("span", {}, "g = gamma × dout; the rows with − are taken out of it, and dx is the rest divided by the spread.")),
    html("div", { class: "ll-panels" }, ...cards.map((one) => one.root)), spoken.root);
  redraw();
}

export default { render };

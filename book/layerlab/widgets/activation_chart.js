// Chart and map of `activation_scale.js`, without the state of the widget.

const ACTIVATIONS = { relu: "ReLU", tanh: "tanh", linear: "linear", gelu: "GELU" };
const NORMS = { none: "none", layernorm: "LayerNorm", rmsnorm: "RMSNorm" };
const [LOWEST, HIGHEST] = [0.001, 2];
const COLUMNS = 45;
const W = 340, H = 250, LEFT = 42, RIGHT = 6, TOP = 10, BOTTOM = 36;
const LINES = [
  ["outputs", "output", "ll-blue"],
  ["gradients", "gradient", "ll-orange"],
];

const marks = (width) => ({ He: Math.sqrt(2 / width), Xavier: Math.sqrt(1 / width), "GPT-2": 0.02 });
const place = (std) => LEFT + ((W - LEFT - RIGHT) * Math.log(std / LOWEST)) / Math.log(HIGHEST / LOWEST);
const stdAt = (x) => LOWEST * (HIGHEST / LOWEST) ** clamp((x - LEFT) / (W - LEFT - RIGHT), 0, 1);
const shownStd = (std) => Number(std.toPrecision(3));
const indexOf = (names, name) => Object.keys(names).indexOf(name);

// ---- in words --------------------------------------------------------------------------------

function verdict(from, to, steps) {
  if (!Number.isFinite(to)) return "explodes: it leaves the range of float32";
  if (to === 0) return "vanishes: it reaches 0";
  const factor = (to / from) ** (1 / Math.max(1, steps));
  const each = Number.isFinite(factor) ? `, on average × ${written(factor)} per layer` : "";
  if (to > 100) return `explodes${each}`;
  return to < 0.01 ? `vanishes${each}` : `is steady${each}`;
}

function summary({ outputs, gradients }) {
  const last = outputs.length - 1;
  return [
    `The output ${verdict(outputs[0], outputs[last], last)}; it ends at ${written(outputs[last])}.`,
    `The gradient, going back, ${verdict(gradients[last], gradients[0], last)}; it arrives at layer 1 with ${written(gradients[0])}.`,
  ];
}

// ---- the chart -------------------------------------------------------------------------------

function chart(depthNow, onLayer) {
  const grid = svg("g", { class: "ll-grid" });
  const paths = {};
  const curves = svg("g", { "clip-path": "none" });
  for (const [key, , colour] of LINES) {
    curves.append((paths[`${key}Expected`] = svg("path", { class: `ll-line ll-dashed ${colour}` })));
    curves.append((paths[key] = svg("path", { class: `ll-line ${colour}` })));
  }
  const guide = svg("line", { class: "ll-guide", y1: TOP, y2: H - BOTTOM });
  const dots = LINES.map(([, , colour]) => svg("circle", { r: 4, class: `ll-dot ${colour}` }));
  const root = svg("svg", {
    viewBox: `0 0 ${W} ${H}`, class: "ll-chart", tabindex: 0, role: "slider",
    "aria-label": "Layer to read", "aria-valuemin": 1,
  }, grid, curves, guide, ...dots);
  const across = (i, depth) => LEFT + ((W - LEFT - RIGHT) * (depth > 1 ? i / (depth - 1) : 0.5));
  const layerAt = (event) => {
    const box = root.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * W;
    return clamp(Math.round(((x - LEFT) / (W - LEFT - RIGHT)) * (depthNow() - 1)), 0, depthNow() - 1);
  };
  root.addEventListener("pointermove", (event) => onLayer(layerAt(event)));
  root.addEventListener("pointerdown", (event) => onLayer(layerAt(event)));
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 5, PageDown: -5, Home: -99, End: 99 };
  root.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    onLayer(steps[event.key], true);
  });
  let drawn = "";
  return {
    root,
    draw(sizes, layer) {
      const depth = sizes.outputs.length;
      const [low, high] = decades(sizes);
      const up = (v) => TOP + ((H - TOP - BOTTOM) * (high - clamp(Math.log10(v), low, high))) / (high - low);
      if (drawn !== `${low} ${high} ${depth}`) grid.replaceChildren(...axes(low, high, depth, up, across));
      drawn = `${low} ${high} ${depth}`;
      for (const [name, path] of Object.entries(paths)) path.setAttribute("d", line(visible(sizes[name], across, up)));
      guide.setAttribute("x1", across(layer, depth));
      guide.setAttribute("x2", across(layer, depth));
      dots.forEach((dot, i) => {
        const value = sizes[LINES[i][0]][layer];
        dot.setAttribute("visibility", Number.isFinite(value) && value > 0 ? "visible" : "hidden");
        if (!(Number.isFinite(value) && value > 0)) return;
        dot.setAttribute("cx", across(layer, depth));
        dot.setAttribute("cy", up(value));
      });
      root.setAttribute("aria-valuemax", depth);
      root.setAttribute("aria-valuenow", layer + 1);
      root.setAttribute("aria-valuetext", reading(sizes, layer));
    },
  };
}

// A curve ends where its value leaves the range of float32.
function visible(values, across, up) {
  const points = [];
  for (let i = 0; i < values.length && Number.isFinite(values[i]); i++)
    if (values[i] > 0) points.push([across(i, values.length), up(values[i])]);
  return points;
}

// Ends of the axis, in a few fixed steps so that it rests while the slider moves.
function decades({ outputs, gradients }) {
  const logs = [...outputs, ...gradients].map((v) => (v > 0 ? Math.log10(v) : v === 0 ? -28 : 38));
  const outer = (x) => [2, 4, 8, 16, 28, 38].find((end) => end >= Math.min(x, 38));
  return [-Math.min(28, outer(-Math.min(0, ...logs))), outer(Math.max(0, ...logs))];
}

function axes(low, high, depth, up, across) {
  const nodes = [];
  const step = Math.max(1, 2 ** Math.ceil(Math.log2((high - low) / 8)));
  for (let e = Math.ceil(low / step) * step; e <= high; e += step) {
    const y = up(10 ** e);
    nodes.push(svg("line", { x1: LEFT, x2: W - RIGHT, y1: y, y2: y, class: e ? "" : "ll-one" }));
    nodes.push(svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, e === 0 ? "1" : `10${raised(e)}`));
  }
  const every = [1, 2, 5, 10, 20].find((n) => depth / n <= 7);
  for (let i = 0; i < depth; i++)
    if (i === 0 || ((i + 1) % every === 0 && i + 1 >= every)) {
      if (i > 0 && across(i, depth) - across(0, depth) < 18) continue;
      nodes.push(svg("text", { x: across(i, depth), y: H - BOTTOM + 16, "text-anchor": "middle" }, i + 1));
    }
  nodes.push(svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 4, "text-anchor": "middle" }, "layer"));
  return nodes;
}

function reading(sizes, layer) {
  const pair = ([key, name]) => `${name} ${written(sizes[key][layer])} (theory ${written(sizes[`${key}Expected`][layer])})`;
  return `Layer ${layer + 1}: ${LINES.map(pair).join(", ")}`;
}

// ---- the map ---------------------------------------------------------------------------------

// The colours of the book's figures: small blue, near 1 pale, large orange.
const STOPS = [[0, 69, 110], [0, 114, 178], [244, 241, 234], [213, 94, 0], [122, 48, 0]];

function colour(size) {
  const log = size > 0 ? Math.log10(size) : size === 0 ? -6 : 6;
  const at = (clamp(log, -6, 6) + 6) / 3, i = Math.min(3, Math.floor(at));
  return STOPS[i].map((c, k) => c + (at - i) * (STOPS[i + 1][k] - c));
}

function stdMap(onStd) {
  const canvas = html("canvas", { class: "ll-cells", width: COLUMNS, height: 1 });
  const now = svg("line", { class: "ll-now", y1: TOP, y2: H - BOTTOM });
  const labels = svg("g", { class: "ll-grid" });
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "ll-chart", "aria-hidden": "true" }, labels, now);
  const area = html("div", { class: "ll-map" }, canvas, root);
  const pick = (event) => {
    const box = root.getBoundingClientRect();
    onStd(stdAt(((event.clientX - box.left) / box.width) * W));
  };
  root.addEventListener("pointerdown", (event) => {
    root.setPointerCapture(event.pointerId);
    pick(event);
  });
  root.addEventListener("pointermove", (event) => event.buttons && pick(event));
  let task = 0, shown = "";
  return {
    root: area,
    mark(std) {
      now.setAttribute("x1", place(std));
      now.setAttribute("x2", place(std));
    },
    // One column after the other, each in a turn of its own, so that sliders stay quick.
    fill(key, depth, width, column) {
      if (key === shown) return;
      shown = key;
      clearTimeout(task);
      canvas.height = depth;
      labels.replaceChildren(...mapLabels(depth, width));
      const paint = canvas.getContext("2d");
      const turn = (i) => {
        const sizes = column(LOWEST * (HIGHEST / LOWEST) ** ((i + 0.5) / COLUMNS));
        const pixels = paint.createImageData(1, depth);
        sizes.forEach((size, layer) => pixels.data.set([...colour(size), 255], 4 * (depth - 1 - layer)));
        paint.putImageData(pixels, i, 0);
        if (i + 1 < COLUMNS) task = setTimeout(turn, 0, i + 1);
        else canvas.dataset.done = key;
      };
      task = setTimeout(turn, 30, 0);
    },
  };
}

function mapLabels(depth, width) {
  const nodes = [];
  const words = (text, x, y, anchor = "middle") => nodes.push(svg("text", { x, y, "text-anchor": anchor }, text));
  for (const std of [0.001, 0.01, 0.1, 1]) words(std, place(std), H - BOTTOM + 16);
  for (const std of Object.values(marks(width)))
    nodes.push(svg("line", { class: "ll-tick", x1: place(std), x2: place(std), y1: H - BOTTOM - 6, y2: H - BOTTOM + 3 }));
  words(depth, LEFT - 6, TOP + 10, "end");
  words("1", LEFT - 6, H - BOTTOM, "end");
  words("layer", LEFT - 6, (TOP + H - BOTTOM) / 2, "end");
  words("standard deviation of the weights", (LEFT + W - RIGHT) / 2, H - 4);
  return nodes;
}

// Size of outputs and gradients against depth, and a map of all standard deviations.
// `activation_chart.js` comes before this file.

const BATCH = 32;

async function render({ model, el }) {
  const memory = await startLoops();
  let network, made = "", sizes, layer = 0;
  const it = state(model, ["std", "activation", "norm", "width", "depth", "seed"], redraw);
  const { values } = it;
  const words = html("p", { class: "ll-words" }), readout = html("p", { class: "ll-readout" });
  const spoken = announcer();
  const lines = chart(() => values.depth, (to, relative) => {
    layer = clamp(relative ? layer + to : to, 0, values.depth - 1);
    it.later();
  });
  const map = stdMap((std) => setStd(shownStd(std)));
  const std = stdControls(values, setStd);
  layer = values.depth - 1;

  function setStd(value) {
    std.show(value);
    it.put("std", value);
  }

  function settings() {
    return { activation: indexOf(ACTIVATIONS, values.activation), norm: indexOf(NORMS, values.norm), depth: values.depth };
  }

  function redraw() {
    const { width, seed, depth } = values;
    if (made !== `${width} ${seed}`) network = new Network(memory, { width, batch: BATCH, seed });
    made = `${width} ${seed}`;
    layer = Math.min(layer, depth - 1);
    // The map goes on after this frame, and must not see settings that change meanwhile.
    const now = settings(), drawnFrom = network;
    sizes = network.measure({ ...now, std: values.std });
    lines.draw(sizes, layer);
    map.mark(values.std);
    const key = [values.activation, values.norm, width, depth, seed].join(" ");
    map.fill(key, depth, width, (s) => drawnFrom.measure({ ...now, std: s, batch: 8, back: false }).outputs);
    const said = summary(sizes);
    words.replaceChildren(...said.map((text) => html("span", {}, text)));
    readout.textContent = reading(sizes, layer);
    spoken.say(said.join(" "));
  }

  const controls = [
    ...std.roots,
    ...otherControls(it, std, values),
  ];
  it.follow("std", std.show);
  frame(el, "activation-scale",
    html("div", { class: "ll-controls" }, ...controls), words,
    html("div", { class: "ll-panels" },
      html("figure", {}, html("figcaption", {}, "Size (rms) by layer"), lines.root, legend(), readout),
      html("figure", {}, html("figcaption", {}, "Output size for every standard deviation"), map.root, colourBar())),
    spoken.root);
  el.measured = () => ({ ...values, sizes });
  el.timed = (times) => Array.from({ length: times }, () => {
    const start = performance.now();
    network.measure({ ...settings(), std: values.std });
    return performance.now() - start;
  });
  redraw();
}

function stdControls(values, setStd) {
  const decade = (x) => shownStd(10 ** x);
  const range = slider({
    label: "Standard deviation", min: -3, max: Math.log10(HIGHEST), step: "any", value: Math.log10(values.std),
    show: (x) => String(decade(x)), use: (x) => setStd(decade(x)),
  });
  range.input.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.02, ArrowDown: -0.02, ArrowRight: 0.02, ArrowUp: 0.02 }[event.key];
    if (!step) return;
    event.preventDefault();
    setStd(decade(clamp(range.value + step, -3, Math.log10(HIGHEST))));
  });
  const typed = field({
    label: "Typed", value: values.std, ok: (x) => x >= LOWEST && x <= HIGHEST,
    rule: `A number from ${LOWEST} to ${HIGHEST}.`, use: (x) => setStd(x),
  });
  const row = html("div", { class: "ll-marks", role: "group", "aria-label": "Set the standard deviation to" });
  const remark = () => row.replaceChildren(...Object.entries(marks(values.width)).map(([name, std]) =>
    button(`${name} ${shownStd(std)}`, () => setStd(shownStd(std)))));
  remark();
  range.root.classList.add("ll-wide");
  return {
    roots: [range.root, typed.root, row],
    remark,
    show(std) {
      range.set(Math.log10(std));
      if (document.activeElement !== typed.input) typed.set(std);
    },
  };
}

function otherControls(it, std, values) {
  const choose = (name, label, options) => {
    const control = choice({ label, options, value: values[name], use: (v) => it.put(name, v) });
    it.follow(name, control.set);
    return control.root;
  };
  const slide = (name, label, range, then = () => {}) => {
    const control = slider({ label, ...range, value: values[name], show: String, use: (v) => { it.put(name, v); then(); } });
    it.follow(name, (v) => { control.set(v); then(); });
    return control.root;
  };
  const seed = field({
    label: "Seed", value: values.seed, ok: (x) => Number.isInteger(x) && x >= 0 && x < 2 ** 31,
    rule: "A whole number of 0 or more.", use: (x) => it.put("seed", x),
  });
  it.follow("seed", seed.set);
  return [
    choose("activation", "Activation", ACTIVATIONS), choose("norm", "Norm before it", NORMS),
    slide("width", "Width", { min: 16, max: 256, step: 16 }, std.remark),
    slide("depth", "Depth", { min: 2, max: 64 }), seed.root,
  ];
}

function legend() {
  const sample = (style) => svg("svg", { viewBox: "0 0 28 8", class: "ll-sample", "aria-hidden": "true" },
    svg("path", { d: "M0 4H28", class: `ll-line ${style}` }));
  return html("p", { class: "ll-legend" },
    ...LINES.map(([, name, style]) => html("span", {}, sample(style), name)),
    html("span", {}, sample("ll-dashed ll-ink"), "theory"));
}

function colourBar() {
  return html("p", { class: "ll-legend" }, "10⁻⁶", html("span", { class: "ll-bar" }), "10⁶", html("span", {}, "Ticks: GPT-2, Xavier, He. Press to choose."));
}

export default { render };

// Shared by all widgets of the book. Python joins this file, `loops.js` where it is needed, and the
// widget's own file to one module, because a module that comes from a blob cannot import siblings.
//
// Controls are native elements with a <label>. Each returns { root, value, set } and calls `use`
// with every new value.

const SVG = "http://www.w3.org/2000/svg";
let counter = 0;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const html = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
const freshId = () => `layerlab-${++counter}`;
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// ---- numbers -------------------------------------------------------------------------------

const raised = (n) => String(n).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

// Three digits, a true minus sign, powers of ten outside 0.001 to 10,000.
function written(x, digits = 3) {
  if (Number.isNaN(x)) return "not a number";
  if (!Number.isFinite(x)) return x > 0 ? "too large" : "too small";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e4)) {
    const [factor, exponent] = x.toExponential(1).split("e");
    return `${factor} × 10${raised(Number(exponent))}`.replace(/^-/, "−");
  }
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

const fixed = (x, digits = 2) =>
  Number.isFinite(x) ? (Math.round(x * 10 ** digits) / 10 ** digits + 0).toFixed(digits).replace("-", "−") : written(x);

// As it is typed: 1e-5, not 0.00001.
const short = (x) => (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential() : String(x));

// Accepts a decimal comma and a typographic minus; NaN if it is no number.
function read(text) {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

// ---- controls ------------------------------------------------------------------------------

function slider({ label, min, max, step = 1, value, show = written, use }) {
  const id = freshId();
  const out = html("output", { for: id });
  const input = html("input", { type: "range", id, min, max, step, value });
  const tell = () => {
    out.textContent = show(input.valueAsNumber);
    input.setAttribute("aria-valuetext", out.textContent);
  };
  input.addEventListener("input", () => { tell(); use(input.valueAsNumber); });
  tell();
  return {
    root: html("div", { class: "ll-control" }, html("label", { for: id }, label), input, out),
    input,
    get value() { return input.valueAsNumber; },
    set(x) { input.value = x; tell(); },
  };
}

function choice({ label, options, value, use }) {
  const id = freshId();
  const entries = Object.entries(options).map(([key, text]) => html("option", { value: key }, text));
  const input = html("select", { id, onchange: () => use(input.value) }, ...entries);
  input.value = value;
  return {
    root: html("div", { class: "ll-control" }, html("label", { for: id }, label), input),
    get value() { return input.value; },
    set(x) { input.value = x; },
  };
}

// A number typed by the reader. `rule` is said below the field when it does not hold.
function field({ label, value, ok, rule, use, show = short }) {
  const id = freshId();
  const hint = html("span", { id: `${id}-hint`, class: "ll-hint", "aria-live": "polite" });
  const input = html("input", { type: "text", inputmode: "decimal", id, "aria-describedby": hint.id, autocomplete: "off", spellcheck: "false" });
  input.value = show(value);
  const judge = () => {
    const x = read(input.value);
    const fine = ok(x);
    hint.textContent = fine ? "" : rule;
    input.setAttribute("aria-invalid", String(!fine));
    if (fine) use(x);
  };
  input.addEventListener("input", judge);
  return {
    root: html("div", { class: "ll-control ll-field" }, html("label", { for: id }, label), input, hint),
    input,
    set(x) { input.value = show(x); hint.textContent = ""; input.setAttribute("aria-invalid", "false"); },
  };
}

const button = (label, onclick, attributes = {}) =>
  html("button", { type: "button", onclick, ...attributes }, label);

function check({ label, value, use }) {
  const input = html("input", { type: "checkbox", onchange: () => use(input.checked) });
  input.checked = value;
  return {
    root: html("label", { class: "ll-check" }, input, label),
    set(x) { input.checked = x; },
  };
}

// ---- state ---------------------------------------------------------------------------------

// Values kept in the model, so that a kernel sees them, with one redraw per frame.
function state(model, names, redraw) {
  const values = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  let waiting = 0;
  const later = () => {
    waiting ||= requestAnimationFrame(() => { waiting = 0; redraw(values); });
  };
  return {
    values,
    later,
    put(name, value) {
      values[name] = value;
      model.set(name, value);
      model.save_changes();
      later();
    },
    // What a kernel changes arrives here; `show` brings the control up to date.
    follow(name, show) {
      model.on(`change:${name}`, () => {
        if (Object.is(values[name], model.get(name))) return;
        values[name] = model.get(name);
        show(values[name]);
        later();
      });
    },
  };
}

// Said to screen readers once the reader has stopped moving things.
function announcer() {
  const root = html("p", { class: "ll-spoken", "aria-live": "polite", role: "status" });
  let timer = 0;
  return {
    root,
    say(text) {
      clearTimeout(timer);
      timer = setTimeout(() => { if (root.textContent !== text) root.textContent = text; }, 500);
    },
  };
}

function frame(el, name, ...parts) {
  el.replaceChildren(html("section", { class: `ll-widget ll-${name}`, "aria-label": name.replaceAll("-", " ") }, ...parts));
}

const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

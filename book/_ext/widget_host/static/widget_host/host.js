/*
 * Mounts anywidget models in a page that has no kernel.
 *
 * What a widget may count on, here as in JupyterLab:
 *   - Its module's default export is `{ initialize?, render? }`, or a function that returns it.
 *   - `render({ model, el, signal })` fills `el`, an empty <div class="widget-host-area">. A
 *     function that it returns runs when `signal` aborts; a static page never takes a widget down.
 *   - `model.get(name)`, `model.set(name, value)`, `model.on("change:name", (model, value) => ...)`,
 *     `model.off(...)`. `model.save_changes()` and `model.send()` do nothing: nobody listens.
 *     A `Bytes` trait arrives as a DataView.
 *   - The module comes from a blob, so that it also works from file://. It cannot import a sibling
 *     or fetch a file: bring everything along in `_esm`, `_css` and the traits.
 *   - A trait `fallback` with markup (a figure, a sentence) is what readers see without JavaScript,
 *     or when the module throws, for instance because WebAssembly is off. The build moves it from
 *     the model into a <noscript> beside the view: `model.get("fallback")` is undefined here.
 * A figure that depends on nothing live therefore belongs in `fallback`, and a module that needs
 * WebAssembly simply throws where it is missing.
 */
(() => {
  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

  class Model {
    #state;
    #listeners = new Map();

    constructor(state) {
      this.#state = state;
    }

    get(name) {
      return this.#state[name];
    }

    set(names, value) {
      const changes = typeof names === "object" ? names : { [names]: value };
      const changed = Object.entries(changes).filter(([name, to]) => this.#state[name] !== to);
      for (const [name, to] of changed) this.#state[name] = to;
      for (const [name, to] of changed) this.#emit(`change:${name}`, to);
      if (changed.length) this.#emit("change");
    }

    #emit(event, ...details) {
      for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(this, ...details);
    }

    on(events, listener) {
      for (const event of events.split(/\s+/)) {
        if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
        this.#listeners.get(event).add(listener);
      }
    }

    off(event, listener) {
      if (!event) this.#listeners.clear();
      else if (!listener) this.#listeners.delete(event);
      else this.#listeners.get(event)?.delete(listener);
    }

    save_changes() {}

    send() {}
  }

  const modules = new Map();
  const styles = new Set();

  // Two widgets of one kind share a module.
  function load(source) {
    if (!modules.has(source)) {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const module = import(url).then(({ default: widget }) =>
        typeof widget === "function" ? widget() : widget);
      modules.set(source, module);
    }
    return modules.get(source);
  }

  function addStyle(source) {
    if (!source || styles.has(source)) return;
    styles.add(source);
    const style = document.createElement("style");
    style.textContent = source;
    document.head.append(style);
  }

  function fromBase64(text) {
    return new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  }

  function readModels() {
    const models = new Map();
    for (const script of document.querySelectorAll(STATE)) {
      for (const [id, { state, buffers = [] }] of Object.entries(JSON.parse(script.textContent).state)) {
        for (const { path, data } of buffers) {
          const holder = path.slice(0, -1).reduce((inside, key) => inside[key], state);
          holder[path.at(-1)] = fromBase64(data);
        }
        models.set(id, { model: new Model(state), begun: null });
      }
    }
    return models;
  }

  async function mount(view, models) {
    const entry = models.get(JSON.parse(view.textContent).model_id);
    if (!entry) return;
    const el = document.createElement("div");
    el.className = "widget-host-area";
    view.before(el);
    try {
      addStyle(entry.model.get("_css"));
      const widget = await load(entry.model.get("_esm"));
      entry.begun ??= Promise.resolve(widget.initialize?.({ model: entry.model }));
      await entry.begun;
      await widget.render?.({ model: entry.model, el, signal: new AbortController().signal });
    } catch (problem) {
      showInstead(el, view.nextElementSibling, problem);
    }
  }

  function showInstead(el, still, problem) {
    // With scripts on, a browser keeps the content of <noscript> as text.
    el.innerHTML = still?.matches("noscript") ? still.textContent : "";
    const note = document.createElement("p");
    note.className = "widget-host-problem";
    note.setAttribute("role", "status");
    note.textContent = `The live version could not start in this browser: ${problem.message}`;
    el.append(note);
  }

  // Setting the formulas of a page takes longer than showing its widgets, and blocks them: it waits
  // until they have been painted, or for a second.
  function letFormulasWait(mounted) {
    const startup = window.MathJax?.config?.startup;
    if (!startup?.pageReady) return;
    const setFormulas = startup.pageReady;
    // The second frame begins when the first is on the screen.
    const painted = mounted.then(() => new Promise((done) =>
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
    const patience = new Promise((done) => setTimeout(done, 1000));
    startup.pageReady = () => Promise.race([painted, patience]).then(setFormulas);
  }

  function mountAll() {
    const models = readModels();
    const views = [...document.querySelectorAll(VIEW)];
    letFormulasWait(Promise.all(views.map((view) => mount(view, models))));
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
  else mountAll();
})();

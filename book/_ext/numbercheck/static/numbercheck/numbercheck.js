/* Answers the questions of the numbercheck directive. The marks are explained in buckets.py. */
(() => {
  const BUCKETS_PER_TOLERANCE = 4;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const MARKUP = /(`[^`]+`|\*[^\s*]+\*)/;
  const PREFIX = "layers-from-scratch:numbercheck:";

  // Lower bytes of the characters only, as in buckets.py.
  function digest(text) {
    let a = 0x811c9dc5;
    let b = 0x9e3779b9;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i) & 0xff;
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x85ebca6b);
    }
    return hex(mix(a)) + hex(mix(b));
  }

  function mix(h) {
    h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
    h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
    return (h ^ (h >>> 16)) >>> 0;
  }

  const hex = (h) => h.toString(16).padStart(8, "0");

  const reveal = (text) =>
    new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));

  // "0.5", "-2", "1e-3" or a fraction such as "1/8"; NaN for anything else.
  function readNumber(text) {
    const parts = text.split("/");
    if (parts.length > 2 || !parts.every((part) => NUMBER.test(part))) return NaN;
    return parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
  }

  // The numbers that were typed, or a sentence that says why there are none.
  function read(text, count) {
    const tidy = text.replace(/[\u2212\u2013]/g, "-").replace(/\s*\/\s*/g, "/")
      .replace(/^[\s([]+|[\s)\]]+$/g, "");
    if (!tidy) return { hint: count > 1 ? `Type ${count} numbers first.` : "Type a number first." };
    const words = count > 1 ? tidy.split(/[\s,;]+/) : [tidy.replace(/^([+-]?\d*),(\d+)$/, "$1.$2")];
    const numbers = words.map(readNumber);
    const unread = words.find((word, i) => Number.isNaN(numbers[i]));
    if (unread !== undefined)
      return { hint: `\u201c${unread}\u201d is not a number. Write it like 0.5, -2, 1e-3 or 1/8.` };
    if (!numbers.every(Number.isFinite)) return { hint: "That is too large to be a number here." };
    if (numbers.length !== count)
      return { hint: `The answer has ${count} numbers; you typed ${numbers.length}.` };
    return { numbers };
  }

  function judge(numbers, check) {
    const width = check.within / BUCKETS_PER_TOLERANCE;
    const typed = numbers.map((x, i) => digest(`${check.key}|${i}|${Math.round(x / width)}`));
    const agrees = (marks) => typed.every((mark, i) => marks[i].includes(mark));
    if (agrees(check.right)) return { state: "right", words: `Right. ${reveal(check.why)}` };
    const known = check.wrong.find(({ marks }) => agrees(marks));
    const words = known ? reveal(known.why) : reveal(check.hint) || "Look at the steps once more.";
    return { state: "wrong", words: `Not yet. ${words}` };
  }

  // `code` and *emphasis*; everything else is text.
  function styled(part, i) {
    if (i % 2 === 0) return part;
    const element = document.createElement(part.startsWith("`") ? "code" : "em");
    element.textContent = part.slice(1, -1);
    return element;
  }

  function show(reply, { state, words }) {
    reply.replaceChildren(...words.trim().split(MARKUP).map(styled));
    reply.closest(".numbercheck").dataset.state = state;
  }

  // Storage can be switched off; the questions work without it.
  function remember(key, text) {
    try {
      localStorage.setItem(PREFIX + key, text);
    } catch { /* Nothing to do: the answer is forgotten when the page is left. */ }
  }

  function remembered(key) {
    try {
      return localStorage.getItem(PREFIX + key);
    } catch {
      return null;
    }
  }

  function start(form) {
    const check = JSON.parse(form.dataset.check);
    const field = form.querySelector("input");
    const reply = form.parentElement.querySelector(".numbercheck-reply");
    const answer = () => {
      const { numbers, hint } = read(field.value, check.count);
      field.setAttribute("aria-invalid", String(Boolean(hint)));
      show(reply, hint ? { state: "hint", words: hint } : judge(numbers, check));
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer();
      remember(check.key, field.value);
    });
    const before = remembered(check.key);
    if (before) {
      field.value = before;
      answer();
    }
  }

  document.querySelectorAll(".numbercheck-form").forEach(start);
})();

// Elements and texts: what the report says reaches the page by textContent and setAttribute alone,
// and nothing is looked up in an object by a name of the report's.

const STEP = 100; // rows of a table that are shown at a time
const NEAR = 28; // pixels from a mark within which its value is shown
const LONG = 56;
const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function button(label, act) {
  const element = make("button", { type: "button" }, label);
  element.addEventListener("click", act);
  return element;
}

// As `harmless`, `name` and `figures` of hardness/report/html/text.py.
const harmless = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `‹U+${code}›`;
  });

function short(text) {
  const shown = harmless(text);
  return shown.length <= LONG ? shown : `${shown.slice(0, LONG)}…`;
}

function named(text) {
  const shown = harmless(text);
  const head = make("bdi", { class: "name" }, short(text));
  if (shown.length <= LONG) return head;
  const body = make("bdi", { class: "name whole" }, shown);
  return make("details", { class: "long" }, make("summary", {}, head), body);
}

function figures(value) {
  if (Number.isSafeInteger(value)) {
    return Math.abs(value) < 10000 ? String(value) : value.toLocaleString("en-US");
  }
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e4) return String(Number(value.toPrecision(4)));
  return value.toExponential(3).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
}

// Makes elements. Strings always become text, so texts and labels are never parsed as HTML.

export const find = (id) => document.getElementById(id);

/** Characters of one string that are shown: a word of many millions would stop the browser. */
const MOST = 100_000;
const READ = new Set(["title", "aria-label"]);
export const cut = (value) =>
  typeof value === "string" && value.length > MOST ? `${value.slice(0, MOST)} \u2026` : value;

/** Make an element with attributes, `on...` listeners, and children (elements or strings). */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? "" : READ.has(name) ? cut(value) : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined).map(cut));
  return made;
}

/** Format a number with a fixed number of decimals and a real minus sign. */
export const number = (value, digits = 3) => value.toFixed(digits).replace("-", "\u2212");

/** Format a number with its sign. */
export const signed = (value, digits = 3) => (value < 0 ? "" : "+") + number(value, digits);

/** The number of decimals for numbers of this size. */
export const digitsFor = (value) => (value >= 1 ? 2 : value >= 0.1 ? 3 : 4);

/** Format a probability; near 0 or 1 it is never shown as certain. */
export function percent(value) {
  if (value > 0 && value < 0.01) return "< 1\u2009%";
  if (value > 0.99 && value < 1) return "> 99\u2009%";
  return `${Math.round(100 * value)}\u2009%`;
}

export const plural = (count, thing) =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** The beginning of a text, up to a whole word. */
export const beginning = (text, length) =>
  text.length < length ? text : `${text.slice(0, length).replace(/\s+\S*$/, "")} \u2026`;

/** Debounce: call once, some milliseconds after the last of several calls. */
export function whenCalm(milliseconds, call) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}

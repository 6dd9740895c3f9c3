// Elements are made here, and strings only ever become text: nothing of a text or label is read as HTML.

export const find = (id) => document.getElementById(id);

/** An element: attributes, `on...` listeners, and children, which are elements or strings. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A number with so many digits after the point, and a proper minus. */
export const number = (value, digits = 3) => value.toFixed(digits).replace("-", "\u2212");

/** A number that is added to others. */
export const signed = (value, digits = 3) => (value < 0 ? "" : "+") + number(value, digits);

/** Digits after the point that numbers of this size need. */
export const digitsFor = (value) => (value >= 1 ? 2 : value >= 0.1 ? 3 : 4);

/** A probability, never certain: a few in a thousand are neither none nor all. */
export function percent(value) {
  if (value > 0 && value < 0.01) return "< 1\u2009%";
  if (value > 0.99 && value < 1) return "> 99\u2009%";
  return `${Math.round(100 * value)}\u2009%`;
}

export const plural = (count, thing) =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** Calls that come in quick succession become one, some milliseconds after the last. */
export function whenCalm(milliseconds, call) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}

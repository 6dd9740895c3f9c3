// The text: written in a text area, marked in a copy that lies below it letter upon letter.

import { el, find } from "./dom.js";

const area = find("text");
const marked = find("marked");

export const text = () => area.value;

export function setText(value) {
  area.value = value;
  unmark();
}

export function onText(call) {
  area.addEventListener("input", () => {
    unmark();
    call();
  });
}

/** The copy has the text alone; a last line break needs something after it to be shown. */
export function unmark() {
  marked.replaceChildren(`${area.value}\u200b`);
}

/** Mark places, counted in characters as the server counts them, the stronger the more they weigh. */
export function mark(highlights) {
  const signs = Array.from(area.value);
  marked.replaceChildren(...pieces(signs, highlights), "\u200b");
}

function pieces(signs, highlights) {
  const most = Math.max(...highlights.map((one) => Math.abs(one.weight)), Number.MIN_VALUE);
  const made = [];
  let at = 0;
  for (const { start, end, weight } of highlights) {
    made.push(signs.slice(at, start).join(""));
    made.push(marker(signs.slice(start, end).join(""), weight / most));
    at = end;
  }
  made.push(signs.slice(at).join(""));
  return made;
}

/** A marked word; `weight` lies between -1, against the label, and 1. */
export function marker(word, weight) {
  const strength = Math.abs(weight).toFixed(3);
  return el("mark", { class: weight < 0 ? "against" : null, "--strength": strength }, word);
}

/** Mark words wherever they stand in a text, whatever their capitals: word -> strength. */
export function withWords(content, strengths) {
  const wanted = [...strengths.keys()].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return [content];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return content
    .split(pattern)
    .map((piece, place) => (place % 2 ? marker(piece, strengths.get(piece.toLowerCase()) ?? 0.5) : piece));
}

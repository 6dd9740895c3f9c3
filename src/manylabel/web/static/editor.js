// The text: edited in a text area, highlighted in a copy exactly below it.

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

/** Remove highlights; the last line break shows only with something after it. */
export function unmark() {
  marked.replaceChildren(`${area.value}\u200b`);
}

/** Highlight spans of the text. */
export function mark(highlights) {
  marked.replaceChildren(...withSpans(area.value, highlights), "\u200b");
}

/** Highlight spans, in code points as on the server; greater weights get stronger colours. */
export function withSpans(content, highlights) {
  const characters = Array.from(content);
  const most = Math.max(...highlights.map((one) => Math.abs(one.weight)), Number.MIN_VALUE);
  const made = [];
  let at = 0;
  for (const { start, end, weight } of highlights) {
    made.push(characters.slice(at, start).join(""));
    made.push(marker(characters.slice(start, end).join(""), weight / most));
    at = end;
  }
  made.push(characters.slice(at).join(""));
  return made;
}

/** A highlighted word; `weight` is between -1 (against the label) and 1. */
export function marker(word, weight) {
  const strength = Math.abs(weight).toFixed(3);
  return el("mark", { class: weight < 0 ? "against" : null, "--strength": strength }, word);
}

/** Highlight words wherever they occur in a text, ignoring case: word -> strength. */
export function withWords(content, strengths) {
  const wanted = [...strengths.keys()].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return [content];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return content
    .split(pattern)
    .map((piece, place) => (place % 2 ? marker(piece, strengths.get(piece.toLowerCase()) ?? 0.5) : piece));
}

// Why a label was suggested, and a description of it.

import { beginning, digitsFor, el, find, number, percent, plural, signed } from "./dom.js";
import { marker, withWords } from "./editor.js";

const FEW = 4;
const WORDS = 10;
const SNIPPET = 300;
/** Show the parts that sum to the score, words, and similar documents. */
export function showWhy(reasons, browse) {
  if (!reasons.parts.length) {
    find("why").replaceChildren(
      el("p", { class: "quiet" }, "Nothing in this text points to this label."),
    );
    return;
  }
  const digits = digitsFor(Math.max(...reasons.parts.map(({ share }) => Math.abs(share))));
  const near = reasons.neighbours;
  find("why").replaceChildren(
    sum(reasons, digits),
    ...section("Words in its favour", words(reasons.words, 1, digits)),
    ...section("Words against it", words(reasons.words, -1, digits)),
    ...section(
      `${plural(near.length, "similar document")} with this label`,
      near.length ? neighbours(reasons, browse, digits) : null,
    ),
  );
}

function section(title, content) {
  return content === null ? [] : [el("div", {}, el("h3", {}, title), content)];
}

const addedUp = (parts) => parts.reduce((before, { share }) => before + share, 0);

/** The parts as a waterfall: each bar starts where the one above it ends. */
function sum({ parts, score, probability }, digits) {
  const ends = [0];
  for (const { share } of parts) ends.push(ends.at(-1) + share);
  const low = Math.min(...ends);
  const whole = Math.max(...ends) - low || Number.MIN_VALUE;
  const at = (value) => (value - low) / whole;
  const bar = (kind, from, to) =>
    el(
      "span",
      { class: "track", "aria-hidden": "true" },
      el("i", { class: kind, "--from": at(Math.min(from, to)), "--size": Math.abs(to - from) / whole }),
    );
  return el(
    "div",
    { class: "sum", "--zero": at(0) },
    el(
      "dl",
      {},
      ...parts.map(({ title, sentence, share }, place) =>
        el(
          "div",
          { class: "part" },
          el("dt", { title: sentence || null }, title),
          bar(share < 0 ? "against" : "for", ends[place], ends[place + 1]),
          el("dd", { "data-share": share }, signed(share, digits)),
        ),
      ),
      el(
        "div",
        { class: "total" },
        el("dt", {}, probability === null ? "Score" : `Total ${percent(probability)}`),
        bar("all", 0, score),
        el(
          "dd",
          { "data-total": addedUp(parts), "data-score": score },
          probability === null ? number(score, digits) : signed(score, digits),
        ),
      ),
    ),
    probability === null
      ? null
      : el(
          "details",
          { class: "scale quiet" },
          el("summary", {}, "What the figures mean"),
          el(
            "p",
            {},
            "Each figure makes the label more or less likely, and their sum gives its probability: ",
            "0 is 50\u202f%, +3 is 95\u202f%, \u22123 is 5\u202f% (log-odds).",
          ),
        ),
  );
}

/** The words whose shares have this sign, greatest first. */
function words(found, sign, digits) {
  const most = Math.max(...found.map(({ share }) => Math.abs(share)), Number.MIN_VALUE);
  const chosen = found.filter(({ share }) => share * sign > most / 50).slice(0, WORDS);
  if (!chosen.length) return null;
  return el(
    "ul",
    { class: "word-list" },
    ...chosen.map(({ word, share }) =>
      el("li", {}, marker(word, share / most), " ", el("small", {}, signed(share, digits))),
    ),
  );
}

function neighbours({ label, neighbours: near }, browse, digits) {
  return withMore(
    near.map((one) =>
      card(one, label, browse, [
        el("span", {}, `${percent(one.similarity)} similar`),
        el("span", {}, signed(one.share, digits)),
      ]),
    ),
  );
}

/** A few cards, and a button for the others. */
function withMore(cards) {
  const list = el("div", { class: "cards" }, ...cards.slice(0, FEW));
  if (cards.length > FEW) {
    const more = el(
      "button",
      {
        type: "button",
        class: "plain more",
        onclick: () => {
          more.replaceWith(...cards.slice(FEW));
          cards[FEW].querySelector("button")?.focus();
        },
      },
      `Show ${cards.length - FEW} more`,
    );
    list.append(more);
  }
  return list;
}

function card({ id, text, labels, words: shared = [] }, same, browse, figures = []) {
  const [title, ...rest] = beginning(text, SNIPPET).split("\n");
  const has = rest.length > 0;
  const most = Math.max(...shared.map(({ share }) => share), Number.MIN_VALUE);
  const strengths = new Map(shared.map(({ word, share }) => [word.toLowerCase(), share / most]));
  return el(
    "article",
    { class: "card" },
    el("p", { class: "card-head" }, el("b", {}, id), ...figures),
    el(
      "p",
      { class: "card-text" },
      has ? el("strong", {}, ...withWords(title, strengths)) : null,
      ...withWords(has ? rest.join(" ") : title, strengths),
    ),
    strengths.size
      ? el("p", { class: "quiet" }, `Shares ${[...strengths.keys()].join(", ")}`)
      : null,
    tags(labels, same, browse),
  );
}

function tags(labels, same, browse) {
  return el(
    "p",
    { class: "tags" },
    ...labels.map(({ label, name, documents }) =>
      el(
        "button",
        {
          type: "button",
          class: label === same ? "same" : null,
          title: `Browse ${name}`,
          onclick: () => browse(label, name),
        },
        name,
        documents === undefined ? null : el("small", {}, ` ${documents.toLocaleString("en")}`),
      ),
    ),
  );
}

/** Buttons that edit a label; none if `edit` is missing, because editing is not allowed. */
function editing({ label, name }, edit) {
  if (!edit) return null;
  const input = el("input", { type: "text", "aria-label": "New name or label", value: name });
  const isCode = name !== label;
  const button = (title, change) =>
    el("button", { type: "button", class: "plain", onclick: () => edit(change()) }, title);
  return el(
    "div",
    { class: "edit-label" },
    input,
    button("Rename", () =>
      isCode
        ? { action: "rename", labels: [label], name: input.value }
        : { action: "rename", labels: [label], to: input.value },
    ),
    button("Merge into", () => ({ action: "merge", labels: [label], into: input.value })),
    button("Hide", () => ({ action: "hide", labels: [label] })),
    button("Delete", () => ({ action: "delete", labels: [label] })),
    button("Add as new", () => ({ action: "add", labels: [input.value] })),
  );
}

/** Buttons that show hidden labels again. */
function showing(hidden, edit) {
  if (!edit || !hidden.length) return null;
  return el(
    "div",
    { class: "edit-label" },
    ...hidden.map(({ label, name }) =>
      el(
        "button",
        { type: "button", class: "plain", onclick: () => edit({ action: "show", labels: [label] }) },
        `Show ${name}`,
      ),
    ),
  );
}

/** Describe a label: its words, related labels, and documents. */
export function showAbout(found, browse, edit = null, hidden = []) {
  const most = Math.max(...found.words.map(({ weight }) => weight), Number.MIN_VALUE);
  const list = el(
    "ul",
    { class: "word-list" },
    ...found.words.map(({ word, weight }) => el("li", {}, marker(word, weight / most))),
  );
  const title = found.name === found.label ? "" : `${found.label}, `;
  find("about").replaceChildren(
    el("p", { class: "quiet" }, `${title}${plural(found.documents, "document")}`),
    ...(found.description ? [el("p", {}, found.description)] : []),
    ...section("Typical words", found.words.length ? list : null),
    ...section("Related labels", found.together.length ? tags(found.together, null, browse) : null),
    ...section(
      "Documents",
      found.examples.length
        ? withMore(found.examples.map((one) => card(one, found.label, browse)))
        : null,
    ),
    ...section("Edit the label", editing(found, edit)),
    ...section("Hidden labels", showing(hidden, edit)),
  );
}

// Why a label was suggested, and what it stands for.

import { el, find, number, plural, signed } from "./dom.js";
import { marker, withWords } from "./editor.js";

const FEW = 4;
const WORDS = 16;
const SNIPPET = 300;
const KINDS = [
  ["words", /word/],
  ["topics", /topic|lda/],
  ["linear", /linear|svm/],
  ["trees", /tree|xml/],
  ["neighbours", /neighb|knn|lcif|iblr/],
];

const kindClass = (kind) => KINDS.find(([, pattern]) => pattern.test(kind))?.[0] ?? "other";

/** Why: the parts that add up to the score, words, documents. */
export function showWhy(reasons, browse) {
  if (!reasons.parts.length) {
    find("why").replaceChildren(
      el("p", { class: "quiet" }, "Nothing in this text speaks for this label."),
    );
    return;
  }
  find("why").replaceChildren(
    sum(reasons),
    ...section("Words", reasons.words.length ? words(reasons.words) : null),
    ...section(
      `Nearest documents with this label (${reasons.neighbours.length})`,
      reasons.neighbours.length ? neighbours(reasons, browse) : null,
    ),
  );
}

function section(title, content) {
  return content === null ? [] : [el("div", {}, el("h3", {}, title), content)];
}

const addedUp = (parts) => parts.reduce((before, { share }) => before + share, 0);

/** A bar of parts; one and the same length stands for the same share in every bar. */
function stack(chosen, whole, kind) {
  if (!chosen.length) return null;
  const bar = chosen.map(({ kind: name, share }) =>
    el("i", { class: `part ${kindClass(name)}`, "--part": Math.abs(share) / whole }),
  );
  return el("div", { class: `stack ${kind}`, "aria-hidden": "true" }, ...bar);
}

function sum({ parts, score, probability }) {
  const positive = parts.filter(({ share }) => share > 0);
  const negative = parts.filter(({ share }) => share < 0);
  const whole = Math.max(addedUp(positive), -addedUp(negative), Number.MIN_VALUE);
  return el(
    "div",
    { class: "sum" },
    stack(positive, whole, ""),
    stack(negative, whole, "minus"),
    el(
      "dl",
      {},
      ...parts.map((part) =>
        el(
          "div",
          { class: `part ${kindClass(part.kind)}` },
          el("dt", {}, part.kind),
          el("dd", { "data-share": part.share }, signed(part.share)),
        ),
      ),
      el(
        "div",
        { class: "total" },
        el("dt", {}, probability === null ? "score" : "log-odds"),
        el("dd", { "data-total": addedUp(parts), "data-score": score }, number(score, 4)),
      ),
      probability === null
        ? null
        : el("div", {}, el("dt", {}, "probability"), el("dd", {}, number(probability))),
    ),
  );
}

function words(found) {
  const most = Math.max(...found.map(({ share }) => Math.abs(share)), Number.MIN_VALUE);
  return el(
    "ul",
    { class: "word-list" },
    ...found
      .slice(0, WORDS)
      .filter(({ share }) => Math.abs(share) > most / 100)
      .map(({ word, share }) =>
        el("li", {}, marker(word, share / most), " ", el("small", {}, signed(share))),
      ),
  );
}

function neighbours({ label, neighbours: near }, browse) {
  const cards = near.map((one) =>
    card(one, label, browse, [
      el("span", {}, `similarity ${number(one.similarity, 2)}`),
      el("span", {}, signed(one.share)),
    ]),
  );
  return withMore(cards);
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
  const [title, ...rest] = shortened(text).split("\n");
  const has = rest.length > 0;
  const wanted = shared.map(({ word }) => word);
  return el(
    "article",
    { class: "card" },
    el("p", { class: "card-head" }, el("b", {}, id), ...figures),
    el(
      "p",
      { class: "card-text" },
      has ? el("strong", {}, ...withWords(title, wanted)) : null,
      ...withWords(has ? rest.join(" ") : title, wanted),
    ),
    wanted.length ? el("p", { class: "quiet" }, `Shares ${unique(wanted).join(", ")}`) : null,
    tags(labels, same, browse),
  );
}

/** The beginning of a text, up to a whole word. */
const shortened = (text) =>
  text.length < SNIPPET ? text : `${text.slice(0, SNIPPET).replace(/\s+\S*$/, "")} \u2026`;

const unique = (words) => [...new Set(words.map((word) => word.toLowerCase()))];

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

/** What a label stands for: its words, labels that go with it, documents. */
export function showAbout(found, browse) {
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
    ...section("Words that set it apart", found.words.length ? list : null),
    ...section("Labels that go with it", found.together.length ? tags(found.together, null, browse) : null),
    ...section(
      "Documents",
      found.examples.length
        ? withMore(found.examples.map((one) => card(one, found.label, browse)))
        : null,
    ),
  );
}

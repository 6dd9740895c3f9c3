// Review documents one by one: accept, reject or add labels, by keyboard or mouse.

import { get, post } from "./api.js";
import { completes } from "./combo.js";
import { withSpans } from "./editor.js";
import { documentsIn, readText } from "./files.js";
import { beginning, cut, el, find, percent, plural, number, signed, whenCalm } from "./dom.js";
import { Queue, asCsv, asJsonLines, documentsOf } from "./queue.js";

const TOP = 10;
/** Suspicious labels to ask for. */
const SUSPECTS = 200;
const queue = new Queue();
let served = { name: null, scores: "score" };
let learning = "off";
let labels = [];
let here = 0;
let asking = null;
/** What takes back what was taught here: decisions on known documents, and new documents. */
let taught = { undo: [], added: [] };

const shown = (score) => (served.scores === "probability" ? percent(score) : number(score));

function say(text) {
  find("message").textContent = text;
}

// The queue

let taken = Promise.resolve();

/** Read files one after another, so that the message about the last one stays. */
function take(file) {
  taken = taken.then(() => fill(file));
}

async function fill(file) {
  try {
    queue.fill(await documentsFrom(file));
    say("");
  } catch (error) {
    find("progress").textContent = error.message;
    return;
  }
  await show();
}

/** Read documents from a file: an audit, one text per line, or any file that the page reads. */
async function documentsFrom(file) {
  if (/\.(jsonl|json|txt)$/i.test(file.name)) return documentsOf(file.name, await readText(file));
  return (await documentsIn(file)).map(({ id, text }) => ({ id, text, suspects: [] }));
}

/** Queue the model's own documents whose labels look wrong or missing. */
async function audit() {
  find("audit").disabled = true;
  find("progress").textContent = "Judging every label by models that have not seen its document.";
  try {
    const { pairs } = await post("/v1/audit", { model: served.name, top: SUSPECTS });
    queue.fill(documentsOf("audit.jsonl", pairs.map((pair) => JSON.stringify(pair)).join("\n")));
    await show();
  } catch (error) {
    find("progress").textContent = error.message;
  } finally {
    find("audit").disabled = false;
  }
}

/** Put what is left in order: by "auto" what teaches most, by "uncertainty" what is unclear. */
async function sort(by) {
  const left = queue.documents.slice(queue.place);
  const texts = left.map((one) => one.text);
  const answer = await post("/v1/next", { model: served.name, texts, n: Math.min(texts.length, 1000), by });
  const first = answer.order.map((place) => left[place]);
  const rest = left.filter((one) => !first.includes(one));
  queue.documents.splice(queue.place, left.length, ...first, ...rest);
  queue.keep();
  await show();
}

function showProgress() {
  const total = queue.documents.length;
  find("drop").hidden = total > 0;
  find("empty").hidden = total === 0;
  find("sort").hidden = total - queue.place < 2;
  find("bar").hidden = total === 0;
  find("bar").max = Math.max(total, 1);
  find("bar").value = queue.done.size;
  if (total) {
    const at = queue.current ? `Document ${queue.place + 1} of ${total}` : "All documents are reviewed";
    find("progress").textContent = `${at}; ${queue.done.size} done.`;
  } else find("progress").textContent = "";
  const decisions = queue.decisions();
  find("result").hidden = total === 0;
  find("count").textContent = `${plural(decisions.length, "decision")} on ${plural(
    new Set(decisions.map((one) => one.id)).size,
    "document",
  )}.`;
  find("teach").hidden = learning === "off" || decisions.length === 0;
  const news = queue.documents.filter((one) => !one.known && decisions.some((d) => d.id === one.id));
  find("warning").hidden = learning === "off" || news.length === 0;
  const isOpen = find("rest-open").checked;
  find("accept-shown").hidden = isOpen || !counted();
  find("warning").firstElementChild.textContent = `${counted()}For new documents, labels that you did not accept ${
    isOpen ? "stay open: unknown, not wrong." : "count as absent."
  }`;
  find("take-back").hidden = taught.undo.length + taught.added.length === 0;
  find("unkept").hidden = queue.isKept;
}

/** How many labels of a new document were left out. */
function counted() {
  const document_ = queue.current;
  if (!document_ || document_.known) return "";
  const accepted = labels.filter((one) => queue.decision(document_.id, one.label) === "accepted").length;
  return accepted && accepted < labels.length ? `You accepted ${accepted} of the ${labels.length} labels shown. ` : "";
}

// The document

async function show() {
  showProgress();
  const document_ = queue.current;
  find("document").hidden = !document_;
  if (!document_) return;
  find("document-title").textContent = cut(document_.id);
  // Nothing of the document before can be accepted while this one is read.
  labels = [];
  find("labels").replaceChildren();
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  const has = await complete(document_, mine.signal);
  if (asking !== mine) return;
  find("text").replaceChildren(cut(document_.text));
  find("why").replaceChildren();
  find("suspect").hidden = document_.suspects.length === 0;
  find("suspect").textContent = document_.suspects
    .map((one) => `${cut(one.name)} looks ${one.given ? "wrong" : "missing"}`)
    .join("; ");
  labels = document_.suspects.map(({ label, name, probability }) => ({ label, name, score: probability }));
  try {
    const body = { model: served.name, text: document_.text, top: TOP };
    const answer = await post("/v1/suggest", body, { signal: mine.signal });
    const there = new Set(labels.map((one) => one.label));
    labels.push(...answer.labels.filter((one) => !there.has(one.label)));
  } catch (error) {
    if (error.name === "AbortError") return;
    say(error.message);
  }
  for (const one of labels) one.given = has.has(one.label);
  for (const { label } of queue.decisions().filter((one) => one.id === document_.id)) {
    if (!labels.some((one) => one.label === label)) labels.push({ label, name: label, score: null });
  }
  here = 0;
  showLabels();
  await showReasons();
}

/** An audit has only the beginning of a known document: ask for the rest, and for its labels. */
async function complete(document_, signal) {
  if (!document_.known) return new Set();
  try {
    const answer = await get("/v1/document", { id: document_.id, model: served.name }, signal);
    document_.text = answer.text;
    return new Set(answer.labels);
  } catch {
    // Another model, or one without texts: the report has to do.
    return new Set(document_.suspects.filter((one) => one.given).map((one) => one.label));
  }
}

function showLabels() {
  const { id } = queue.current;
  find("labels").replaceChildren(
    ...labels.map((one, place) => {
      const state = queue.decision(id, one.label);
      return el(
        "li",
        {
          class: [state, place === here ? "here" : ""].join(" ").trim(),
          onclick: () => {
            here = place;
            showLabels();
            showReasons();
          },
        },
        el("span", { class: "name" }, one.name),
        el("span", { class: "score" }, one.score === null ? "" : shown(one.score)),
        el("span", { class: "state" }, state || (one.given ? "has it" : "")),
        el("button", { type: "button", class: "plain", "aria-label": `Accept ${one.name}`, "aria-pressed": String(state === "accepted"), onclick: (event) => act(event, place, "accepted") }, "\u2713"),
        el("button", { type: "button", class: "plain", "aria-label": `Reject ${one.name}`, "aria-pressed": String(state === "rejected"), onclick: (event) => act(event, place, "rejected") }, "\u2715"),
      );
    }),
  );
  showProgress();
}

function act(event, place, decision) {
  event?.stopPropagation();
  if (!labels[place]) return;
  queue.decide(labels[place].label, decision);
  here = Math.min(place + (queue.decision(queue.current.id, labels[place].label) ? 1 : 0), labels.length - 1);
  showLabels();
  showReasons();
}

const showReasons = whenCalm(150, async () => {
  const one = labels[here];
  const document_ = queue.current;
  if (!one || !document_) return;
  const audited = document_.suspects.find((suspect) => suspect.label === one.label && suspect.reasons);
  try {
    const why = audited ? null : await explained(document_, one.label);
    if (document_ !== queue.current || labels[here] !== one) return;
    // A model that knows the document finds every word of it typical of its labels.
    const highlights = document_.known ? [] : why.highlights.filter(({ weight }) => weight > 0);
    find("text").replaceChildren(...withSpans(cut(document_.text), highlights));
    find("why").replaceChildren(
      el("h3", {}, `Why ${one.name}?`),
      ...(audited ? withoutIt(audited) : asNew(why)),
    );
  } catch {
    find("why").replaceChildren();
  }
});

async function explained({ text }, label) {
  const answer = await post("/v1/explain", { model: served.name, text, labels: [label] });
  return answer.labels[0];
}

const listed = (title, near) =>
  near?.length
    ? [el("h3", {}, title), el("ul", {}, near.slice(0, 3).map((n) => el("li", {}, `${n.id}: ${beginning(n.text, 100)}`)))]
    : [];

/** The reasons for a label of a new document. */
const asNew = (why) => [
  el("ul", {}, why.parts.map((part) => el("li", {}, `${signed(part.share)} ${part.title}`))),
  ...listed("Similar documents with it", why.neighbours),
];

/** The reasons of an audit: by models that have not seen the document. */
function withoutIt({ reasons, titles, having, lacking }) {
  const ordered = Object.entries(reasons).sort((a, b) => b[1] - a[1]);
  return [
    el("ul", {}, ordered.map(([name, share]) => el("li", {}, `${signed(share)} ${titles?.[name] ?? name}`))),
    ...listed("Similar documents with it", having),
    ...listed("Similar documents without it", lacking),
  ];
}

// Actions

function add({ label, name }) {
  if (!queue.current) return;
  if (!labels.some((one) => one.label === label)) labels.push({ label, name, score: null });
  if (queue.decision(queue.current.id, label) !== "accepted") queue.decide(label, "accepted");
  find("add").blur();
  showLabels();
}

function acceptAll() {
  for (const { label } of labels) {
    if (!queue.decision(queue.current.id, label)) queue.decide(label, "accepted");
  }
  showLabels();
}

async function undo() {
  const last = queue.undo();
  if (last?.kind === "label" && queue.current?.id === last.id) showLabels();
  else await show();
}

function save(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Decisions by document, as the server takes them. */
function byDocument(decisions, texts = new Map()) {
  return [...new Set(decisions.map((one) => one.id))].map((id) => ({
    id,
    ...(texts.has(id) ? { text: texts.get(id) } : {}),
    accepted: decisions.filter((d) => d.id === id && d.decision === "add").map((d) => d.label),
    rejected: decisions.filter((d) => d.id === id && d.decision === "remove").map((d) => d.label),
  }));
}

async function learn() {
  const texts = new Map(queue.documents.filter((one) => !one.known).map((one) => [one.id, one.text]));
  const documents = byDocument(queue.decisions(), texts).filter(
    (one) => one.accepted.length || (one.text === undefined && one.rejected.length),
  );
  try {
    const incomplete = find("rest-open").checked;
    const answer = await post("/v1/review", { model: served.name, documents, incomplete });
    const added = answer.learned.filter((id) => !answer.replaced.includes(id));
    taught.undo.unshift(...answer.undo.filter((one) => !added.includes(one.id)));
    taught.added.push(...added);
    say(`The model has learned ${plural(answer.learned.length, "document")}.`);
  } catch (error) {
    say(error.message);
  }
  showProgress();
}

/** Give documents back the labels that they had before, and forget those that were new. */
async function takeBack() {
  const { undo, added } = taught;
  const before = undo.filter((one) => !added.includes(one.id));
  try {
    if (before.length) await post("/v1/review", { model: served.name, documents: byDocument(before) });
    if (added.length) await post("/v1/forget", { model: served.name, ids: added });
    taught = { undo: [], added: [] };
    say("The model is as it was before you taught it here.");
  } catch (error) {
    say(error.message);
  }
  showProgress();
}

const KEYS = {
  j: () => ((here = Math.min(here + 1, labels.length - 1)), showLabels(), showReasons()),
  k: () => ((here = Math.max(here - 1, 0)), showLabels(), showReasons()),
  a: () => act(null, here, "accepted"),
  r: () => act(null, here, "rejected"),
  A: acceptAll,
  n: () => find("add").focus(),
  s: () => (queue.move(1, "skipped"), show()),
  b: () => (queue.move(-1), show()),
  u: undo,
  Enter: () => (queue.move(1), show()),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target.matches("button, a")) return;
  const call = KEYS[event.key];
  if (!call || (!queue.current && !["b", "u"].includes(event.key))) return;
  event.preventDefault();
  call();
}

async function begin() {
  const answer = await get("/v1/models");
  learning = answer.learning;
  find("model").replaceChildren(...answer.models.map((one) => el("option", { value: one.name }, one.name)));
  [served] = answer.models;
  find("model").addEventListener("change", () => {
    served = answer.models.find((one) => one.name === find("model").value);
    show();
  });
  find("open").addEventListener("click", () => find("file").click());
  find("audit").hidden = learning === "off";
  find("audit").addEventListener("click", audit);
  find("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
  const highlight = (isOver) => find("drop").classList.toggle("over", isOver);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    highlight(true);
  });
  document.addEventListener("dragleave", () => highlight(false));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    highlight(false);
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  for (const [id, by] of [["useful", "auto"], ["uncertainty", "uncertainty"]]) {
    find(id).addEventListener("click", () => sort(by).catch((error) => say(error.message)));
  }
  find("empty").addEventListener("click", () => {
    queue.empty();
    show();
  });
  completes(find("add"), { model: () => served.name, choose: add, takesNew: () => true });
  find("back").addEventListener("click", KEYS.b);
  find("undo").addEventListener("click", KEYS.u);
  for (const id of ["all", "accept-shown"]) find(id).addEventListener("click", acceptAll);
  find("skip").addEventListener("click", KEYS.s);
  find("next").addEventListener("click", KEYS.Enter);
  find("jsonl").addEventListener("click", () => save("decisions.jsonl", asJsonLines(queue.exported())));
  find("csv").addEventListener("click", () => save("decisions.csv", asCsv(queue.decisions())));
  find("learn").addEventListener("click", learn);
  find("take-back").addEventListener("click", takeBack);
  queue.onChange(show);
  find("rest-open").addEventListener("change", showProgress);
  document.addEventListener("keydown", pressed);
  await show();
  document.documentElement.dataset.ready = "";
}

begin().catch((error) => {
  find("progress").textContent = error.message;
});

// The page: its state, what it shows, and its events.

import { get, post } from "./api.js";
import { focus, listenToKeys, showChips } from "./chips.js";
import { completes } from "./combo.js";
import { cut, el, find, number, percent, plural, whenCalm } from "./dom.js";
import { mark, onText, setText, text, unmark } from "./editor.js";
import { takesFiles } from "./files.js";
import { keep, kept } from "./keep.js";
import { showAbout, showWhy } from "./reasons.js";

const PAUSE = 350;
const MOST = 50;
/** The user's choice -> the threshold with which the model decides which labels to show. */
const DECIDES = { auto: "auto", promise: "precision:0.9" };

const state = {
  models: [],
  model: null,
  learning: "off",
  suggested: [], // [{label, name, score}], best first, more than are shown
  decided: null, // the labels that the model selects with that threshold
  refused: "", // why the model cannot
  verdicts: new Map(), // label -> "accepted" or "rejected"
  added: new Map(), // label -> name
  given: new Set(), // labels of the document in the opened file
  before: null, // label -> score before the last correction
  open: null, // {label, name, tab}
  shown: [], // the labels on the page
  learned: null, // {text, id} of the last correction
};

let asking = new AbortController();

// ---- suggestions

async function suggest() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const content = text();
  complain("");
  find("clear").hidden = !content;
  find("examples").hidden = Boolean(content) || !find("examples").querySelector("li");
  if (!content.trim()) {
    Object.assign(state, { suggested: [], decided: null, refused: "", before: null });
    show();
    closeReasons();
    return;
  }
  const body = { model: state.model, text: content, top: MOST };
  try {
    const threshold = DECIDES[choice()];
    const [found, decided] = await Promise.all([
      post("/v1/suggest", body, { signal }),
      threshold ? decide({ ...body, threshold }, signal) : { labels: [] },
    ]);
    state.suggested = found.labels;
    state.decided = new Set(decided.labels.map(({ label }) => label));
    state.refused = decided.refused ?? "";
    show();
    if (state.open) await explain();
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message);
  }
}

/** Let the model decide; a promise that it cannot keep is not an error. */
async function decide(body, signal) {
  try {
    return await post("/v1/suggest", body, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    // The page has only this promise, so leave out the advice to ask for another.
    const refused = error.message.replace(/^precision:0\.9/, "9 in 10").replace(/Ask for precision:\S+ /, "");
    return { labels: [], refused };
  }
}

const suggestSoon = whenCalm(PAUSE, suggest);

const choice = () => document.querySelector("[name=by]:checked").value;

/** Whether scores are probabilities. */
const isSure = () => state.models.find(({ name }) => name === state.model)?.scores === "probability";

/** The minimum score, as set by the slider. */
const leastScore = () =>
  (find("amount").value / 100) * (isSure() ? 1 : (state.suggested[0]?.score ?? 0));

function isShown({ label, score }, place) {
  if (state.verdicts.has(label)) return true;
  if (choice() === "number") return place < Number(find("amount").value);
  if (choice() === "score") return score >= leastScore();
  return state.decided?.has(label) ?? false;
}

function show() {
  document.querySelector("main").classList.remove("stale");
  const shown = state.suggested.filter(isShown);
  const known = new Set(shown.map(({ label }) => label));
  const scores = new Map(state.suggested.map(({ label, score }) => [label, score]));
  const added = [...state.added]
    .filter(([label]) => !known.has(label))
    .map(([label, name]) => ({ label, name, score: scores.get(label) }));
  const labels = [...shown, ...added].map((one) => ({
    ...one,
    change: state.before && one.score !== undefined ? one.score - (state.before.get(one.label) ?? 0) : 0,
    verdict: state.verdicts.get(one.label),
    isGiven: state.given.has(one.label),
  }));
  showChips(labels, state.open?.label, isSure(), act);
  find("nothing").hidden = labels.length > 0 || Boolean(state.refused);
  find("nothing").textContent = !text().trim()
    ? "Suggestions appear when you stop typing."
    : state.suggested.length
      ? "No label reaches this threshold."
      : "No label fits this text.";
  state.shown = labels;
  find("copy").hidden = find("export").hidden = !labels.length;
  find("count").textContent = state.suggested.length ? plural(labels.length, "label") : "";
  showAmount();
  showLearning();
  remember();
}

/** Keep the state for a reload. */
function remember() {
  if (!isRestored) return;
  const { model, verdicts, added, given, open, learned } = state;
  keep({
    model, open, learned,
    text: text(),
    by: choice(),
    amount: find("amount").value,
    verdicts: [...verdicts],
    added: [...added],
    given: [...given],
    file: file.kept(),
  });
}

let isRestored = false;

/** Restore the state after a reload; returns the label to open. */
function restore() {
  const before = kept();
  isRestored = true;
  if (before.text === undefined) return null;
  if (state.models.some(({ name }) => name === before.model)) state.model = before.model;
  state.verdicts = new Map(before.verdicts);
  state.added = new Map(before.added);
  state.given = new Set(before.given);
  state.learned = before.learned;
  document.querySelector(`[name=by][value=${before.by}]`).checked = true;
  setScale();
  find("amount").value = before.amount;
  setText(before.text);
  if (before.file) file.restore(before.file);
  return before.open;
}

function showAmount() {
  const by = choice();
  find("slider").hidden = by in DECIDES;
  find("promise").hidden = by !== "promise";
  find("promise").textContent =
    state.refused || "9 in 10 of these labels are right, as measured on held-out documents.";
  const least = isSure() ? `${find("amount").value}\u2009%` : number(leastScore(), 3);
  find("amount-shown").textContent = by === "number" ? find("amount").value : `\u2265 ${least}`;
}

function changeChoice() {
  setScale();
  state.refused = "";
  if (choice() in DECIDES) suggest();
  else show();
}

/** Set the range and the label of the slider. */
function setScale() {
  const by = choice();
  const amount = find("amount");
  amount.min = by === "number" ? 1 : 0;
  amount.max = by === "number" ? 30 : 100;
  amount.value = by === "number" ? 8 : isSure() ? 20 : 40;
  const least = isSure() ? "Minimum probability, in percent" : "Minimum score, in percent of the best";
  amount.setAttribute("aria-label", by === "number" ? "How many labels" : least);
}

// ---- accepting, rejecting, adding

function judge(label, verdict) {
  if (state.verdicts.get(label) === verdict) {
    state.verdicts.delete(label);
    state.added.delete(label);
  } else {
    state.verdicts.set(label, verdict);
  }
  show();
}

function add({ label, name }) {
  state.verdicts.set(label, "accepted");
  if (!state.suggested.slice(0, MOST).some((one) => one.label === label)) state.added.set(label, name);
  show();
  find("add").focus();
}

function forgetVerdicts() {
  state.verdicts.clear();
  state.added.clear();
  state.before = null;
}

// ---- reasons

function openLabel(label, name, tab) {
  if (state.open?.label !== label) {
    unmark();
    find("hint").textContent = "";
  }
  state.open = { label, name, tab };
  document.querySelector("main").classList.add("with-reasons");
  find("reasons").hidden = false;
  showTitle(name);
  find("why").replaceChildren();
  find("about").replaceChildren();
  chooseTab(tab);
  show();
  return tab === "why" ? explain() : about();
}

function closeReasons() {
  if (!state.open) return;
  const { label } = state.open;
  const hadFocus = find("reasons").contains(document.activeElement);
  state.open = null;
  document.querySelector("main").classList.remove("with-reasons");
  find("reasons").hidden = true;
  find("hint").textContent = "";
  unmark();
  show();
  if (hadFocus) focus(label);
}

function chooseTab(tab) {
  state.open.tab = tab;
  for (const name of ["why", "about"]) {
    const chosen = name === tab;
    find(name).hidden = !chosen;
    find(`${name}-tab`).setAttribute("aria-selected", String(chosen));
    find(`${name}-tab`).tabIndex = chosen ? 0 : -1;
  }
}

/** Show the name of the open label; a tooltip shows long names in full. */
function showTitle(name) {
  find("reasons-title").textContent = find("reasons-title").title = cut(name);
}

const shortened = (name) => (name.length > 80 ? `${name.slice(0, 79)}\u2026` : name);

async function explain() {
  const { label, name } = state.open;
  if (!text().trim()) return;
  try {
    const body = { model: state.model, text: text(), labels: [label] };
    const [reasons] = (await post("/v1/explain", body, { signal: asking.signal })).labels;
    if (state.open?.label !== label) return;
    showWhy(reasons, browse);
    mark(reasons.highlights);
    find("hint").textContent = reasons.highlights.length
      ? `Highlighted words point to ${shortened(name)}; a stronger colour means more weight.`
      : "";
  } catch (error) {
    if (error.name === "AbortError" || state.open?.label !== label) return;
    find("why").replaceChildren(el("p", { class: "quiet" }, error.message));
    unmark();
  }
}

async function about() {
  const { label } = state.open;
  try {
    const mayEdit = state.learning !== "off";
    const [found, hidden] = await Promise.all([
      get("/v1/label", { label, model: state.model }),
      mayEdit ? get("/v1/labels", { hidden: true, limit: 50, model: state.model }) : { labels: [] },
    ]);
    if (state.open?.label !== label) return;
    showTitle(found.name);
    showAbout(found, browse, mayEdit ? edit : null, hidden.labels);
  } catch (error) {
    if (state.open?.label !== label) return;
    find("about").replaceChildren(el("p", { class: "quiet" }, error.message));
  }
}

/** Edit a label, and offer to undo the edit. */
async function edit({ into, ...change }) {
  try {
    if (into !== undefined) {
      // People write names; labels may be codes.
      const found = (await get("/v1/labels", { query: into, limit: 50, model: state.model })).labels;
      change.to = found.find(({ label, name }) => name === into || label === into)?.label ?? into;
    }
    const done = await post("/v1/labels/edit", { model: state.model, ...change });
    closeReasons();
    const isUndo = change.action === "undo";
    tell(done.message, isUndo ? undefined : "Undo", isUndo ? undefined : () => edit({ action: "undo" }));
    await suggest();
  } catch (error) {
    complain(error.message);
  }
}

async function browse(label, name) {
  await openLabel(label, name, "about");
  find("reasons-title").focus();
}

async function toggleReasons(label) {
  if (state.open?.label === label && state.open.tab === "why") return closeReasons();
  await openLabel(label, nameOf(label), "why");
  // In one column, the reasons would open out of sight.
  const { top } = find("reasons").getBoundingClientRect();
  if (top > window.innerHeight * 0.8) find("reasons").scrollIntoView({ block: "start" });
}

const nameOf = (label) =>
  state.suggested.find((one) => one.label === label)?.name ?? state.added.get(label) ?? label;

const act = {
  explain: toggleReasons,
  accept: (label) => judge(label, "accepted"),
  reject: (label) => judge(label, "rejected"),
  browse: (label) => browse(label, nameOf(label)),
};

// ---- learning

const accepted = () =>
  [...state.verdicts].filter(([, verdict]) => verdict === "accepted").map(([label]) => label);

function showLearning() {
  const labels = accepted();
  const ready = Boolean(text().trim()) && labels.length > 0;
  find("learning").hidden = state.learning === "off" || !text().trim();
  find("learn").disabled = !ready;
  find("learn-hint").textContent = ready
    ? `Learns this text with ${plural(labels.length, "label")}: ${labels.map(nameOf).map(shortened).join(", ")}.`
    : "Accept or add the right labels; learning takes effect at once.";
  const others = unjudged().length;
  find("absent").hidden = !ready || !others;
  const fate = find("rest-open").checked ? "open: unknown, not wrong" : "absent";
  const verb = find("rest-open").checked ? "stay" : "count as";
  find("absent").firstElementChild.textContent =
    others === 1
      ? `The other label that is shown will ${verb} ${fate}.`
      : `The ${others} other labels that are shown will ${verb} ${fate}.`;
}

/** Labels that are shown and neither accepted nor rejected. */
const unjudged = () => state.shown.filter(({ label }) => !state.verdicts.has(label));

function acceptAll() {
  for (const { label } of unjudged()) state.verdicts.set(label, "accepted");
  show();
  find("learn").focus();
}

async function learn() {
  if (find("learn").disabled || state.learning === "off") return;
  const content = text();
  const id = state.learned?.text === content ? state.learned.id : newId();
  const scores = new Map(state.suggested.map(({ label, score }) => [label, score]));
  const incomplete = find("rest-open").checked && unjudged().length > 0;
  const documents = [{ id, text: content, labels: accepted(), incomplete }];
  find("learn").disabled = true;
  try {
    const change = await post("/v1/learn", { model: state.model, documents });
    state.learned = { text: content, id };
    state.before = scores;
    showSize(change.documents, change.new_labels.length);
    tell(`Learned. The model knows ${plural(change.documents, "document")}.`, "Undo", () => unlearn(id));
  } catch (error) {
    complain(error.message);
    showLearning();
    return;
  }
  await suggest();
}

async function unlearn(id) {
  try {
    const change = await post("/v1/forget", { model: state.model, ids: [id] });
    Object.assign(state, { learned: null, before: null });
    showSize(change.documents);
    tell(`Forgotten. The model knows ${plural(change.documents, "document")}.`);
    await suggest();
  } catch (error) {
    complain(error.message);
  }
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// ---- copying and exporting

/** The accepted labels or, if there are none, all shown labels that are not rejected. */
function taken() {
  const kept = state.shown.filter(({ verdict }) => verdict === "accepted");
  return kept.length ? kept : state.shown.filter(({ verdict }) => verdict !== "rejected");
}

async function copy() {
  const labels = taken();
  try {
    await navigator.clipboard.writeText(labels.map(({ name }) => name).join("\n"));
    tell(`Copied ${plural(labels.length, "label")}.`);
  } catch {
    complain("The browser does not allow copying; use Export.");
  }
}

function download() {
  const quote = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const rows = taken().map(({ label, name, score }) => [label, name, score ?? ""].map(quote).join(","));
  const table = ["label,name,score", ...rows].join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob([table], { type: "text/csv" }));
  el("a", { href: address, download: "labels.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// ---- messages

let hiding;

function tell(sentence, verb, call) {
  const button = verb ? el("button", { type: "button", onclick: call }, verb) : null;
  find("status").replaceChildren(el("p", {}, sentence, button));
  clearTimeout(hiding);
  hiding = setTimeout(() => find("status").replaceChildren(), 20_000);
}

function complain(sentence) {
  find("alert").replaceChildren(...(sentence ? [el("p", {}, sentence)] : []));
}

// ---- texts and models

function load({ text: content, labels = [] }) {
  forgetVerdicts();
  state.given = new Set(labels);
  setText(content);
  return suggest();
}

function showExamples(examples) {
  const items = examples.map((content) => {
    const [title, ...rest] = content.split("\n");
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", onclick: () => load({ text: content }) },
        el("strong", {}, title),
        el("span", {}, rest.join(" ")),
      ),
    );
  });
  find("examples").querySelector("ul").replaceChildren(...items);
  find("examples").hidden = !items.length || Boolean(text());
}

function showSize(documents, newLabels = 0) {
  const model = state.models.find(({ name }) => name === state.model);
  model.documents = documents ?? model.documents;
  model.labels += newLabels;
  find("size").textContent = `${plural(model.documents, "document")}, ${plural(model.labels, "label")}`;
}

function changeModel() {
  state.model = find("model").value;
  forgetVerdicts();
  closeReasons();
  showSize();
  suggest();
}

async function start() {
  const known = await get("/v1/models");
  state.models = known.models;
  state.model = known.models[0].name;
  state.learning = known.learning;
  find("model").replaceChildren(...known.models.map(({ name }) => el("option", {}, name)));
  const open = restore();
  find("model").value = state.model;
  showSize();
  showExamples(known.examples);
  unmark();
  await suggest();
  if (open) await openLabel(open.label, open.name, open.tab);
  document.documentElement.dataset.ready = "";
}

onText(() => {
  if (!text()) forgetVerdicts();
  state.before = null;
  find("hint").textContent = "";
  document.querySelector("main").classList.add("stale");
  suggestSoon();
});
const file = takesFiles({ show: load, complain });
listenToKeys(act);
completes(find("add"), { model: () => state.model, choose: add, takesNew: () => state.learning !== "off" });
completes(find("lookup"), { model: () => state.model, choose: ({ label, name }) => browse(label, name) });

find("clear").addEventListener("click", () => {
  file.close();
  load({ text: "" });
  find("text").focus();
});
find("accept-all").addEventListener("click", acceptAll);
find("copy").addEventListener("click", copy);
find("export").addEventListener("click", download);
find("model").addEventListener("change", changeModel);
find("amount").addEventListener("input", show);
for (const one of document.querySelectorAll("[name=by]")) one.addEventListener("change", changeChoice);
find("close").addEventListener("click", closeReasons);
find("rest-open").addEventListener("change", showLearning);
find("learning").addEventListener("submit", (event) => {
  event.preventDefault();
  learn();
});
find("why-tab").addEventListener("click", () => openLabel(state.open.label, state.open.name, "why"));
find("about-tab").addEventListener("click", () => openLabel(state.open.label, state.open.name, "about"));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = state.open.tab === "why" ? "about" : "why";
  openLabel(state.open.label, state.open.name, other);
  find(`${other}-tab`).focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeReasons();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) learn();
  const isTyping = /^(input|textarea|select)$/i.test(event.target.tagName);
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    find("add").focus();
  }
});

start().catch((error) => complain(error.message));

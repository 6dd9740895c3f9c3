// The suggested labels, each with its bar and the user's verdict.

import { el, find, number, percent, signed } from "./dom.js";

const list = find("chips");

/**
 * @param labels [{label, name, score, change, verdict, isGiven}], best first; score may be missing
 * @param open the label whose reasons are shown
 * @param isSure whether scores are probabilities: a full bar is then 100 %, not the best score
 * @param act {explain, accept, reject} of a label
 */
export function showChips(labels, open, isSure, act) {
  const focused = document.activeElement?.closest?.(".chip")?.dataset.label;
  const role = document.activeElement?.dataset?.role;
  const best = Math.max(...labels.map(({ score }) => score ?? 0), Number.MIN_VALUE);
  const whole = isSure ? 1 : best;
  list.replaceChildren(
    ...labels.map((label) => chip(label, whole, isSure, label.label === open, act)),
  );
  if (focused !== undefined) focus(focused, role);
}

/** Move the keyboard focus to a label. */
export function focus(label, role = "main") {
  const found = [...list.children].find((one) => one.dataset.label === label);
  (found ?? list.firstElementChild)?.querySelector(`[data-role="${role}"]`)?.focus();
}

function chip({ label, name, score, change, verdict, isGiven }, whole, isSure, isOpen, act) {
  return el(
    "li",
    { class: `chip ${isOpen ? "open" : ""} ${verdict ?? ""}`, "data-label": label },
    el(
      "button",
      {
        type: "button",
        class: "chip-main",
        "data-role": "main",
        "aria-expanded": String(isOpen),
        "aria-controls": "reasons",
        onclick: () => act.explain(label),
      },
      el(
        "span",
        { class: "chip-name", title: label === name ? name : `${name} ${label}` },
        name,
        label === name ? null : el("small", {}, ` ${label}`),
        isGiven ? el("small", {}, " in the file") : null,
      ),
      el("span", { class: "chip-score" }, ...scored(score, change, isSure)),
      el("span", { class: "meter" }, el("i", { "--part": Math.max(0, (score ?? 0) / whole) })),
    ),
    tick("yes", "Accept", "\u2713", name, verdict === "accepted", () => act.accept(label)),
    tick("no", "Reject", "\u2715", name, verdict === "rejected", () => act.reject(label)),
  );
}

function scored(score, change, isSure) {
  if (score === undefined) return ["added"];
  const shown = isSure ? percent(score) : number(score);
  const changed = isSure ? signed(100 * change, 0) : signed(change);
  if (!change || Number.parseFloat(changed.replace("\u2212", "")) === 0) return [shown];
  const title = "since the last correction";
  return [
    el("span", { class: `change ${change < 0 ? "less" : ""}`, title }, changed),
    shown,
  ];
}

function tick(kind, verb, symbol, name, isPressed, call) {
  return el(
    "button",
    {
      type: "button",
      class: `tick ${kind}`,
      "data-role": kind,
      "aria-pressed": String(isPressed),
      "aria-label": `${verb} ${name}`,
      title: verb,
      onclick: call,
    },
    symbol,
  );
}

/** Arrow keys move between labels; letters act on the label that has the focus. */
export function listenToKeys(act) {
  list.addEventListener("keydown", (event) => {
    const here = event.target.closest(".chip");
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { ArrowDown: here.nextElementSibling, ArrowUp: here.previousElementSibling };
    const letters = { a: act.accept, r: act.reject, b: act.browse };
    if (event.key in next) next[event.key]?.querySelector("[data-role=main]").focus();
    else if (event.key in letters) letters[event.key](here.dataset.label);
    else return;
    event.preventDefault();
  });
}

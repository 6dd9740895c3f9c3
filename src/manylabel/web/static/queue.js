// A queue of documents and the user's decisions; it survives a reload.

const KEY = "manylabel.review";

/** Read documents from a file: JSON Lines (documents or an audit), or one text per line. */
export function documentsOf(name, content) {
  const lines = content.split(/\r?\n/).filter((line) => line.trim());
  if (!/\.jsonl?$/i.test(name)) {
    return lines.map((text, place) => ({ id: `${name}:${place + 1}`, text, suspects: [] }));
  }
  const found = new Map();
  lines.forEach((line, place) => {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      throw new Error(`${name}, line ${place + 1}: not valid JSON.`);
    }
    if (typeof record !== "object" || record === null || typeof (record.text ?? "") !== "string") {
      throw new Error(`${name}, line ${place + 1}: expected an object with "text".`);
    }
    const id = String(record.id ?? `${name}:${place + 1}`);
    // A line of an audit is about one label of a known document.
    const isSuspect = typeof record.given === "boolean" && typeof record.label === "string";
    if (!isSuspect && !record.text) throw new Error(`${name}, line ${place + 1}: "text" is missing or empty.`);
    if (!found.has(id)) {
      found.set(id, { id, text: record.text ?? "", known: isSuspect, suspects: [] });
    }
    if (isSuspect) {
      const { label, given, probability, reasons, titles, having, lacking } = record;
      const name = record.name ?? label;
      found.get(id).suspects.push({ label, name, given, probability, reasons, titles, having, lacking });
    }
  });
  return [...found.values()];
}

export class Queue {
  constructor() {
    this.documents = [];
    this.place = 0;
    this.history = [];
    this.isKept = true;
    this.restore();
  }

  /** Call when another tab has changed the queue. */
  onChange(call) {
    window.addEventListener("storage", (event) => {
      if (event.key !== KEY) return;
      this.restore();
      call();
    });
  }

  restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      this.documents = kept.documents ?? [];
      this.place = Math.min(kept.place ?? 0, this.documents.length);
      this.history = kept.history ?? [];
    } catch {
      this.empty();
    }
  }

  /** For a reload, and for other tabs; `isKept` is false if the browser has no room for it. */
  keep() {
    const { documents, place, history } = this;
    try {
      localStorage.setItem(KEY, JSON.stringify({ documents, place, history }));
      this.isKept = true;
    } catch {
      this.isKept = false;
    }
  }

  fill(documents) {
    const there = new Set(this.documents.map((one) => one.id));
    this.documents.push(...documents.filter((one) => !there.has(one.id)));
    this.keep();
  }

  empty() {
    this.documents = [];
    this.place = 0;
    this.history = [];
    this.keep();
  }

  get current() {
    return this.documents[this.place];
  }

  /** Record a decision about a label of the current document; repeating it undoes it. */
  decide(label, decision) {
    const { id } = this.current;
    const before = this.decision(id, label);
    const after = before === decision ? "" : decision;
    this.history.push({ kind: "label", id, label, before, after, place: this.place });
    this.keep();
  }

  /** The last decision about a label; "" if there is none. */
  decision(id, label) {
    const last = this.history.findLast(
      (one) => one.kind === "label" && one.id === id && one.label === label,
    );
    return last ? last.after : "";
  }

  move(step, kind = "done") {
    const to = Math.max(0, Math.min(this.place + step, this.documents.length));
    if (step > 0 && this.current) {
      this.history.push({ kind, id: this.current.id, place: this.place });
    }
    this.place = to;
    this.keep();
  }

  /** Undo the last step and go to its document. */
  undo() {
    const last = this.history.pop();
    if (last) this.place = last.place;
    this.keep();
    return last;
  }

  get done() {
    return new Set(this.history.filter((one) => one.kind === "done").map((one) => one.id));
  }

  /** All decisions, as [{id, label, decision}]. */
  decisions() {
    const last = new Map();
    for (const { kind, id, label, after } of this.history) {
      if (kind === "label") last.set(JSON.stringify([id, label]), { id, label, after });
    }
    return [...last.values()]
      .filter((one) => one.after)
      .map(({ id, label, after }) => ({
        id,
        label,
        decision: after === "accepted" ? "add" : "remove",
      }));
  }

  /** Decisions with the texts of new documents, without which a model cannot learn them. */
  exported() {
    const texts = new Map(this.documents.filter((one) => !one.known).map((one) => [one.id, one.text]));
    return this.decisions().map((one) => (texts.has(one.id) ? { ...one, text: texts.get(one.id) } : one));
  }
}

const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export const asJsonLines = (decisions) =>
  decisions.map((one) => `${JSON.stringify(one)}\n`).join("");

export const asCsv = (decisions) =>
  ["id,label,decision\r\n"]
    .concat(decisions.map((one) => `${cell(one.id)},${cell(one.label)},${one.decision}\r\n`))
    .join("");

// Files, opened or dropped. Text, tables and JSON are read here, and only the shown text is sent.
// The server reads office files and keeps nothing of them.

import { textOf } from "./api.js";
import { el, find } from "./dom.js";
import { readTable, recordOf } from "./tables.js";

const MOST = 5000;

/**
 * @param show ({text, labels}) => show a document
 * @param complain (sentence) => say what is wrong with a file
 */
export function takesFiles({ show, complain }) {
  const field = find("file");
  const editor = find("editor");
  const list = find("document");
  let documents = [];

  function choose(place) {
    list.selectedIndex = place;
    find("previous").disabled = place <= 0;
    find("next").disabled = place >= documents.length - 1;
    show(documents[place]);
  }

  function fill(found) {
    documents = found;
    list.replaceChildren(...documents.map(({ title }) => el("option", {}, title)));
    find("documents").hidden = documents.length < 2;
  }

  async function open(file) {
    try {
      fill(await documentsIn(file));
    } catch (error) {
      complain(error.message);
      return;
    }
    choose(0);
  }

  find("open").addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    if (field.files.length) open(field.files[0]);
    field.value = "";
  });
  list.addEventListener("change", () => choose(list.selectedIndex));
  find("previous").addEventListener("click", () => choose(list.selectedIndex - 1));
  find("next").addEventListener("click", () => choose(list.selectedIndex + 1));

  const target = document.querySelector(".writing");
  target.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    editor.classList.add("dropping");
  });
  for (const end of ["dragleave", "drop"]) {
    target.addEventListener(end, () => editor.classList.remove("dropping"));
  }
  target.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    open(event.dataTransfer.files[0]);
  });
  return {
    close: () => fill([]),
    kept: () => (documents.length > 1 ? { documents, place: list.selectedIndex } : null),
    restore(before) {
      fill(before.documents);
      list.selectedIndex = before.place;
      find("previous").disabled = before.place <= 0;
      find("next").disabled = before.place >= documents.length - 1;
    },
  };
}

const OFFICE = /\.(docx|pdf|epub|html?)$/i;
const KINDS = [
  [/\.(doc|odt|rtf)$/i, "Open it in its own program, copy the text, and paste it here."],
  [/\.(xlsx?|ods|parquet)$/i, "Save it as CSV, then open that."],
];

/** The documents of a file: [{id, title, text, labels}]. */
export async function documentsIn(file) {
  if (OFFICE.test(file.name)) {
    return [{ id: file.name, title: file.name, text: await textOf(file), labels: [] }];
  }
  return readDocuments(await readText(file), file.name);
}

/** Read a text file in UTF-8, UTF-16 or Windows-1252; refuse binary files. */
export async function readText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const marked = { "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.slice(0, 2).join()];
  if (marked) return new TextDecoder(marked).decode(bytes);
  const begins = new TextDecoder("latin1").decode(bytes.slice(0, 8));
  if (bytes.slice(0, 65536).includes(0) || /^(%PDF|PK\x03\x04|PAR1|{\\rtf)/.test(begins)) {
    const advice = KINDS.find(([ending]) => ending.test(file.name))?.[1] ?? "";
    throw new Error(`${file.name} is not a text file. ${advice}`.trim());
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function readDocuments(content, name) {
  if (!content.trim()) throw new Error(`${name} is empty.`);
  if (/\.(csv|tsv|tab)$/i.test(name)) return listed(readTable(content, name), name);
  if (!/\.(jsonl|ndjson|json)$/i.test(name)) {
    return [{ id: name, title: name, text: content, labels: [] }];
  }
  return listed(readJson(content, name), name);
}

/** Turn records into documents with ids and titles. */
function listed(records, name) {
  if (!records.length) throw new Error(`${name} has no documents.`);
  return records.slice(0, MOST).map(({ id, text, labels }, place) => ({
    id: String(id ?? `${name}:${place + 1}`),
    title: `${id ?? place + 1}: ${text.slice(0, 80)}`,
    text,
    labels,
  }));
}

function readJson(content, name) {
  if (content.trimStart().startsWith("[")) {
    let entries;
    try {
      entries = JSON.parse(content);
    } catch {
      throw new Error(`${name} is not valid JSON.`);
    }
    return entries.map((entry, place) => checked(entry, `${name}, document ${place + 1}`));
  }
  const records = [];
  for (const [place, line] of content.split("\n").entries()) {
    if (!line.trim() || records.length >= MOST) continue;
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      throw new Error(`${name}, line ${place + 1}: not valid JSON.`);
    }
    records.push(checked(entry, `${name}, line ${place + 1}`));
  }
  return records;
}

function checked(entry, where) {
  const record = entry && typeof entry === "object" ? recordOf(entry) : null;
  if (typeof record?.text !== "string") throw new Error(`${where}: expected an object with "text".`);
  return record;
}

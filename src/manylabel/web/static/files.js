// Text files and JSON Lines files, opened or dropped; nothing of them is sent but the text shown.

import { el, find } from "./dom.js";

const MOST = 5000;

/**
 * @param show ({text, labels}) => show a document
 * @param complain (sentence) => tell what is wrong with a file
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

  async function open(file) {
    try {
      documents = readDocuments(await file.text(), file.name);
    } catch (error) {
      complain(error.message);
      return;
    }
    list.replaceChildren(...documents.map(({ title }) => el("option", {}, title)));
    find("documents").hidden = documents.length < 2;
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
}

function readDocuments(content, name) {
  if (!/\.(jsonl|ndjson|json)$/i.test(name)) {
    return [{ title: name, text: content, labels: [] }];
  }
  const documents = [];
  for (const [place, line] of content.split("\n").entries()) {
    if (!line.trim() || documents.length >= MOST) continue;
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      throw new Error(`${name}, line ${place + 1}: this is not JSON.`);
    }
    if (typeof entry?.text !== "string") {
      throw new Error(`${name}, line ${place + 1}: expected an object with "text".`);
    }
    const title = `${entry.id ?? documents.length + 1}: ${entry.text.slice(0, 80)}`;
    const labels = Array.isArray(entry.labels) ? entry.labels.map(String) : [];
    documents.push({ title, text: entry.text, labels });
  }
  if (!documents.length) throw new Error(`${name} has no documents.`);
  return documents;
}

// Reads tables of documents and detects their columns; a small version of the command line's readers.

const NAMES = {
  text: ["text", "full text", "content", "body", "abstract", "document", "description", "summary", "comment text", "comment"],
  labels: ["labels", "label", "subjects", "subject", "tags", "keywords", "author keywords", "categories", "category", "topics"],
  id: ["id", "identifier", "document id", "doi", "uri", "url"],
};

const plain = (name) => name.trim().toLowerCase().replace(/[\s_.-]+/g, " ");

/** The name that fits a role best; undefined if none does. */
function found(role, names) {
  const known = names.map(plain);
  const best = NAMES[role].find((name) => known.includes(name));
  return best === undefined ? undefined : names[known.indexOf(best)];
}

/** {id, text, labels} of an object with fields of any known names. */
export function recordOf(entry) {
  const names = Object.keys(entry);
  const title = names.find((name) => plain(name) === "title");
  const text = found("text", names) ?? title;
  return { id: entry[found("id", names)], text: entry[text], labels: labelsIn(entry[found("labels", names)]) };
}

function labelsIn(cell) {
  if (Array.isArray(cell)) return cell.map(String);
  if (typeof cell !== "string") return [];
  const separator = [";", "|", ","].find((one) => cell.includes(one)) ?? ";";
  return cell.split(separator).map((name) => name.trim()).filter(Boolean);
}

/** Read a table whose first row names its columns. */
export function readTable(content, name) {
  const first = content.split(/\r?\n/, 1)[0];
  const delimiters = [",", ";", "\t", "|"];
  const count = (one) => first.split(one).length;
  const delimiter = delimiters.reduce((best, one) => (count(one) > count(best) ? one : best));
  const [names, ...rows] = cellsOf(content, delimiter);
  const columns = names ?? [];
  if (found("text", columns) === undefined && !columns.some((one) => plain(one) === "title")) {
    const shown = columns.slice(0, 8).join(", ");
    throw new Error(
      `${name}: no column for the texts among ${shown}. ` +
        'Rename the column with the texts to "text", and open the file again.',
    );
  }
  return rows
    .filter((row) => row.some((cell) => cell.trim()))
    .map((row) => recordOf(Object.fromEntries(columns.map((column, place) => [column, row[place] ?? ""]))));
}

/** Split into rows of cells; quoted cells may contain anything. */
function cellsOf(content, delimiter) {
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  const text = content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else isQuoted = false;
    } else if (character === '"' && !cell) isQuoted = true;
    else if (character === delimiter || character === "\n") {
      row.push(cell);
      cell = "";
      if (character === "\n") {
        rows.push(row);
        row = [];
      }
    } else cell += character;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows;
}

// Tables of documents, and which of their columns hold what; the server's own readers know more.

const NAMES = {
  text: ["text", "full text", "content", "body", "abstract", "document", "description", "summary", "comment text", "comment"],
  labels: ["labels", "label", "subjects", "subject", "tags", "keywords", "author keywords", "categories", "category", "topics"],
  id: ["id", "identifier", "document id", "doi", "uri", "url"],
};

const plain = (name) => name.trim().toLowerCase().replace(/[\s_.-]+/g, " ");

/** The name among these that is used for something, the surest one first. */
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
  const sign = [";", "|", ","].find((one) => cell.includes(one)) ?? ";";
  return cell.split(sign).map((name) => name.trim()).filter(Boolean);
}

/** The records of a table, whose first row names its columns. */
export function readTable(content, name) {
  const first = content.split(/\r?\n/, 1)[0];
  const signs = [",", ";", "\t", "|"];
  const count = (sign) => first.split(sign).length;
  const delimiter = signs.reduce((best, sign) => (count(sign) > count(best) ? sign : best));
  const [names, ...rows] = cellsOf(content, delimiter);
  const columns = names ?? [];
  if (found("text", columns) === undefined && !columns.some((one) => plain(one) === "title")) {
    const shown = columns.slice(0, 8).join(", ");
    throw new Error(
      `${name}: no column is called text, content or abstract; the columns are ${shown}. ` +
        "Call the one with the texts text, and open the file again.",
    );
  }
  return rows
    .filter((row) => row.some((cell) => cell.trim()))
    .map((row) => recordOf(Object.fromEntries(columns.map((column, place) => [column, row[place] ?? ""]))));
}

/** Rows of cells, which may be in quotation marks and then hold anything. */
function cellsOf(content, delimiter) {
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  const text = content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else isQuoted = false;
    } else if (sign === '"' && !cell) isQuoted = true;
    else if (sign === delimiter || sign === "\n") {
      row.push(cell);
      cell = "";
      if (sign === "\n") {
        rows.push(row);
        row = [];
      }
    } else cell += sign;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows;
}

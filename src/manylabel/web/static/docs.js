// The API's documentation, from its OpenAPI description; every example can be sent.

import { el, find } from "./dom.js";

function operations(description) {
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.tags?.[0] ?? "Others";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(shown(method.toUpperCase(), path, operation));
    }
  }
  return groups;
}

function shown(method, path, operation) {
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  const examples = Object.values(content?.examples ?? {});
  if (content?.example) examples.push({ summary: "Example", value: content.example });
  const body = content && el("textarea", { "aria-label": `Body of ${path}`, spellcheck: "false" });
  const choose = (value) => (body.value = JSON.stringify(value, null, 2));
  if (examples.length) choose(examples[0].value);
  const fields = (operation.parameters ?? [])
    .filter((one) => one.in !== "header")
    .map((one) => [one, el("input", { type: "text", id: `${method}${path}-${one.name}` })]);
  for (const [{ schema, examples: given, in: where }, input] of fields) {
    input.value = Object.values(given ?? schema?.examples ?? [])[0]?.value ?? schema?.examples?.[0] ?? "";
    if (where === "path" && !input.value) input.dataset.first = "";
  }
  const answer = el("pre", { tabindex: "0", hidden: true, "aria-label": "Answer" });
  const send = () => ask(method, path, fields, type, body, answer);
  const several = examples.length > 1;
  return el(
    "details",
    {},
    el("summary", {}, el("code", {}, `${method} ${path}`), " ", summary(operation)),
    ...fields.map(([one, input]) =>
      el("p", { class: "field" }, el("label", { for: input.id }, one.name), input),
    ),
    several
      ? el(
          "p",
          { class: "tags" },
          ...examples.map(({ summary: name, value }) =>
            el("button", { type: "button", onclick: () => choose(value) }, name),
          ),
        )
      : null,
    body,
    el("button", { type: "button", class: "main", onclick: send }, "Send"),
    answer,
  );
}

const summary = ({ description, summary: title }) =>
  el("span", { class: "quiet" }, description ?? title ?? "");

async function ask(method, path, fields, type, body, answer) {
  let address = path;
  const query = new URLSearchParams();
  for (const [{ name, in: where }, { value }] of fields) {
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  const headers = type ? { "Content-Type": type } : {};
  if (find("token").value) headers.Authorization = `Bearer ${find("token").value}`;
  try {
    const content = body && (type === "application/json" ? body.value : form(body.value));
    const response = await fetch(`${address}?${query}`, { method, headers, body: content || undefined });
    answer.textContent = `${response.status}\n${pretty(await response.text())}`;
  } catch (error) {
    answer.textContent = String(error);
  }
  answer.hidden = false;
}

const form = (json) => new URLSearchParams(JSON.parse(json)).toString();

function pretty(content) {
  try {
    return JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    return content;
  }
}

async function start() {
  const description = await (await fetch("/openapi.json")).json();
  find("about").textContent = description.info.description.replaceAll("`", "").trim();
  for (const [group, made] of operations(description)) {
    document.querySelector("main").append(
      el("section", { "aria-label": group }, el("h2", {}, group), ...made),
    );
  }
  const { models } = await (await fetch("/v1/models")).json();
  for (const input of document.querySelectorAll("[data-first]")) input.value = models[0].name;
}

document.querySelector(".token").addEventListener("submit", (event) => event.preventDefault());
start();

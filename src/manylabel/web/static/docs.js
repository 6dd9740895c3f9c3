// The documentation of the API, made from its OpenAPI description; every example can be sent.

import { get, send } from "./api.js";
import { cut, el, find } from "./dom.js";

let schemas = {};

function operations(description) {
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.tags?.[0] ?? "Other";
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
  const choose = (value) =>
    (body.value = typeof value === "string" ? value : JSON.stringify(value, null, 2));
  if (examples.length) choose(examples[0].value);
  const fields = (operation.parameters ?? [])
    .filter((one) => one.in !== "header")
    .map((one) => [one, el("input", { type: "text", id: `${method}${path}-${one.name}` })]);
  for (const [{ schema, examples: given, in: where }, input] of fields) {
    input.value = Object.values(given ?? schema?.examples ?? [])[0]?.value ?? schema?.examples?.[0] ?? "";
    if (where === "path" && !input.value) input.dataset.first = "";
  }
  const answer = el("pre", { tabindex: "0", hidden: true, "aria-label": "Answer" });
  const ask = () => sendExample(method, path, fields, type, body, answer);
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
    el("button", { type: "button", class: "main", onclick: ask }, "Send"),
    answer,
    promised(operation.responses),
  );
}

const summary = ({ description, summary: title }) =>
  el("span", { class: "quiet" }, (description ?? title ?? "").replaceAll("`", ""));

// ---- the answers of a route

function promised(responses) {
  const [status, good] = Object.entries(responses).find(([one]) => one.startsWith("2"));
  const [[type, content] = []] = Object.entries(good.content ?? {});
  const errors = Object.keys(responses).filter((one) => !one.startsWith("2"));
  const format = !type ? "No content." : content.schema?.type === "string" ? type : written(content.schema);
  return el(
    "details",
    { class: "answers" },
    el("summary", {}, "Response"),
    el("p", { class: "quiet" }, status),
    el("pre", { tabindex: "0", "aria-label": "Format of the response", class: "schema" }, format),
    errors.length
      ? el("p", { class: "quiet" }, `${errors.join(", ")}: application/problem+json, with one sentence in detail.`)
      : null,
  );
}

/** A schema as the JSON that it describes, with types in place of values. */
function written(schema, indent = "", seen = []) {
  const name = schema.$ref?.split("/").at(-1);
  if (name && seen.includes(name)) return name;
  const { type, properties, items, anyOf, enum: values, const: value, prefixItems, additionalProperties } =
    name ? schemas[name] : schema;
  const inner = name ? [...seen, name] : seen;
  if (anyOf) return anyOf.map((one) => written(one, indent, inner)).join(" | ");
  if (values) return values.map((one) => JSON.stringify(one)).join(" | ");
  if (value !== undefined) return JSON.stringify(value);
  if (prefixItems) return `[${prefixItems.map((one) => written(one, indent, inner)).join(", ")}]`;
  if (type === "array") return `[${items ? written(items, indent, inner) : ""}, ...]`;
  if (type !== "object") return type ?? "any";
  if (!properties) {
    const of = additionalProperties && additionalProperties !== true ? additionalProperties : {};
    return `{string: ${written(of, indent, inner)}, ...}`;
  }
  const deeper = `${indent}  `;
  const lines = Object.entries(properties).map(([key, one]) => {
    const about = one.description ? `  // ${one.description}` : "";
    return `${deeper}${JSON.stringify(key)}: ${written(one, deeper, inner)},${about}`;
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

// ---- sending

async function sendExample(method, path, fields, type, body, answer) {
  let place = path;
  const query = new URLSearchParams();
  for (const [{ name, in: where }, { value }] of fields) {
    if (where === "path") place = place.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  const headers = type ? { "Content-Type": type } : {};
  try {
    const content = body && (type === "application/x-www-form-urlencoded" ? form(body.value) : body.value);
    const response = await send(`${place}?${query}`, { method, headers, body: content || undefined });
    answer.textContent = cut(`${response.status}\n${pretty(await response.text())}`);
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
  const description = await get("/openapi.json");
  schemas = description.components.schemas;
  find("about").textContent = description.info.description.replaceAll("`", "").trim();
  for (const [group, made] of operations(description)) {
    document.querySelector("main").append(
      el("section", { "aria-label": group }, el("h2", {}, group), ...made),
    );
  }
  const { models, learning, reading } = await get("/v1/models");
  const needs = [reading === "token" ? "read" : "", learning === "token" ? "change a model" : ""].filter(Boolean);
  find("tokens").textContent = needs.length
    ? `To ${needs.join(" and to ")}, send the header Authorization: Bearer TOKEN.`
    : "";
  for (const input of document.querySelectorAll("[data-first]")) input.value = models[0].name;
  document.documentElement.dataset.ready = "";
}

start().catch((error) => (find("about").textContent = error.message));

// A text field that completes labels, following the combobox pattern of the ARIA guide.

import { get } from "./api.js";
import { el, whenCalm } from "./dom.js";

let made = 0;

/**
 * @param input the text field
 * @param model () => name of the model
 * @param choose ({label, name, isNew}) => what to do with a label
 * @param takesNew () => whether new labels may be chosen
 */
export function completes(input, { model, choose, takesNew = () => false }) {
  const id = `options-${++made}`;
  const list = el("ul", { id, class: "options", role: "listbox", hidden: true });
  list.setAttribute("aria-label", "Labels");
  input.after(list);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id,
  })) input.setAttribute(name, value);
  let options = [];
  let active = -1;
  let asked = null; // {query, done}: the query of the options, shown or requested

  function close() {
    asked = null;
    options = [];
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function activate(place) {
    active = place;
    [...list.children].forEach((option, number) => {
      option.setAttribute("aria-selected", String(number === place));
      if (number === place) option.scrollIntoView({ block: "nearest" });
    });
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${place}`);
  }

  function take(place) {
    const chosen = options[place];
    if (!chosen) return;
    input.value = "";
    close();
    choose(chosen);
  }

  /** Show options for the typed text; request them only once. */
  function look() {
    const query = input.value.trim();
    if (!query) close();
    else if (asked?.query !== query) {
      asked = { query };
      asked.done = offer(query);
    }
    return asked?.done;
  }

  async function offer(query) {
    let found;
    try {
      found = await get("/v1/labels", { query: query.slice(0, 200), limit: 12, model: model() });
    } catch {
      if (asked?.query === query) close();
      return;
    }
    if (asked?.query !== query) return;
    options = found.labels.map(({ label, name }) => ({ label, name, isNew: false }));
    const exists = options.some(({ label, name }) => label === query || name === query);
    if (takesNew() && !exists) options.push({ label: query, name: query, isNew: true });
    list.replaceChildren(
      ...options.map((option, place) =>
        el(
          "li",
          {
            id: `${id}-${place}`,
            role: "option",
            "aria-selected": "false",
            onmousedown: (event) => event.preventDefault(),
            onclick: () => take(place),
          },
          ...shown(option, query),
        ),
      ),
    );
    list.hidden = !options.length;
    input.setAttribute("aria-expanded", String(options.length > 0));
    // No option is active yet: the first arrow down activates the first one.
    activate(-1);
  }

  input.addEventListener("input", whenCalm(120, look));
  input.addEventListener("blur", close);
  // Keys wait for the options of the typed text, and are handled in order.
  let keys = Promise.resolve();
  const inOrder = (call) => {
    keys = keys.then(async () => {
      await look();
      call();
    });
  };

  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && options.length) {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter") {
      event.preventDefault();
      inOrder(() => take(Math.max(active, 0)));
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const isDown = event.key === "ArrowDown";
      inOrder(() => {
        if (!options.length) return;
        const from = active < 0 && !isDown ? options.length : active;
        activate((from + (isDown ? 1 : -1) + options.length) % options.length);
      });
    }
  });
}

function shown({ label, name, isNew }, query) {
  if (isNew) return ["New label: ", el("b", {}, name)];
  const at = name.toLowerCase().indexOf(query.toLowerCase());
  const parts =
    at < 0
      ? [name]
      : [name.slice(0, at), el("b", {}, name.slice(at, at + query.length)), name.slice(at + query.length)];
  return label === name ? parts : [...parts, " ", el("small", {}, label)];
}

// The token: requested when the server wants one, and kept until the tab is closed.

import { el } from "./dom.js";

const KEY = "manylabel-token";
let asking = null;

export const token = () => sessionStorage.getItem(KEY) ?? "";

export const forgetToken = () => sessionStorage.removeItem(KEY);

/** Ask for the token, and say whether there is one now; simultaneous requests share one dialog. */
export function askForToken(wasWrong) {
  asking ??= ask(wasWrong).finally(() => (asking = null));
  return asking;
}

function ask(wasWrong) {
  return new Promise((resolve) => {
    const field = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const cancel = el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Cancel");
    const dialog = el(
      "dialog",
      { class: "token", "aria-labelledby": "token-title" },
      el("h2", { id: "token-title" }, "This server needs a token"),
      el(
        "form",
        {
          method: "dialog",
          onsubmit: () => sessionStorage.setItem(KEY, field.value.trim()),
        },
        wasWrong ? el("p", { role: "alert" }, "Wrong token. Try again.") : null,
        el("label", { for: "token" }, "Token"),
        field,
        el("p", { class: "choices" }, el("button", { type: "submit", class: "main" }, "Continue"), cancel),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(Boolean(token()));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

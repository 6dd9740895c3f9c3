// Requests to the server of this page, under the path at which a proxy serves it.

import { askForToken, forgetToken, token } from "./token.js";

/** The full address of a path of the API; the pages are beside "v1/". */
export const address = (path) => new URL(path.replace(/^\//, ""), document.baseURI).href;

async function answer(response) {
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.detail || `The server answered ${response.status}.`);
  return content;
}

/** Send a request; if the server wants a token, ask the user for it and send the request again. */
export async function send(path, { headers = {}, ...options } = {}) {
  for (;;) {
    const given = token();
    const carried = given ? { ...headers, Authorization: `Bearer ${given}` } : headers;
    let response;
    try {
      response = await fetch(address(path), { ...options, headers: carried });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not respond. Check that it is running, then try again.");
    }
    if (response.status !== 401) return response;
    // Another request may have got the right token in the meantime.
    if (token() === given) {
      forgetToken();
      if (!(await askForToken(Boolean(given)))) return response;
    }
  }
}

export async function get(path, parameters = {}, signal = undefined) {
  return answer(await send(`${path}?${new URLSearchParams(parameters)}`, { signal }));
}

export async function post(path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return answer(await send(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

/** The text of an office file. */
export async function textOf(file) {
  const headers = { "Content-Type": "application/octet-stream" };
  const path = `/v1/text?${new URLSearchParams({ name: file.name.slice(-255) })}`;
  return (await answer(await send(path, { method: "POST", headers, body: file }))).text;
}

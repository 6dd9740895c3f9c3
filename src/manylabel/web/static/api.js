// Requests to the server that this page came from.

async function answer(response) {
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.detail || `The server answered ${response.status}.`);
  return content;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer.");
  }
  return answer(response);
}

export function get(path, parameters = {}, signal = undefined) {
  return ask(`${path}?${new URLSearchParams(parameters)}`, { signal });
}

export function post(path, body, { signal, token } = {}) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

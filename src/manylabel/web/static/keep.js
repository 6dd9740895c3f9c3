// State that survives a reload, until the tab is closed.

const KEY = "manylabel-page";

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/** Keep the state; if it is too large for the browser, without the other documents of the file. */
export function keep(state) {
  for (const one of [state, { ...state, file: null }, { ...state, file: null, text: "" }]) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(one));
      return;
    } catch {
      // Too large: try the next, which is smaller.
    }
  }
}

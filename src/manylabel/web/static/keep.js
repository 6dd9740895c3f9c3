// What a reload must not take away; closing the tab does.

const KEY = "manylabel-page";

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/** Keep the state; one that is too large for the browser is kept without the file's other documents. */
export function keep(state) {
  for (const one of [state, { ...state, file: null }, { ...state, file: null, text: "" }]) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(one));
      return;
    } catch {
      // The next one is smaller.
    }
  }
}

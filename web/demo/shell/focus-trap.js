// @ts-check

const focusable = "button:not(:disabled), input:not(:disabled), textarea, select, a[href], iframe, [tabindex='0']";

/**
 * Keeps the focus in a modal page: the Tab key moves from its last element to its first one, and back with Shift.
 * @param {HTMLElement} dialog
 * @param {KeyboardEvent} event
 */
export function keepFocusIn(dialog, event) {
  // On Linux, WebKit does not name the key when Shift is held.
  if (event.key !== "Tab" && event.code !== "Tab") return;
  const all = /** @type {HTMLElement[]} */ ([...dialog.querySelectorAll(focusable)]).filter((each) => each.getClientRects().length > 0);
  const [first] = all;
  const last = all[all.length - 1];
  if (!first || !last) return;
  const { activeElement } = document;
  // The heading has the focus when the page opens, and is no tab stop.
  const isAtStart = activeElement === first || !all.some((each) => each === activeElement);
  // Radio buttons of a group are one tab stop.
  const isAtEnd = activeElement === last || (last instanceof HTMLInputElement && last.type === "radio" && activeElement instanceof HTMLInputElement && activeElement.name === last.name);
  if (event.shiftKey ? !isAtStart : !isAtEnd) return;
  event.preventDefault();
  (event.shiftKey ? last : first).focus();
}

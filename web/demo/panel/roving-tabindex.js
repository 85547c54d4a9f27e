// @ts-check

/**
 * Makes the items of a list one stop of the tab key: the arrows, Home and End move among them.
 * @param {HTMLElement} list
 * @param {string} selector of the items, which can have the focus
 */
export function rovingTabindex(list, selector) {
  const shown = () => [...list.querySelectorAll(selector)].filter((item) =>
    item.getClientRects().length > 0 && !item.closest("details:not([open]) > :not(summary)"));
  /** @param {Element | undefined} chosen */
  const stopAt = (chosen) => {
    for (const item of list.querySelectorAll(selector)) item.setAttribute("tabindex", item === chosen ? "0" : "-1");
  };
  const settle = () => {
    const items = shown();
    const stops = items.filter((item) => item.getAttribute("tabindex") === "0");
    if (stops.length !== 1 || items.length !== list.querySelectorAll(`${selector}[tabindex]`).length) stopAt(stops[stops.length - 1] ?? items[0]);
  };
  new MutationObserver(settle).observe(list, { childList: true, subtree: true, attributeFilter: ["class", "open"] });
  list.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.matches(selector)) stopAt(target);
  });
  list.addEventListener("keydown", (event) => {
    if (!(event.target instanceof Element) || !event.target.matches(selector)) return;
    const items = shown();
    const here = items.indexOf(event.target);
    const places = /** @type {Record<string, number>} */ ({ ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 });
    const next = items[places[event.key]];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  });
}

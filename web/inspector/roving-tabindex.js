// @ts-check

/**
 * Makes the children of an element one tab stop: the arrow keys, Home and End move between them.
 * @param {Element} parent
 * @param {string} selector of the children that can have the focus
 * @param {{isHorizontal?: boolean, moved?: (to: HTMLElement) => void}} options
 */
export function rovingTabindex(parent, selector, { isHorizontal = false, moved } = {}) {
  const [before, after] = isHorizontal ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  parent.addEventListener("keydown", (event) => {
    const { key, target } = /** @type {KeyboardEvent} */ (event);
    const all = /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(selector)]);
    const place = all.findIndex((each) => each === target);
    const next = { [before]: place - 1, [after]: place + 1, Home: 0, End: all.length - 1 }[key];
    if (place < 0 || next === undefined) return;
    event.preventDefault();
    const to = all[Math.min(Math.max(next, 0), all.length - 1)];
    focusOn(to, all);
    to.focus();
    moved?.(to);
  });
}

/**
 * Makes one of the elements the tab stop.
 * @param {HTMLElement} one
 * @param {HTMLElement[]} all
 */
export function focusOn(one, all) {
  for (const each of all) each.tabIndex = each === one ? 0 : -1;
}

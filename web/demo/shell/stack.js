// @ts-check

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/**
 * A page of the stack.
 * @typedef {object} Layer
 * @property {Page} page
 * @property {number} level how many modal stacks it lies in
 * @property {boolean} first whether it is the lowest of its modal stack, or of all
 */

/** @typedef {"native" | "web" | "flutter" | "mini"} Technology */

/**
 * The pages from bottom to top, modal stacks after the page that presents them.
 * @param {Page[]} pages
 * @param {number} [level]
 * @returns {Layer[]}
 */
export function layers(pages, level = 0) {
  return pages.flatMap((page, position) =>
    [{ page, level, first: position === 0 }, ...layers(page.pages ?? [], level + 1)]);
}

/**
 * Returns the technology that renders the pages of a URI.
 * @param {string} uri
 * @returns {Technology}
 */
export function technology(uri) {
  if (uri.startsWith("flutter:")) return "flutter";
  if (uri.startsWith("mini:")) return "mini";
  return /^https?:/.test(uri) ? "web" : "native";
}

/**
 * The layers that show through: the topmost and, below a modal stack, the page that presents it, down to a page that
 * covers the whole screen. The first page of a modal stack always does: it dims what lies beneath the stack.
 * @param {Layer[]} all
 * @returns {Set<string>} page ids
 */
export function visible(all) {
  const ids = new Set();
  let level = Infinity;
  for (const layer of [...all].reverse()) {
    const isTopmost = layer.level < level;
    if (!isTopmost && !(layer.first && layer.level === level)) continue;
    ids.add(layer.page.id);
    if (isTopmost) level = technology(layer.page.uri) === "flutter" ? 0 : layer.level;
    if (level === 0) break;
  }
  return ids;
}

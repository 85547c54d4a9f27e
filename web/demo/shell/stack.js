// @ts-check

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/**
 * A page of the stack with the number of modal stacks that it lies in.
 * @typedef {object} Layer
 * @property {Page} page
 * @property {number} level
 */

/** @typedef {"native" | "web" | "flutter"} Technology */

/**
 * The pages from bottom to top, modal stacks after the page that presents them.
 * @param {Page[]} pages
 * @param {number} [level]
 * @returns {Layer[]}
 */
export function layers(pages, level = 0) {
  return pages.flatMap((page) => [{ page, level }, ...layers(page.pages ?? [], level + 1)]);
}

/**
 * What draws the pages of a URI.
 * @param {string} uri
 * @returns {Technology}
 */
export function technology(uri) {
  if (uri.startsWith("flutter:")) return "flutter";
  return /^https?:/.test(uri) ? "web" : "native";
}

/**
 * The layers that show through: the topmost and, below a modal stack, the page that presents it, down to a page that
 * covers the whole screen.
 * @param {Layer[]} all
 * @returns {Set<string>} page ids
 */
export function visible(all) {
  const ids = new Set();
  let level = Infinity;
  for (const layer of [...all].reverse()) {
    if (layer.level >= level) continue;
    ids.add(layer.page.id);
    level = technology(layer.page.uri) === "flutter" ? 0 : layer.level;
    if (level === 0) break;
  }
  return ids;
}

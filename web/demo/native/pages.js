// @ts-check
import { surface } from "../shell/surface.js";
import { addresses } from "./addresses.js";
import { home } from "./home.js";
import { shareSheet } from "./share-sheet.js";
import { audience, notes, review, write } from "./walk.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../shell/shell.js").Shell} Shell */

/**
 * A native page as a function: what it shows and in which bar.
 * @callback NativePage
 * @param {Page} page
 * @param {Shell} shell
 * @returns {{title: string, root?: boolean, plain?: boolean, content: Node[]}}
 */

/** @type {Map<string, NativePage>} by URI, without its query */
const pages = new Map([
  ["native://home", home],
  ["native://address/list", addresses],
  ["native://share/sheet", shareSheet],
  ["native://walk/m", notes],
  ["native://walk/a", write],
  ["native://walk/b", audience],
  ["native://walk/c", review],
]);

/**
 * Draws a native page. Throws for a URI that this shell has no page for, which refuses to open it.
 * @param {Page} page
 * @param {Shell} shell
 * @returns {HTMLElement}
 */
export function nativePage(page, shell) {
  const address = page.uri.split(/[?#]/, 1)[0];
  const draw = pages.get(address);
  if (!draw) throw Object.assign(new Error(`This app has no page ${address}`), { code: 1404 });
  const { content, ...options } = draw(page, shell);
  return surface(page, { ...options, back: () => shell.back(page.id) }, ...content);
}

// @ts-check
import { surface } from "../shell/surface.js";
import { address, addresses } from "./addresses.js";
import { discover } from "./discover.js";
import { home } from "./home.js";
import { login, orders } from "./orders.js";
import { check, place, time, trip } from "./plan.js";
import { shareSheet } from "./share-sheet.js";
import { handoff } from "./third-party.js";
import { upgrade } from "./upgrade.js";
import { audience, notes, review, write } from "./walk.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../shell/shell.js").Shell} Shell */

/**
 * A native page as a function: what it shows and in which bar.
 * @callback NativePage
 * @param {Page} page
 * @param {Shell} shell
 * @param {boolean} restored whether it was there before the shell was loaded again
 * @returns {{title: string, root?: boolean, tall?: boolean, content: Node[]}}
 */

/** @type {Map<string | null, NativePage>} by the names that the table gives the routes */
const pages = new Map([
  ["home", home],
  ["discover", discover],
  ["addressList", addresses],
  ["address", address],
  ["shareSheet", shareSheet],
  ["walkM", notes],
  ["walkA", write],
  ["walkB", audience],
  ["walkC", review],
  ["planPlace", place],
  ["planTime", time],
  ["planCheck", check],
  ["trip", trip],
  ["orders", orders],
  ["loginPage", login],
  ["handoff", handoff],
  ["upgrade", upgrade],
]);

/**
 * Whether this shell has a page for a route.
 * @param {string} route its name
 */
export function draws(route) {
  return pages.has(route);
}

/**
 * Draws a native page. Throws for a route that this shell has no page for, which refuses to open it.
 * @param {Page} page
 * @param {Shell} shell
 * @param {boolean} restored
 * @returns {HTMLElement}
 */
export function nativePage(page, shell, restored) {
  const draw = pages.get(page.route);
  if (!draw) throw Object.assign(new Error(`This app has no page ${page.uri}`), { code: 1404 });
  const { content, ...options } = draw(page, shell, restored);
  return surface(page, { ...options, back: () => shell.back(page.id) }, ...content);
}

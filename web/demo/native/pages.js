// @ts-check
import { surface } from "../shell/surface.js";
import { address, addresses } from "./addresses.js";
import { cart } from "./cart.js";
import { declared } from "./declared.js";
import { directory } from "./directory.js";
import { discover } from "./discover.js";
import { error } from "./error.js";
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
 * An open native page.
 * @typedef {object} Drawn
 * @property {Record<string, (params: any) => unknown>} [methods] the methods that other clients can call
 * @property {() => unknown} [closed] called when the page has closed
 */

/**
 * A native page as a function: what it shows and in which bar.
 * @callback NativePage
 * @param {Page} page
 * @param {Shell} shell
 * @param {boolean} restored whether it was there before the shell was loaded again
 * @returns {{title: string, root?: boolean, tall?: boolean, content: Node[]} & Drawn}
 */

/** @type {Map<string | null, NativePage>} by the names that the table gives the routes; any other is shown as declared */
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
  ["directory", directory],
  ["errorPage", error],
  ["cart", cart],
]);

/**
 * Draws a native page. Throws where the page itself refuses to open.
 * @param {Page} page
 * @param {Shell} shell
 * @param {boolean} restored
 * @returns {{surface: HTMLElement} & Drawn}
 */
export function nativePage(page, shell, restored) {
  const draw = pages.get(page.route) ?? declared;
  const { content, methods, closed, ...options } = draw(page, shell, restored);
  return { surface: surface(page, { ...options, back: () => shell.back(page.id) }, ...content), methods, closed };
}

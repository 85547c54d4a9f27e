// @ts-check
import { createRequire } from "node:module";

/**
 * The WebSocket package of the system: Debian's Node looks there by itself, others do not.
 * @returns {any}
 */
export function nodeWebSockets() {
  const load = createRequire(import.meta.url);
  try {
    return load("ws");
  } catch {
    return load("/usr/share/nodejs/ws");
  }
}

/** Where the server for the live tests listens, such as `ws://127.0.0.1:8080/bridge`; without it they are skipped. */
export const LIVE_URL = process.env.WAYBRIDGE_URL;

/** What the live tests need to be told. */
export const SKIP = LIVE_URL === undefined && "WAYBRIDGE_URL names no server: start `waybridge serve --conformance --port 0`";

/**
 * What lets another client join with all rights.
 * @param {import("../bridge/bridge.js").SessionInfo} info of a member
 */
export function key({ session, joinToken }) {
  if (joinToken === undefined) throw new Error("a guest can let nobody join");
  return { session, token: joinToken };
}

/**
 * Opens a page, and gives it when it is shown, with the promise of its outcome.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 * @param {string} uri
 * @param {import("../bridge/bridge.js").OpenOptions} [options]
 */
export async function opened(bridge, uri, options) {
  /** @type {Promise<any>} */
  let outcome = Promise.resolve();
  const page = await new Promise((resolve, reject) => {
    outcome = bridge.open(uri, {}, { ...options, onProgress: (value) => resolve(value.opened.page) });
    outcome.catch(reject);
  });
  return { page, outcome };
}

// @ts-check
import { createRequire } from "node:module";

/**
 * Returns the WebSocket package of the system. Debian's Node finds it by itself, other builds do not.
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

/** The URL of the server for the live tests, such as `ws://127.0.0.1:8080/bridge`. Without it they are skipped. */
export const LIVE_URL = process.env.WAYBRIDGE_URL;

/** Why live tests are skipped; `false` if they run. */
export const SKIP = LIVE_URL === undefined && "WAYBRIDGE_URL names no server; start `waybridge serve --conformance --port 0`";

/**
 * Returns what another client needs to join with all rights.
 * @param {import("../bridge/bridge.js").SessionInfo} info the session of a client that is not a guest
 */
export function key({ session, joinToken }) {
  if (joinToken === undefined) throw new Error("A guest cannot let other clients join");
  return { session, token: joinToken };
}

/**
 * Opens a page. Returns it when it is shown, with the promise of its outcome.
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

// @ts-check
import { byId } from "./dom.js";
import { tapped } from "./tap.js";

/**
 * What a frame tells the shell around it.
 * @typedef {{demo: "message", direction: "in" | "out", text: string, site?: import("./call-site.js").Site}
 *   | {demo: "connected"} | {demo: "lost"} | {demo: "changed"} | {demo: "closed"}} FrameReport
 */

// The messages of the connection are shown beside the phone.
globalThis.WebSocket = tapped((direction, text, site) => report({ demo: "message", direction, text, site }));

// A frame that is covered loses its focus; when it is on top again, the focus returns to where it was.
/** @type {HTMLElement | null} */
let last = null;
addEventListener("focusin", ({ target }) => {
  if (target instanceof HTMLElement) last = target;
});
addEventListener("focus", () => {
  if (document.activeElement === document.body) last?.focus({ preventScroll: true });
});

/**
 * Tells the shell something.
 * @param {FrameReport} message
 */
export function report(message) {
  parent.postMessage(message, location.origin);
}

/**
 * A page that was opened by itself has a session of its own, in which nobody serves it: it says so instead.
 * @param {import("../../bridge/bridge.js").Bridge} bridge
 */
export async function needsApp(bridge) {
  const info = await bridge.ready.catch(() => undefined);
  if (info === undefined || info.guest) return;
  byId("alone", HTMLElement).hidden = false;
  for (const button of document.querySelectorAll("button")) button.disabled = true;
  await bridge.close();
}

// @ts-check
import { byId } from "./dom.js";
import { observedSocket } from "./observed-socket.js";

/**
 * A message from a frame to the shell around it.
 * @typedef {{demo: "message", direction: "in" | "out", text: string, site?: import("./call-site.js").Site}
 *   | {demo: "connected"} | {demo: "lost"} | {demo: "changed"} | {demo: "closed"}} FrameReport
 */

// The messages of the connection are shown beside the phone.
globalThis.WebSocket = observedSocket((direction, text, site) => report({ demo: "message", direction, text, site }));

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
 * Sends a message to the shell.
 * @param {FrameReport} message
 */
export function report(message) {
  parent.postMessage(message, location.origin);
}

/**
 * Disables a page that was opened outside of the app: its own session has no hosts.
 * @param {import("../../bridge/bridge.js").Bridge} bridge
 */
export async function needsApp(bridge) {
  const info = await bridge.ready.catch(() => undefined);
  if (info === undefined || info.guest) return;
  byId("alone", HTMLElement).hidden = false;
  for (const button of document.querySelectorAll("button")) button.disabled = true;
  await bridge.close();
}

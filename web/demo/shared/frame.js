// @ts-check
import { Bridge } from "../../bridge/bridge.js";
import { invitation } from "./invitation.js";
import { tapped } from "./tap.js";

/**
 * What a frame tells the shell around it.
 * @typedef {{demo: "message", direction: "in" | "out", text: string}
 *   | {demo: "connected"} | {demo: "lost"} | {demo: "changed"} | {demo: "closed"}} FrameReport
 */

/**
 * Tells the shell something.
 * @param {FrameReport} message
 */
export function report(message) {
  parent.postMessage(message, location.origin);
}

/**
 * Joins the session of the shell that opened this document; null when there is no shell around it. The messages of the
 * connection are shown beside the phone.
 * @param {string} name
 * @returns {Bridge | null}
 */
export function join(name) {
  const invited = invitation();
  if (!invited || parent === window) return null;
  keepFocus();
  const { session, token, page } = invited;
  return new Bridge({
    client: { name, version: "1.0" },
    join: { session, token },
    page,
    WebSocket: tapped((direction, text) => report({ demo: "message", direction, text })),
  });
}

/** A frame that is covered loses its focus; when it is on top again, the focus returns to where it was. */
function keepFocus() {
  /** @type {HTMLElement | null} */
  let last = null;
  addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) last = target;
  });
  addEventListener("focus", () => {
    if (document.activeElement === document.body) last?.focus({ preventScroll: true });
  });
}

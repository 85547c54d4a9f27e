// @ts-check
import { callSite } from "./call-site.js";

/** @typedef {import("./call-site.js").Site} Site */

/**
 * Called with each text that a socket sends ("out") or receives ("in"), and with the line that sent it, if that line is in the demo.
 * @typedef {(direction: "in" | "out", text: string, site?: Site) => void} Observer
 */

/**
 * A WebSocket class whose messages can be watched: `new Bridge({ WebSocket: observedSocket(observe) })`.
 * @param {Observer} observe
 * @returns {typeof WebSocket}
 */
export function observedSocket(observe) {
  return class extends WebSocket {
    /**
     * @param {string | URL} url
     * @param {string | string[]} [protocols]
     */
    constructor(url, protocols) {
      super(url, protocols);
      this.addEventListener("message", (event) => observe("in", String(event.data)));
    }

    /**
     * @param {string | ArrayBufferLike | Blob | ArrayBufferView} data
     * @override
     */
    send(data) {
      observe("out", String(data), callSite(new Error().stack));
      super.send(data);
    }
  };
}

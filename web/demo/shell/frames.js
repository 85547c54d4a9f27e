// @ts-check
import { element } from "../shared/dom.js";

/** @typedef {import("../shared/frame.js").FrameReport} FrameReport */
/** @typedef {import("../../bridge/types/api.js").InviteOptions} InviteOptions */

/** The documents in frames: invites them to the session and hears what they report. */
export class Frames {
  /** @type {Map<HTMLIFrameElement, (message: FrameReport) => void>} */
  #listeners = new Map();

  /** @param {import("../../bridge/bridge.js").Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
    addEventListener("message", (event) => {
      if (event.origin !== location.origin) return;
      for (const [frame, listen] of this.#listeners) {
        if (!frame.isConnected) this.#listeners.delete(frame);
        else if (frame.contentWindow === event.source) listen(event.data);
      }
    });
  }

  /**
   * A frame that is invited to the session. The address is set before the frame is in the document, so that the browser's
   * history gets no entry of it.
   * @param {string} uri
   * @param {string} title
   * @param {InviteOptions} rights
   * @param {(message: FrameReport) => void} listen
   */
  async make(uri, title, rights, listen) {
    const frame = element("iframe", { src: await this.bridge.invite(uri, rights), title });
    this.#listeners.set(frame, listen);
    return frame;
  }
}

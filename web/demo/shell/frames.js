// @ts-check
import { element } from "../shared/dom.js";
import { invite } from "../shared/invitation.js";

/** @typedef {import("../shared/frame.js").FrameReport} FrameReport */
/** @typedef {import("../../bridge/bridge.js").SessionInfo} SessionInfo */

/** The documents in frames: lets them join the session and hears what they report. */
export class Frames {
  /** @type {Map<HTMLIFrameElement, (message: FrameReport) => void>} */
  #listeners = new Map();

  constructor() {
    addEventListener("message", (event) => {
      if (event.origin !== location.origin) return;
      for (const [frame, listen] of this.#listeners) {
        if (!frame.isConnected) this.#listeners.delete(frame);
        else if (frame.contentWindow === event.source) listen(event.data);
      }
    });
  }

  /**
   * A frame that joins the session. The address is set before the frame is in the document, so that the browser's
   * history gets no entry of it.
   * @param {string} uri
   * @param {string} title
   * @param {SessionInfo} info
   * @param {string | undefined} page
   * @param {(message: FrameReport) => void} listen
   * @returns {HTMLIFrameElement}
   */
  make(uri, title, info, page, listen) {
    const src = invite(uri, { session: info.session, token: info.joinToken, page });
    const frame = element("iframe", { src, title });
    this.#listeners.set(frame, listen);
    return frame;
  }
}

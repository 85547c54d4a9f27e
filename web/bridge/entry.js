// @ts-check
import * as closeOf from "./closes.js";
import { codeOf, nextAfter } from "./codes.js";
import { endpoint } from "./endpoint.js";
import { BridgeError } from "./errors.js";
import { takeInvitation } from "./invitation.js";

/**
 * How often in a row a guest that was here before may be refused (2401): for the server its last connection may not be over yet,
 * and hold its place. With the usual delays that is a minute and a half, longer than a server waits for one that is silent.
 */
const PATIENCE = 8;

/** The way into a session: where its server is, and what the client shows there. */
export class Entry {
  /**
   * The endpoint's; none: there is no bridge.
   * @type {string | undefined}
   */
  url;
  /**
   * How that is told.
   * @type {import("./connection.js").Close}
   */
  absence = { code: 1006, reason: "there is no bridge here" };
  /**
   * The name of the frame, where its parent gives it the same again when it is made anew.
   * @type {string | undefined}
   */
  frame;
  #token;
  /** @type {import("./types.js").BridgeOptions["join"]} */ #join;
  #page;
  #wasHere = false;
  #refusals = 0;

  /**
   * @param {import("./types.js").BridgeOptions} options
   * @param {boolean} isOptional whether something stands in where there is no bridge
   * @param {import("./invitation.js").Keeping} [store] keeps an invitation for the next load of the page
   */
  constructor({ url, join, token, page, bridges }, isOptional, store) {
    this.isOptional = isOptional;
    this.#token = token;
    this.#join = join;
    this.#page = page;
    try {
      const invitation = url === undefined && join === undefined ? takeInvitation(bridges, globalThis, store) : undefined;
      if (invitation !== undefined) [this.#join, url] = [invitation, invitation.url];
      if (invitation?.frame !== undefined) this.frame = `${invitation.session}/${invitation.frame}`;
      this.#wasHere = invitation?.isKept ?? false;
    } catch (error) {
      // Whoever made the page's address made the mistake: the page, which can not mend it, goes on without a bridge.
      if (!(error instanceof BridgeError)) throw error;
      this.absence = { code: 1006, reason: error.message, cause: error };
      return;
    }
    this.url = endpoint(url, isOptional);
  }

  /** Whether what it shows is made anew for each session. */
  get varies() {
    return this.#canRenew || typeof this.#join === "function";
  }

  get #canRenew() {
    return typeof this.#token === "function";
  }

  /** What `session.open` is to say of it this time; where nobody has to be asked, at once. */
  show() {
    const showing = (/** @type {any[]} */ [token, join]) =>
      // An invitation says more, which is nobody else's business.
      ({ token, join: join && { session: join.session, token: join.token }, page: this.#page });
    const all = [this.#token, this.#join].map((each) => (typeof each === "function" ? each() : each));
    return this.varies ? Promise.all(all).then(showing) : showing(all);
  }

  /** @param {import("./types.js").SessionInfo} info of the session that it was let into */
  passed({ guest }) {
    this.#wasHere = guest ?? false;
    this.#refusals = 0;
  }

  /**
   * Whether it may help to ask again for a session that was refused: later, or with what the app gives anew.
   * @param {unknown} error
   * @param {boolean} wasOpen whether there ever was one
   */
  forgives(error, wasOpen) {
    if (!(error instanceof BridgeError)) return wasOpen && this.varies;
    if (error.retryable || (wasOpen && this.varies)) return true;
    if (!this.#wasHere || error.code !== codeOf.notAuthenticated) return false;
    this.#refusals += 1;
    return this.#refusals <= PATIENCE;
  }

  /**
   * What follows a connection that closed with this code.
   * @param {number} code
   */
  next(code) {
    return code === closeOf.tokenRenewal && !this.#canRenew ? "none" : nextAfter(code);
  }
}

// @ts-check
import * as closeOf from "../connection/close-codes.js";
import { codeOf, nextAfter } from "../codes.js";
import { endpoint } from "../connection/endpoint-url.js";
import { BridgeError } from "../values/errors.js";
import { consumeInvitation } from "./invitation.js";

/**
 * How often in a row a returning guest can be rejected with 2401 before it gives up. The server may not have noticed the end of its last
 * connection, which still uses its place. With the default delays this takes a minute and a half, longer than a server waits for a silent client.
 */
const MAX_REJECTIONS = 8;

/** The access to a session: the server's endpoint, and the client's credentials. */
export class SessionAccess {
  /**
   * The URL of the endpoint; `undefined` if there is no bridge.
   * @type {string | undefined}
   */
  url;
  /**
   * The close reason that is reported if there is no bridge.
   * @type {import("../connection/connection.js").Close}
   */
  absence = { code: 1006, reason: "There is no url" };
  /**
   * The name of the frame, if its parent recreates it with the same name.
   * @type {string | undefined}
   */
  frame;
  /** @type {any[]} the token and the session to join, or functions that return them */ #credentials = [];
  #page;
  #wasGuest = false;
  #rejections = 0;

  /**
   * @param {import("../types/api.js").BridgeOptions} options
   * @param {boolean} isOptional whether there is a fallback for the bridge
   * @param {import("./invitation.js").InvitationStore} [store] stores an invitation for the next load of the page
   */
  constructor(options, isOptional, store) {
    let { url, join, token, page } = options;
    this.isOptional = isOptional;
    this.#page = page;
    try {
      const invitation = url === undefined && join === undefined ? consumeInvitation(options, globalThis, store) : undefined;
      this.#credentials = [token, invitation ?? join];
      url = invitation?.url ?? url;
      if (invitation?.frame !== undefined) this.frame = `${invitation.session}/${invitation.frame}`;
      this.#wasGuest = invitation?.isStored ?? false;
    } catch (error) {
      // The error is in the page's URL, which the page itself cannot correct. So the page continues without a bridge.
      if (!(error instanceof BridgeError)) throw error;
      this.absence = { code: 1006, reason: error.message, cause: error };
      return;
    }
    this.url = endpoint(url, isOptional);
  }

  /** Whether the app provides new credentials for each session. */
  get isDynamic() {
    return this.#credentials.some(isFunction);
  }

  /** Returns the credentials for `session.open`, or a promise of them if functions of the app provide them. */
  params() {
    const toParams = (/** @type {any[]} */ [token, join]) =>
      // An invitation has more properties, which the server does not need.
      ({ token, join: join && { session: join.session, token: join.token }, page: this.#page });
    const all = this.#credentials.map((each) => (isFunction(each) ? each() : each));
    return this.isDynamic ? Promise.all(all).then(toParams) : toParams(all);
  }

  /** @param {import("../types/api.js").SessionInfo} info the opened session */
  opened({ guest }) {
    this.#wasGuest = guest ?? false;
    this.#rejections = 0;
  }

  /**
   * Whether another attempt to open a rejected session can succeed, later or with new credentials of the app.
   * @param {any} error
   * @param {boolean} wasOpen whether there ever was a session
   */
  canRetry(error, wasOpen) {
    if (error?.retryable || (wasOpen && this.isDynamic)) return true;
    if (!this.#wasGuest || error?.code !== codeOf.notAuthenticated) return false;
    this.#rejections += 1;
    return this.#rejections <= MAX_REJECTIONS;
  }

  /**
   * Returns what to do after a connection closed with this code.
   * @param {number} code
   */
  next(code) {
    return code === closeOf.tokenRenewal && !isFunction(this.#credentials[0]) ? "none" : nextAfter(code);
  }
}

/** @param {unknown} value */
function isFunction(value) {
  return typeof value === "function";
}

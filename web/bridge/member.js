// @ts-check
import { check } from "./backoff.js";
import { inviting } from "./invitation.js";

/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").CallOptions} CallOptions */
/** @typedef {import("./types.js").InviteOptions} InviteOptions */
/** @typedef {import("./types.js").Params} Params */

/**
 * Who takes part in a session, over all its connections, and in a new one when that is lost.
 *
 * Events, each a `CustomEvent`: `statechange` with a `StateChange` as `detail`, which has as `lost` what a new session has cost; `close` with `{code, reason}`, once, when it
 * will not connect again; `error` with a `BridgeError`, for what no caller waits for; `expiring` with `{expiresAt}`, milliseconds
 * since 1970, before the client's token does; `resume` with `{page}`, the id of a page of this client that is on top again.
 */
export class Member extends EventTarget {
  #client;

  /** @param {import("./client.js").Client} client */
  constructor(client) {
    super();
    this.#client = client;
  }

  /** @returns {State} */
  get state() {
    return this.#client.state;
  }

  /** @returns {SessionInfo | undefined} the session, while there is one */
  get session() {
    return this.#client.session;
  }

  /**
   * Resolves when the session is open; rejects, with what `close` also tells, when none will open. A session that goes on after a
   * lost connection keeps its promise; after a lost session this is another, for the next.
   * @returns {Promise<SessionInfo>}
   */
  get ready() {
    return this.#client.ready;
  }

  /**
   * Invites a page into the session: gives the address to load it from. A `new Bridge()` there joins as a guest, with the rights
   * that the options name and no more. Who was invited can not invite (2403).
   * @param {string | URL} url of the page; what its fragment says stays
   * @param {InviteOptions} options
   * @returns {Promise<string>} keep it out of logs: whoever has it may come, until it expires
   */
  async invite(url, { expires, frame, ...rights } = {}) {
    if (expires !== undefined) check("expires", expires, 1, Number.MAX_SAFE_INTEGER);
    const { session, token } = await this.#client.request("session.invite", { ...rights, expiresMs: expires });
    // It is connected, so it knows where to.
    return inviting(url, { url: String(this.#client.entry.url), session, token, frame: frame ?? rights.page });
  }

  /**
   * Calls any method of the protocol.
   * @param {string} method
   * @param {Params | unknown[]} [params]
   * @param {CallOptions} options here `timeout` is this side's alone
   * @returns {Promise<any>}
   */
  request(method, params, { signal, timeout, onProgress } = {}) {
    return this.#client.request(method, params, { signal, timeout, onProgress });
  }

  /**
   * The calls of `open`, `invoke` and `call` that the page had made before it was loaded again, and that were not answered by then:
   * known once `ready` is.
   * @returns {import("./types.js").PendingCall[]}
   */
  get pending() {
    return this.#client.pending.all;
  }

  /**
   * The result of such a call, by its key. Where nothing is known of it any more this rejects with `OutcomeUnknown`: then the same
   * call with the same key gives the result that the session has, or is made.
   * @param {string} key
   * @returns {Promise<any>}
   */
  async recover(key) {
    await this.#client.ready;
    return this.#client.pending.recover(key);
  }

  /** Connects now, where it waits to connect again. */
  reconnect() {
    this.#client.hasten();
  }

  /** Ends the connection, and every call with it, for good. Resolves when the socket is gone. */
  close() {
    return this.#client.close();
  }
}

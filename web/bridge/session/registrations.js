// @ts-check
import { codeOf } from "../codes.js";
import { ConnectionClosedError } from "../values/errors.js";

/** How often a registration is sent in one session, if it stays unknown whether a restarted server has received it. */
const MAX_ATTEMPTS = 5;

/** @typedef {import("../types/api.js").Unregister} Unregister */

/** Registers the topics and hosts of this client with the server, and again with each new session. */
export class Registrations {
  #client;

  /** @param {Pick<import("./client.js").Client, "peer" | "connection" | "sessions" | "report">} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Sends a registration in a session that has just been opened, before any other message.
   * @param {string} method
   * @param {Record<string, unknown[]>} params nothing is sent if the array is empty
   */
  sendFirst(method, params) {
    if (Object.values(params)[0].length === 0) return;
    this.#request(method, params, { first: true }).catch((error) => {
      if (!isLost(error)) this.#reportRejection(error);
    });
  }

  /**
   * Changes the registrations on the server. If the connection closes meanwhile, the next session is opened with the change.
   * @param {string} method
   * @param {object} params
   * @param {() => void} [settled] called before the next session opens
   */
  async send(method, params, settled) {
    try {
      await this.#request(method, params);
      settled?.();
    } catch (error) {
      if (!isLost(error)) throw error;
      settled?.();
      await this.#client.sessions.ready;
    }
  }

  /**
   * @param {Promise<unknown> | undefined} sent the request; `undefined`: the registration is part of `session.open`
   * @param {() => void} remove removes the registration in this client
   * @param {() => Promise<void>} undo removes the registration in this client and on the server; called once
   * @returns {Unregister}
   */
  registration(sent, remove, undo) {
    const registered = (sent ?? this.#client.sessions.ready).then(() => {}, (error) => {
      remove();
      this.#reportRejection(error);
      throw error;
    });
    // A caller that does not await it learns of the failure from the `error` event.
    registered.catch(() => {});
    /** @type {Promise<void> | undefined} */
    let undone;
    return Object.assign(() => (undone ??= registered.then(undo)), { registered });
  }

  /** @param {import("../values/errors.js").BridgeError} error an error that was not caused by a closed connection */
  #reportRejection(error) {
    if (this.#client.connection.state !== "closed") this.#client.report(error);
  }

  /**
   * Sends the request. If its outcome is unknown and the session continues, it is sent again, because registering twice has no further effect.
   * @param {string} method
   * @param {object} params
   * @param {{first: boolean}} [options]
   */
  async #request(method, params, options) {
    const session = this.#client.sessions.ready;
    for (let left = MAX_ATTEMPTS; ; left -= 1) {
      try {
        return await this.#client.peer.request(method, params, options);
      } catch (/** @type {any} */ error) {
        const isOpen = isLost(error) && !(error instanceof ConnectionClosedError);
        if (!isOpen || session !== this.#client.sessions.ready || left === 1) throw error;
      }
    }
  }
}

/**
 * Whether the session failed, not the request.
 * @param {any} error
 */
function isLost(error) {
  return error instanceof ConnectionClosedError || error.code === codeOf.outcomeUnknown;
}

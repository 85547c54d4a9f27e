// @ts-check
import { codeOf } from "./codes.js";
import { ConnectionClosed } from "./errors.js";

/** How often the same is told to one session, where servers that were restarted leave open whether they have heard it. */
const TRIES = 5;

/** @typedef {import("./types.js").Unregister} Unregister */

/** How the server is told of this client, its topics and hosts. A new session has to be told again. */
export class Announcements {
  #client;

  /** @param {Pick<import("./client.js").Client, "peer" | "ready" | "state" | "report">} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Tells a session that has just opened, before anything else.
   * @param {string} method
   * @param {Record<string, unknown[]>} params where there is something in it
   */
  first(method, params) {
    if (Object.values(params)[0].length === 0) return;
    this.#request(method, params, { first: true }).catch((error) => {
      if (!isLost(error)) this.#refused(error);
    });
  }

  /**
   * Changes what the server knows. When the connection ends meanwhile, the next session learns it as it opens.
   * @param {string} method
   * @param {object} params
   * @param {() => void} [settled] called before that session opens
   */
  async tell(method, params, settled) {
    try {
      await this.#request(method, params);
      settled?.();
    } catch (error) {
      if (!isLost(error)) throw error;
      settled?.();
      await this.#client.ready;
    }
  }

  /**
   * @param {Promise<unknown> | undefined} told none: the session is told as it opens
   * @param {() => void} remove what takes it back on this side
   * @param {() => Promise<void>} undo what takes it back on both
   * @returns {Unregister}
   */
  undoable(told, remove, undo) {
    const registered = (told ?? this.#client.ready).then(() => {}, (error) => {
      remove();
      this.#refused(error);
      throw error;
    });
    // Who does not wait for it learns of the failure from the event.
    registered.catch(() => {});
    return Object.assign(() => registered.then(undo), { registered });
  }

  /** @param {import("./errors.js").BridgeError} error for other reasons than the end of the connection */
  #refused(error) {
    if (this.#client.state !== "closed") this.#client.report(error);
  }

  /**
   * It does no harm twice: where its outcome is unknown, and the session goes on, it is asked again.
   * @param {string} method
   * @param {object} params
   * @param {{first: boolean}} [options]
   */
  async #request(method, params, options) {
    const session = this.#client.ready;
    for (let left = TRIES; ; left -= 1) {
      try {
        return await this.#client.peer.request(method, params, options);
      } catch (/** @type {any} */ error) {
        const isOpen = isLost(error) && !(error instanceof ConnectionClosed);
        if (!isOpen || session !== this.#client.ready || left === 1) throw error;
      }
    }
  }
}

/**
 * Whether it was the session that failed, and not what was asked of it.
 * @param {any} error
 */
function isLost(error) {
  return error instanceof ConnectionClosed || error.code === codeOf.outcomeUnknown;
}

// @ts-check
import { BridgeError, failure, textOf } from "./errors.js";

/** @typedef {import("./types.js").SessionInfo} SessionInfo */

/** The events that the server tells of, and what they mean for the client itself. */
export class News {
  #client;

  /**
   * @param {object} client
   * @param {() => SessionInfo | undefined} client.session
   * @param {import("./peer.js").Peer} client.peer
   * @param {import("./entry.js").Entry} client.entry
   * @param {import("./topics.js").Topics} client.topics
   * @param {(type: string, detail: unknown) => void} client.emit
   * @param {(error: BridgeError) => void} client.report
   */
  constructor(client) {
    this.#client = client;
  }

  /** @param {any} event */
  hear(event) {
    const { topic, data } = event;
    if (typeof topic !== "string") return;
    if (topic === "session.expiring") void this.#expiring(data);
    this.#client.topics.deliver(event, (cause) => {
      this.#client.report(failure("internal", `a handler of ${topic} failed: ${textOf(cause)}`, { cause }));
    });
  }

  /**
   * The server says so to whom it concerns, and beforehand; subscribers hear it of others as well.
   * @param {any} data
   */
  async #expiring(data) {
    const { emit, entry, report, peer } = this.#client;
    const session = this.#client.session();
    if (session === undefined || data?.client !== session.client) return;
    emit("expiring", { expiresAt: data.expiresAt });
    const isCurrent = () => session === this.#client.session();
    try {
      await entry.renew(session, async (token) => isCurrent() && peer.request("session.renew", { token }, { first: true }));
    } catch (cause) {
      // The next session begins with a new token anyhow.
      if (!isCurrent()) return;
      report(cause instanceof BridgeError ? cause : failure("notAuthenticated", `no new token: ${textOf(cause)}`, { cause }));
    }
  }
}

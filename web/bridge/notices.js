// @ts-check
import { BridgeError, failure, textOf } from "./errors.js";
import { Subscriptions } from "./subscriptions.js";

/** What the server tells a client without waiting for an answer. */
export class Notices {
  subscriptions = new Subscriptions();
  #client;

  /**
   * @param {object} client
   * @param {() => import("./types.js").SessionInfo | undefined} client.session
   * @param {(method: string, params: object, options: {first: boolean}) => Promise<any>} client.request
   * @param {import("./entry.js").Entry} client.entry
   * @param {import("./hosting.js").Hosting} client.hosting
   * @param {(type: string, detail: unknown) => void} client.emit
   * @param {(error: BridgeError) => void} client.report
   */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Who hears a notification of the protocol's.
   * @param {string} method
   * @returns {import("./peer.js").NotificationHandler | undefined}
   */
  handler(method) {
    if (method === "page.resume") return (/** @type {any} */ { page }) => this.#resume(page);
    if (method === "event") return (/** @type {any} */ event) => this.#event(event);
    return undefined;
  }

  /** @param {any} event */
  #event(event) {
    if (typeof event.topic !== "string") return;
    if (event.topic === "session.expiring") void this.#expiring(event.data);
    this.subscriptions.deliver(event, (cause) => {
      this.#client.report(failure("internal", `a handler of ${event.topic} failed: ${textOf(cause)}`, { cause }));
    });
  }

  /**
   * The server says so to whom it concerns, and beforehand; subscribers hear it of others as well.
   * @param {any} data
   */
  async #expiring(data) {
    const { emit, entry, report, request } = this.#client;
    const session = this.#client.session();
    if (session === undefined || data?.client !== session.client) return;
    emit("expiring", { expiresAt: data.expiresAt });
    const isCurrent = () => session === this.#client.session();
    try {
      const asked = (/** @type {string} */ token) => request("session.renew", { token }, { first: true });
      await entry.renew(session, async (token) => isCurrent() && asked(token));
    } catch (cause) {
      // The next session begins with a new token anyhow.
      if (!isCurrent()) return;
      report(cause instanceof BridgeError ? cause : failure("notAuthenticated", `no new token: ${textOf(cause)}`, { cause }));
    }
  }

  /** @param {string} page */
  #resume(page) {
    const { emit, hosting, report } = this.#client;
    emit("resume", { page });
    hosting.pages.resume(page).catch((cause) => report(failure("internal", `resume of a host failed: ${textOf(cause)}`, { cause })));
  }
}

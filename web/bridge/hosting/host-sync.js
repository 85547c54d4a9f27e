// @ts-check
import { ping } from "../calls/outgoing-requests.js";
import { codeOf } from "../codes.js";
import { Registrations } from "../session/registrations.js";

/** Milliseconds after a reconnect within which the hosts of a reloaded page must be registered. */
const HOST_TIMEOUT = 10000;

/** @typedef {import("./host-registry.js").Declaration} Declaration */

/** Updates the hosts and pages of a session that continues after a reload of the page or a restart of the server. */
export class HostSync {
  /** Whether the server was restarted since the last comparison, so that pages must be compared with the server's state. */
  isRestarted = false;
  #registrations;
  #client;

  /** @param {import("../session/client.js").Client} client */
  constructor(client) {
    this.#registrations = new Registrations(client);
    this.#client = client;
  }

  /**
   * Updates the registrations of a resumed session, and compares the pages if they can differ.
   * @param {Declaration[] | undefined} earlier the declarations of an earlier load of the page
   */
  update(earlier) {
    const declarations = this.#client.hosts?.handlers.declarations ?? [];
    if (earlier !== undefined) {
      const own = new Set(declarations.map((each) => JSON.stringify(each)));
      this.#registrations.sendFirst("host.unregister", { hosts: earlier.filter((each) => !own.has(JSON.stringify(each))) });
      this.#registrations.sendFirst("host.register", { hosts: declarations });
      if ([...earlier, ...declarations].some(isOfPages)) this.#sync();
    }
    if (this.isRestarted) void this.#syncAfterRestart();
  }

  /** Compares the pages after all messages from before the restart have arrived, because those can still open pages. */
  async #syncAfterRestart() {
    try {
      await ping(this.#client.peer);
    } catch {
      // The next connection tries again.
      return;
    }
    this.isRestarted = false;
    const handlers = this.#client.hosts?.handlers;
    if (handlers?.declarations.some(isOfPages) || handlers?.pages.isEmpty === false) this.#sync();
  }

  /** Compares the shown pages with the server's state. */
  #sync() {
    const { peer, clock, report, hosts } = this.#client;
    if (hosts === undefined) return;
    const request = (/** @type {object} */ params) => peer.request("page.sync", params, { first: true });
    /** @type {unknown} */
    let timer;
    const timeout = new Promise((resolve) => (timer = clock.setTimeout(() => resolve(undefined), HOST_TIMEOUT)));
    const options = { onFailure: (/** @type {unknown} */ cause) => hosts.reportFailure("open", cause), timeout, delegation: hosts.delegate() };
    const synced = hosts.handlers.pages.sync(request, options).catch((error) => {
      if (error.kind !== "closed" && error.code !== codeOf.outcomeUnknown) report(error);
    });
    void synced.then(() => clock.clearTimeout(timer));
  }
}

/** @param {Declaration} declaration */
function isOfPages({ kind }) {
  return kind === "page";
}

// @ts-check

/** The methods and capabilities of the server. They are requested once for each session. */
export class Capabilities {
  /** @type {unknown} */ #session;
  /** @type {Set<string>} */ #names = new Set();
  #client;

  /** @param {Pick<import("../caller.js").Caller, "session" | "request">} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * @param {string} name the name of a method or a capability
   * @param {import("../types/api.js").CallOptions} [options]
   */
  async has(name, options) {
    if (this.#session === undefined || this.#session !== this.#client.session) {
      const { methods } = await this.#client.request("rpc.discover", undefined, options);
      const { session } = this.#client;
      this.#names = new Set([...methods.map((/** @type {any} */ method) => method.name), ...(session?.capabilities ?? [])]);
      this.#session = session;
    }
    return this.#names.has(name);
  }
}

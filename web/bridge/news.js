// @ts-check
import { BridgeError, failure, textOf } from "./errors.js";
import { watchTable } from "./table.js";
import { Topics } from "./topics.js";

/** What a client hears: the topics that it wants, that its token is about to expire, and that the server has another route table. */
export class News {
  /** @type {Map<string, Map<unknown, () => void>>} what takes them back, by topic */ #listeners = new Map();
  #client;
  #token;
  #topics;
  /** @type {((told: import("./table.js").TableStamp | undefined) => void) | undefined} */ #compare;

  /**
   * @param {import("./client.js").Client} client
   * @param {import("./types.js").BridgeOptions} options
   */
  constructor(client, { table, token }) {
    this.#client = client;
    this.#token = token;
    this.#topics = new Topics(client);
    if (table === undefined) return;
    const compare = (this.#compare = watchTable(table, (detail) => client.emit("tablechange", detail)));
    this.#topics.subscribe("table.changed", ({ data }) => compare(data));
  }

  /** What the server was asked for, for the next load of the page. */
  get asked() {
    return this.#topics.asked;
  }

  /**
   * @param {string | string[]} topics
   * @param {import("./types.js").EventHandler} handler
   */
  subscribe(topics, handler) {
    return this.#topics.subscribe(topics, handler);
  }

  /**
   * Subscribes to a topic as long as there is this listener.
   * @param {EventTarget} target
   * @param {string} topic
   * @param {any} listener
   * @param {boolean | AddEventListenerOptions} [options]
   */
  listen(target, topic, listener, options = {}) {
    const { once, signal } = /** @type {AddEventListenerOptions} */ (options);
    const those = this.#listeners.get(topic) ?? new Map();
    if (listener === null || those.has(listener) || signal?.aborted) return;
    let isWanted = true;
    const remove = () => this.unlisten(topic, listener);
    const undo = this.#topics.subscribe(topic, (detail) => {
      // Another may come before the subscription is taken back.
      if (!isWanted) return;
      const event = new CustomEvent(topic, { detail });
      if (once) remove();
      return typeof listener === "function" ? listener.call(target, event) : listener.handleEvent(event);
    });
    signal?.addEventListener("abort", remove);
    this.#listeners.set(topic, those.set(listener, () => {
      isWanted = false;
      signal?.removeEventListener("abort", remove);
      // Where it can not be taken back, `close` has told why.
      undo().catch(() => {});
    }));
  }

  /**
   * @param {string} topic
   * @param {unknown} listener
   */
  unlisten(topic, listener) {
    const those = this.#listeners.get(topic);
    those?.get(listener)?.();
    those?.delete(listener);
  }

  /** @param {any} event */
  hear(event) {
    const { topic, data } = event;
    if (typeof topic !== "string") return;
    if (topic === "session.expiring") void this.#expiring(data);
    this.#topics.deliver(event, (cause) => {
      this.#client.report(failure("internal", `a handler of ${topic} failed: ${textOf(cause)}`, { cause }));
    });
  }

  /** @param {import("./table.js").TableStamp | undefined} table that the session at hand has, where there is one */
  compare(table) {
    this.#compare?.(table);
  }

  /**
   * Tells a session that has just opened, or goes on, which topics are wanted.
   * @param {boolean} isUntold whether it was told nothing yet
   * @param {string[]} [before] what an earlier load of the page has told it
   */
  tell(isUntold, before = []) {
    this.#topics.tell(isUntold, before);
  }

  /**
   * The server says so to whom it concerns, and beforehand; subscribers hear it of others as well.
   * @param {any} data
   */
  async #expiring(data) {
    const { emit, peer, report, session } = this.#client;
    if (session === undefined || data?.client !== session.client) return;
    emit("expiring", { expiresAt: data.expiresAt });
    if (typeof this.#token !== "function") return;
    const isCurrent = () => session === this.#client.session;
    try {
      const token = await this.#token();
      if (isCurrent()) session.expiresAt = (await peer.request("session.renew", { token }, { first: true })).expiresAt;
    } catch (cause) {
      // The next session begins with a new token anyhow.
      if (!isCurrent()) return;
      report(cause instanceof BridgeError ? cause : failure("notAuthenticated", `no new token: ${textOf(cause)}`, { cause }));
    }
  }
}

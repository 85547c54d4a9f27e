// @ts-check
import { BridgeError, failure, textOf } from "../values/errors.js";
import { watchTable } from "../session/route-table.js";
import { Topics } from "./topics.js";

/** The subscriptions of a client: its topics, the expiry of its token, and changes of the server's route table. */
export class Subscriptions {
  /** @type {Map<string, Map<unknown, () => void>>} by topic and listener: removes the subscription */ #listeners = new Map();
  #client;
  #token;
  #topics;
  /** @type {((stamp: import("../session/route-table.js").TableStamp | undefined) => void) | undefined} */ #compare;

  /**
   * @param {import("../session/client.js").Client} client
   * @param {import("../types/api.js").BridgeOptions} options
   */
  constructor(client, { table, token }) {
    this.#client = client;
    this.#token = token;
    this.#topics = new Topics(client);
    if (table === undefined) return;
    const compare = (this.#compare = watchTable(table, (detail) => client.emit("tablechange", detail)));
    this.#topics.subscribe("table.changed", ({ data }) => compare(data));
  }

  /** The topics that this client is subscribed to, for the next load of the page. */
  get subscribedTopics() {
    return this.#topics.subscribed;
  }

  /**
   * @param {string | string[]} topics
   * @param {import("../types/api.js").EventHandler} handler
   */
  subscribe(topics, handler) {
    return this.#topics.subscribe(topics, handler);
  }

  /**
   * Adds a listener. The client is subscribed to the topic until the listener is removed.
   * @param {EventTarget} target
   * @param {string} topic
   * @param {any} listener
   * @param {boolean | AddEventListenerOptions} [options]
   */
  addListener(target, topic, listener, options = {}) {
    const { once, signal } = /** @type {AddEventListenerOptions} */ (options);
    const listeners = this.#listeners.get(topic) ?? new Map();
    if (listener === null || listeners.has(listener) || signal?.aborted) return;
    const remove = () => this.removeListener(topic, listener);
    const undo = this.#topics.subscribe(topic, (detail) => {
      const event = new CustomEvent(topic, { detail });
      if (once) remove();
      return typeof listener === "function" ? listener.call(target, event) : listener.handleEvent(event);
    });
    signal?.addEventListener("abort", remove);
    this.#listeners.set(topic, listeners.set(listener, () => {
      signal?.removeEventListener("abort", remove);
      // If the subscription cannot be removed, the `close` event has reported why.
      undo().catch(() => {});
    }));
  }

  /**
   * @param {string} topic
   * @param {unknown} listener
   */
  removeListener(topic, listener) {
    const those = this.#listeners.get(topic);
    those?.get(listener)?.();
    those?.delete(listener);
  }

  /** @param {any} event */
  receive(event) {
    const { topic, data } = event;
    if (typeof topic !== "string") return;
    if (topic === "session.expiring") void this.#renewToken(data);
    this.#topics.deliver(event, (cause) => {
      this.#client.report(failure("internal", `A handler of "${topic}" failed: ${textOf(cause)}`, { cause }));
    });
  }

  /** @param {import("../session/route-table.js").TableStamp | undefined} table the route table of the open session, if there is one */
  compare(table) {
    this.#compare?.(table);
  }

  /**
   * Updates the subscriptions of a session that has just been opened or resumed.
   * @param {boolean} isNewSession whether the session is new and has no subscriptions
   * @param {string[]} [earlier] the topics of an earlier load of the page
   */
  update(isNewSession, earlier = []) {
    this.#topics.update(isNewSession, earlier);
  }

  /**
   * Handles `session.expiring`. The server sends it to the client whose token expires, and, like every event, to other clients that subscribed.
   * @param {any} data
   */
  async #renewToken(data) {
    const { emit, peer, report, sessions } = this.#client;
    const { session } = sessions;
    if (session === undefined || data?.client !== session.client) return;
    emit("expiring", { expiresAt: data.expiresAt });
    if (typeof this.#token !== "function") return;
    const isCurrent = () => session === sessions.session;
    try {
      const token = await this.#token();
      if (isCurrent()) session.expiresAt = (await peer.request("session.renew", { token }, { first: true })).expiresAt;
    } catch (cause) {
      // The next session begins with a new token.
      if (!isCurrent()) return;
      report(cause instanceof BridgeError ? cause : failure("notAuthenticated", `The token could not be renewed: ${textOf(cause)}`, { cause }));
    }
  }
}

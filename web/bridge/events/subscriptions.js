// @ts-check
import { codeOf } from "../codes.js";
import { register, sendFirst, sendRegistration } from "../session/registrations.js";
import { BridgeError, bridgeError, failure, textOf } from "../values/errors.js";

/** @typedef {import("../types/api.js").EventHandler} EventHandler */
/** @typedef {import("../types/api.js").TableStamp} TableStamp */

/**
 * The subscriptions of a client: its topics, the expiry of its token, and changes of the server's route table. The server has one subscription
 * for each topic, however many handlers it has.
 */
export class Subscriptions {
  /**
   * In the order in which they were added.
   * @type {Set<{topics: string[], handler: EventHandler}>}
   */
  #entries = new Set();
  /**
   * The topics that the server has confirmed in this session.
   * @type {Set<string>}
   */
  #confirmed = new Set();
  /** @type {Map<string, Map<unknown, () => void>>} by topic and listener: removes the subscription */ #listeners = new Map();
  #client;
  #token;
  /** @type {TableStamp | undefined} the table that the page was built for */ #ownTable;
  /** @type {TableStamp | undefined} the table that was last reported, or else the page's own */ #lastTable;

  /**
   * @param {import("../session/client.js").Client} client
   * @param {import("../types/api.js").BridgeOptions} options
   */
  constructor(client, { table, token }) {
    this.#client = client;
    this.#token = token;
    this.#ownTable = this.#lastTable = table;
    if (table !== undefined) this.subscribe("table.changed", ({ data }) => this.compare(data));
  }

  /** The topics that this client is subscribed to, for the next load of the page. */
  get subscribedTopics() {
    return [...this.#confirmed];
  }

  /**
   * @param {string | string[]} given
   * @param {EventHandler} handler
   * @returns {import("../types/api.js").Unregister}
   */
  subscribe(given, handler) {
    const topics = [...new Set(typeof given === "string" ? [given] : given)];
    if (topics.length === 0 || topics.some((topic) => typeof topic !== "string" || topic === "")) {
      throw failure("invalidParams", `subscribe needs topics such as "cart.changed" or "cart.*", but got ${JSON.stringify(given)}`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `The subscription to "${topics.join(", ")}" needs a function`);
    const client = this.#client;
    const added = this.#unused(topics);
    const entry = { topics, handler };
    this.#entries.add(entry);
    const remove = () => void this.#entries.delete(entry);
    const confirm = () => added.forEach((topic) => this.#confirmed.add(topic));
    const sent = added.length > 0 ? sendRegistration(client, "events.subscribe", { topics: added }, confirm) : undefined;
    const unregister = register(client, sent, remove, async () => {
      const unused = this.#unused(topics).filter((topic) => this.#confirmed.delete(topic));
      if (unused.length > 0) await sendRegistration(client, "events.unsubscribe", { topics: unused });
    });
    // Its handler receives no further event, although the server may still send some.
    return Object.assign(() => (remove(), unregister()), { registered: unregister.registered });
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
    const undo = this.subscribe(topic, (detail) => {
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

  /**
   * Calls each handler of the event's topic once.
   * @param {any} event
   */
  receive(event) {
    const { topic, data } = event;
    if (typeof topic !== "string") return;
    if (topic === "session.expiring") void this.#renewToken(data);
    if (topic === "route.invalidResult") this.#reportResult(data);
    for (const entry of [...this.#entries]) {
      // An earlier handler may have removed this one.
      if (!this.#entries.has(entry) || !entry.topics.some((wanted) => covers(wanted, topic))) continue;
      // A handler can be asynchronous: its rejection must be handled too. The other handlers still run.
      new Promise((resolve) => resolve(entry.handler(event))).catch((cause) => {
        this.#client.report(failure("internal", `A handler of "${topic}" failed: ${textOf(cause)}`, { cause }));
      });
    }
  }

  /**
   * Reports the server's route table if it differs from its previous table or, at first, from the page's own table.
   * @param {TableStamp | undefined} table of the open session, if there is one
   */
  compare(table) {
    const own = this.#ownTable;
    if (table === undefined || own === undefined || isSame(table, this.#lastTable ?? own)) return;
    this.#lastTable = table;
    const { version, hash } = table;
    this.#client.emit("tablechange", { version, hash, isCurrent: isSame(table, own) });
  }

  /**
   * Updates the subscriptions of a session that has just been opened or resumed. Subscribes to the topics again in a new session. Unsubscribes from
   * topics of an earlier load of the page: this load subscribes to them again, because the server repeats its retained events only to a new
   * subscription.
   * @param {boolean} isNewSession whether the session is new and has no subscriptions
   * @param {string[]} [earlier] the topics of an earlier load of the page
   */
  update(isNewSession, earlier = []) {
    if (isNewSession) sendFirst(this.#client, "events.subscribe", { topics: this.subscribedTopics });
    sendFirst(this.#client, "events.unsubscribe", { topics: earlier });
  }

  /**
   * Returns those of the topics that have no handler.
   * @param {string[]} topics
   */
  #unused(topics) {
    return topics.filter((topic) => ![...this.#entries].some((entry) => entry.topics.includes(topic)));
  }

  /**
   * Reports a result of this client that does not fit the route table. The server sends `route.invalidResult` to no other client.
   * @param {{uri: string, errors: {path: string, message: string}[]}} data
   */
  #reportResult({ uri, errors }) {
    const faults = errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
    const data = { kind: "invalidResult", retryable: false, errors };
    this.#client.report(bridgeError(codeOf.hostFailed, `The result of this client for "${uri}" does not fit the route table: ${faults}`, { data }));
  }

  /**
   * Handles `session.expiring`. The server sends it to the client whose token expires, and, like every event, to other clients that subscribed.
   * @param {any} data
   */
  async #renewToken(data) {
    const client = this.#client;
    const { emit, peer, report, session } = client;
    if (session === undefined || data?.client !== session.client) return;
    emit("expiring", { expiresAt: data.expiresAt });
    if (typeof this.#token !== "function") return;
    const isCurrent = () => session === client.session;
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

/**
 * @param {string} wanted a topic, or a prefix followed by `*`
 * @param {string} topic
 */
export function covers(wanted, topic) {
  return wanted.endsWith("*") ? topic.startsWith(wanted.slice(0, -1)) : topic === wanted;
}

/**
 * @param {TableStamp} one
 * @param {TableStamp} other
 */
function isSame(one, other) {
  return one.hash === undefined || other.hash === undefined ? one.version === other.version : one.hash === other.hash;
}

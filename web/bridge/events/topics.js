// @ts-check
import { Registrations } from "../session/registrations.js";
import { failure } from "../values/errors.js";

/** @typedef {import("../types/api.js").EventHandler} EventHandler */
/** @typedef {import("../types/api.js").BridgeEvent} BridgeEvent */

/** Handlers of topics. The server has one subscription for each topic, however many handlers it has. */
export class Topics {
  /**
   * In the order in which they were added.
   * @type {Set<{topics: string[], handler: EventHandler}>}
   */
  #entries = new Set();
  /**
   * The topics that the server has confirmed in this session.
   * @type {Set<string>}
   */
  #subscribed = new Set();
  #registrations;

  /** @param {ConstructorParameters<typeof Registrations>[0]} client */
  constructor(client) {
    this.#registrations = new Registrations(client);
  }

  /** The topics that this client is subscribed to, for the next load of the page. */
  get subscribed() {
    return [...this.#subscribed];
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
    const added = this.#unused(topics);
    const entry = { topics, handler };
    this.#entries.add(entry);
    const remove = () => void this.#entries.delete(entry);
    const markSubscribed = () => {
      for (const topic of added) this.#subscribed.add(topic);
    };
    const sent = added.length > 0 ? this.#registrations.send("events.subscribe", { topics: added }, markSubscribed) : undefined;
    const unregister = this.#registrations.registration(sent, remove, async () => {
      const unused = this.#unused(topics).filter((topic) => this.#subscribed.delete(topic));
      if (unused.length > 0) await this.#registrations.send("events.unsubscribe", { topics: unused });
    });
    // Its handler receives no further event, although the server may still send some.
    return Object.assign(() => (remove(), unregister()), { registered: unregister.registered });
  }

  /**
   * Subscribes to the topics again in a new session. Unsubscribes from topics of an earlier load of the page: this load subscribes to them again,
   * because the server repeats its retained events only to a new subscription.
   * @param {boolean} isNewSession whether the session is new
   * @param {string[]} earlier the topics of the earlier load
   */
  update(isNewSession, earlier) {
    if (isNewSession) this.#registrations.sendFirst("events.subscribe", { topics: this.subscribed });
    this.#registrations.sendFirst("events.unsubscribe", { topics: earlier });
  }

  /**
   * Calls each handler of the event's topic once.
   * @param {BridgeEvent} event
   * @param {(cause: unknown) => void} failed called with each error that a handler threw; the other handlers still run
   */
  deliver(event, failed) {
    for (const entry of [...this.#entries]) {
      const { topics, handler } = entry;
      // An earlier handler may have removed this one.
      if (!this.#entries.has(entry) || !topics.some((topic) => covers(topic, event.topic))) continue;
      // A handler can be asynchronous: its rejection must be handled too.
      new Promise((resolve) => resolve(handler(event))).catch(failed);
    }
  }

  /**
   * Returns those of the topics that have no handler.
   * @param {string[]} topics
   */
  #unused(topics) {
    return topics.filter((topic) => ![...this.#entries].some((entry) => entry.topics.includes(topic)));
  }
}

/**
 * @param {string} wanted a topic, or a prefix followed by `*`
 * @param {string} topic
 */
export function covers(wanted, topic) {
  return wanted.endsWith("*") ? topic.startsWith(wanted.slice(0, -1)) : topic === wanted;
}

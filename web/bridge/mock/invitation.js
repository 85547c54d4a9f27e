// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../values/errors.js";
import { schemeOf } from "../uri/uri.js";
import { declarationOf, URIMap } from "../uri/uri-map.js";
import { covers } from "../events/subscriptions.js";

/** Milliseconds within which a guest can reconnect after its connection was lost. */
const RETURN_TIMEOUT = 120000;

/** The rights of the guests of a mocked app, and how many there can be. */
export class MockInvitation {
  /** The page in which its guests run. @type {string | undefined} */ page;
  #hosts;
  /** @type {string[]} */ #topics;
  /** `undefined`: it can call everything. @type {URIMap<undefined> | undefined} */ #routes;
  #left;
  #expiresAt;

  /** @param {any} params the params of `session.invite` */
  constructor({ page, hosts = [], topics = [], routes, uses = 1, expiresMs = 60000 }) {
    this.page = page;
    this.#hosts = new Set(hosts);
    this.#topics = topics;
    this.#left = uses;
    this.#expiresAt = Date.now() + expiresMs;
    if (routes === undefined) return;
    this.#routes = new URIMap();
    for (const route of routes) this.#routes.add({ ...declarationOf(route), kind: "page" }, undefined);
  }

  get expiresAt() {
    return this.#expiresAt;
  }

  /**
   * Accepts a guest.
   * @param {any} params the params of its `session.open`
   */
  accept({ page, hosts = [] }) {
    if (page !== undefined && page !== this.page) {
      throw failure("invalidParams", `The invitation is not for the page "${page}"`);
    }
    if (this.#left === 0 || Date.now() > this.#expiresAt) {
      throw failure("notAuthenticated", "The invitation has expired, or has as many guests as it allows");
    }
    this.checkHosts(hosts);
    this.#left -= 1;
  }

  /** Releases the place of a guest whose connection is lost. */
  release() {
    this.#left += 1;
    this.#expiresAt = Math.max(this.#expiresAt, Date.now() + RETURN_TIMEOUT);
  }

  /** @param {string} uri */
  mayCall(uri) {
    return this.#routes === undefined || this.#routes.find(uri) !== undefined;
  }

  /** @param {string} topic */
  mayPublish(topic) {
    return this.#topics.some((each) => covers(each, topic));
  }

  /** @param {any[]} hosts the declarations of the hosts */
  checkHosts(hosts) {
    const may = (/** @type {string | undefined} */ scheme, /** @type {string} */ pattern = "") =>
      this.#hosts.has(pattern) || (scheme !== undefined && this.#hosts.has(scheme));
    for (const { scheme, patterns = [""] } of hosts) {
      const wrong = patterns.find((/** @type {string} */ pattern) => !may(scheme ?? schemeOf(pattern), pattern));
      if (wrong !== undefined) throw forbidden(`This guest cannot host "${wrong || scheme}"`);
    }
  }
}

/**
 * Creates the error with which a server rejects a call that an invitation does not allow.
 * @param {string} message
 */
export function forbidden(message) {
  const data = { kind: "forbidden", retryable: false, rule: "invitation" };
  return bridgeError(codeOf.forbidden, message, { data });
}

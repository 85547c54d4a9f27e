// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../errors.js";
import { schemeOf } from "../uri.js";
import { placeOf, URIMap } from "../uri-map.js";

/** Milliseconds in which a guest whose connection was lost may come again. */
const RETURN = 120000;

/** What a guest of a mocked app may do, and how many there may be. */
export class MockInvitation {
  /** The page in which its guests run. @type {string | undefined} */ page;
  #hosts;
  /** Without any it may call everything. @type {URIMap<undefined> | undefined} */ #routes;
  #left;
  #expiresAt;

  /** @param {any} params of `session.invite` */
  constructor({ page, hosts = [], routes, uses = 1, expiresMs = 60000 }) {
    this.page = page;
    this.#hosts = new Set(hosts);
    this.#left = uses;
    this.#expiresAt = Date.now() + expiresMs;
    if (routes === undefined) return;
    this.#routes = new URIMap();
    for (const route of routes) this.#routes.add({ ...placeOf(route), kind: "page" }, undefined);
  }

  get expiresAt() {
    return this.#expiresAt;
  }

  /**
   * A guest comes.
   * @param {any} params of its `session.open`
   */
  take({ page, hosts = [] }) {
    if (page !== undefined && page !== this.page) {
      throw failure("invalidParams", `the invitation is for ${this.page ?? "no page"}, not for ${page}`);
    }
    if (this.#left === 0 || Date.now() > this.#expiresAt) {
      throw failure("notAuthenticated", "the invitation has expired, or as many guests as were invited are here already");
    }
    this.checkHosts(hosts);
    this.#left -= 1;
  }

  /** A guest's connection is lost. */
  giveBack() {
    this.#left += 1;
    this.#expiresAt = Math.max(this.#expiresAt, Date.now() + RETURN);
  }

  /** @param {string} uri */
  mayCall(uri) {
    return this.#routes === undefined || this.#routes.find(uri) !== undefined;
  }

  /** @param {any[]} hosts as they are declared */
  checkHosts(hosts) {
    const may = (/** @type {string | undefined} */ scheme, /** @type {string} */ pattern = "") =>
      this.#hosts.has(pattern) || (scheme !== undefined && this.#hosts.has(scheme));
    for (const { scheme, patterns = [""] } of hosts) {
      const wrong = patterns.find((/** @type {string} */ pattern) => !may(scheme ?? schemeOf(pattern), pattern));
      if (wrong !== undefined) throw refused(`a guest may not host ${wrong || scheme}`);
    }
  }
}

/**
 * As a server says it of what an invitation does not allow.
 * @param {string} message
 */
export function refused(message) {
  const data = { kind: "forbidden", retryable: false, rule: "invitation" };
  return bridgeError(codeOf.forbidden, message, { data });
}

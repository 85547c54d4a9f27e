// @ts-check
import { platformClock } from "../connection/clock.js";
import { codeOf, isApplicationCode } from "../codes.js";
import { bridgeError, BridgeError, cancelled, failure, runHandler, textOf } from "../values/errors.js";
import { declarationOf, URIMap } from "../uri/uri-map.js";

/** @typedef {import("../types/api.js").InterceptedCall} InterceptedCall */
/** @typedef {import("../types/api.js").Interception} Interception */
/** @typedef {import("../types/api.js").InterceptorHandler} InterceptorHandler */
/** @typedef {{name: string, priority: number, covers: (uri: string) => boolean, decide: (call: InterceptedCall) => Promise<any>}} Interceptor */

/** Milliseconds within which an interceptor must decide, by default and at most. */
const TIMEOUT = 60000;
const LONGEST_TIMEOUT = 300000;

/** The interceptors of one session of a mocked app: those of the app, and those of its clients. */
export class MockInterceptors {
  /** @type {Interceptor[]} in the order in which they see a call */ #all;

  /** @param {[string, InterceptorHandler][]} own those of the app, by URI, pattern or scheme */
  constructor(own) {
    this.#all = own.map(([key, handler]) => ({
      name: key, priority: 0, covers: coverage([declarationOf(key)]),
      decide: ({ signal, ...call }) => within(TIMEOUT, signal, (until) => runHandler(until, () => handler({ ...call, signal: until }))),
    }));
  }

  /**
   * Adds the interceptor of a client.
   * @param {any} declaration
   * @param {import("../calls/peer.js").Peer} peer
   * @returns {() => void} removes it
   */
  add({ scheme, patterns, name, priority, timeoutMs }, peer) {
    /** @type {Interceptor} */
    const added = {
      name, priority,
      // Routes of a mocked app are in no groups.
      covers: coverage(scheme === undefined && patterns === undefined ? [] : [{ scheme: scheme?.toLowerCase(), patterns }]),
      decide: ({ signal, ...call }) => within(timeoutMs, signal, async (until) => interception(await peer.request("router.intercept", { name, ...call }, { signal: until, callers: [] }))),
    };
    // The order of equal ones is that of registration.
    this.#all = [...this.#all, added].sort((one, other) => other.priority - one.priority);
    return () => {
      this.#all = this.#all.filter((each) => each !== added);
    };
  }

  /**
   * Asks the interceptors about a call. Throws if one of them refuses it.
   * @param {InterceptedCall} call
   * @returns {Promise<{params?: any, redirect?: string} | undefined>} what becomes of the call; `undefined`: it continues as it is
   */
  async decide(call) {
    /** @type {{params: any} | undefined} */
    let changed;
    for (const { name, decide } of this.#all.filter(({ covers }) => covers(call.uri))) {
      let decision;
      try {
        decision = (await decide({ ...call, ...changed })) ?? {};
      } catch (error) {
        if (call.signal.aborted) throw cancelled();
        throw error instanceof BridgeError && isApplicationCode(error.code) ? error : refused("interceptor", name, textOf(error));
      }
      if (decision.refuse !== undefined) throw refused("interceptor", name, String(decision.refuse));
      if (decision.redirect !== undefined) return decision;
      if (decision.params !== undefined) changed = { params: decision.params };
    }
    return changed;
  }
}

/**
 * Returns the declaration of a client's interceptor with its defaults, or throws.
 * @param {any} declaration
 */
export function interceptorDeclaration({ scheme, patterns, groups, kind, name, priority = 0, timeoutMs = TIMEOUT, scope = "session" }) {
  const isNamed = typeof name === "string" && name !== "" && scope === "session";
  const isScoped = [scheme, patterns, groups].some((each) => each !== undefined) && (groups ?? []).every((/** @type {unknown} */ each) => typeof each === "string");
  if (isNamed && isScoped && timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT) return { scheme, patterns, groups, kind, name, priority, timeoutMs };
  throw failure("invalidParams", `An interceptor needs a name, a scheme, patterns or groups, no scope, and at most ${LONGEST_TIMEOUT} ms`);
}

/**
 * Creates the error of a call that an interceptor or a gate has refused.
 * @param {"interceptor" | "gate"} kind
 * @param {string} name
 * @param {string} reason
 */
export function refused(kind, name, reason) {
  const data = { kind: "refused", retryable: false, [kind]: name, reason };
  return bridgeError(codeOf.refused, `Refused by the ${kind} "${name}": ${reason}`, { data });
}

/**
 * Returns a function that tells whether one of these declarations covers a URI.
 * @param {{scheme?: string, patterns?: string[]}[]} declarations
 * @returns {(uri: string) => boolean}
 */
export function coverage(declarations) {
  const map = new URIMap();
  for (const each of declarations) map.add({ ...each, kind: "interceptor" }, undefined);
  return (uri) => map.find(uri) !== undefined;
}

/**
 * Reads the response of a client.
 * @param {any} response
 * @returns {Interception}
 */
function interception(response) {
  const { decision = "next", uri, params, reason = "no reason" } = response ?? {};
  if (decision === "next") return null;
  if (decision === "change" && params !== undefined) return { params };
  if (decision === "redirect" && typeof uri === "string") return { redirect: uri, params };
  if (decision === "refuse") return { refuse: reason };
  throw new Error(`${JSON.stringify(response)} is no decision`);
}

/**
 * Waits for a decision, until a timeout has passed or the call does not wait any more.
 * @template Value
 * @param {number} timeout milliseconds
 * @param {AbortSignal} signal
 * @param {(signal: AbortSignal) => Value | PromiseLike<Value>} body
 * @returns {Promise<Value>}
 */
async function within(timeout, signal, body) {
  const controller = new AbortController();
  const { promise: stopped, stop } = stopping(signal);
  const timer = platformClock.setTimeout(() => stop(new Error(`it did not decide within ${timeout} ms`)), timeout);
  try {
    return await Promise.race([body(controller.signal), stopped]);
  } finally {
    platformClock.clearTimeout(timer);
    controller.abort(cancelled());
  }
}

/**
 * Returns a promise that is rejected when a signal is aborted, or by `stop`.
 * @param {AbortSignal} signal
 */
export function stopping(signal) {
  /** @type {(error: unknown) => void} */
  let stop = () => {};
  /** @type {Promise<never>} */
  const promise = new Promise((_, reject) => (stop = reject));
  promise.catch(() => {});
  if (signal.aborted) stop(cancelled());
  signal.addEventListener("abort", () => stop(cancelled()), { once: true });
  return { promise, stop };
}

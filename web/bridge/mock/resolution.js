// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../values/errors.js";
import { normalForm } from "../uri/uri.js";
import { forbidden } from "./invitation.js";

/**
 * A call after its interceptors.
 * @typedef {{uri: string, params?: any, exts: import("../types/api.js").Params, isChanged?: boolean, [name: string]: any}} ResolvedCall `isChanged`:
 *   its parameters replace those of the URI
 */

/** How often interceptors can redirect a call. */
const MAX_REDIRECTS = 8;

/** The way of a call to its handler or host, in one session of a mocked app. */
export class MockResolution {
  #session;

  /**
   * @param {object} session
   * @param {import("./interceptors.js").MockInterceptors} session.interceptors
   * @param {import("./gates.js").MockGates} session.gates
   * @param {(uri: string) => {params: object} | undefined} session.find returns the handler or host of a URI
   * @param {(callers: import("./client.js").MockClient[]) => object} session.caller describes the first caller
   */
  constructor(session) {
    this.#session = session;
  }

  /**
   * Asks the interceptors about a call, and waits until its gates are open.
   * @param {any} params of `router.open` or `router.invoke`
   * @param {import("../calls/incoming-requests.js").RunContext} context
   * @param {import("./client.js").MockClient[]} callers the clients that must have the right to the call
   * @param {boolean} [passesGates] whether the call opens the page of a gate
   * @returns {Promise<ResolvedCall>}
   */
  async resolve({ exts = {}, ...params }, { signal }, callers, passesGates = false) {
    const { interceptors, gates, find, caller } = this.#session;
    /** @type {ResolvedCall} */
    let call = { ...params, uri: normalForm(params.uri), exts };
    for (const chain = [call.uri]; ; chain.push(call.uri)) {
      const { uri } = call;
      if (chain.length > MAX_REDIRECTS + 1) throw bridgeError(codeOf.redirectLoop, "redirect loop", { data: { kind: "redirectLoop", retryable: false, chain } });
      if (!callers.every((each) => each.mayCall(uri))) throw forbidden(`This guest cannot call "${uri}"`);
      const found = find(uri);
      if (found === undefined) throw noRoute(uri);
      const asked = { uri, params: merged(found, call), exts, route: null, caller: caller(callers), signal };
      const { redirect, params: changed } = (await interceptors.decide(asked)) ?? {};
      if (changed !== undefined) call = { ...call, params: changed, isChanged: redirect === undefined };
      if (redirect === undefined) break;
      call.uri = normalForm(redirect);
    }
    if (!passesGates) await gates.pass(call.uri, signal);
    return call;
  }
}

/**
 * Returns the parameters of a call with those of its URI.
 * @param {{params: object}} found
 * @param {Pick<ResolvedCall, "params" | "isChanged">} call
 */
export function merged(found, { params, isChanged = false }) {
  return isChanged ? params : { ...found.params, ...params };
}

/**
 * Creates the error of a call without a handler and a host.
 * @param {string} uri
 */
export function noRoute(uri) {
  return failure("noRoute", `The mocked app has no route for "${uri}"`);
}

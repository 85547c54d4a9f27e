// @ts-check

/** @typedef {Pick<import("../caller.js").Caller, "open" | "invoke" | "canOpen" | "call">} CallFunctions the calls that can be delegated */

/**
 * Creates the functions with which a handler calls for its caller. They do not need `this`, so a handler can destructure those that it needs.
 * @param {CallFunctions} bridge
 * @param {import("./incoming-requests.js").RequestReference} [onBehalfOf] the request that the handler responds to; without it, this page is the caller
 * @returns {import("../types/api.js").Delegation}
 */
export function delegation(bridge, onBehalfOf) {
  return {
    open: (uri, params, options) => bridge.open(uri, params, { ...options, onBehalfOf }),
    invoke: (uri, params, options) => bridge.invoke(uri, params, { ...options, onBehalfOf }),
    canOpen: (uri, params, options) => bridge.canOpen(uri, params, { ...options, onBehalfOf }),
    call: (page, method, params, options) => bridge.call(page, method, params, { ...options, onBehalfOf }),
  };
}

// @ts-check

/** @typedef {Pick<import("./caller.js").Caller, "open" | "invoke" | "canOpen" | "call">} Acting what can be done for others */

/**
 * What a handler does for its caller. The functions stand on their own, so that a handler may take just those that it needs.
 * @param {Acting} bridge
 * @param {import("./serving.js").Served} [onBehalfOf] the request that the handler answers; none: this page itself is the caller
 * @returns {import("./types.js").Deputy}
 */
export function deputy(bridge, onBehalfOf) {
  return {
    open: (uri, params, options) => bridge.open(uri, params, { ...options, onBehalfOf }),
    invoke: (uri, params, options) => bridge.invoke(uri, params, { ...options, onBehalfOf }),
    canOpen: (uri, params, options) => bridge.canOpen(uri, params, { ...options, onBehalfOf }),
    call: (page, method, params, options) => bridge.call(page, method, params, { ...options, onBehalfOf }),
  };
}

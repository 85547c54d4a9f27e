// @ts-check

/**
 * What a handler does for its caller. The functions stand on their own, so that a handler may take just those that it needs.
 * @param {Pick<import("./bridge.js").Bridge, "open" | "invoke" | "canOpen" | "call">} bridge
 * @param {import("./serving.js").Served} [onBehalfOf] the request that the handler answers; none: this page itself is the caller
 * @returns {import("./types.js").Deputy}
 */
export function deputy(bridge, onBehalfOf) {
  return {
    open: (uri, params, options) => bridge.open(uri, params, { ...options, onBehalfOf }),
    invoke: (uri, params, options) => bridge.invoke(uri, params, { ...options, onBehalfOf }),
    canOpen: (uri, options) => bridge.canOpen(uri, { ...options, onBehalfOf }),
    call: (page, method, params, options) => bridge.call(page, method, params, { ...options, onBehalfOf }),
  };
}

// @ts-check
import { sampleCall } from "../shared/sample.js";

/**
 * Returns the call that the address of the demo contains: `#open=` with a URI, or `#route=` with the name of a route, which is
 * opened with valid parameters. The documents of the route table use such links.
 * @param {string} fragment
 * @param {import("../shared/sample.js").Route[]} routes
 * @returns {{uri: string, params: Record<string, any>} | undefined}
 */
export function deepLink(fragment, routes) {
  const wanted = new URLSearchParams(fragment.replace(/^#/, ""));
  const uri = wanted.get("open");
  if (uri !== null) return { uri, params: {} };
  const route = routes.find(({ name }) => name === wanted.get("route"));
  return route && sampleCall(route);
}

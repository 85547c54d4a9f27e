// @ts-check
import { sampleCall } from "../shared/sample.js";

/**
 * What the demo's own address asks for: `#open=` with a URI, or `#route=` with the name of a route, which is opened with
 * parameters that fit. Documents about the table link to it.
 * @param {string} fragment
 * @param {import("../shared/sample.js").Route[]} routes
 * @returns {{uri: string, params: Record<string, any>} | undefined}
 */
export function asked(fragment, routes) {
  const wanted = new URLSearchParams(fragment.replace(/^#/, ""));
  const uri = wanted.get("open");
  if (uri !== null) return { uri, params: {} };
  const route = routes.find(({ name }) => name === wanted.get("route"));
  return route && sampleCall(route);
}

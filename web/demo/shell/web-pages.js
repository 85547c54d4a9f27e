// @ts-check

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/** The web sites of the app. The demo contains their pages, since no server hosts them. */
const sites = ["https://m.shop.example", "https://help.shop.example"];

/** @type {Record<string, string>} the files of pages with an implementation of their own */
const files = { "https://m.shop.example/address/list": "addresses.html" };

/** The patterns of a host of the sites. */
export const sitePatterns = sites.map((site) => `${site}/*`);

/**
 * Returns the address from which a web page is loaded. Pages of the app's sites come from files of the demo, which receive the
 * page as a parameter. Throws for other origins, so that the host rejects the page.
 * @param {Page} page
 * @returns {string}
 */
export function addressOf({ uri, route, params }) {
  const { origin, pathname } = new URL(uri);
  if (origin === location.origin) return uri;
  if (!sites.includes(origin)) throw Object.assign(new Error(`This app shows no pages of ${origin}`), { code: 1403 });
  const address = new URL(`pages/${files[origin + pathname] ?? "declared.html"}`, document.baseURI);
  address.searchParams.set("page", JSON.stringify({ uri, route, params }));
  return address.href;
}

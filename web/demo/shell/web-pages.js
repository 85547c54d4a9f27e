// @ts-check

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/** The app's own sites on the web, whose pages this demo has with it: nobody serves them elsewhere. */
const sites = ["https://m.shop.example", "https://help.shop.example"];

/** @type {Record<string, string>} the files of pages that are more than what the table says of them */
const files = { "https://m.shop.example/address/list": "addresses.html" };

/** What a host of the sites serves. */
export const sitePatterns = sites.map((site) => `${site}/*`);

/**
 * Where a web page is loaded from: those of the app's server as they are, those of its sites from the demo's own files, which
 * are told what was asked for. Throws for any other, which refuses to open it.
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

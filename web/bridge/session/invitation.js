// @ts-check
import { base, socketURL } from "../connection/endpoint-url.js";
import { attempt, failure } from "../values/errors.js";
import { isPlain } from "../values/json-values.js";

/** @typedef {import("../types/api.js").Invitation} Invitation */
/** @typedef {import("./frame-store.js").Frame & {location?: Location, waybridgeInvitation?: unknown}} Page */
/** @typedef {{get: () => string | undefined, put: (text: string) => void}} InvitationStore stores an invitation for the next load of a page */

/** The prefix of the invitation in a fragment. Other parts of the fragment are separated by `&`. */
const FRAGMENT_PREFIX = "waybridge=";
/** Maximum length of an invitation in characters. */
const MAX_LENGTH = 8192;

/**
 * Returns the URL of a page with an invitation in its fragment. Browsers never send the fragment, neither in a request nor as `Referer`.
 * @param {string | URL} address in a page, it can be relative to that page
 * @param {Invitation} invitation
 */
export function invitationURL(address, { url, session, token, frame }) {
  const { rest } = splitFragment(absolute(address));
  const bytes = new TextEncoder().encode(JSON.stringify({ url, session, token, frame }));
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${rest}${new URL(rest).hash === "" ? "#" : "&"}${FRAGMENT_PREFIX}${text}`;
}

/**
 * Returns the invitation in a URL.
 * @param {string} address
 */
export function invitationIn(address) {
  return decode(splitFragment(absolute(address)).text ?? "");
}

/**
 * Returns the invitation of the page in which this runs. It comes from one of these, the first that is there:
 * - the global variable that an app shell has set, which is then deleted
 * - an earlier load of this document
 * - the page's URL, where it is then removed. Anyone can create a link to the page. So the URL cannot name another session than that of an
 *   earlier load, nor the bridge of another origin.
 * @param {Pick<import("../types/api.js").BridgeOptions, "bridges" | "onlyShellInvites">} options
 * @param {Page} [page]
 * @param {InvitationStore} [store]
 * @returns {(Invitation & {isStored?: boolean}) | undefined} `isStored`: an earlier load already had this invitation
 */
export function consumeInvitation({ bridges = [], onlyShellInvites } = {}, page = globalThis, store = historyStore(page)) {
  const earlier = store.get();
  const address = textOfAddress(page);
  let given = fromShell(page);
  if (!given) {
    if (onlyShellInvites) return undefined;
    const stored = earlier === undefined ? undefined : { ...validated("storage", () => JSON.parse(earlier)), isStored: true };
    given = address === undefined ? undefined : decode(address);
    if (!given || (stored && stored.session !== given.session)) return stored;
    check(given, page, bridges);
  }
  const text = JSON.stringify(given);
  store.put(text);
  // The script of an app shell sets its global before each load.
  return text === earlier ? { ...given, isStored: true } : given;
}

/**
 * Stores a text in the history entry, which a reload keeps. A page that replaces the state of the entry loses it.
 * @param {Page} page
 * @returns {InvitationStore}
 */
function historyStore({ history }) {
  return {
    get: () => history?.state?.waybridge,
    put: (waybridge) => {
      const state = history?.state ?? {};
      if (isPlain(state)) history?.replaceState({ ...state, waybridge }, "");
    },
  };
}

/**
 * Removes the invitation from the page's URL, and returns its text.
 * @param {Page} page
 */
function textOfAddress({ location, history }) {
  // A worker has a URL too, but cannot change it.
  if (location === undefined || history === undefined) return undefined;
  const { text, rest } = splitFragment(new URL(location.href));
  if (text === undefined) return undefined;
  // Some browsers do not allow a page without an origin to change its URL. Other pages cannot read it there.
  attempt(() => history.replaceState(history.state, "", rest));
  return text;
}

/**
 * Fails for the invitation of a foreign bridge, which would receive everything that the page sends to its app.
 * @param {Invitation} invitation from the page's URL
 * @param {Page} page
 * @param {string[]} bridges
 */
function check({ url }, { location }, bridges) {
  const { origin } = new URL(url);
  if (location?.origin.replace(/^http/, "ws") === origin || bridges.some((each) => new URL(socketURL(each)).origin === origin)) return;
  throw failure("forbidden", globalThis.__waybridgeBrief ? `The bridge "${origin}" is foreign` : `The page's URL names a foreign bridge at "${origin}"; if it is yours, add it to the option bridges`);
}

/** @param {Page} page */
function fromShell(page) {
  const given = page.waybridgeInvitation;
  if (given === undefined) return undefined;
  // A variable that a script has declared cannot be deleted, and a constant cannot be set.
  if (!Reflect.deleteProperty(page, "waybridgeInvitation")) Reflect.set(page, "waybridgeInvitation", undefined);
  return validated("waybridgeInvitation", () => given);
}

/**
 * Separates a URL from its invitation.
 * @param {URL} target
 */
function splitFragment(target) {
  const all = target.hash.replace(/^#/, "").split("&");
  target.hash = all.filter((part) => !part.startsWith(FRAGMENT_PREFIX)).join("&");
  return { text: all.find((part) => part.startsWith(FRAGMENT_PREFIX))?.slice(FRAGMENT_PREFIX.length), rest: target.href };
}

/** @param {string} text the invitation in a URL */
function decode(text) {
  return validated("URL", () => {
    const units = text.length > MAX_LENGTH ? "" : atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(units, (unit) => unit.charCodeAt(0))));
  });
}

/**
 * @param {string} place where the page had the invitation
 * @param {() => any} parse
 * @returns {Invitation}
 */
function validated(place, parse) {
  // The error is not reported, because a parser's message would quote the text with its token.
  const { url, session, token, frame } = attempt(parse) ?? {};
  const address = [url, session, token].every((each) => typeof each === "string" && each !== "") && attempt(() => socketURL(url));
  if (address) return { url: address, session, token, ...(typeof frame === "string" && { frame }) };
  throw failure("invalidParams", globalThis.__waybridgeBrief ? `No invitation in ${place}` : `The page's ${place} has no valid invitation; it needs the strings url, session and token`);
}

/** @param {string | URL} address */
function absolute(address) {
  const url = attempt(() => new URL(address, base()));
  if (url !== undefined) return url;
  // The URL is not quoted, because it may already contain an invitation.
  throw failure("invalidParams", globalThis.__waybridgeBrief ? "An absolute URL is required" : "An invitation needs the absolute URL of a page");
}

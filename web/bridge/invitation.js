// @ts-check
import { base, isLoopback, socketURL } from "./endpoint.js";
import { failure } from "./errors.js";
import { isPlain } from "./plain.js";

/** @typedef {import("./types.js").Invitation} Invitation */
/** @typedef {import("./frame-store.js").Frame & {location?: Location, waybridgeInvitation?: unknown}} Page */
/** @typedef {{get: () => string | undefined, put: (text: string) => void}} Keeping what a page has for its next load */

/** The part of a fragment that is the invitation; others may stand beside it, each after a `&`. */
const PART = "waybridge=";
/** How many characters of it are read. */
const LONGEST = 8192;

/**
 * The address of a page with an invitation in its fragment: that part is never sent, neither in a request nor as `Referer`.
 * @param {string | URL} address relative to this page, where it runs in one
 * @param {Invitation} invitation
 */
export function inviting(address, { url, session, token, frame }) {
  const { rest } = parted(absolute(address));
  const bytes = new TextEncoder().encode(JSON.stringify({ url, session, token, frame }));
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${rest}${new URL(rest).hash === "" ? "#" : "&"}${PART}${text}`;
}

/**
 * The invitation in an address.
 * @param {string} address
 */
export function invitationIn(address) {
  return read(parted(absolute(address)).text ?? "", "address");
}

/**
 * The invitation of the page in which this runs: from its address, where it then stands no longer; from the global that a native
 * shell has set, which then is gone; or from an earlier load of this document.
 * @param {string[]} [bridges] origins of which an address may name the bridge
 * @param {Page} [page]
 * @param {Keeping} [store]
 * @returns {(Invitation & {isKept?: boolean}) | undefined} `isKept`: an earlier load had it
 */
export function takeInvitation(bridges = [], page = globalThis, store = inHistory(page)) {
  const kept = store.get();
  const given = fromAddress(page, bridges) ?? fromShell(page);
  if (given === undefined) return kept === undefined ? undefined : { ...checked("storage", () => JSON.parse(kept)), isKept: true };
  const text = JSON.stringify(given);
  store.put(text);
  // A native shell's script sets its global before each load.
  return text === kept ? { ...given, isKept: true } : given;
}

/**
 * Keeps a text in the entry of the history, which a reload leaves alone. Whoever replaces the entry's state loses it.
 * @param {Page} page
 * @returns {Keeping}
 */
function inHistory({ history }) {
  return {
    get: () => history?.state?.waybridge,
    put: (waybridge) => {
      const state = history?.state ?? {};
      if (isPlain(state)) history?.replaceState({ ...state, waybridge }, "");
    },
  };
}

/**
 * @param {Page} page
 * @param {string[]} bridges
 */
function fromAddress({ location, history }, bridges) {
  // A worker has an address too, but not one that is for it to change.
  if (location === undefined || history === undefined) return undefined;
  const { text, rest } = parted(new URL(location.href));
  if (text === undefined) return undefined;
  try {
    history.replaceState(history.state, "", rest);
  } catch {
    // A browser may not let a page without an origin change its address; nobody else sees it there either.
  }
  const invitation = read(text, "address");
  const { origin, hostname } = new URL(invitation.url);
  // Anybody can make a link to this page: the bridge of a stranger would hear all that the page tells its app.
  if (hostname === location.hostname || isLoopback(hostname) || bridges.some((each) => originOf(each) === origin)) return invitation;
  throw failure("forbidden", `the page's address names a bridge of others, at ${origin}${globalThis.__waybridgeBrief ? "" : ": list it in `bridges` if it is yours"}`);
}

/** @param {Page} page */
function fromShell(page) {
  const given = page.waybridgeInvitation;
  if (given === undefined) return undefined;
  // What a script has declared can not be deleted, nor what it has made constant be set.
  if (!Reflect.deleteProperty(page, "waybridgeInvitation")) Reflect.set(page, "waybridgeInvitation", undefined);
  return checked("global waybridgeInvitation", () => given);
}

/**
 * An address without its invitation, and what that says.
 * @param {URL} target
 */
function parted(target) {
  const all = target.hash.replace(/^#/, "").split("&");
  target.hash = all.filter((part) => !part.startsWith(PART)).join("&");
  return { text: all.find((part) => part.startsWith(PART))?.slice(PART.length), rest: target.href };
}

/**
 * @param {string} text
 * @param {string} place
 */
function read(text, place) {
  return checked(place, () => {
    const units = text.length > LONGEST ? "" : atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(units, (unit) => unit.charCodeAt(0))));
  });
}

/**
 * @param {string} place of the page, where it stood
 * @param {() => any} parse
 * @returns {Invitation}
 */
function checked(place, parse) {
  try {
    const { url, session, token, frame } = parse();
    if ([url, session, token].every((each) => typeof each === "string" && each !== "")) {
      const whole = { url: socketURL(url), session, token };
      return typeof frame === "string" ? { ...whole, frame } : whole;
    }
  } catch {
    // The error is not told, since a parser's own would quote the text, and a token with it.
  }
  throw failure("invalidParams", `the page's ${place} has an invitation that can not be read${globalThis.__waybridgeBrief ? "" : ": it needs the texts url, session and token; ask for a new one"}`);
}

/** @param {string | URL} address */
function absolute(address) {
  try {
    return new URL(address, base());
  } catch {
    // The address may have an invitation in it already.
    throw failure("invalidParams", "what is to be opened by invitation is no address of a page: give an absolute URL");
  }
}

/** @param {string} bridge */
function originOf(bridge) {
  return new URL(socketURL(bridge)).origin;
}

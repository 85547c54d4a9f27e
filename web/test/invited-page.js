// @ts-check
import { FrameStore } from "../bridge/session/frame-store.js";
import { invitationURL, consumeInvitation } from "../bridge/session/invitation.js";

/** The content of an invitation. */
export const GUEST = { url: "wss://shop.example/bridge", session: "s1", token: "sécret~?>~?>ÿÿ" };
/** The URL of a page. */
export const SHOP = "https://shop.example/shop.html?x=1";

/**
 * Returns the URL of an invited page.
 * @param {object} [changes]
 */
export const invitedURL = (changes) => invitationURL(SHOP, { ...GUEST, ...changes });

/**
 * Returns the invitation that a page reads.
 * @param {any} page
 * @param {Parameters<typeof consumeInvitation>[0]} [options]
 */
export const readInvitation = (page, options) => consumeInvitation(options, page, new FrameStore("waybridge", page));

// @ts-check
import { FrameStore } from "../bridge/frame-store.js";
import { inviting, takeInvitation } from "../bridge/invitation.js";

/** What a page is invited with. */
export const GUEST = { url: "ws://127.0.0.1:8080/bridge", session: "s1", token: "sécret~?>~?>ÿÿ" };
/** The address of a page. */
export const SHOP = "https://shop.example/shop.html?x=1";

/**
 * The address of a page that is invited.
 * @param {object} [changes]
 */
export const invited = (changes) => inviting(SHOP, { ...GUEST, ...changes });

/**
 * What a page takes.
 * @param {any} page
 * @param {string[]} [bridges]
 */
export const take = (page, bridges) => takeInvitation(bridges, page, new FrameStore("waybridge", page));

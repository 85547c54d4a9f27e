// @ts-check

/**
 * What a page in a frame needs to join the shell's session. It travels in the fragment, which no server sees.
 * @typedef {object} Invitation
 * @property {string} session
 * @property {string} token the session's `joinToken`
 * @property {string} [page] the id of the page that runs in the frame
 */

const name = "#waybridge=";

/**
 * The address of a frame that is to join.
 * @param {string} uri
 * @param {Invitation} invitation
 * @returns {string}
 */
export function invite(uri, invitation) {
  return uri.split("#", 1)[0] + name + encodeURIComponent(JSON.stringify(invitation));
}

/**
 * The invitation in this document's address; null when it was not opened by a shell.
 * @returns {Invitation | null}
 */
export function invitation() {
  if (!location.hash.startsWith(name)) return null;
  try {
    const { session, token, page } = JSON.parse(decodeURIComponent(location.hash.slice(name.length)));
    return typeof session === "string" && typeof token === "string" ? { session, token, page } : null;
  } catch {
    return null;
  }
}

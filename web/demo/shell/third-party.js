// @ts-check

/**
 * What `tp://maps?i=geo%3A52.5%2C13.4` does: asks the user whether to leave for the other app. Answers whether the app
 * was opened, which a demo can only say.
 * @param {import("../../bridge/bridge.js").Bridge} bridge
 * @param {{app: string, i: string}} params the app, and the URI that it would open
 * @param {AbortSignal} signal
 */
export async function handOff(bridge, { app, i: uri }, signal) {
  const { outcome } = await bridge.open("native://handoff", { app, uri }, { style: "present", signal });
  return { app, uri, opened: outcome === "finished" };
}

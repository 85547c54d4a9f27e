// @ts-check

/**
 * Runs `tp://maps?i=geo%3A52.5%2C13.4`: asks the user whether to open the other app. Returns whether the user agreed; the
 * demo opens no other app.
 * @param {import("../../bridge/bridge.js").Bridge} bridge
 * @param {{app: string, i: string}} params the app, and the URI that it would open
 * @param {AbortSignal} signal
 */
export async function handOff(bridge, { app, i: uri }, signal) {
  const { outcome } = await bridge.open("native://handoff", { app, uri }, { style: "present", signal });
  return { app, uri, opened: outcome === "finished" };
}

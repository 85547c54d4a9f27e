// @ts-check
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

/** The command that servers are started with, where a test needs one of its own. */
const COMMAND = process.env.WAYBRIDGE;

/** What tests with a server of their own need to be told. */
export const POLICY_SKIP = COMMAND === undefined && "WAYBRIDGE names no command: give the path of `waybridge`";

/**
 * Starts a server with a policy, until the test ends.
 * @param {import("node:test").TestContext} context
 * @param {object} policy
 * @returns {Promise<string>} the address of its endpoint
 */
export async function serve(context, policy) {
  const folder = mkdtempSync(`${tmpdir()}/waybridge-`);
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/policy.json`, JSON.stringify(policy));
  // Without the variables here, which may be settings of it.
  const server = spawn(String(COMMAND), ["serve", "--conformance", "--policy", `${folder}/policy.json`, "--port", "0"], { env: { WAYBRIDGE_DRAIN: "0" } });
  const ended = new Promise((resolve) => {
    server.on("exit", resolve);
    server.on("error", resolve);
  });
  context.after(async () => {
    server.kill();
    await ended;
  });
  return new Promise((resolve, reject) => {
    let said = "";
    const heard = (/** @type {unknown} */ piece) => {
      said += piece;
      const address = /^listening on http:(\S+)\n/m.exec(said)?.[1];
      if (address !== undefined) resolve(`ws:${address}/bridge`);
    };
    server.stdout.on("data", heard);
    server.stderr.on("data", heard);
    void ended.then((how) => reject(new Error(`the server ended (${how}), and said: ${said}`)));
  });
}

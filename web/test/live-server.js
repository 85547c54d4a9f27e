// @ts-check
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

/** The command that starts servers, for tests that need a server of their own. */
const COMMAND = process.env.WAYBRIDGE;

/** Why tests with a server of their own are skipped; `false` if they run. */
export const OWN_SKIP = COMMAND === undefined && "WAYBRIDGE names no command: give the path of `waybridge`";

/** @typedef {import("node:test").TestContext} TestContext */

/**
 * Starts a server with a policy, until the test ends.
 * @param {TestContext} context
 * @param {object} policy
 * @param {string[]} [more] flags
 * @returns {Promise<string>} the URL of its endpoint
 */
export async function serve(context, policy, more = []) {
  const folder = newFolder();
  writeFileSync(`${folder}/policy.json`, JSON.stringify(policy));
  const { url, end } = await start(["--policy", `${folder}/policy.json`, ...more], 0);
  context.after(() => end("SIGTERM").then(() => rmSync(folder, { recursive: true })));
  return url;
}

/**
 * Starts a server that persists its sessions, until the test ends.
 * @param {TestContext} context
 * @param {string[]} [more] flags
 * @returns {Promise<{url: string, end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>, restart: () => Promise<void>, writtenAt: number}>} `end` ends it,
 *   `restart` starts it again on the same port; `writtenAt`: when it last wrote session data
 */
export async function serveDurable(context, more = []) {
  const folder = newFolder();
  const flags = ["--data", folder, ...more];
  const log = `${folder}/sessions.db-wal`;
  let { url, end } = await start(flags, 0);
  context.after(() => end("SIGTERM").then(() => rmSync(folder, { recursive: true })));
  return {
    url,
    get writtenAt() {
      return statSync(log).mtimeMs;
    },
    end: (signal) => end(signal),
    restart: async () => void ({ end } = await start(flags, Number(new URL(url).port))),
  };
}

function newFolder() {
  return mkdtempSync(`${tmpdir()}/waybridge-`);
}

/**
 * @param {string[]} flags
 * @param {number} port 0: any free port
 * @returns {Promise<{url: string, end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>}>}
 */
function start(flags, port) {
  // Without the variables of this process, which could be settings of the server.
  const server = spawn(String(COMMAND), ["serve", "--conformance", ...flags, "--port", String(port)], { env: { WAYBRIDGE_DRAIN: "0" } });
  const ended = new Promise((resolve) => {
    server.on("exit", resolve);
    server.on("error", resolve);
  });
  const end = async (/** @type {"SIGKILL" | "SIGTERM"} */ signal) => {
    server.kill(signal);
    await ended;
  };
  return new Promise((resolve, reject) => {
    let output = "";
    const received = (/** @type {unknown} */ piece) => {
      output += piece;
      const address = /^listening on http:(\S+)\n/m.exec(output)?.[1];
      if (address !== undefined) resolve({ url: `ws:${address}/bridge`, end });
    };
    server.stdout.on("data", received);
    server.stderr.on("data", received);
    void ended.then((how) => reject(new Error(`the server ended (${how}), and printed: ${output}`)));
  });
}

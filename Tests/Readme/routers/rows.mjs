/**
 * Runs the rows of the pages for users of other routers (web/docs). Each row has a server and clients of its own, in a folder with the table of
 * its page as routes.json.
 */
import assert from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Bridge } from "../../../web/bridge/bridge.js";

globalThis.WebSocket = createRequire(import.meta.url)("/usr/share/nodejs/ws").WebSocket;

/** Who reads a guide and tries it may do everything. */
const POLICY = { rules: [{ name: "everybody", allow: ["*"], interceptors: true }] };
const TIMEOUT = 30_000;

const rows = new Map();

/** Adds the code of a row, by the first API that its left column names. */
export function row(name, run) {
  assert(!rows.has(name), `two rows ${name}`);
  rows.set(name, run);
}

/** A host that accepts every page and keeps what it was asked for. */
export function recorder() {
  const events = [];
  let resolve = () => {};
  const note = (...event) => (events.push(event), resolve());
  return {
    events,
    open: (page, { restored } = {}) => note("open", page, restored),
    resume: (page, changes) => note("resume", page, changes),
    close: (page, reason, exts) => note("close", page, reason, exts),
    /** Waits until the host has had `count` requests; gives the last one. */
    async last(count = 1) {
      while (events.length < count) await new Promise((done) => (resolve = done));
      return events[count - 1];
    },
  };
}

/** The surroundings of one row. */
class App {
  folder = mkdtempSync(join(tmpdir(), "row-"));
  table = JSON.parse(readFileSync(process.env.TABLE, "utf8"));
  #servers = [];
  #clients = [];
  #address;

  constructor() {
    this.write(this.table);
    writeFileSync(join(this.folder, "policy.json"), JSON.stringify(POLICY));
  }

  /** Makes a table that of the page's app, before its server starts. */
  write = (table) => writeFileSync(join(this.folder, "routes.json"), JSON.stringify(table));

  /** Runs a command as a reader types it; gives what it prints. */
  command = (line) => execFileSync("bash", ["-c", line.replaceAll(/(^|\| )waybridge /g, "$1$WAYBRIDGE ")], { cwd: this.folder, encoding: "utf8" });

  /** Starts a server of routes.json, with further options; gives its address, and a function that waits for something in its log. */
  serve = async (...options) => {
    const command = ["serve", "--table", "routes.json", "--policy", "policy.json", "--port", "0", ...options];
    const server = spawn(process.env.WAYBRIDGE, command, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#servers.push(server);
    let log = "";
    const waiting = new Set();
    server.stderr.on("data", (text) => {
      log += text;
      for (const look of waiting) look();
    });
    const logged = (pattern) =>
      new Promise((resolve) => {
        const look = () => pattern.test(log) && resolve();
        waiting.add(look);
        look();
      });
    for await (const line of createInterface(server.stdout)) {
      this.#address = line.replace("listening on http://", "");
      return { address: this.#address, logged };
    }
    throw new Error(log);
  };

  /** Connects a client to the server, which it starts if there is none. */
  connect = async (options = {}) => {
    if (!this.#address) await this.serve();
    const client = new Bridge({ url: `ws://${this.#address}/bridge`, ...options });
    this.#clients.push(client);
    await client.ready;
    return client;
  };

  /** Opens a page, and resolves with its id and its outcome to come as soon as it is shown. */
  opened = (client, uri, params = {}, options = {}) =>
    new Promise((resolve, reject) => {
      const outcome = client.open(uri, params, { ...options, onProgress: ({ opened }) => resolve({ page: opened.page, outcome }) });
      outcome.catch(reject);
    });

  async end() {
    for (const client of this.#clients) await client.close();
    for (const server of this.#servers) {
      server.kill();
      await new Promise((resolve) => server.once("exit", resolve));
    }
    rmSync(this.folder, { recursive: true });
  }
}

/** Runs all rows, and prints what became of each as one line of JSON. */
export async function runRows() {
  for (const [name, run] of rows) {
    const app = new App();
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(reject, TIMEOUT, new Error("the row does not end"))));
    try {
      await Promise.race([run(app), late]);
      console.log(JSON.stringify({ row: name }));
    } catch (error) {
      console.log(JSON.stringify({ row: name, error: error.stack }));
    } finally {
      clearTimeout(timer);
      await app.end();
    }
  }
  process.exit();
}

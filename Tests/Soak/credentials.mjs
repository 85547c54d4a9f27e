// The users of a soak with hostile clients. Threads receive the secret in the environment.
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SECRET = "SOAK_SECRET";

/** The users of attacks: those that take time or memory, and those that try to get rights. Limits of a user apply to each. */
const ATTACKERS = ["attacker", "intruder"];
/**
 * Correct clients may call everything. Attackers may call what concerns their own session, without these routes. The group
 * `staff` also gives guests rights.
 */
const POLICY = {
  rules: [
    { name: "all", allow: ["*"], subjects: ["good", "operator"] },
    { name: "attackers", allow: ["router.*", "navigation.*", "page.*", "host.*", "events.*", "session.invite"], subjects: ATTACKERS },
    { name: "staff", allow: ["router.*"], groups: ["staff"] },
    { name: "secrets", deny: ["*"], subjects: ATTACKERS, routes: ["https://bank.example/*", "hostile://secret/*", "native://secret"] },
  ],
};

/** Makes a secret and a policy; returns the options of a server that uses them. The files go away with the process. */
export function makeCredentials() {
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const secret = randomBytes(48).toString("base64");
  process.env[SECRET] = secret;
  writeFileSync(join(folder, "secret"), secret, { mode: 0o600 });
  writeFileSync(join(folder, "policy.json"), JSON.stringify(POLICY));
  return ["--token-secret-file", join(folder, "secret"), "--policy", join(folder, "policy.json")];
}

/** Whether the server requires tokens. */
export const hasCredentials = () => process.env[SECRET] !== undefined;

/** A token of a user that is valid for this number of seconds; `groups`: those of the user. */
export function makeToken(user, { groups, seconds = 3600 } = {}) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: user, groups, aud: "waybridge", exp: Math.floor(Date.now() / 1000) + seconds };
  const text = `${part({ alg: "HS256" })}.${part(claims)}`;
  return `${text}.${createHmac("sha256", process.env[SECRET]).update(text).digest("base64url")}`;
}

/** The header fields of a handshake by a user; empty if the server requires no tokens. `claims` as for `makeToken`. */
export function headers(user, claims) {
  return hasCredentials() ? { authorization: `Bearer ${makeToken(user, claims)}` } : {};
}

// The users of a soak with hostile clients. Threads receive the secret in the environment.
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SECRET = "SOAK_SECRET";

/** Correct clients may call everything. Attackers may call what concerns their own session, without these routes. */
const POLICY = {
  rules: [
    { name: "all", allow: ["*"], subjects: ["good", "operator"] },
    { name: "attackers", allow: ["router.*", "navigation.*", "page.*", "host.*", "events.*", "session.invite"], subjects: ["attacker"] },
    { name: "secrets", deny: ["*"], subjects: ["attacker"], routes: ["https://bank.example/*", "hostile://secret/*", "native://secret"] },
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

/** The header fields of a handshake by a user; empty if the server requires no tokens. */
export function headers(user) {
  const secret = process.env[SECRET];
  if (secret === undefined) return {};
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256" })}.${part({ sub: user, aud: "waybridge", exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  const signature = createHmac("sha256", secret).update(text).digest("base64url");
  return { authorization: `Bearer ${text}.${signature}` };
}

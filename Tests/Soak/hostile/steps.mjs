// Steps of attacks on rights and sessions. They throw if the attack cannot be tried.
import { Attacker } from "./attacker.mjs";

export const TASKS = [{ patterns: ["hostile://:task"], kind: "task" }];
export const FORBIDDEN = 2403;
export const NOT_AUTHENTICATED = 2401;
export const NO_ROUTE = 2404;

/** Waits until `check` returns something, which is then returned; undefined if it takes too long. */
export async function until(context, check) {
  for (const end = performance.now() + context.timeout; performance.now() < end && !context.isOver; await context.pause(20)) {
    const found = check();
    if (found) return found;
  }
  return undefined;
}

/** An invitation to a session, as the member `join` of `session.open`. */
export async function invite(context, inviter, params) {
  const { result } = context.need(await inviter.request("session.invite", params), "there is no invitation");
  return { session: inviter.invitation.session, token: context.need(result, "there is no invitation").token };
}

/** A guest, or a client that joins by other means. */
export async function enter(context, { join, ...more }) {
  const client = await Attacker.enter(context, { ...more, join: join && { invitation: join } });
  context.need(client.opening, "a client could not enter");
  return client;
}

/** Reports a call that has passed, or has failed for another reason than a missing right. */
export function refused(context, what, answer, ...codes) {
  const { error, result } = context.need(answer, `${what} got no response`);
  if (!codes.includes(error?.code)) context.fault(`${what} was answered ${JSON.stringify(error ?? result)}`);
}

// Attacks on a server that knows its users, by clients that try to enter sessions, or to remain in them.
import { Attacker } from "./attacker.mjs";
import { FORBIDDEN, NO_ROUTE, NOT_AUTHENTICATED, TASKS, enter, invite, refused, until } from "./steps.mjs";

/** Resumes a client whose connection is lost, on another one. */
async function resume(context, lost, user, answers, open) {
  const client = new Attacker(context, undefined, user);
  client.answers = answers;
  client.isNumbered = true;
  client.sent = lost.sent;
  await client.opened;
  const { client: id, token, epoch } = lost.opening;
  const { received, sent } = lost;
  const answer = await client.request("session.resume", { client: id, token, epoch, received, sent, reloaded: true, open });
  client.opening = context.need(answer, "session.resume got no response").result;
  return client;
}

/** A call, or deep link, that a host can recognize. */
const work = (from, what) => ({ uri: `hostile://${what}`, params: { from }, key: `${from} ${what}` });

/** Work of a client that an administrator removes does not start afterwards; that of another client does. */
async function revocations(context) {
  // The removed client's connection is closed, and the outcome of the host's own call is unknown.
  context.allow(NOT_AUTHENTICATED, 4003, 2599);
  const operator = await enter(context, { user: "operator" });
  const shell = await enter(context, { user: "good" });
  const host = await enter(context, { user: "good", join: shell.invitation, hosts: TASKS });
  const ran = [];
  const note = ({ params }) => void ran.push(`${params.params.from} ${params.uri}`);
  host.answers = note;
  const clients = {};
  for (const name of ["removed", "kept"]) {
    clients[name] = await enter(context, { user: "intruder", join: shell.invitation });
    void clients[name].request("router.invoke", work(name, "begun"));
  }
  // A client that numbers its messages can resume until the deadline of its call.
  host.isNumbered = true;
  void host.request("router.invoke", { uri: "hostile://held", deadlineMs: context.timeout });
  context.need(await until(context, () => ran.length === 3), "the host has no calls");
  await host.leave();
  for (const [name, client] of Object.entries(clients)) {
    void client.request("router.invoke", work(name, "waiting"));
    const link = await client.request("router.deliver", work(name, "link"));
    context.need(link?.result !== undefined, "a link could not be delivered");
  }
  const { session, client } = clients.removed.opening;
  const removal = await operator.request("client.disconnect", { session, client });
  context.need(removal?.result, "the client could not be removed");

  ran.length = 0;
  const again = await resume(context, host, "good", (request) => (note(request), { result: null }));
  context.need(again.opening.resumed, "the host could not resume");
  const isDone = ["begun", "waiting", "link"].map((what) => `kept hostile://${what}`);
  context.need(await until(context, () => isDone.every((one) => ran.includes(one))), `the work of another client did not start: ${ran}`);
  await shell.request("router.invoke", work("shell", "last"));
  for (const one of ran) if (one.startsWith("removed")) context.fault(`after its client was removed, a host got ${one}`);
  const back = await resume(context, clients.removed, "intruder");
  if (back.opening?.resumed) context.fault("a removed client has resumed");
  const late = await Attacker.enter(context, { user: "intruder", join: shell });
  if (late.opening) context.fault("the join token that a removed client knows is still valid");
}

/** A session that an administrator ends accepts no client any more, and starts none of its work. */
async function endings(context) {
  context.allow(NOT_AUTHENTICATED, NO_ROUTE, 4003);
  const operator = await enter(context, { user: "operator" });
  const shell = await enter(context, { user: "intruder" });
  const host = await enter(context, { user: "intruder", join: shell.invitation, hosts: TASKS });
  const invitation = await invite(context, shell, {});
  await host.leave();
  void shell.request("router.invoke", work("removed", "waiting"));
  const link = await shell.request("router.deliver", work("removed", "link"));
  context.need(link?.result !== undefined, "a link could not be delivered");
  const { session } = shell.opening;
  const ended = await operator.request("session.end", { session });
  context.need(ended?.result?.clients.includes(shell.opening.client), "the session could not be ended");

  const ran = [];
  for (const lost of [shell, host]) {
    const open = { protocol: ["1.0"], hosts: TASKS };
    const again = await resume(context, lost, "intruder", ({ params }) => (ran.push(params.uri), { result: null }), open);
    context.need(again.opening, "a new session could not begin");
    if (again.opening.resumed || again.opening.session === session) context.fault("a client has resumed a session that has ended");
    await again.request("router.invoke", work("removed", "last"));
  }
  for (const uri of ran) if (uri !== "hostile://last") context.fault(`after its session has ended, a host got ${uri}`);
  for (const join of [shell.invitation, invitation]) {
    const late = await Attacker.enter(context, { user: "intruder", join: { invitation: join } });
    if (late.opening) context.fault("a session that has ended has accepted a client");
  }
  refused(context, "a second end", await operator.request("session.end", { session }), NO_ROUTE);
}

/** Sessions are not entered from pages of other origins, nor with tokens of other sessions. */
async function fixations(context) {
  context.allow(FORBIDDEN, NOT_AUTHENTICATED, 2409);
  const { host, port } = new URL(context.url);
  const own = `http://${host}`;
  const origins = [
    "https://evil.example", "http://127.0.0.1", `http://127.0.0.1:${Number(port) - 1}`, `http://localhost:1${port}`, `https://${host}`, "null",
    `http://127.0.0.1.evil.example:${port}`, `http://evil.example:${port}`, `http://user@${host}`, "file://", `${own}/`, `${own}.`,
  ];
  for (const origin of origins) {
    for (const protocols of [["waybridge.v1"], []]) {
      const status = await Attacker.handshake(context, { user: "intruder", protocols, origin });
      if (status !== 403 && !context.isOver) context.fault(`a handshake from ${origin} was answered ${status}`);
    }
  }
  context.need((await Attacker.handshake(context, { user: "intruder", origin: own })) === 101, "the own origin is rejected");

  const victim = await enter(context, { user: "good", origin: own });
  const joined = [];
  victim.notified = ({ params }) => joined.push(params);
  await victim.request("events.subscribe", { topics: ["session.*"] });
  const other = await enter(context, { user: "intruder", origin: own });
  const invitation = await invite(context, other, {});
  const attempt = async (what, params, { method = "session.open", user = "intruder", origin = own } = {}) => {
    const client = new Attacker(context, undefined, user, { origin });
    await client.opened;
    const answer = await client.request(method, { protocol: ["1.0"], ...params });
    const { error, result } = context.need(answer, `${what} got no response`);
    const isRefused = method === "session.open" ? error?.code === NOT_AUTHENTICATED : !result?.resumed;
    if (!isRefused || result?.session === victim.opening.session) context.fault(`${what} was answered ${JSON.stringify(answer)}`);
    return client;
  };
  const { session } = victim.opening;
  for (const [what, token] of [
    ["an invitation of another session", invitation.token], ["a joinToken of another session", other.invitation.token],
    ["the token of another client", other.opening.token], ["the token of the client itself", victim.opening.token],
  ]) await attempt(what, { join: { session, token } });
  await attempt("a joinToken in another session", { join: { session: other.opening.session, token: victim.invitation.token } });
  const { client, token, epoch } = victim.opening;
  const resume = { client, epoch, received: 1 };
  await attempt("the resume token of another client", { ...resume, token: other.opening.token }, { method: "session.resume" });
  await attempt("an invitation as a resume token", { ...resume, token: invitation.token }, { method: "session.resume" });
  await attempt("a resume token by another user", { ...resume, token }, { method: "session.resume" });
  await attempt("a resume token of a program", { ...resume, token }, { method: "session.resume", user: "good", origin: undefined });
  // A page that has a session cannot be given another one.
  refused(context, "another session", await other.request("session.open", { protocol: ["1.0"], join: victim.invitation }), 2409);
  refused(context, "another session", await victim.request("session.open", { protocol: ["1.0"], join: invitation }), 2409);
  await victim.request("$/ping");
  if (joined.length > 0) context.fault(`a session has changed: ${JSON.stringify(joined)}`);
  if (!victim.isOpen && !context.isOver) context.fault(`a client was closed with ${victim.code}`);
}

/** The attacks by name. */
export const SESSIONS = { revocations, endings, fixations };

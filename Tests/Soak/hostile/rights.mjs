// Attacks on a server that knows its users, by clients that try to get more rights than they were given. They need little of the
// server's time. Each one throws if it could not be tried.
import { makeToken } from "../credentials.mjs";
import { Attacker } from "./attacker.mjs";

const TASKS = [{ patterns: ["hostile://:task"], kind: "task" }];
const PUSH = { to: { all: true }, method: "event", params: { topic: "soak", data: "x" } };
const FORBIDDEN = 2403;
const NOT_AUTHENTICATED = 2401;
const NO_ROUTE = 2404;

/** Waits until `check` returns something, which is then returned; undefined if it takes too long. */
async function until(context, check) {
  for (const end = performance.now() + context.timeout; performance.now() < end && !context.isOver; await context.pause(20)) {
    const found = check();
    if (found) return found;
  }
  return undefined;
}

/** An invitation to a session, as the member `join` of `session.open`. */
async function invite(context, inviter, params) {
  const { result } = context.need(await inviter.request("session.invite", params), "there is no invitation");
  return { session: inviter.invitation.session, token: context.need(result, "there is no invitation").token };
}

/** A guest, or a client that joins by other means. */
async function enter(context, { join, ...more }) {
  const client = await Attacker.enter(context, { ...more, join: join && { invitation: join } });
  context.need(client.opening, "a client could not enter");
  return client;
}

/** Reports a call that has passed, or has failed for another reason than a missing right. */
function refused(context, what, answer, ...codes) {
  const { error, result } = context.need(answer, `${what} got no response`);
  if (!codes.includes(error?.code)) context.fault(`${what} was answered ${JSON.stringify(error ?? result)}`);
}

/** Guests whose inviter leaves: neither they nor new guests get more than they had. */
async function guests(context) {
  context.allow(2401, 2403);
  const inviter = await Attacker.enter(context, { hosts: TASKS });
  const invitation = await invite(context, inviter, { routes: ["hostile://:task"], uses: 2 });
  const enter = async () => {
    const guest = new Attacker(context, undefined, null);
    await guest.opened;
    return [guest, await guest.request("session.open", { protocol: ["1.0"], join: invitation })];
  };
  const [guest, entered] = await enter();
  context.need(entered?.result, "a guest could not join");
  for (const method of ["session.list", "admin.refusals", "session.push", "table.update"]) {
    const answer = await guest.request(method, method === "session.push" ? PUSH : {});
    if (answer?.result) context.fault(`a guest called ${method}`);
  }
  await inviter.leave();
  await context.pause(50);
  const [, late] = await enter();
  if (late?.result) context.fault("the invitation of a client that has left is still valid");
}

/** A guest has the groups of its inviter only as long as the inviter has them: calls, links that wait and new guests lose them. */
async function renewals(context) {
  context.allow(FORBIDDEN);
  const inviter = await enter(context, { user: "intruder", groups: ["staff"], hosts: TASKS });
  const failed = [];
  inviter.notified = ({ params }) => params?.topic === "route.failed" && failed.push(params.data);
  await inviter.request("events.subscribe", { topics: ["route.failed"] });
  const ran = [];
  inviter.answers = ({ params }) => (ran.push(params.uri), { result: null });
  const routes = ["hostile://:task", "waiting://:task"];
  const join = await invite(context, inviter, { routes, groups: ["staff"], uses: 2 });
  const guest = await enter(context, { user: null, join });
  const call = { uri: "hostile://task" };
  context.need((await guest.request("router.invoke", call))?.result !== undefined, "a guest has no rights of its inviter's group");
  // It waits for a host.
  const link = await guest.request("router.deliver", { uri: "waiting://task" });
  context.need(link?.result !== undefined, "a guest could not deliver a link");
  const renewed = await inviter.request("session.renew", { token: makeToken("intruder") });
  context.need(renewed?.result, "the inviter could not renew its token");

  const before = ran.length;
  refused(context, "a guest's call with a lost group", await guest.request("router.invoke", call), FORBIDDEN);
  const late = await enter(context, { user: null, join });
  refused(context, "a new guest's call with a lost group", await late.request("router.invoke", call), FORBIDDEN);
  refused(context, "an invitation with a lost group", await inviter.request("session.invite", { groups: ["staff"] }), FORBIDDEN);
  await inviter.request("host.register", { hosts: [{ patterns: ["waiting://:task"], kind: "task" }] });
  context.need(await until(context, () => failed.length > 0 || ran.length > before), "the link still waits");
  if (ran.length > before) context.fault(`a lost group still gave access to ${ran.slice(before)}`);
}

/** A guest, and an invitation, end with the token of the inviter. */
async function expiries(context) {
  context.allow(NOT_AUTHENTICATED, 4203);
  const inviter = await enter(context, { user: "intruder", seconds: 3, hosts: TASKS });
  const join = await invite(context, inviter, { routes: ["hostile://:task"], uses: 2 });
  const guest = await enter(context, { user: null, join });
  const end = context.pause(3_000 + context.timeout).then(() => "late");
  for (const [name, client] of [["an inviter", inviter], ["a guest", guest]]) {
    const code = await Promise.race([client.closed, end, context.over]);
    if (code !== 4203 && !context.isOver) context.fault(`${name} whose token has expired was closed with ${code}`);
  }
  const late = await Attacker.enter(context, { user: null, join: { invitation: join } });
  if (late.opening) context.fault("the invitation of a client whose token has expired is still valid");
}

/** A client that has opened a session and nothing else can resume for some seconds after its connection is lost. */
async function resume(context, lost, user, answers, open) {
  const client = new Attacker(context, undefined, user);
  client.answers = answers;
  client.isNumbered = true;
  await client.opened;
  const { client: id, token, epoch } = lost.opening;
  const answer = await client.request("session.resume", { client: id, token, epoch, received: lost.received, sent: 0, reloaded: true, open });
  client.opening = context.need(answer, "session.resume got no response").result;
  return client;
}

/** A call, or deep link, that a host can recognize. */
const work = (from, what) => ({ uri: `hostile://${what}`, params: { from }, key: `${from} ${what}` });

/** Work of a client that an administrator removes does not start afterwards; that of another client does. */
async function revocations(context) {
  // The calls of the removed client get no result, and its connection is closed.
  context.allow(NOT_AUTHENTICATED, 4003);
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
  context.need(await until(context, () => ran.length === 2), "the host has no calls");
  await host.leave();
  for (const [name, client] of Object.entries(clients)) {
    const link = await client.request("router.deliver", work(name, "link"));
    context.need(link?.result !== undefined, "a link could not be delivered");
  }
  const { session, client } = clients.removed.opening;
  const removal = await operator.request("client.disconnect", { session, client });
  context.need(removal?.result, "the client could not be removed");

  ran.length = 0;
  const again = await resume(context, host, "good", (request) => (note(request), { result: null }));
  context.need(again.opening.resumed, "the host could not resume");
  const isDone = ["begun", "link"].map((what) => `kept hostile://${what}`);
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
  context.need(ended?.result?.clients.length === 2, "the session could not be ended");

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

/** A URL that the policy denies, in spellings that browsers and hosts read as the same. */
async function spellings(context) {
  context.allow(2403, 2404, -32602);
  const shell = await Attacker.enter(context, { hosts: [...TASKS, { scheme: "native", kind: "page" }] });
  const urls = [
    "https://bank.example/a", "HTTPS://BANK.EXAMPLE/a", "https:bank.example/a", "https:/bank.example/a", "https:///bank.example/a",
    "https://bank.example:443/a", "https://bank.example./a", "https://u:p@bank.example/a", "https://bank.example/./a",
    "https://bank.example/x/../a", "https://bank.example/%61", "https://b%61nk.example/a", "https:\\\\bank.example\\a",
    "hostile://secret/1", "hostile:secret/1", "HOSTILE://secret/1", "hostile://u@secret/1", "hostile://secret/%31",
    "native://secret", "native:secret", "native://u@secret", "native://secret?x=1", "native://secret#x", " native://secret",
  ];
  for (const uri of urls) {
    for (const method of ["router.invoke", "router.open", "router.deliver"]) {
      if (context.isOver || !shell.isOpen) return;
      const answer = await Promise.race([shell.request(method, { uri }), context.pause(200)]);
      if (answer?.result !== undefined && answer.result !== null) context.fault(`${method} of ${uri} passed: ${JSON.stringify(answer.result)}`);
    }
  }
}

/** The attacks by name. They run one after another, in addition to the others. */
export const RIGHTS = { guests, renewals, expiries, revocations, endings, spellings };

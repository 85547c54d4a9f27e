import { Member, WAYS_TO_LEAVE } from "./member.mjs";
import { Random } from "./random.mjs";
import { Session } from "./session.mjs";

/** One running app: four members of one session, and from time to time a new session. */
export class App {
  /** Members that joined before it changed leave. */
  generation = 0;
  #sessions = 0;
  /** The session that the members share, or a promise of it. */
  #session = undefined;
  #gate = undefined;
  #waiting = 0;

  constructor(run, name) {
    this.run = run;
    this.name = name;
    this.random = new Random(run.seed, name);
    this.members = [0, 1, 2, 3].map((place) => new Member(run, this, place));
  }

  async live() {
    await Promise.all(this.members.map((member) => member.live().finally(() => (this.#waiting += 1))));
    // One half leaves in order, the other half with all calls that are running.
    const isOrderly = this.random.chance(0.5);
    if (isOrderly) await this.#settle();
    await Promise.all(this.members.map((member) => member.leave(isOrderly ? "close" : this.random.pick(WAYS_TO_LEAVE))));
  }

  /** Opens the session, or joins the existing one; undefined if it has ended meanwhile. */
  async enter(connection, hosts, random) {
    const client = { name: connection.name, version: "1" };
    const params = { protocol: ["1.0"], client, hosts };
    const known = this.#session;
    if (!known) {
      const call = connection.request("session.open", params, { isAtOnce: true });
      this.#session = call.answer.then((answer) => this.#opened(connection, answer));
      return this.#session;
    }
    const session = await known;
    if (!session) return;
    const page = random.chance(0.2) ? random.pick(session.pages)?.id : undefined;
    const join = { session: session.id, token: session.joinToken };
    const answer = await connection.request("session.open", { ...params, join, page }, { isAtOnce: true }).answer;
    if (answer?.result) {
      session.members.add(connection);
      return session;
    }
    if (answer?.error.code === 2401 && [...session.members].every((member) => member.isLeaving)) {
      if (this.#session === known) this.#session = undefined;
    } else if (answer && !(answer.error.data.kind === "notOnStack" && page)) {
      connection.fault(`could not join: ${JSON.stringify(answer.error)}`);
    }
  }

  #opened(connection, answer) {
    if (!answer?.result) {
      if (answer) connection.fault(`session.open: ${JSON.stringify(answer.error)}`);
      this.#session = undefined;
      return;
    }
    this.#sessions += 1;
    this.run.counts.sessions += 1;
    const session = new Session(this.run, `${this.name}.session${this.#sessions}`, answer.result);
    session.members.add(connection);
    return session;
  }

  /** Waits while the members stop. */
  async pass() {
    while (this.#gate) {
      this.#waiting += 1;
      await this.#gate;
      this.#waiting -= 1;
    }
  }

  /** Stops the other members, and compares the state of the server with that of the clients. */
  async settle(random) {
    if (this.#gate || this.run.isOver) return;
    let open = () => {};
    this.#gate = new Promise((resolve) => (open = resolve));
    await this.#until("the members do not rest", () => (this.#waiting >= this.members.length - 1 ? undefined : `${this.#waiting} do`));
    await this.#settle();
    // From time to time all members leave, and the session ends.
    if (random.chance(0.3)) this.generation += 1;
    this.#gate = undefined;
    open();
  }

  async #settle() {
    const living = this.members.filter((member) => member.connection?.isOpen && !member.connection.isLeaving && member.session);
    const session = await this.#session;
    const inSession = living.filter((member) => member.session === session);
    if (inSession.length === 0) return;
    const [{ connection, calls }] = inSession;
    const ask = async (method, params) => (await connection.request(method, params, { isAtOnce: true }).answer)?.result;
    const flush = () => Promise.all(inSession.map((member) => member.connection.request("$/ping", undefined, { isAtOnce: true }).answer));
    const underWay = (isLeft) => inSession.flatMap(({ connection, hosting }) => {
      const left = [...connection.calls.values()].filter(isLeft);
      const calls = left.map((call) => `${connection.name}: ${call.method} ${JSON.stringify(call.params)}`);
      return hosting.owed > 0 ? [...calls, `${connection.name} owes ${hosting.owed} answers`] : calls;
    }).join("; ") || undefined;
    const isShare = (call) => call.params?.uri === "action://share";
    await this.#until("calls do not end", () => underWay((call) => call.page === undefined && !isShare(call)));
    await this.#until("stack and hosts differ", async () => {
      await flush();
      const stack = await ask("navigation.stack");
      return stack && session.difference(stack);
    });
    await this.#until("calls do not end after their pages", async () => {
      const stack = await ask("navigation.stack");
      const roots = [stack, ...(stack?.tabs ?? [])].flatMap((tab) => tab?.pages?.slice(0, 1) ?? []);
      for (const root of roots) await calls.navigate("navigation.finish", { page: root.id }, session.offer()).answer;
      await flush();
      return roots.length > 0 ? `${roots.map((root) => root.id)} on the stack` : underWay(() => true);
    });
    // Pages of a notification or a deep link can still close others.
    await this.#until("pages are not closed at their hosts", async () => {
      await flush();
      return session.unclosed();
    });
    session.forget();
    this.run.counts.settled += 1;
  }

  /** Waits until `check` finds no difference. The server itself waits 10 s for a silent host. */
  async #until(what, check) {
    const end = performance.now() + 10_000 + 5 * this.run.timeout;
    for (;;) {
      const found = await check();
      if (found === undefined) return;
      if (performance.now() > end || this.run.server.hasEnded) return this.run.fault(`${this.name}: ${what}: ${found}`);
      await this.run.pause(5);
    }
  }
}

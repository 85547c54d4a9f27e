import { ACTIONS } from "./actions.mjs";
import { Calls } from "./calls.mjs";
import { Connection } from "./connection.mjs";
import { HostHandlers } from "./host-handlers.mjs";
import { Random } from "./random.mjs";

/** The hosts of an app's members, by their place in it: the shell, the Flutter view, and two web pages. */
const HOSTS = [
  [{ scheme: "native", kind: "page" }, { scheme: "action", kind: "task" }],
  [{ scheme: "flutter", kind: "page" }],
  [{ patterns: ["web2://page/:id"], kind: "page" }],
  [{ patterns: ["web3://page/:id"], kind: "page" }],
];
const SCHEMES = [["native", "action"], ["flutter"], ["web2"], ["web3"]];
export const WAYS_TO_LEAVE = ["close", "session.close", "terminate", "terminate", "reset"];

/** One place in an app: clients that join its session one after another, make random calls, and vanish. */
export class Member {
  /** The current client. */
  connection;
  hosting;

  constructor(run, app, place) {
    this.run = run;
    this.app = app;
    this.place = place;
    this.hosts = HOSTS[place];
    this.schemes = SCHEMES[place];
  }

  /** Runs until the run is over; then its last client is still connected. */
  async live() {
    for (let life = 1; ; life += 1) {
      const name = `${this.app.name}.${this.place}.${life}`;
      this.random = new Random(this.run.seed, name);
      await this.app.pass();
      if (this.run.isOver) return;
      if (!(await this.#enter(name))) continue;
      const { generation } = this.app;
      const actions = 20 + this.random.below(300);
      for (let done = 0; done < actions && this.connection.isOpen; done += 1) {
        await this.app.pass();
        if (this.run.isOver) return;
        if (this.app.generation !== generation) break;
        this.random.weighted(ACTIONS)(this);
        if (this.random.chance(0.7)) await this.run.pause(this.random.below(2 * this.run.think));
      }
      if (this.random.chance(0.25)) await this.app.settle(this.random);
      await this.leave(this.random.pick(WAYS_TO_LEAVE));
    }
  }

  /** Connects and opens the app's session, or joins it. */
  async #enter(name) {
    const isPlain = this.random.chance(0.15);
    this.connection = new Connection(this.run, name, "/bridge", isPlain ? [] : ["waybridge.v1"]);
    if (!(await this.connection.opened)) return this.run.pause(50);
    this.run.counts.clients += 1;
    if (isPlain) this.connection.request("$/ping", undefined, { isAtOnce: true });
    const session = await this.app.enter(this.connection, this.hosts, this.random);
    if (!session) {
      this.connection.leave("close");
      return false;
    }
    this.session = session;
    session.hosts(this.connection, this.schemes);
    this.hosting = new HostHandlers(this.run, session, this.connection);
    this.calls = new Calls(this.run, session, this.connection);
    return true;
  }

  async leave(how) {
    if (!this.connection) return;
    this.session?.unhosts(this.connection);
    this.connection.leave(how);
    this.session?.members.delete(this.connection);
    await this.connection.ended;
  }
}

import { pagePlan, taskPlan } from "./plans.mjs";

const later = (milliseconds, work) => (milliseconds === 0 ? work() : void setTimeout(work, milliseconds));

/** A client in its role of host: answers what the server asks, as the plans have it. */
export class Hosting {
  #run;
  #session;
  #connection;
  /** What the server has asked and is not answered yet, by id. */
  #owed = new Map();

  constructor(run, session, connection) {
    this.#run = run;
    this.#session = session;
    this.#connection = connection;
    connection.handOver((message) => (message.id === undefined ? this.#told(message) : this.#asked(message)));
  }

  /** How many answers the server waits for. */
  get owed() {
    return this.#owed.size;
  }

  #asked(request) {
    const { method, params } = request;
    if (method === "page.open") return this.#openPage(request, params.page);
    if (method === "task.run" || method === "page.call") return this.#runTask(request, params);
    if (method !== "page.close") return this.#connection.fault(`asked for ${method}`);
    this.#session.closedAtHost(this.#connection, params.page, params.reason);
    this.#run.counts.closed += 1;
    this.#connection.send({ id: request.id, result: null });
  }

  /** Keeps a request until `answer` is called, or until it is cancelled, where it is patient. */
  #owe(id, plan, answer) {
    const owed = { isCancelled: false, answer: undefined, plan };
    owed.answer = () => {
      if (!this.#owed.delete(id) || this.#connection.isLeaving) return;
      answer(owed.isCancelled);
    };
    this.#owed.set(id, owed);
    later(plan.delay, owed.answer);
  }

  #openPage({ id }, page) {
    const ask = this.#session.asked(this.#connection, page.params.tag, "page.open");
    if (!ask) return;
    const known = this.#session.askedPage(this.#connection, page, ask);
    if (!known) return;
    const plan = pagePlan(this.#run.seed, ask.tag);
    this.#owe(id, plan, (isCancelled) => {
      const agrees = plan.agrees && !(isCancelled && plan.isPatient);
      this.#session.answered(known, agrees);
      if (agrees) this.#connection.send({ id, result: null });
      else this.#connection.send({ id, error: plan.error ?? { code: -32800, message: "cancelled" } });
    });
  }

  #runTask({ id, method }, { uri, params }) {
    const ask = this.#session.asked(this.#connection, params.tag, method);
    if (!ask) return;
    if (uri === "action://share") return this.#share(id, params);
    const plan = taskPlan(this.#run.seed, params.tag);
    for (let step = 0; step < (plan.progress ?? 0); step += 1) this.#progress(id, step);
    this.#owe(id, plan, (isCancelled) => {
      // A host may tell of its progress after it was cancelled; nobody hears it any more.
      if (isCancelled) this.#progress(id, "too late");
      if (plan.error) this.#connection.send({ id, error: plan.error });
      else this.#connection.send({ id, result: plan.value });
    });
  }

  /** Shows a sheet, and answers with what it ended with. */
  #share(id, params) {
    const tag = `${params.tag}-sheet`;
    this.#session.begin(tag, this.#connection);
    const call = this.#connection.request("router.open", {
      uri: "native://share/sheet", params: { tag }, style: "present",
    });
    this.#session.ask(tag).call = call;
    call.onShown = (page) => this.#session.shown(this.#connection, call, page);
    call.whenAnswered((answer) => {
      if (!answer || this.#connection.isLeaving) return;
      if (answer.result) this.#session.outcome(this.#connection, call, answer.result);
      this.#connection.send({ id, result: { tag: params.tag, isShared: answer.result?.outcome === "finished" } });
    });
  }

  #progress(id, value) {
    this.#connection.send({ method: "$/progress", params: { id, value } });
  }

  #told({ method, params }) {
    if (method === "page.resume") return;
    if (method === "event") {
      const { topic, data } = params;
      const covers = (wanted) => wanted === topic || (wanted.endsWith("*") && topic.startsWith(wanted.slice(0, -1)));
      if (![...this.#connection.topics.keys()].some(covers)) {
        this.#connection.fault(`told ${topic}, which it does not want`);
      }
      this.#run.counts.events += 1;
      if (topic === "page.opened" || topic === "page.closed") this.#session.told(this.#connection, topic, data);
      return;
    }
    if (method !== "$/cancelRequest") return this.#connection.fault(`told ${method}`);
    const owed = this.#owed.get(params.id);
    if (!owed) return;
    owed.isCancelled = true;
    if (owed.plan.isPatient) owed.answer();
  }
}

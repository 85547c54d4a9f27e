import { Random } from "./random.mjs";

/** What a host does about a task: drawn from the call's tag, so that its caller knows what must come. */
export function taskPlan(seed, tag) {
  const random = new Random(seed, tag);
  const delay = random.chance(0.6) ? 0 : 1 + random.below(20);
  const value = { tag, random: random.below(1000), text: "x".repeat(random.below(random.chance(0.02) ? 20_000 : 60)) };
  return random.weighted([
    [60, { delay, value }],
    [10, { delay, error: { code: 1 + random.below(1999), message: `no ${tag}`, data: { tag } } }],
    [5, { delay, error: { code: 3000 + random.below(9), message: `no ${tag}` } }],
    [8, { delay, error: { code: random.pick([-32601, -32603, 2404, 0, -5]), message: `cannot ${tag}` } }],
    [12, { delay, value, progress: 1 + random.below(4) }],
    // Answers when it is cancelled, or so much later.
    [5, { delay: 300, value, isPatient: true }],
  ]);
}

/** What a host does about a page. */
export function pagePlan(seed, tag) {
  const random = new Random(seed, tag);
  const delay = random.chance(0.8) ? 0 : 1 + random.below(20);
  return random.weighted([
    [85, { delay, agrees: true }],
    [8, { delay, agrees: false, error: { code: random.pick([-32603, 5, 2502, 4000]), message: `not ${tag}` } }],
    [4, { delay: 200, agrees: true, isPatient: true }],
    [3, { delay: 200, agrees: true }],
  ]);
}

/** The caller's view of a task's plan: what the call is answered. */
export function expectedAnswer(plan, entry) {
  if (plan.error) {
    const { code, message, data } = plan.error;
    const isApplication = (code >= 1 && code <= 1999) || code >= 3000;
    return isApplication ? { error: { code, message, data } } : { error: { code: 2502, host: { code, message } } };
  }
  if (entry !== "router.open") return { result: plan.value };
  return { result: { outcome: "finished", code: 0, message: "", data: plan.value } };
}

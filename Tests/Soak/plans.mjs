import { Random } from "./random.mjs";

/** The plan of a host for a task. It is derived from the call's tag, so that its caller knows the expected response. */
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
    // Responds when it is cancelled, or this much later.
    [5, { delay: 300, value, isPatient: true }],
  ]);
}

/** The plan of a host for a page. */
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

/** The caller's view of a task's plan: the response to the call. */
export function expectedAnswer(plan, entry) {
  if (plan.error) {
    const { code, message, data } = plan.error;
    const isApplication = (code >= 1 && code <= 1999) || code >= 3000;
    return isApplication ? { error: { code, message, data } } : { error: { code: 2502, host: { code, message } } };
  }
  if (entry !== "router.open") return { result: plan.value };
  return { result: { outcome: "finished", code: 0, message: "", data: plan.value } };
}

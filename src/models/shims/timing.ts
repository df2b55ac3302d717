/** `single`: a model that has time limits of its own. `group`: it is several models, and gives the limits to each of them. */
export type Timing = "group" | "single";

const timings = new WeakMap<object, Timing>();

/** Says that a model keeps time limits itself. */
export function keepsTime<Made extends object>(model: Made, timing: Timing): Made {
  timings.set(model, timing);
  return model;
}

/** Whether a model keeps time limits itself, and how. */
export function timingOf(model: object): Timing | undefined {
  return timings.get(model);
}

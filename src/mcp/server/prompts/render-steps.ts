/** Writes a task and its steps, numbered; steps that are not for this client (`false`) are left out. */
export function renderSteps(task: string, steps: readonly (string | false)[]): string {
  const lines = steps.filter((step) => step !== false).map((step, index) => `${index + 1}. ${step.trimEnd()}`);
  return `${task}\n\nGo step by step:\n\n${lines.join("\n")}`;
}

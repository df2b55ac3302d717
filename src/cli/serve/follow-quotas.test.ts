import { expect, onTestFinished, test } from "vitest";

import { followQuotas } from "./open-served.ts";

test("followQuotas() warns once while quotas cannot be read, and again after they could be read", async () => {
  const answers = ["away", "away", "there", "locked", "locked"];
  const warned: unknown[] = [];
  let looks = 0;
  const refresh = async (): Promise<void> => {
    const answer = answers[looks++] ?? "there";
    if (answer !== "there") throw new Error(answer);
  };

  const timer = followQuotas({ refresh }, (cause) => warned.push((cause as Error).message));
  onTestFinished(() => clearInterval(timer));
  await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(answers.length);

  expect(warned).toEqual(["away", "locked"]);
});

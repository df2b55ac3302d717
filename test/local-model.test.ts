import { expect, test } from "vitest";

import { localModel } from "kitbag/models";

import { bakeryRequests, bakeryTools } from "./local-model/bakery.ts";
import { exampleRequests, exampleTools } from "./local-model/examples.ts";
import { museumRequests, museumTools } from "./local-model/museum.ts";
import { opsRequests, opsTools } from "./local-model/ops.ts";
import { radioRequests, radioTools } from "./local-model/radio.ts";
import type { LocalRequest } from "./local-model/request.ts";
import { skillRequests } from "./local-model/skills.ts";
import { dispatchStage, toDirectCalls } from "./support/dispatch-stage.ts";
import { driveModel, type MadeCall, type Stage } from "./support/drive-model.ts";
import { exampleSkillsStage, loadExampleSkills } from "./support/example-skills-stage.ts";
import { needProgram } from "./support/need-program.ts";

const toolboxes = [
  ["the examples of the guide", exampleTools, exampleRequests],
  ["a museum", museumTools, museumRequests],
  ["a bakery", bakeryTools, bakeryRequests],
  ["a company", opsTools, opsRequests],
  ["a radio station", radioTools, radioRequests],
] as const;

test.for(toolboxes)(
  "localModel() runs what it understands, and nothing else, over the tools of %s",
  async ([, tools, requests]) => {
    const stage = (): Stage => ({ tools: () => tools, run: (name) => `result of ${name}` });

    const { right, wrong } = await score(requests, stage);
    const searched = await score(requests, () => dispatchStage(tools));

    expect([...wrong, ...searched.wrong]).toEqual([]);
    expect(Math.min(right, searched.right) / requests.length).toBeGreaterThanOrEqual(0.9);
  },
);

test("localModel() runs what it understands, and nothing else, over the skills that ship with Kitbag", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const { right, wrong } = await score(skillRequests, () => exampleSkillsStage(skills));
  const searched = await score(skillRequests, () => dispatchStage([], skills));

  expect([...wrong, ...searched.wrong]).toEqual([]);
  expect(Math.min(right, searched.right) / skillRequests.length).toBeGreaterThanOrEqual(0.9);
});

interface Score {
  readonly right: number;
  /** Requests for which something was run that was not asked for, with what was run. */
  readonly wrong: readonly (readonly [request: LocalRequest["ask"], calls: readonly MadeCall[]])[];
}

async function score(requests: readonly LocalRequest[], stage: () => Stage): Promise<Score> {
  const model = localModel({ today: "2026-11-16" });
  const wrong: [LocalRequest["ask"], readonly MadeCall[]][] = [];
  let right = 0;
  for (const { ask, want } of requests) {
    const { calls } = await driveModel(model, stage(), [ask].flat());
    const made = toDirectCalls(calls).filter(([tool]) => tool !== "activate_skill");
    const isSame = JSON.stringify(sortKeys(made)) === JSON.stringify(sortKeys(typeof want === "string" ? [] : want));
    if (isSame) right += 1;
    else if (made.length > 0) wrong.push([ask, made]);
  }
  return { right, wrong };
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

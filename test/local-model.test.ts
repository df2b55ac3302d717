/** How the offline model does with requests of people: over the example skills, over a toolbox, and over lots that were new to it when they were first tried. */
import { localModel, type ModelTool } from "kitbag/models";
import { expect, test } from "vitest";

import { needProgram } from "./support/need-program.ts";
import { carefulRequests, carefulToolRequests } from "./local-model/careful-requests.ts";
import type { RequestCase } from "./local-model/request.ts";
import { skillRequests } from "./local-model/skill-requests.ts";
import { schoolRequests } from "./local-model/school-requests.ts";
import { schoolTools } from "./local-model/school-tools.ts";
import { studioRequests } from "./local-model/studio-requests.ts";
import { studioTools } from "./local-model/studio-tools.ts";
import { theatreRequests } from "./local-model/theatre-requests.ts";
import { theatreTools } from "./local-model/theatre-tools.ts";
import { toolboxAnswers, toolboxTools } from "./local-model/toolbox-tools.ts";
import { toolboxRequests } from "./local-model/toolbox-requests.ts";
import { unseenSkillRequests, unseenToolboxRequests } from "./local-model/unseen-requests.ts";
import { laterSkillRequests, otherToolRequests } from "./local-model/unseen-requests-2.ts";
import { bureauRequests } from "./local-model/bureau-requests.ts";
import { bureauTools } from "./local-model/bureau-tools.ts";
import { clinicRequests } from "./local-model/clinic-requests.ts";
import { clinicTools } from "./local-model/clinic-tools.ts";
import { clubRequests, clubSkillRequests } from "./local-model/club-requests.ts";
import { clubTools } from "./local-model/club-tools.ts";
import { conversationRequests } from "./local-model/conversation-requests.ts";
import { depotRequests, depotSkillRequests } from "./local-model/depot-requests.ts";
import { depotTools } from "./local-model/depot-tools.ts";
import { deskRequests, deskSkillRequests } from "./local-model/desk-requests.ts";
import { deskTools } from "./local-model/desk-tools.ts";
import { farmRequests, farmSkillRequests } from "./local-model/farm-requests.ts";
import { farmTools } from "./local-model/farm-tools.ts";
import { flatRequests, fullFlatRequests } from "./local-model/flat-requests.ts";
import { flatTools, fullFlatTools } from "./local-model/flat-tools.ts";
import { garageRequests } from "./local-model/garage-requests.ts";
import { garageTools } from "./local-model/garage-tools.ts";
import { harbourRequests } from "./local-model/harbour-requests.ts";
import { harbourTools } from "./local-model/harbour-tools.ts";
import { houseRequests } from "./local-model/house-requests.ts";
import { houseSkillRequests } from "./local-model/house-skill-requests.ts";
import { houseTools } from "./local-model/house-tools.ts";
import { officeRequests, officeSkillRequests } from "./local-model/office-requests.ts";
import { officeTools } from "./local-model/office-tools.ts";
import { otherTools } from "./local-model/other-tools.ts";
import { travelRequests } from "./local-model/travel-requests.ts";
import { travelTools } from "./local-model/travel-tools.ts";
import { lastSkillRequests, lastToolboxRequests } from "./local-model/unseen-requests-3.ts";
import { dispatchStage, toDirectCalls } from "./support/dispatch-stage.ts";
import { driveModel, type Driven, type Stage } from "./support/drive-model.ts";
import { exampleSkillsStage, loadExampleSkills } from "./support/example-skills-stage.ts";

test("localModel() does what is asked over the example skills", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const wrong = await findWrong("example skills", skillRequests, () => exampleSkillsStage(skills));

  expect(wrong.length).toBeLessThanOrEqual(skillRequests.length * 0.1);
});

test("localModel() does what is asked over a toolbox", async () => {
  const wrong = await findWrong("toolbox", toolboxRequests, toolboxStage);

  expect(wrong.length).toBeLessThanOrEqual(toolboxRequests.length * 0.1);
});

test("localModel() does most of what is asked in requests that it was not built with", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const overSkills = await findWrong("unseen, example skills", unseenSkillRequests, () => exampleSkillsStage(skills));
  const overToolbox = await findWrong("unseen, toolbox", unseenToolboxRequests, toolboxStage);

  expect(overSkills.length + overToolbox.length).toBeLessThanOrEqual(3);
});

test("localModel() does most of what is asked over tools that it was never tried on", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const overSkills = await findWrong("later, example skills", laterSkillRequests, () => exampleSkillsStage(skills));
  const overOthers = await findWrong("later, other tools", otherToolRequests, otherStage);

  expect(overSkills.length + overOthers.length).toBeLessThanOrEqual(4);
});

test("localModel() does most of what is asked in a last lot of requests", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const overSkills = await findWrong("last, example skills", lastSkillRequests, () => exampleSkillsStage(skills));
  const overToolbox = await findWrong("last, toolbox", lastToolboxRequests, toolboxStage);

  expect(overSkills.length + overToolbox.length).toBeLessThanOrEqual(4);
});

test("localModel() does most of what is asked over the tools of many places", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();
  const lots = [
    ["house", houseTools, houseRequests, houseSkillRequests],
    ["help desk", deskTools, deskRequests, deskSkillRequests],
    ["club", clubTools, clubRequests, clubSkillRequests],
    ["office", officeTools, officeRequests, officeSkillRequests],
    ["depot", depotTools, depotRequests, depotSkillRequests],
    ["travel", travelTools, travelRequests, []],
    ["farm", farmTools, farmRequests, farmSkillRequests],
    ["flat", flatTools, flatRequests, []],
    ["flat, said otherwise", fullFlatTools, fullFlatRequests, []],
  ] as const;

  const wrong: RequestCase[] = [];
  for (const [name, tools, requests, skillRequests] of lots) {
    wrong.push(...(await findWrong(name, requests, () => stageOf(tools))));
    wrong.push(...(await findWrong(`${name}, example skills`, skillRequests, () => exampleSkillsStage(skills))));
  }

  expect(wrong.length).toBeLessThanOrEqual(9);
});

test("localModel() does most of what is asked over tools as servers declare them", async () => {
  const lots = [
    ["bureau", bureauTools, bureauRequests],
    ["studio", studioTools, studioRequests],
    ["clinic", clinicTools, clinicRequests],
    ["school", schoolTools, schoolRequests],
    ["harbour", harbourTools, harbourRequests],
    ["theatre", theatreTools, theatreRequests],
    ["garage", garageTools, garageRequests],
  ] as const;

  const wrong: RequestCase[] = [];
  for (const [name, tools, requests] of lots) wrong.push(...(await findWrong(name, requests, () => stageOf(tools))));

  expect(wrong.length).toBeLessThanOrEqual(19);
});

test("localModel() does most of it too where tools and skills are found by searching", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();
  const lots = [
    ["bureau", bureauTools, bureauRequests],
    ["house", houseTools, houseRequests],
    ["help desk", deskTools, deskRequests],
    ["travel", travelTools, travelRequests],
    ["flat", flatTools, flatRequests],
  ] as const;

  const wrong = await findWrong("example skills, searched", skillRequests, () => dispatchStage([], skills));
  for (const [name, tools, requests] of lots)
    wrong.push(...(await findWrong(`${name}, searched`, requests, () => dispatchStage(tools))));

  expect(wrong.length).toBeLessThanOrEqual(10);
});

test("localModel() goes on with what a conversation is about", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const wrong = await findWrong("conversations", conversationRequests, () => exampleSkillsStage(skills));

  expect(wrong).toEqual([]);
});

test("localModel() does no more than it is asked, and says what it has not done", async (context) => {
  needProgram(context, "python3");
  const skills = await loadExampleSkills();

  const wrong = await findWrong("careful", carefulRequests, () => exampleSkillsStage(skills));
  const wrongOverTools = await findWrong("careful, tools", carefulToolRequests, () =>
    stageOf([...houseTools, ...deskTools]),
  );

  expect([...wrong, ...wrongOverTools]).toEqual([]);
});

function otherStage(): Stage {
  return stageOf(otherTools);
}

function stageOf(tools: readonly ModelTool[]): Stage {
  return { tools: () => tools, run: (tool) => `result of ${tool}` };
}

function toolboxStage(): Stage {
  return { tools: () => toolboxTools, run: (tool) => toolboxAnswers[tool] ?? `result of ${tool}` };
}

/** The requests that went wrong, printed with what was done instead. */
async function findWrong(name: string, cases: readonly RequestCase[], stage: () => Stage): Promise<RequestCase[]> {
  const model = localModel({ today: "2026-11-16" });
  const wrong: RequestCase[] = [];
  const lines: string[] = [];
  for (const request of cases) {
    const made = await driveModel(model, stage(), [request.ask].flat());
    const driven = { ...made, calls: toDirectCalls(made.calls) };
    if (isRight(request, driven)) continue;
    wrong.push(request);
    lines.push(
      `  ${[request.ask].flat().join(" | ")}\n    ${JSON.stringify(driven.calls)} ${driven.text.slice(0, 300).replaceAll("\n", " / ")}`,
    );
  }
  // The score is what this test is for.
  process.stdout.write(`${name}: ${cases.length - wrong.length} of ${cases.length}\n${lines.join("\n")}\n`);
  return wrong;
}

function isRight({ calls, says }: RequestCase, driven: Driven): boolean {
  const isSame = JSON.stringify(sortKeys(driven.calls)) === JSON.stringify(sortKeys(calls));
  return isSame && (says === undefined || says.test(driven.text));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}

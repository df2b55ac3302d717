import { expect, test } from "vitest";

import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createComplete } from "./run-chat.ts";

test.for([
  ["/to", [["/tools "], "/to"]],
  ["/open ", [["games"], ""]],
  ["/open x", [[], "x"]],
  ["/close ", [["music"], ""]],
  ["/model o", [["openai/", "openai-chat/", "ollama/", "openai-compatible:"], "o"]],
  ["play mu", [["music", "music/play"], "mu"]],
  ["play ", [[], "play "]],
  ["", [[], ""]],
  ["/__proto__ x", [[], "x"]],
] as const)("createComplete() completes %j", async ([line, expected]) => {
  const play = defineTool({ name: "play", description: "Plays", run: () => "la" });
  const skills = ["music", "games"].map((name) => defineSkill({ name, description: name, tools: [play] }));
  const session = createWorkspace({ skills }).openSession();
  await session.activateSkill("music");

  expect(createComplete({ session })(line)).toEqual(expected);
});

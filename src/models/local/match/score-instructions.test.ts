import { expect, test } from "vitest";

import type { ModelTool } from "../../model.ts";
import { readRequest } from "../text/read-request.ts";
import { scoreInstructions } from "./score-instructions.ts";

const summary: ModelTool = { type: "function", name: "git__summary", inputSchema: { type: "object" } };

test("scoreInstructions() counts what a line says about a tool, and not where the skill lies", () => {
  const request = readRequest("who worked here?");
  const score = (text: string): number => scoreInstructions(summary, request, new Map([["git", text]]));

  expect(score("Base directory for this skill: /srv/works/summary")).toBe(0);
  expect(score("The summary tells who worked on what")).toBeGreaterThan(0);
});

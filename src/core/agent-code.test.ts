import { expect, test } from "vitest";

import { givesAway, isForAgents, isSkillAgent } from "./agent-code.ts";

test.for([
  ["a function", { kind: "function" }, [false, false, false]],
  ["an agent of the program", { kind: "agent", alone: {} }, [false, false, false]],
  ["an agent of a skill", { kind: "agent", skill: "git", instructions: "Go" }, [true, true, false]],
  ["a handoff", { kind: "agent", next: () => undefined }, [true, false, true]],
] as const)("isForAgents(), isSkillAgent() and givesAway() tell what %s is", ([_what, code, expected]) => {
  expect([isForAgents({ code }), isSkillAgent(code), givesAway(code)]).toEqual(expected);
});

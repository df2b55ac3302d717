import { expect, test } from "vitest";

import type { DebugStop } from "../../../agent/debug/create-debugger.ts";
import { runStopCommand, type StopView } from "./ask-at-stop.ts";

const seen: Omit<DebugStop, "where"> = {
  run: "r",
  step: 2,
  messages: [{ role: "user", content: [{ type: "text", text: "Do \u001B[2Jit" }] }],
  tools: ["add"],
};
const call = { run: "r", step: 2, id: "c", tool: "add", input: { a: 1 } };
const atModel: DebugStop = { where: "model", ...seen };
const atCall: DebugStop = { where: "call", ...seen, call };
const atOutcome: DebugStop = { where: "outcome", ...seen, call, outcome: { status: "ok", output: 3 } };

test.for<[string, DebugStop, unknown]>([
  ["n", atModel, { action: "step" }],
  ["  c  ", atModel, { action: "continue" }],
  ["q", atModel, { action: "stop" }],
  ['args {"a": 2}', atCall, { action: "step", input: { a: 2 } }],
  ["result 7", atCall, { action: "step", outcome: { status: "ok", output: 7 } }],
  ["result null", atOutcome, { action: "step", outcome: { status: "ok", output: null } }],
  ["retry", atOutcome, { action: "retry" }],
  ['retry {"a": 5}', atOutcome, { action: "retry", input: { a: 5 } }],
  ["retry", { where: "answer", ...seen }, { action: "retry" }],
])("runStopCommand() makes something happen with %j", ([words, stop, action]) => {
  expect(runStopCommand(stop, words, view())).toEqual({ action });
});

test.for<[string, DebugStop, string]>([
  ["args {", atCall, "Expected args and JSON"],
  ["args {}", atModel, "args can be used before a call"],
  ["retry", atCall, "retry can be used after an answer, and after a call"],
  ["m", atModel, String.raw`  1 user      Do \u001b[2Jit`],
  ["m 1", atModel, String.raw`"text": "Do \u001b[2Jit"`],
  ["m 9", atModel, "There are messages from 1 to 1"],
  ["m __proto__", atModel, "There are messages from 1 to 1"],
  ["t", atModel, "add"],
  ["p", atOutcome, '"output": 3'],
  ["h", atModel, "this help"],
  ["b", atModel, "There are no breakpoints; b PLACE sets one: step:N"],
  ["b step:x", atModel, "Cannot stop at step:x: expected step:N"],
  ["__proto__", atModel, "There is no command __proto__; h lists them"],
])("runStopCommand() shows something with %j", ([words, stop, text]) => {
  const answer = runStopCommand(stop, words, view());

  expect("text" in answer && answer.text).toContain(text);
  expect(JSON.stringify(answer)).not.toContain("\u001B");
});

test("runStopCommand() sets a breakpoint with b, and takes it away again", () => {
  const seenBy = view();

  const answers = ["b tool:add", "b failed", "b tool:add"].map((words) => runStopCommand(atModel, words, seenBy));

  expect(answers).toEqual([
    { text: "c stops at tool:add" },
    { text: "c stops at tool:add, failed" },
    { text: "c stops at failed" },
  ]);
  expect(seenBy.breakpoints).toMatchObject([{ place: "failed" }]);
});

function view(): StopView {
  return { columns: undefined, breakpoints: [] };
}

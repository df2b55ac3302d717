import { afterAll, expect, test } from "vitest";

import type { Case } from "../../../test/prompted-calls/case.ts";
import { tools } from "../../../test/prompted-calls/case.ts";
import { damageCases } from "../../../test/prompted-calls/damage-cases.ts";
import { expressionCases } from "../../../test/prompted-calls/expression-cases.ts";
import { fenceCases } from "../../../test/prompted-calls/fence-cases.ts";
import { headCases } from "../../../test/prompted-calls/head-cases.ts";
import { jsonCases } from "../../../test/prompted-calls/json-cases.ts";
import { nameCases } from "../../../test/prompted-calls/name-cases.ts";
import { proseCases } from "../../../test/prompted-calls/prose-cases.ts";
import { reactCases } from "../../../test/prompted-calls/react-cases.ts";
import { tagCases } from "../../../test/prompted-calls/tag-cases.ts";
import { tokenCases } from "../../../test/prompted-calls/token-cases.ts";
import { parseToolCalls } from "./parse-tool-calls.ts";

const styles = {
  json: jsonCases,
  fences: fenceCases,
  tags: tagCases,
  tokens: tokenCases,
  heads: headCases,
  expressions: expressionCases,
  react: reactCases,
  prose: proseCases,
  damage: damageCases,
  names: nameCases,
};

const score = { solved: 0, all: 0 };

afterAll(() => {
  process.stdout.write(`parseToolCalls() solves ${score.solved} of ${score.all} nasty cases\n`);
});

for (const [style, cases] of Object.entries(styles)) {
  test.for(cases.map((one) => [one.text, one] as const))(`parseToolCalls() reads ${style}: %j`, ([, one]) => {
    score.all += 1;

    expect(read(one.text)).toEqual(expectedOf(one));

    score.solved += 1;
  });
}

function read(text: string): unknown {
  const { calls, problems, reasoning, text: prose } = parseToolCalls(text, tools);
  return {
    calls: calls.map(({ name, input }) => [name, input]),
    prose,
    reasoning,
    problems: problems.map(({ kind }) => kind),
    repairs: calls.flatMap(({ repairs }) => repairs),
  };
}

function expectedOf({ calls = [], prose = "", reasoning = "", problems = [], repairs = [] }: Case): unknown {
  return { calls, prose, reasoning, problems, repairs };
}

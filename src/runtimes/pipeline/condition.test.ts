import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { isTrue, parseCondition } from "./condition.ts";

const values: Readonly<Record<string, JsonValue>> = {
  a: { count: 3, status: "done", list: [1], empty: [], object: {}, text: "", zero: 0, no: false, nil: null },
  b: { count: 3 },
};

test.for<[string, boolean]>([
  ["$a.count", true],
  ["${a.count} == 3", true],
  ["$a.missing", false],
  ["$nobody", false],
  ["$a.empty", false],
  ["$a.object", false],
  ["$a.text", false],
  ["$a.zero", false],
  ["$a.no", false],
  ["$a.nil", false],
  ["$a.list", true],
  ["true", true],
  ["false", false],
  ["null", false],
  ["$a.count == 3", true],
  ["$a.count==3", true],
  ["$a.count != 3", false],
  ['$a.count == "3"', false],
  ['$a.status == "done"', true],
  ["$a.status == 'done'", true],
  ["$a.missing == null", true],
  ["$a.nil == null", true],
  ["$a.count == $b.count", true],
  ["$a == $b", false],
  ["$a.zero == -0", true],
  ["$a.count > 2.5", true],
  ["$a.count < -1e3", false],
  ["$a.count >= 3 and $a.count <= 3", true],
  ['$a.status < "e"', true],
  ["$a.list.length > 0", true],
  ["not $a.count", false],
  ["not not $a.count", true],
  ["not $a.count == 4", true],
  ["$a.no or $a.count", true],
  ["$a.no and $a.count", false],
  ["true or true and false", true],
  ["(true or true) and false", false],
  ["not (false or $a.no)", true],
  ["$a.missing and $a.missing > 3", false],
  ["$a.android == null", true],
  ["((((true))))", true],
  ['$a["status"] == "done"', true],
])("the condition %s is %j", ([text, expected]) => {
  const holds = isTrue(parseCondition(text), (root) => values[root]);

  expect(holds).toBe(expected);
});

test.for<[string, string]>([
  ["", "expected a reference ($input.name), a number, a text in quotes, true, false or null, found nothing"],
  ["$a ==", "found nothing"],
  ["$a = 3", 'found "= 3" (did you mean "=="?)'],
  ["$a && $b", 'found "&& $b" (did you mean "and"?)'],
  ["$a || $b", '(did you mean "or"?)'],
  ["!$a", '(did you mean "not"?)'],
  ["$a == fast", 'found "fast" (did you mean "\\"fast\\""?)'],
  ["input.a == 1", 'found "input"'],
  ["$a $b", 'expected "and", "or", a comparison or the end, found "$b"'],
  ["($a", 'expected ")", found "nothing"'],
  ["$a)", 'found ")"'],
  ["$a == 1 == 1", 'found "=="'],
  ["$", "expected a reference such as $input.name"],
  ["${a", "expected a reference such as $input.name"],
  ["$a == 1e999", "expected a finite number"],
  ['$a == "\\x"', "expected a text in quotes as JSON writes it"],
  ["$a == 3.", 'found "3."'],
  ["process.exit()", 'found "process"'],
  ["(".repeat(40) + "true" + ")".repeat(40), "expected at most 32 conditions inside each other"],
  ["x".repeat(2001), "expected at most 2000 characters, found 2001"],
])("parseCondition() refuses %s", ([text, message]) => {
  expect(() => parseCondition(text)).toThrow(message);
});

test("isTrue() does not guess which of two unlike things is greater", () => {
  expect(() => isTrue(parseCondition('$a.count > "2"'), (root) => values[root])).toThrow(
    'cannot tell which is greater, 3 or "2"',
  );
});

test("parseCondition() throws nothing but pipeline-invalid, whatever the text", () => {
  const word = fc.constantFrom(
    ..."$a,$a.b,and,or,not,(,),==,!=,<,>=,1,-2.5,'x',\"y\",true,null,$,{,},=,&&,!,[0],.,\\,é,\n,\u0000".split(","),
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(word).map((words) => words.join(" ")),
  );

  fc.assert(
    fc.property(text, (source) => {
      expect(isReadOrRefused(source)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test("a condition of any shape means what its parts mean together", () => {
  const { any } = fc.letrec<{ any: Written; all: Written; atom: Written }>((tie) => ({
    any: fc.array(tie("all"), { minLength: 1, maxLength: 3 }).map((parts) => ({
      text: parts.map(({ text }) => text).join(" or "),
      value: parts.some(({ value }) => value),
    })),
    all: fc.array(tie("atom"), { minLength: 1, maxLength: 3 }).map((parts) => ({
      text: parts.map(({ text }) => text).join(" and "),
      value: parts.every(({ value }) => value),
    })),
    atom: fc.oneof(
      { maxDepth: 4 },
      fc.boolean().map((value) => ({ text: String(value), value })),
      fc.tuple(fc.nat(9), fc.nat(9)).map(([left, right]) => ({ text: `${left}<=${right}`, value: left <= right })),
      fc.tuple(fc.nat(2), fc.nat(2)).map(([left, right]) => ({ text: `${left} != ${right}`, value: left !== right })),
      tie("atom").map(({ text, value }) => ({ text: `not ${text}`, value: !value })),
      tie("any").map(({ text, value }) => ({ text: `(${text})`, value })),
    ),
  }));

  fc.assert(
    fc.property(
      any.filter(({ text }) => text.length < 2000),
      ({ text, value }) => {
        expect(isTrue(parseCondition(text), () => undefined)).toBe(value);
      },
    ),
    { numRuns: 500 },
  );
});

interface Written {
  readonly text: string;
  readonly value: boolean;
}

function isReadOrRefused(text: string): boolean {
  try {
    return parseCondition(text).kind.length > 0;
  } catch (cause) {
    return isKitbagError(cause, "pipeline-invalid");
  }
}

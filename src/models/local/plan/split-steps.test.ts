import { expect, test } from "vitest";

import { readRequest } from "../text/read-request.ts";
import { splitSteps } from "./split-steps.ts";

test.each([
  ["read a.txt then count b.txt", ["read a.txt", "count b.txt"]],
  ["read a.txt, and then count its words. Finally, list all", ["read a.txt", "count its words", "list all"]],
  ["read a.txt. Count its words.", ["read a.txt", "Count its words."]],
  ["read a.txt; after that count it", ["read a.txt", "count it"]],
  ["read a.txt and count its words", ["read a.txt", "count its words"]],
  ["1. read a.txt\n2. count b.txt", ["read a.txt", "count b.txt"]],
  ["1) read a.txt, 2) count b.txt", ["read a.txt", "count b.txt"]],
  ["- read a.txt\n- count b.txt", ["read a.txt", "count b.txt"]],
  ["read a.txt. Only the first page", ["read a.txt. Only the first page"]],
  ["read bread and butter", ["read bread and butter"]],
  ['read "one then two"', ['read "one then two"']],
  ["list: wash then dry", ["list: wash then dry"]],
  ["count the next three days", ["count the next three days"]],
])("splitSteps() takes %j apart", (text, expected) => {
  const steps = splitSteps(readRequest(text), (part) => {
    const verb = /\b(read|count|list)\b/iu.exec(part.text)?.[1];
    return verb === undefined ? undefined : { name: verb.toLowerCase(), isSure: true, isFull: false };
  });

  expect(steps.map((step) => step.text)).toEqual(expected);
});

test("splitSteps() makes no more steps than anybody writes", () => {
  const steps = splitSteps(readRequest("read a then ".repeat(500)), () => ({
    name: "read",
    isSure: true,
    isFull: false,
  }));

  expect(steps).toHaveLength(20);
});

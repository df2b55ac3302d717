import { KitbagError, type Problem } from "./errors.ts";
import { isObject, copyJson, isRecord, maxJsonDepth, showValue, toPath } from "./json.ts";
import { isName, nameRule } from "./names.ts";
import { nearestNames } from "./nearest.ts";
import { checkPermissions } from "./permissions.ts";
import { fitsOnce } from "./schema/engine.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import { checkLeniently, checkStrictly } from "./schema/validator.ts";
import { annotationNames, type Tool } from "./tool.ts";

/** The parts of a tool as they were given, before anything was checked. */
export interface UncheckedParts {
  readonly [part: string]: unknown;
}

const longestDescription = 20_000;

/** What is wrong with everything about a tool that is not a schema. */
export function checkParts(parts: UncheckedParts): Problem[] {
  const { name, description, title, version, needsApproval, inject, uses, permissions = {} } = parts;
  const problems: Problem[] = [];
  const expect = (isRight: boolean, path: string, expected: string): void => {
    if (!isRight) problems.push({ path, expected, found: showValue(parts[path]) });
  };
  expect(isName(name), "name", nameRule);
  expect(isText(description) && description.trim() !== "", "description", "a text that says what the tool does");
  if (isText(description) && description.length > longestDescription) {
    problems.push({ path: "description", expected: `at most ${longestDescription} characters`, found: "more" });
  }
  expect(title === undefined || isText(title), "title", "a text");
  expect(version === undefined || isVersion(version), "version", "a version like 1.2.0");
  expect(needsApproval === undefined || typeof needsApproval === "boolean", "needsApproval", "true or false");
  expect(uses === undefined || isTexts(uses), "uses", "a list of addresses of tools");
  expect(inject === undefined || isRecord(inject), "inject", "an object with a name for each injected value");
  problems.push(...checkCode(parts["code"]), ...checkPermissions(permissions));
  problems.push(...checkRecord("annotations", parts["annotations"], annotations));
  problems.push(...checkContradiction(parts["annotations"]), ...checkRecord("limits", parts["limits"], limits));
  problems.push(...checkRetries(parts["limits"], parts["annotations"]));
  problems.push(...checkRecord("cache", parts["cache"], cache), ...checkTtl(parts["cache"]));
  return problems;
}

/** What is wrong with the names of the parts: an unknown one would be ignored. */
export function checkPartNames(parts: UncheckedParts, known: readonly string[]): Problem[] {
  return Object.keys(parts)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const [nearest] = nearestNames(name, known, 1);
      return {
        path: toPath([name]),
        expected: `only ${known.join(", ")}`,
        found: "an unknown part",
        ...(nearest !== undefined && { didYouMean: nearest }),
      };
    });
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isVersion(version: unknown): boolean {
  return isText(version) && version.length <= 64 && /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/u.test(version);
}

function checkCode(code: unknown): Problem[] {
  if (!isRecord(code) || !isText(code["kind"])) {
    return [{ path: "code", expected: "code with a kind", found: showValue(code) }];
  }
  const { kind, run } = code;
  return kind !== "function" || typeof run === "function"
    ? []
    : [{ path: "run", expected: "a function", found: showValue(run) }];
}

type Words = Readonly<Record<string, { readonly expected: string; isRight(value: unknown): boolean }>>;

const flag = { expected: "true or false", isRight: (value: unknown) => typeof value === "boolean" };
const annotations: Words = Object.fromEntries(annotationNames.map((name) => [name, flag]));

/** Timers take no more: about 24 days. */
const longestMs = 2_147_483_647;

const limits: Words = {
  limitMs: {
    expected: `a number above 0, at most ${longestMs}`,
    isRight: (value) => typeof value === "number" && value > 0 && value <= longestMs,
  },
  maxConcurrent: {
    expected: "a whole number above 0",
    isRight: (value) => isCount(value),
  },
  retries: {
    expected: "a whole number from 0 to 10",
    isRight: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 10,
  },
  rate: { expected: "an object with calls and inMs, whole numbers above 0, and maybe burst", isRight: isRate },
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isRate(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).some((part) => !["calls", "inMs", "burst"].includes(part))) return false;
  const { calls, inMs, burst = 1 } = value;
  return [calls, inMs, burst].every(isCount);
}

const cache: Words = {
  ttlMs: {
    expected: "a whole number above 0",
    isRight: (value) => isCount(value),
  },
  key: { expected: "a function", isRight: (value) => typeof value === "function" },
  tags: { expected: "a list of words", isRight: (value) => Array.isArray(value) && value.every(isName) },
  similar: { expected: "{ parameter, threshold } with a name, and a number from 0 to 1", isRight: isSimilar },
  scope: { expected: '"user" or "everybody"', isRight: (value) => value === "user" || value === "everybody" },
};

function isSimilar(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).some((part) => !["parameter", "threshold"].includes(part))) return false;
  const { parameter, threshold = 1 } = value;
  return isText(parameter) && typeof threshold === "number" && threshold >= 0 && threshold <= 1;
}

function checkTtl(given: unknown): Problem[] {
  if (!isRecord(given) || given["ttlMs"] !== undefined) return [];
  return [{ path: "cache.ttlMs", expected: "a whole number above 0", found: "nothing" }];
}

function checkRecord(part: string, record: unknown, words: Words): Problem[] {
  if (record === undefined) return [];
  if (!isRecord(record)) return [{ path: part, expected: "an object", found: showValue(record) }];
  return Object.entries(record).flatMap(([name, value]): Problem[] => {
    const path = toPath([part, name]);
    const word = Object.hasOwn(words, name) ? words[name] : undefined;
    if (word === undefined) {
      const [nearest] = nearestNames(name, Object.keys(words), 1);
      const expected = `one of ${Object.keys(words).join(", ")}`;
      return [{ path, expected, found: "an unknown word", ...(nearest !== undefined && { didYouMean: nearest }) }];
    }
    return value === undefined || word.isRight(value)
      ? []
      : [{ path, expected: word.expected, found: showValue(value) }];
  });
}

function checkContradiction(given: unknown): Problem[] {
  if (!isRecord(given) || given["readOnly"] !== true || given["destructive"] !== true) return [];
  return [{ path: "annotations", expected: "readOnly or destructive, not both", found: "both" }];
}

/** What may not be run twice must not be tried twice. */
function checkRetries(given: unknown, about: unknown): Problem[] {
  if (!isRecord(given) || given["retries"] === undefined || given["retries"] === 0) return [];
  const isSafe = isRecord(about) && (about["idempotent"] === true || about["readOnly"] === true);
  if (isSafe) return [];
  return [{ path: "limits.retries", expected: "a tool that is idempotent or readOnly", found: "one that is not" }];
}

/** What is wrong with values that are injected: the model could set one that is a parameter as well. */
export function checkInject(names: readonly string[], schema: JsonSchema): Problem[] {
  const properties = schema["properties"];
  return names
    .filter((name) => isRecord(properties) && Object.hasOwn(properties, name))
    .map((name) => ({
      path: toPath(["inject", name]),
      expected: "a name that is not a parameter",
      found: "a parameter the model could set",
    }));
}

const exampleParts = ["description", "input", "output"];
const exampleLimits = { maxBytes: 1_000_000, maxDepth: maxJsonDepth };

/** What is wrong with examples: each must fit as it is, so that a model may copy it. */
export function checkExamples(
  examples: unknown,
  inputSchema: JsonSchema,
  outputSchema: JsonSchema | undefined,
): Problem[] {
  if (!Array.isArray(examples)) return [{ path: "examples", expected: "a list", found: showValue(examples) }];
  return examples.flatMap((example: unknown, index) => {
    const path = `examples[${index}]`;
    if (!isRecord(example)) return [{ path, expected: "an object with an input", found: showValue(example) }];
    const { description } = example;
    return [
      ...checkPartNames(example, exampleParts).map((problem) => below(path, problem)),
      ...(description === undefined || isText(description)
        ? []
        : [{ path: `${path}.description`, expected: "a text", found: showValue(description) }]),
      ...checkExampleInput(example["input"], `${path}.input`, inputSchema),
      ...checkExampleOutput(example["output"], `${path}.output`, outputSchema),
    ];
  });
}

function checkExampleInput(input: unknown, path: string, schema: JsonSchema): Problem[] {
  const copy = copyJson(input, exampleLimits);
  if (!copy.ok) return [{ path, expected: "a JSON object", found: showValue(input) }];
  // Most examples are right, and then the schema need not be made into code yet.
  if (fitsOnce(schema, copy.value)) return [];
  const checked = checkLeniently(schema, copy.value);
  if (!checked.ok) return checked.problems.map((problem) => below(path, problem));
  return checked.coerced.map(({ path: at, from, to }) => below(path, { path: at, expected: to, found: from }));
}

function checkExampleOutput(output: unknown, path: string, schema: JsonSchema | undefined): Problem[] {
  if (output === undefined) return [];
  const copy = copyJson(output, exampleLimits);
  if (!copy.ok) return [{ path, expected: "a JSON value", found: showValue(output) }];
  if (schema === undefined || fitsOnce(schema, copy.value)) return [];
  return checkStrictly(schema, copy.value).map((problem) => below(path, problem));
}

function below(path: string, problem: Problem): Problem {
  if (problem.path === "") return { ...problem, path };
  return { ...problem, path: problem.path.startsWith("[") ? path + problem.path : `${path}.${problem.path}` };
}

const expectations: readonly (readonly [keyof Tool, (value: unknown) => boolean, string])[] = [
  ["name", isName, nameRule],
  ["description", (value) => typeof value === "string", "a text"],
  ["inputSchema", isObject, "a schema"],
  ["annotations", isObject, "an object"],
  ["permissions", isObject, "an object"],
  ["examples", Array.isArray, "a list"],
  ["inject", Array.isArray, "a list of names"],
  ["limits", isObject, "an object"],
  ["code", isCode, "code with a kind"],
];

/**
 * Answers with `value` if it is a tool.
 *
 * @throws {KitbagError} `tool-invalid` if it is something else, as plain JavaScript can pass.
 */
export function asTool(value: unknown): Tool {
  if (!isObject(value) || !("code" in value) || !("inputSchema" in value)) {
    throw invalid("unknown", [{ path: "", expected: "a tool made with defineTool", found: showValue(value) }]);
  }
  const tool = value as Tool;
  const problems: Problem[] = [];
  for (const [path, isRight, expected] of expectations) {
    if (!isRight(tool[path])) problems.push({ path, expected, found: showValue(tool[path]) });
  }
  if (problems.length > 0) throw invalid(typeof tool.name === "string" ? tool.name : "unknown", problems);
  return tool;
}

function isCode(value: unknown): boolean {
  return isObject(value) && "kind" in value && typeof value.kind === "string";
}

function invalid(tool: string, problems: readonly Problem[]): KitbagError {
  return new KitbagError("tool-invalid", { tool, problems });
}

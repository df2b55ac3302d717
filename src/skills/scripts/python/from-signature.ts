import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { toDescription } from "../describe.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import { toValueSchema, type ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { readDocstring } from "./docstring.ts";
import type { PythonFacts, PythonFunction, PythonParameter } from "./python-facts.ts";
import { known } from "./python-types.ts";

/** What a signature says about a value. */
export function factsOf(parameter: PythonParameter, description: string | undefined): ValueFacts {
  const fallback = known(parameter.default) ?? undefined;
  return {
    type: typeOf(parameter, fallback),
    choices: parameter.choices,
    many: parameter.many,
    default: fallback,
    description: parameter.help ?? description,
    file: parameter.type === "path" ? "path" : undefined,
  };
}

function typeOf({ type, choices }: PythonParameter, fallback: ValueFacts["default"]): ValueFacts["type"] {
  if (choices !== undefined) return undefined;
  if (type === "int") return "integer";
  if (type === "float") return "number";
  if (type === "bool") return "boolean";
  if (type !== undefined) return "string";
  if (typeof fallback === "boolean") return "boolean";
  if (typeof fallback !== "number") return undefined;
  return Number.isInteger(fallback) ? "integer" : "number";
}

/** Makes the interface of a script that hands its functions to Fire. */
export function fromFire(commands: NonNullable<PythonFacts["fire"]>): DerivedInterface {
  return {
    commands: commands.slice(0, 100).map(({ name, function: own }) => toFireCommand(name, own)),
    confidence: "declared",
    source: "fire",
  };
}

function toFireCommand(name: string | null, own: PythonFunction): DerivedCommand {
  const docs = readDocstring(own.doc);
  const description = toDescription(own.doc ?? "");
  return withoutUndefined<DerivedCommand>({
    parameters: own.parameters.map((parameter) => toFireParameter(parameter, docs.get(parameter.name))),
    words: name === null ? undefined : [name],
    description: description === "" ? undefined : description,
  });
}

function toFireParameter(parameter: PythonParameter, description: string | undefined): Parameter {
  const facts = factsOf(parameter, description);
  if (parameter.kind === "places") return positional({ ...facts, name: parameter.name, many: true });
  const flags = [`--${parameter.name}`];
  if (facts.type === "boolean")
    return switchFlag({ ...facts, flags, opposite: `--no${parameter.name}`, required: parameter.required });
  // Fire reads a list from one word: `--items=[1,2]`.
  const { many, ...single } = facts;
  const made = valueFlag({ ...single, flags, required: parameter.required, joint: "=", joined: "always" });
  return many ? { ...made, schema: toValueSchema(facts) } : made;
}

/** The program that calls a `main` which nothing else calls, with the JSON on standard input as its arguments. */
const callMain = [
  "import asyncio, inspect, json, runpy, sys",
  "sys.argv = sys.argv[1:]",
  'main = runpy.run_path(sys.argv[0])["main"]',
  "result = main(**json.load(sys.stdin))",
  "result = asyncio.run(result) if inspect.iscoroutine(result) else result",
  "if result is not None:",
  "    print(result if isinstance(result, str) else json.dumps(result, default=str, ensure_ascii=False))",
].join("\n");

/** Makes the interface of a script whose `main` is defined but never called: Kitbag calls it. */
export function fromMain(main: PythonFunction): DerivedInterface & { readonly interpreter: readonly string[] } {
  const docs = readDocstring(main.doc);
  const parameters = main.parameters
    .filter(({ kind }) => kind !== "places")
    .map((parameter): Parameter => {
      const facts = factsOf(parameter, docs.get(parameter.name));
      const schema: JsonSchema =
        parameter.type === undefined && facts.type === undefined ? untyped(facts) : toValueSchema(facts);
      const { file } = facts;
      return {
        part: { kind: "field", property: parameter.name },
        schema,
        required: parameter.required,
        file,
      };
    });
  const isTyped = main.parameters.every(({ type, choices, default: fallback }) => type ?? choices ?? fallback);
  return withoutUndefined<DerivedInterface & { readonly interpreter: readonly string[] }>({
    commands: [withoutUndefined<DerivedCommand>({ parameters, otherFields: main.keywords ? true : undefined })],
    confidence: isTyped ? "declared" : "usage",
    source: "main signature",
    description: toDescription(main.doc ?? "") || undefined,
    interpreter: ["python3", "-c", callMain],
  });
}

function untyped({ description, choices }: ValueFacts): JsonSchema {
  return withoutUndefined<JsonSchema>({ description, enum: choices });
}

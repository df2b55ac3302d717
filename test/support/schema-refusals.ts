import { toList, toObject, toText, type Wire } from "./model-server-wire.ts";

/** What a provider refuses about one schema among those of a request, in its words. */
type Rule = (schema: Wire, depth: number) => string | undefined | false;

const toWords = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const strictKeywords = toWords(
  "type enum const description title properties required additionalProperties items anyOf $ref $defs pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems",
);
const strictFormats = toWords("date-time time date duration email hostname ipv4 ipv6 uuid");

const isObject = ({ type, properties }: Wire): boolean => type === "object" || properties !== undefined;
const nameOdd = (schema: Wire, known: ReadonlySet<string>): string | undefined =>
  Object.keys(schema).find((keyword) => !known.has(keyword));
const findMissing = ({ properties, required }: Wire): string | undefined =>
  Object.keys(toObject(properties)).find((name) => !toNames(required).includes(name));

/** OpenAI, "Structured model outputs", "Supported schemas". */
const strictRules: readonly Rule[] = [
  (schema) => {
    const odd = nameOdd(schema, strictKeywords);
    return odd !== undefined && `'${odd}' is not permitted.`;
  },
  (schema) => schema["$ref"] !== undefined && Object.keys(schema).length > 1 && "$ref cannot have keywords.",
  ({ $ref: reference }) =>
    reference !== undefined &&
    !/^#(?:\/\$defs\/[\w-]+)?$/u.test(toText(reference)) &&
    "reference can only point to definitions.",
  (schema) =>
    !["$ref", "type", "anyOf", "enum", "const"].some((keyword) => schema[keyword] !== undefined) &&
    "schema must have a 'type' key.",
  ({ format }) =>
    format !== undefined && !strictFormats.has(toText(format)) && `'${toText(format)}' is not a valid format.`,
  ({ pattern }) => /\(\?[=!<]/u.test(toText(pattern)) && "lookarounds are not supported in patterns.",
  ({ enum: choices }) => Array.isArray(choices) && choices.length === 0 && "enum must not be empty.",
  ({ type, items }) => type === "array" && items === undefined && "array schema missing items.",
  (schema, depth) => isObject(schema) && depth >= 10 && "there are more than 10 levels of nesting.",
  (schema) =>
    isObject(schema) &&
    schema["additionalProperties"] !== false &&
    "'additionalProperties' is required to be supplied and to be false.",
  (schema) => isObject(schema) && schema["properties"] === undefined && "object schema missing properties.",
  (schema) => {
    const missing = findMissing(schema);
    const isThere = Array.isArray(schema["required"]) && missing === undefined;
    return (
      isObject(schema) &&
      !isThere &&
      `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing ?? ""}'.`
    );
  },
];

/** What OpenAI's strict mode refuses. */
export function findStrictProblem(schema: Wire, path: readonly string[] = [], depth = 0): string | undefined {
  for (const rule of strictRules) {
    const problem = rule(schema, depth);
    if (typeof problem === "string") return `In context=(${path.map((step) => `'${step}'`).join(", ")}), ${problem}`;
  }
  const inner = [
    ...Object.entries(toObject(schema["properties"])).map(([name, one]) => [["properties", name], one, 1] as const),
    ...Object.entries(toObject(schema["$defs"])).map(([name, one]) => [["$defs", name], one, 0] as const),
    ...toList(schema["anyOf"]).map((one, index) => [["anyOf", String(index)], one, 0] as const),
    ...(schema["items"] === undefined ? [] : [[["items"], schema["items"], 0] as const]),
  ];
  for (const [step, one, deeper] of inner) {
    const problem = findStrictProblem(toObject(one), [...path, ...step], depth + deeper);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const anthropicKeywords = toWords(
  "$schema $id title description default const enum type anyOf allOf $ref $defs definitions properties required additionalProperties items format minItems pattern",
);
const anthropicFormats = new Set([...strictFormats, "uri"]);

/** Anthropic, "Structured outputs", "JSON Schema limitations". */
const anthropicRules: readonly Rule[] = [
  (schema) => {
    const odd = nameOdd(schema, anthropicKeywords);
    return odd !== undefined && `For '${toText(schema["type"])}' type, property '${odd}' is not supported`;
  },
  (schema) =>
    isObject(schema) &&
    schema["additionalProperties"] !== false &&
    "For 'object' type, 'additionalProperties' must be explicitly set to false",
  ({ format }) =>
    format !== undefined &&
    !anthropicFormats.has(toText(format)) &&
    `String format '${toText(format)}' is not supported`,
  ({ minItems }) =>
    minItems !== undefined &&
    minItems !== 0 &&
    minItems !== 1 &&
    "For 'array' type, 'minItems' values other than 0 or 1 are not supported",
  ({ enum: choices }) =>
    Array.isArray(choices) &&
    choices.some((choice) => typeof choice === "object" && choice !== null) &&
    "Enum values must be primitive",
  ({ allOf }) => toList(allOf).some((part) => part["$ref"] !== undefined) && "allOf with $ref is not supported",
  (schema) => Object.keys(schema).length === 0 && "Schema must have a type",
];

/** What Anthropic's output format refuses. */
export function findAnthropicProblem(schema: Wire): string | undefined {
  const all = [...listSchemas(schema)];
  const start = "output_config.format.schema: ";
  for (const one of all) {
    const problem = anthropicRules.map((rule) => rule(one, 0)).find((words) => typeof words === "string");
    if (typeof problem === "string") return start + problem;
  }
  if (refersToItself(schema)) return `${start}Recursive schemas are not supported`;
  const optional = all.flatMap((one) =>
    Object.keys(toObject(one["properties"])).filter((name) => !toNames(one["required"]).includes(name)),
  ).length;
  const unions = all.filter(({ anyOf, type }) => anyOf !== undefined || Array.isArray(type)).length;
  if (optional > 24) return `${start}Schemas contain too many optional parameters (${optional}), limit: 24`;
  if (unions > 16) return `${start}Schemas contain too many parameters with union types (${unions}), limit: 16`;
  return undefined;
}

const googleKeywords = toWords(
  "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering",
);

/** Google, `GenerationConfig.responseJsonSchema`. */
const googleRules: readonly Rule[] = [
  (schema) => {
    const odd = nameOdd(schema, googleKeywords);
    return odd !== undefined && `Unknown name "${odd}"`;
  },
  (schema) =>
    schema["$ref"] !== undefined &&
    Object.keys(schema).some((keyword) => !keyword.startsWith("$")) &&
    "no other fields may be set with $ref",
  ({ enum: choices }) =>
    Array.isArray(choices) &&
    choices.some((choice) => typeof choice !== "string" && typeof choice !== "number") &&
    "enum is supported for strings and numbers",
  (schema) => Object.keys(schema).length === 0 && "a schema must say something",
];

/** What Google's `responseJsonSchema` refuses. */
export function findGoogleSchemaProblem(schema: Wire): string | undefined {
  const start = "Invalid value at 'generation_config.response_json_schema': ";
  for (const one of listSchemas(schema)) {
    const problem = googleRules.map((rule) => rule(one, 0)).find((words) => typeof words === "string");
    if (typeof problem === "string") return start + problem;
  }
  const isCyclic = refersToItself(withoutOptional(schema));
  return isCyclic ? `${start}cyclic references may only be used within non-required properties` : undefined;
}

/** llama.cpp, "GBNF guide", "JSON Schemas", and Ollama and LM Studio, which build on it. */
export function findGrammarProblem(schema: Wire): string | undefined {
  for (const one of listSchemas(schema)) {
    const odd = ["not", "if", "patternProperties"].some((keyword) => one[keyword] !== undefined);
    const { pattern } = one;
    if (odd || (pattern !== undefined && !/^\^.*\$$/u.test(toText(pattern)))) return "failed to parse grammar";
  }
  return undefined;
}

const inOne = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const inLists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const inMaps = ["properties", "$defs", "definitions", "patternProperties"];

/** A schema and all inside it. */
function* listSchemas(schema: Wire): Generator<Wire> {
  yield schema;
  const inner = [
    ...inOne.map((keyword) => schema[keyword]).filter((one) => typeof one === "object"),
    ...inLists.flatMap((keyword) => toList(schema[keyword])),
    ...inMaps.flatMap((keyword) => Object.values(toObject(schema[keyword]))),
  ];
  for (const one of inner) yield* listSchemas(toObject(one));
}

/** Whether a schema comes back to itself through its references. */
function refersToItself(root: Wire): boolean {
  const visit = (schema: Wire, above: readonly string[]): boolean => {
    const reference = toText(schema["$ref"]);
    if (reference === "") {
      const { $defs: _, ...own } = schema;
      return [...listSchemas(own)].some((one) => one["$ref"] !== undefined && one !== schema && visit(one, above));
    }
    if (reference === "#" || above.includes(reference)) return true;
    return visit(toObject(toObject(root["$defs"])[reference.slice("#/$defs/".length)]), [...above, reference]);
  };
  return visit(root, []);
}

/** A schema without its properties that may be left out. */
function withoutOptional(schema: Wire): Wire {
  const needed = toNames(schema["required"]);
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === "properties") {
      const kept = Object.entries(toObject(value)).filter(([name]) => needed.includes(name));
      return [keyword, Object.fromEntries(kept.map(([name, one]) => [name, withoutOptional(toObject(one))]))] as const;
    }
    if (inLists.includes(keyword)) return [keyword, toList(value).map(withoutOptional)] as const;
    if (inMaps.includes(keyword)) {
      return [
        keyword,
        Object.fromEntries(
          Object.entries(toObject(value)).map(([name, one]) => [name, withoutOptional(toObject(one))]),
        ),
      ] as const;
    }
    return [
      keyword,
      inOne.includes(keyword) && typeof value === "object" ? withoutOptional(toObject(value)) : value,
    ] as const;
  });
  return Object.fromEntries(entries);
}

function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

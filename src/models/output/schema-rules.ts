/** Which JSON Schemas a provider holds an answer to. Their sources are in `docs/guide/models.md`. */
export interface SchemaRules {
  /** Constraints that it takes; all others are told in the description of the value. */
  readonly constraints: ReadonlySet<string>;
  /** Values of `format` that it takes. */
  readonly formats: ReadonlySet<string>;
  /** Every property must be required: an optional one may be null. */
  readonly requiresAll?: boolean;
  /** Takes objects with properties of any name. */
  readonly takesOpenObjects?: boolean;
  /** Takes lists whose items differ by place. */
  readonly takesTuples?: boolean;
  /** Writes a fixed value as a list of one, and takes only texts and numbers there. */
  readonly listsPlainChoices?: boolean;
  /** Takes schemas that refer to themselves: never, or only below optional properties. @default always */
  readonly recursion?: "never" | "optional";
  /** How many optional properties, and how many values with a choice of types, it takes. @default any number */
  readonly maxOptional?: number;
  readonly maxUnions?: number;
  /** How deep objects may stand inside each other, and how many properties and listed values there may be. @default any number */
  readonly maxDepth?: number;
  readonly maxProperties?: number;
  readonly maxChoices?: number;
}

const range = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const items = ["minItems", "maxItems"];

/** OpenAI's strict mode, and servers that copy it. */
export const strictSchemas: SchemaRules = {
  constraints: new Set(["pattern", ...range, ...items]),
  formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
  requiresAll: true,
  maxDepth: 10,
  maxProperties: 5000,
  maxChoices: 1000,
};

/** Anthropic. Its grammars do not compile long before the documented 24 optional properties. */
export const anthropicSchemas: SchemaRules = {
  constraints: new Set(),
  formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
  recursion: "never",
  maxOptional: 10,
  maxUnions: 16,
};

/** Google's `responseJsonSchema`. */
export const googleSchemas: SchemaRules = {
  constraints: new Set(["minimum", "maximum", ...items]),
  formats: new Set(["date-time", "date", "time"]),
  takesOpenObjects: true,
  takesTuples: true,
  listsPlainChoices: true,
  recursion: "optional",
};

/** Servers that make a grammar of the schema, as llama.cpp does: Ollama, LM Studio. */
export const grammarSchemas: SchemaRules = {
  constraints: new Set(["minimum", "maximum", "minLength", "maxLength", ...items]),
  formats: new Set(["date-time", "date", "time", "uuid"]),
  takesOpenObjects: true,
  takesTuples: true,
};

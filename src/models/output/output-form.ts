import type { ModelCall } from "../model.ts";
import { anthropicSchemas, googleSchemas, grammarSchemas, type SchemaRules, strictSchemas } from "./schema-rules.ts";

/** How a provider holds an answer to a JSON Schema. */
export interface OutputForm {
  /** The schemas that it takes. Any other schema is told in the prompt. */
  readonly schemas: SchemaRules;
  /** Options with which it takes any schema, and does not enforce it. */
  readonly loose?: ModelCall["providerOptions"];
  /** It can be asked for JSON without a schema. */
  readonly hasJsonMode?: boolean;
  /** The schema is told in the prompt too: the server may ignore it, or the model needs it to answer well. */
  readonly isTold?: boolean;
  /** An answer that is held to a schema cannot ask for a call, or the server refuses both together. */
  readonly excludesTools?: boolean;
}

/** How each provider takes a schema; `unknown` is a server of which nothing is known. */
export const outputForms = {
  /** Strict, where the schema allows it. */
  openai: { schemas: strictSchemas, loose: { openai: { strictJsonSchema: false } }, hasJsonMode: true },
  /** Its package makes a tool of the schema for models that know no output format. */
  anthropic: { schemas: anthropicSchemas },
  /** Its package makes a tool of the schema for models that do not take it together with tools. */
  google: { schemas: googleSchemas },
  /** Local servers that make a grammar of the schema, which leaves no room for a call. */
  grammar: { schemas: grammarSchemas, hasJsonMode: true, isTold: true, excludesTools: true },
  unknown: { schemas: strictSchemas, hasJsonMode: true, isTold: true, excludesTools: true },
} as const satisfies Readonly<Record<string, OutputForm>>;

/** The name of a form. */
export type OutputFormName = keyof typeof outputForms;

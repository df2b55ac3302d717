import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/server";

import type { JsonValue } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import { checkStrictly } from "../../../core/schema/validator.ts";

/** Checks the forms that people fill in, as the input of tools is checked: the SDK's own validator would be a second one to load. */
export const formValidator: jsonSchemaValidator = { getValidator };

function getValidator<Content>(schema: unknown): JsonSchemaValidator<Content> {
  return (content) => {
    const problems = checkStrictly(schema as JsonSchema, content as JsonValue);
    if (problems.length === 0) return { valid: true, data: content as Content, errorMessage: undefined };
    const texts = problems.map(
      ({ path, expected, found }) => `${path === "" ? "" : `${path}: `}expected ${expected}, found ${found}`,
    );
    return { valid: false, data: undefined, errorMessage: texts.join("; ") };
  };
}

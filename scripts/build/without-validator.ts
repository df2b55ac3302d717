import type { Plugin } from "rolldown";

const wanted = "@modelcontextprotocol/server/_shims";
const given = "\0kitbag-shims";

/**
 * Leaves out the validator of the MCP SDK, 300 KB that are a tenth of what a server loads: each server that we make is given ours
 * (`formValidator`). One that is made without fails at once.
 */
export const withoutValidator: Plugin = {
  name: "without-validator",
  resolveId: (name) => (name === wanted ? given : undefined),
  load: (id) =>
    id === given
      ? `import process from "node:process";
export { process };
export class DefaultJsonSchemaValidator {
  constructor() {
    throw new TypeError("Cannot make a server without a validator: set jsonSchemaValidator");
  }
}`
      : undefined,
};

import { isObject } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import { createRedactor } from "../../core/redactor.ts";
import { findWrongOption, isFunction, type Expectations, guardsExpectation } from "./find-wrong-option.ts";
import { redactionExpectations } from "./redaction.ts";
import { checkFailureOptions } from "../failures/retry-policy.ts";
import { checkQuotas } from "../quotas/quota-options.ts";
import { checkRates } from "../rates/rate-limit.ts";
import { telemetryExpectations } from "../telemetry/tracing.ts";
import type { WorkspaceOptions } from "../workspace.ts";

const expectations: Expectations<WorkspaceOptions> = {
  tools: [isIterable, "a list of tools"],
  components: [isIterable, "a list of components"],
  skills: [isIterable, "a list of skills"],
  runtimes: [isIterable, "a list of runtimes"],
  limits: [isObject, "an object"],
  rates: [isIterable, "a list of limits"],
  quotas: [isObject, "an object"],
  embedder: [isEmbedder, "an embedder, such as toEmbedder makes"],
  retries: [isObject, "an object"],
  breaker: [isObject, "an object"],
  keepFailed: [(value) => typeof value === "boolean", "true or false"],
  injected: [(value) => isObject(value) || isFunction(value), "an object or a function"],
  secrets: [isSecrets, "an object of texts"],
  approve: [isFunction, "a function"],
  files: [(value) => ["ask", "allow", "deny"].includes(value as string), '"ask", "allow" or "deny"'],
  localUser: [(value) => typeof value === "string" && value !== "", "a text"],
  scopesOf: [isFunction, "a function"],
  guards: guardsExpectation,
  store: [isStore, "a store"],
  audit: [isAudit, "an audit"],
  redaction: [isObject, "an object"],
  telemetry: [isObject, "an object"],
};

/**
 * Checks what {@link createWorkspace} was given, as plain JavaScript can give anything.
 *
 * @throws {KitbagError} `option-invalid` for an unknown option or a wrong value. A value is never shown: it may be a secret.
 */
export function checkOptions(options: WorkspaceOptions): void {
  const wrong =
    findWrongOption(options, expectations) ??
    findWrongOption(options.redaction ?? {}, redactionExpectations, "redaction") ??
    findWrongOption(options.telemetry ?? {}, telemetryExpectations, "telemetry");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  checkRates([...(options.rates ?? [])]);
  checkQuotasAndStore(options);
  checkFailureOptions(options.retries ?? {}, options.breaker ?? {});
  checkSecrets(options.secrets ?? {});
}

function isEmbedder(value: unknown): boolean {
  return isObject(value) && "embed" in value && isFunction(value.embed);
}

function checkQuotasAndStore({ quotas, store }: WorkspaceOptions): void {
  if (quotas === undefined) return;
  checkQuotas(quotas);
  if (store !== undefined) return;
  const expected = "a store beside them, because what users have used must be known after a restart";
  throw new KitbagError("option-invalid", { option: "quotas", found: "no store", expected });
}

function checkSecrets(secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret === "" || createRedactor({ [name]: secret }) !== undefined) continue;
    // What was declared and would not be taken out is refused, not ignored.
    throw new KitbagError("option-invalid", {
      option: `secrets.${name}`,
      found: "a text that is too short to be told from others",
      expected: "a longer one",
    });
  }
}

function isIterable(value: unknown): boolean {
  return isObject(value) && Symbol.iterator in value;
}

function isSecrets(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((secret) => typeof secret === "string");
}

function isAudit(value: unknown): boolean {
  return isObject(value) && "append" in value && "digest" in value;
}

function isStore(value: unknown): boolean {
  return isObject(value) && "kv" in value && "log" in value && "blobs" in value;
}

import { KitbagError } from "../../core/errors.ts";
import { parseTarget, type Target } from "./host.ts";

/** Where programs may connect to. */
export interface NetworkRule {
  /** As it was written. */
  readonly text: string;
  /** A `name` is that name alone, a `suffix` every name that ends in a dot and it, an `address` that address alone. */
  readonly kind: "name" | "suffix" | "address";
  readonly host: string;
  readonly ports: readonly number[];
}

const defaultPorts: readonly number[] = [80, 443];

/**
 * Reads a rule of the permission `network`: `api.github.com` (ports 80 and 443), `api.github.com:8443` (that port alone),
 * `*.example.com` (every name below it, but not `example.com`), `127.0.0.1:8080` or `[::1]:8080`.
 *
 * A name never gives access to a private address, whatever it resolves to; an address gives access to itself. To reach a private
 * address by its name, list both: `["db.example.com:5432", "10.0.0.5:5432"]`.
 *
 * @throws {KitbagError} `network-rule-invalid` if it is not one
 */
export function parseNetworkRule(text: string): NetworkRule {
  const refuse = (reason: string): never => {
    throw new KitbagError("network-rule-invalid", { rule: String(text), reason });
  };
  if (typeof text !== "string") return refuse("expected a text");
  if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(text)) return refuse("write the host alone, without scheme and path");
  if (/[/?#@]/u.test(text)) return refuse("write one host, without path, user or range of addresses");
  const isSuffix = text.startsWith("*.");
  if (!isSuffix && text.includes("*")) return refuse("a * stands only at the start, before a dot: *.example.com");
  const target = parseTarget(isSuffix ? text.slice(2) : text, 0);
  if ("wrong" in target) return refuse(target.wrong);
  const problem = findProblem(target, isSuffix);
  if (problem !== undefined) return refuse(problem);
  const kind = isSuffix ? "suffix" : target.kind;
  return { text, kind, host: target.host, ports: target.port === 0 ? defaultPorts : [target.port] };
}

/** Finds the rule that allows a target, if one does. */
export function findRule(rules: readonly NetworkRule[], { host, kind, port }: Target): NetworkRule | undefined {
  return rules.find((rule) => {
    if (!rule.ports.includes(port)) return false;
    if (rule.kind === "suffix") return kind === "name" && host.endsWith(`.${rule.host}`);
    return rule.kind === kind && rule.host === host;
  });
}

function findProblem({ host, kind }: Target, isSuffix: boolean): string | undefined {
  if (kind === "address") return isSuffix ? "a * stands only before a name" : undefined;
  if (host === "localhost" || host.endsWith(".localhost")) {
    return "a name gives no access to this machine; write the address, such as 127.0.0.1:8080";
  }
  return isSuffix && !host.includes(".") ? "a * needs a name of at least two parts: *.example.com" : undefined;
}

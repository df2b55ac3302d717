import type { McpExposure, McpExposureRule } from "./mcp-server-options.ts";

/** Finds what a client sees, by what it calls itself. */
export function findExposure(
  exposure: McpExposure | readonly McpExposureRule[],
  client: string | undefined,
): McpExposure {
  if (typeof exposure === "string") return exposure;
  return exposure.find((rule) => isMatch(rule.client, client ?? ""))?.exposure ?? "both";
}

/** `*` stands for any text; upper and lower case are the same. No regular expression: whoever names a client must not slow us down. */
function isMatch(pattern: string, name: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const text = name.toLowerCase();
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

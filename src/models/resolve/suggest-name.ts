import { providers } from "./providers.ts";

/** What models are called, and by whom. */
const families: readonly (readonly [start: RegExp, provider: string])[] = [
  [/^(?:chat)?gpt|^codex|^o[1-9]\b/iu, "openai"],
  [/^claude|^(?:opus|sonnet|haiku)\b/iu, "anthropic"],
  [/^gemini/iu, "google"],
];

/** The provider of models that are called like this, if everybody knows it. */
export function guessProvider(name: string): string | undefined {
  return families.find(([start]) => start.test(name))?.[1];
}

/** What was meant by the name of a model that says no provider, or says it in another way: `openai:gpt-6-sol`, `gpt-6-sol`. */
export function suggestName(name: string): string | undefined {
  if (/^local\b/iu.test(name)) return "local";
  const [, before = "", model = ""] = /^([^:/]+)[:/](.+)$/u.exec(name) ?? [];
  if (providers.has(before.toLowerCase())) return `${before.toLowerCase()}/${model}`;
  if (providers.has(name.toLowerCase().replace(/[:/]$/u, ""))) return `${name.toLowerCase().replace(/[:/]$/u, "")}/…`;
  const provider = guessProvider(name);
  return provider === undefined ? undefined : `${provider}/${name}`;
}

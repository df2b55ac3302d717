import { KitbagError } from "../../core/errors.ts";
import type { RedisLink } from "./redis-link.ts";

/** What may be lost when a server crashes: nothing, what it acknowledged in the last two seconds, or all. */
export type MayForget = "nothing" | "seconds" | "everything";

/** The settings of a server that keeps what it acknowledges. */
const settings = {
  /** It writes what it holds to a file… */
  appendonly: "yes",
  /** …and drops nothing when memory is short. */
  "maxmemory-policy": "noeviction",
};

/** Other than this, a server answers before it has written: at the latest two seconds later, if its disk is busy. */
const strictSettings = { ...settings, appendfsync: "always" };

/**
 * Checks that a server keeps what it acknowledges.
 *
 * @throws {KitbagError} `store-unsafe` if it does not, or does not say; `store-unavailable`.
 */
export async function checkRedis(link: RedisLink, shown: string, mayForget: MayForget): Promise<void> {
  // Asks in any case, so that an address that is wrong is noticed.
  await link.send(["PING"], false);
  if (mayForget === "everything") return;
  const needed = Object.entries(mayForget === "seconds" ? settings : strictSettings);
  const reasons: string[] = [];
  for (const [name, right] of needed) {
    const found = await askSetting(link, name);
    if (found !== right) reasons.push(`${name} is ${found}`);
  }
  if (reasons.length === 0) return;
  const right = needed.map((pair) => pair.join(" ")).join(", ");
  const cure = `set ${right} on the server, or say with mayForget what may be lost`;
  throw new KitbagError("store-unsafe", { store: shown, reasons, cure });
}

async function askSetting(link: RedisLink, name: string): Promise<string> {
  const answer = await link.send(["CONFIG", "GET", name], false).catch((cause: unknown) => {
    // Hosted servers often do not let anybody ask.
    if (cause instanceof Error && /\b(?:NOPERM|unknown command)/iu.test(cause.message)) return undefined;
    throw cause;
  });
  const pairs = Array.isArray(answer) ? answer : Object.entries(answer ?? {}).flat();
  const value: unknown = pairs[1];
  return typeof value === "string" ? value : "not told";
}

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import { isMcpProgram, type McpSource, needsLogin, toSourceKey } from "../../core/mcp-source.ts";
import type { McpChange, McpOffer } from "../../mcp/client/inspect-server.ts";
import type { KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { LogIn } from "../../runtimes/mcp/oauth-file.ts";
import { toDigest } from "../../platform/digest.ts";
import { loadLock, resolveLockPath, updateLock } from "../../skills/trust/lock-file.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { openWorkspace } from "../config/open-workspace.ts";
import { isYes, type Terminal } from "../terminal.ts";
import { getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { openCliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { toShownPath } from "../render.ts";
import { loadReports } from "../skills/load-reports.ts";
import { toKeptPath } from "./open-servers.ts";
import { renderInspected } from "./render-inspected.ts";

/**
 * Connects to other MCP servers, shows what they offer, and pins it if the person agrees. Where no person can be asked, what changed since
 * it was agreed to is pinned only with `--yes`: running the command again after a refusal is not reading.
 *
 * @throws {KitbagError} `usage-invalid` if there is no such server, `mcp-failed` if it cannot be reached.
 */
export async function trustServers(sources: readonly McpSource[], invocation: Invocation): Promise<Answer> {
  const { cwd, terminal, options } = invocation;
  const lockPath = resolveLockPath(cwd);
  const { createKeptContent } = await import("../../runtimes/mcp/kept-content.ts");
  const kept = createKeptContent(toKeptPath(invocation));
  const offers = await inspectAll(sources, { lockPath, kept }, invocation);
  const inspected = offers.map((offer) => withUnseen(offer, kept));
  const texts = await Promise.all(inspected.map((one) => renderInspected(one, { terminal, kept })));
  const text = texts.join("\n\n");
  const document = { servers: inspected.map(toDocument), lock: lockPath };
  const isAsked = terminal.canAsk && options["yes"] !== true;
  if (isAsked) {
    terminal.note(`${text}\n`);
    if (!isYes(await terminal.ask("Trust these tools and skills, as they are described now? [y/N] "))) {
      return { document: { trusted: false, ...document }, failure: "Not trusted", exitCode: 1 };
    }
  }
  const changed = inspected.filter(hasChanged).map(({ key }) => key);
  if (!terminal.canAsk && options["yes"] !== true && changed.length > 0) {
    const failure = `Not trusted, and nothing was pinned: ${changed.join(", ")} changed since you agreed, and no person can be asked. Read what is shown, then add --yes`;
    return { document: { trusted: false, changed, ...document }, text, failure: toPrintable(failure), exitCode: 1 };
  }
  await updateLock(lockPath, (lock) => {
    lock.servers ??= new Map();
    for (const { key, pins } of inspected) lock.servers.set(key, pins);
  });
  for (const { pins } of inspected) {
    for (const digest of [...pins.tools.values(), ...pins.skills.values()]) kept.writeJson(toAgreement(digest));
  }
  const pinned = `Pinned in ${toShownPath(lockPath, cwd)}. A tool that is described otherwise later will not run.`;
  return {
    document: { trusted: true, ...document },
    text: isAsked ? toPrintable(pinned) : `${text}\n${toPrintable(pinned)}`,
  };
}

/** A lock comes with the project: what it pins is new to a person who has not agreed to it on this machine, and is shown in full. */
function withUnseen(offer: McpOffer, kept: KeptContent): McpOffer {
  const see = <Offered extends { readonly change: McpChange }>(one: Offered, digest: string | undefined): Offered => {
    const agreement = toDigest(Buffer.from(toCanonicalJson(toAgreement(digest ?? ""))));
    return one.change === "same" && kept.read(agreement) === undefined ? { ...one, change: "new" } : one;
  };
  return {
    ...offer,
    tools: offer.tools.map((one) => see(one, offer.pins.tools.get(one.definition.name))),
    skills: offer.skills.map((one) => see(one, one.digest)),
  };
}

/** What is kept, in the folder of this person, about something that they agreed to. */
function toAgreement(digest: string): JsonValue {
  return { agreed: digest };
}

function hasChanged({ tools, skills }: McpOffer): boolean {
  return [...tools, ...skills].some(({ change }) => change === "changed");
}

/** Takes back what was agreed to at a server: it has no tools any more. */
export async function forgetServer(key: string, { cwd }: Invocation): Promise<Answer> {
  const lockPath = resolveLockPath(cwd);
  let removed = false;
  await updateLock(lockPath, (lock) => {
    removed = lock.servers?.delete(key) === true;
  });
  const text = removed ? `No longer trusted: the MCP server ${key}` : `It was not trusted: the MCP server ${key}`;
  return { document: { trusted: false, server: key, removed }, text: toPrintable(text) };
}

async function inspectAll(
  sources: readonly McpSource[],
  { lockPath, kept }: { readonly lockPath: string; readonly kept: KeptContent },
  invocation: Invocation,
): Promise<readonly McpOffer[]> {
  const { inspectServer } = await import("../../mcp/client/inspect-server.ts");
  const { servers } = loadLock(lockPath);
  // What is otherwise than before is in what the person is shown.
  const runtimes = openCliRuntimes(invocation, { onMcp: () => {} });
  const inspected: McpOffer[] = [];
  try {
    const runtime = await runtimes.openMcp();
    for (const source of sources) {
      const logIn = await openIfNeeded(source, invocation);
      try {
        const parts = { runtime, kept, before: servers?.get(toSourceKey(source)) };
        inspected.push(await inspectServer(source, parts, logIn === undefined ? {} : { logIn }));
      } finally {
        await logIn?.close();
      }
    }
    return inspected;
  } finally {
    await runtimes.close();
  }
}

/** A client that acts for itself needs no log-in of a person. */
async function openIfNeeded(source: McpSource, { terminal }: Invocation): Promise<OpenLogIn | undefined> {
  if (isMcpProgram(source) || source.oauth === undefined || !needsLogin(source.oauth)) return undefined;
  return openLogIn(terminal);
}

function toDocument({ key, source, tools, skills, refused, gone, pins }: McpOffer): Record<string, unknown> {
  return {
    server: key,
    ...(isMcpProgram(source)
      ? { command: [source.command, ...source.args], sandbox: source.sandbox ?? "on", permissions: source.permissions }
      : { url: source.url }),
    tools: tools.map(({ tool: { name, description }, ...offered }) => ({ name, description, ...offered })),
    skills: skills.map(({ skill, ...offered }) => ({ ...skill, ...offered })),
    shares: pins.shares ?? [],
    refused,
    gone,
  };
}

/**
 * Finds the servers of a project: those of its configuration, if that is trusted and may run now, and those of its trusted skills.
 *
 * @throws {KitbagError} `config-untrusted`
 */
export async function findSources(
  invocation: Invocation,
  { runsConfig }: { readonly runsConfig: boolean },
): Promise<readonly McpSource[]> {
  const configured = runsConfig ? await findConfigured(invocation) : [];
  const reports = await loadReports(invocation, getTexts(invocation.options, "skills"));
  const brought = reports.flatMap(({ skill }) =>
    skill?.folder?.trust.status === "trusted" ? (skill.servers ?? []) : [],
  );
  return [...configured, ...brought];
}

async function findConfigured(invocation: Invocation): Promise<readonly McpSource[]> {
  try {
    return (await openWorkspace(invocation, undefined)).mcp;
  } catch (cause) {
    if (cause instanceof KitbagError && cause.code === "config-missing") return [];
    throw cause;
  }
}

/**
 * Picks a server by its name.
 *
 * @throws {KitbagError} `usage-invalid` if there is no such server.
 */
export function pickSource(sources: readonly McpSource[], name: string): McpSource {
  const found = sources.find((source) => toSourceKey(source) === name);
  if (found !== undefined) return found;
  const known = sources.map(toSourceKey).join(", ") || "none";
  throw usageError(
    `Cannot trust the MCP server ${name}: the servers of this project are ${known}; those of skills that are not trusted do not count`,
  );
}

/** A place on this machine to which a browser comes back after a log-in. */
interface OpenLogIn extends LogIn {
  close(): Promise<void>;
}

const page = "<!doctype html><title>Kitbag</title><p>You are logged in. You can close this window.</p>";
/** A person may have to look for a password. */
const patienceMs = 5 * 60_000;

/** Opens a place for a browser to come back to, on the loopback address alone. */
export async function openLogIn(terminal: Pick<Terminal, "note">): Promise<OpenLogIn> {
  const { openGate } = await import("../../gate/open-gate.ts");
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const gate = await openGate({
    routes: [
      {
        path: "/callback",
        handle({ response, query }) {
          response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
          resolve(new URLSearchParams(query));
        },
      },
    ],
  });
  return {
    redirectUrl: `${gate.url}/callback`,
    show(url) {
      terminal.note(`Log in with your browser:\n  ${url.href}\n`);
      timer = setTimeout(() => reject(new Error("no log-in within five minutes")), patienceMs);
    },
    waitFor: () => promise,
    async close() {
      clearTimeout(timer);
      await gate.close({ graceMs: 1000 });
    },
  };
}

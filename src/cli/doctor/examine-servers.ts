import { type Environment, providers } from "../../models/providers.ts";
import { findConnection } from "../../models/resolve/find-connection.ts";
import { adviseOnMemory } from "../../models/servers/advise.ts";
import { createAskServer } from "../../models/servers/ask-server.ts";
import { serverNames } from "../../models/servers/list-server-models.ts";
import type { ServerModel, ServerUse } from "../../models/servers/server-model.ts";
import type { Gpu } from "../../sandbox/read-gpus.ts";
import { renderTable, showBytes, showDuration } from "../render.ts";
import type { Terminal } from "../terminal.ts";

/** A server of one's own, as it describes itself. */
export interface ServerExamination {
  readonly provider: string;
  readonly url: string;
  /** `undefined` if no such server answers there. */
  readonly models?: readonly ServerModel[];
  readonly use?: ServerUse;
  /** What to do about models that are not wholly in VRAM. */
  readonly advice: readonly string[];
}

/** Asks every server of one's own what it has, all at once. */
export async function examineServers(env: Environment): Promise<readonly ServerExamination[]> {
  return Promise.all(serverNames().map((provider) => examineServer(provider, env)));
}

async function examineServer(provider: string, env: Environment): Promise<ServerExamination> {
  const server = await providers.get(provider)?.loadServer?.();
  const found = findConnection(providers, `${provider}/any`, { env });
  if (server === undefined || found === "local") return { provider, url: "", advice: [] };
  const { connection } = found;
  const ask = createAskServer(connection);
  const models = await server.list(ask);
  if (models === undefined) return { provider, url: connection.baseUrl, advice: [] };
  const use = await server.use?.(ask);
  const advice = models.flatMap((model) => adviseOnMemory(model, models) ?? []);
  return { provider, url: connection.baseUrl, models, ...(use && { use }), advice };
}

/** The model of a server that is asked a question: one that is loaded, and that calls tools; else the smallest. */
export function pickModel({ models = [] }: ServerExamination): string | undefined {
  const rank = ({ isLoaded, tools }: ServerModel): number => (isLoaded === true ? 2 : 0) + (tools === false ? 0 : 1);
  const sizeOf = ({ sizeBytes = 0 }: ServerModel): number => sizeBytes;
  return models.toSorted((left, right) => rank(right) - rank(left) || sizeOf(left) - sizeOf(right))[0]?.name;
}

/** Shows what one's own servers have, what to do about it, and the graphics cards. */
export function renderServers(servers: readonly ServerExamination[], gpus: readonly Gpu[], terminal: Terminal): string {
  const rows = servers.flatMap((server) => (server.models ?? []).map((model) => toRow(server, model)));
  const headings = ["SERVER", "MODEL", "SIZE", "WEIGHTS", "ROUNDED", "CONTEXT", "TOOLS", "VISION", "LOADED"];
  const parts = [
    ...(rows.length > 0 ? [renderTable(headings, rows, terminal)] : []),
    ...servers.flatMap(({ provider, use }) => showUse(provider, use)),
    ...servers.flatMap(({ advice }) => advice),
    gpus.length === 0
      ? "No GPU seen: nvidia-smi and rocm-smi are not there, or see none"
      : gpus.map(showGpu).join("\n"),
  ];
  return parts.join("\n\n");
}

function toRow({ provider }: ServerExamination, model: ServerModel): readonly string[] {
  const { parameters, contextInUse, contextMax } = model;
  const context = [contextInUse, contextMax]
    .filter((tokens) => tokens !== undefined)
    .map((tokens) => tokens.toLocaleString("en-US"));
  return [
    provider,
    model.name,
    model.sizeBytes === undefined ? "" : showBytes(model.sizeBytes),
    parameters === undefined ? "" : `${Number((parameters / 1e9).toPrecision(2))} billion`,
    model.quantization ?? "",
    context.join(" of "),
    showAnswer(model.tools),
    showAnswer(model.vision),
    showLoaded(model),
  ];
}

function showAnswer(answer: boolean | undefined): string {
  return answer === undefined ? "" : answer ? "yes" : "no";
}

function showLoaded({ isLoaded, vramShare, unloadsAt }: ServerModel): string {
  if (isLoaded !== true) return isLoaded === undefined ? "" : "no";
  const left = (unloadsAt ?? 0) - Date.now();
  return [
    vramShare === undefined ? "yes" : `${Math.round(vramShare * 100)} % in VRAM`,
    ...(left > 0 ? [`for ${showDuration(left)}`] : []),
  ].join(", ");
}

function showUse(provider: string, use: ServerUse | undefined): readonly string[] {
  if (use === undefined) return [];
  const { running, waiting, cacheShare } = use;
  const facts = [
    ...(running === undefined ? [] : [`${running} requests running`]),
    ...(waiting === undefined ? [] : [`${waiting} waiting`]),
    ...(cacheShare === undefined ? [] : [`${Math.round(cacheShare * 100)} % of the memory for conversations in use`]),
  ];
  return facts.length === 0 ? [] : [`${provider}: ${facts.join(", ")}`];
}

function showGpu({ id, name, memoryBytes, usedBytes, busyShare, celsius }: Gpu): string {
  const facts = [
    ...(memoryBytes === undefined
      ? []
      : [`${usedBytes === undefined ? "" : `${showBytes(usedBytes)} of `}${showBytes(memoryBytes)} in use`]),
    ...(busyShare === undefined ? [] : [`${Math.round(busyShare * 100)} % busy`]),
    ...(celsius === undefined ? [] : [`${celsius} °C`]),
  ];
  return [`GPU ${id}: ${name}`, ...facts].join(", ");
}

import { listServerModels, serverNames } from "../servers/list-server-models.ts";
import type { ServerModel } from "../servers/server-model.ts";
import { bitsOf } from "../servers/weights.ts";
import { type Environment, providers } from "../providers.ts";
import type { ListedModel } from "./listed-models.ts";

/** The models of servers of one's own. */
export interface LocalTable {
  readonly models: readonly ListedModel[];
  /** Why a server has none, by the name of its provider. */
  readonly missing: ReadonlyMap<string, string>;
}

/** Asks every server of one's own which models it has, all at once. */
export async function loadLocalTable(env: Environment): Promise<LocalTable> {
  const lists = await Promise.all(
    serverNames().map(async (provider) => ({ provider, models: await listServerModels(provider, { env }) })),
  );
  const missing = new Map<string, string>();
  for (const { provider, models } of lists) {
    const address = providers.get(provider)?.findUrl(env).url ?? "its address";
    if (models === undefined) missing.set(provider, `no server at ${address}`);
    else if (models.length === 0) missing.set(provider, "it has no model; download one first");
  }
  return {
    models: lists.flatMap(({ provider, models = [] }) => models.map((model) => toListed(provider, model))),
    missing,
  };
}

function toListed(provider: string, model: ServerModel): ListedModel {
  const { quantization, tools = true, vision = false, contextInUse, contextMax } = model;
  const weights = countWeights(model);
  const size = weights === undefined ? "an unknown number of" : showWeights(weights);
  return {
    name: `${provider}/${model.name}`,
    provider,
    vision,
    tools,
    // The servers hold an answer to a schema themselves, whatever the model is.
    structuredOutput: true,
    // A server that loads the model anew gives it what is asked for; the others have what they have.
    context: provider === "ollama" ? (contextMax ?? contextInUse) : (contextInUse ?? contextMax),
    quality: rateQuality(weights, quantization),
    speed: rateSpeed(weights, model),
    note: `${size} weights${quantization === undefined ? "" : ` as ${quantization}`}${showPlace(model)}`,
    costAt: () => 0,
  };
}

function showPlace({ isLoaded, vramShare }: ServerModel): string {
  if (isLoaded !== true) return "";
  return vramShare === undefined ? ", loaded" : `, loaded, ${Math.round(vramShare * 100)} % of it in VRAM`;
}

function showWeights(weights: number): string {
  return weights >= 1e9 ? `${Number((weights / 1e9).toPrecision(2))} billion` : `${Math.round(weights / 1e6)} million`;
}

/** How much of what a model could do is left at so many bits, as published comparisons of roundings say; our reading of them. */
function keptAt(bits: number): number {
  if (bits >= 8) return bits === 8 ? 0.99 : 1;
  return [0.25, 0.25, 0.45, 0.7, 0.88, 0.94, 0.97, 0.98][bits] ?? 0.88;
}

/** By what the server says, or by the size of the file. */
function countWeights({ parameters, sizeBytes, quantization }: ServerModel): number | undefined {
  if (parameters !== undefined) return parameters;
  return sizeBytes === undefined ? undefined : (sizeBytes * 8) / (bitsOf(quantization) + 0.5);
}

/** From 1 to 5: twice the quality is four times the size. A smaller model that is rounded less can be better. */
function rateQuality(weights: number | undefined, quantization: string | undefined): number {
  if (weights === undefined) return 1;
  const billions = (weights / 1e9) * keptAt(bitsOf(quantization));
  return toRating(1 + Math.log2(Math.max(1, billions)) / 2);
}

/** From 1 to 5, by the bytes that are read for each token, and by where they are. */
function rateSpeed(weights: number | undefined, { name, quantization, vramShare = 1 }: ServerModel): number {
  const [, active] = /(?:^|[-_:])a(\d{1,3}(?:\.\d{1,2})?)b/iu.exec(name) ?? [];
  const working = active === undefined ? (weights ?? 8e9) : Number(active) * 1e9;
  const gigabytes = (working * bitsOf(quantization)) / 8 / 1e9;
  return toRating(5 - Math.log2(Math.max(1, gigabytes)) / 1.5 - (1 - vramShare) * 3);
}

function toRating(value: number): number {
  return Math.round(Math.min(5, Math.max(1, value)) * 10) / 10;
}

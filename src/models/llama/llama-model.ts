import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";

import { untilAborted } from "../../core/async.ts";
import { KitbagError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { machineClock } from "../../platform/clock.ts";
import type { Model, ModelCall, ModelPart } from "../model.ts";
import { findQuantization } from "../servers/llama-cpp.ts";
import { tellProgress } from "../servers/model-progress.ts";
import { createServerLink, setServerLink } from "../servers/server-link.ts";
import type { LocalServer } from "../servers/server-model.ts";
import { collectAnswer } from "../shims/collect-answer.ts";
import type { PartAnswer } from "../shims/part-source.ts";
import { toPartAnswer } from "../shims/part-source.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import { generateAnswer } from "./generate-answer.ts";
import type { LlamaPackage } from "./llama-package.ts";
import { type LoadedLlama, loadLlamaFile, type LoadOptions } from "./load-llama-file.ts";

/**
 * A model file in this process, through `node-llama-cpp`. It is loaded with the first question and stays in memory; questions take
 * turns. Calls of tools and answers to a schema are held by a grammar: nothing else can be written.
 */
export function llamaModel(library: LlamaPackage, name: string): Model {
  const path = resolve(name.startsWith("~/") ? join(homedir(), name.slice(2)) : name);
  const described = { provider: "llama", modelId: name, supportedUrls: {} };
  let loading: Promise<LoadedLlama> | undefined;
  let loaded: LoadedLlama | undefined;

  const load = (call: ModelCall): Promise<LoadedLlama> => {
    loading ??= loadNow(call).then(async (made) => {
      loaded = made;
      await link.refresh();
      return made;
    });
    loading.catch(() => (loading = undefined));
    return loading;
  };
  const loadNow = (call: ModelCall): Promise<LoadedLlama> => {
    const startedAt = machineClock.elapsed();
    const tell = (): void =>
      tellProgress(call, { model: `llama/${name}`, phase: "loading", elapsedMs: machineClock.elapsed() - startedAt });
    return loadLlamaFile(library, { model: `llama/${name}`, path }, readOptions(call), tell);
  };
  const ask = async (call: ModelCall): Promise<PartAnswer> => {
    const ready = await untilAborted(load(call), call.abortSignal);
    return toPartAnswer({
      stream: toStream(call, (sink) => generateAnswer(library, ready, call, { ...sink, name: `llama/${name}` }), ready),
    });
  };
  const model = wrapParts(described, { doGenerate: async (call) => collectAnswer((await ask(call)).source), ask });
  const server: LocalServer = {
    title: "llama.cpp",
    holdsRequests: true,
    growsContext: false,
    list: () => Promise.resolve(undefined),
    find: () => Promise.resolve(describeFile(name, loaded)),
  };
  const link = createServerLink(server, name, () => Promise.resolve(undefined), machineClock);
  setServerLink(model, link);
  return model;
}

function describeFile(name: string, loaded: LoadedLlama | undefined): Awaited<ReturnType<LocalServer["find"]>> {
  const quantization = findQuantization(basename(name));
  return {
    name,
    tools: true,
    isLoaded: loaded !== undefined,
    ...(quantization !== undefined && { quantization }),
    ...(loaded && {
      sizeBytes: loaded.file.size,
      contextInUse: loaded.contextSize,
      contextMax: loaded.file.trainContextSize,
    }),
  };
}

/** @throws {KitbagError} `option-invalid` */
function readOptions({ providerOptions }: ModelCall): LoadOptions {
  const given = providerOptions?.["llama"] ?? {};
  const check = (name: keyof LoadOptions, isRight: boolean, expected: string): void => {
    if (given[name] === undefined || isRight) return;
    throw new KitbagError("option-invalid", {
      option: `providerOptions.llama.${name}`,
      found: "something else",
      expected,
    });
  };
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
  check("contextSize", isCount(given["contextSize"]), "a number of tokens");
  check("threads", isCount(given["threads"]), "a number of threads");
  check("gpu", given["gpu"] === "auto" || given["gpu"] === false, '"auto" or false');
  const layers = given["gpuLayers"];
  check("gpuLayers", layers === "auto" || layers === "max" || layers === 0 || isCount(layers), "a number of layers");
  return isRecord(given) ? given : {};
}

/** Parts come as the library calls; one question is answered at a time, and it stops when its answer is no longer read. */
function toStream(
  call: ModelCall,
  generate: (options: { readonly onPart: (part: ModelPart) => void; readonly signal: AbortSignal }) => Promise<void>,
  { take }: LoadedLlama,
): ReadableStream<ModelPart> {
  const stop = new AbortController();
  const signal = call.abortSignal === undefined ? stop.signal : AbortSignal.any([stop.signal, call.abortSignal]);
  return new ReadableStream<ModelPart>({
    async start(controller) {
      // Not awaited: what is enqueued while it runs is read at once.
      void take(async () => {
        signal.throwIfAborted();
        await generate({ onPart: (part) => controller.enqueue(part), signal });
      }).then(
        () => controller.close(),
        (cause: unknown) => controller.error(cause),
      );
    },
    cancel: (reason) => stop.abort(reason),
  });
}

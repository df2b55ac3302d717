import { createMutex, type Mutex } from "../../core/async.ts";
import { describeCause, KitbagError } from "../../core/errors.ts";
import { findGgufProblem } from "./check-gguf.ts";
import type { ChatWrapper, Llama, LlamaFile, LlamaPackage, LlamaSequence } from "./llama-package.ts";

/** How a file is loaded: `providerOptions.llama` of the first question. */
export interface LoadOptions {
  /** @default "auto": a graphics card if there is one */
  readonly gpu?: "auto" | false;
  /** How many layers go to the graphics card. @default as many as fit */
  readonly gpuLayers?: "auto" | "max" | number;
  /** @default as much as fits, 16,384 at most */
  readonly contextSize?: number;
  /** @default as many as the library thinks best */
  readonly threads?: number;
}

/** A model file in memory, with one context: questions take turns. */
export interface LoadedLlama {
  readonly llama: Llama;
  readonly file: LlamaFile;
  readonly sequence: LlamaSequence;
  readonly contextSize: number;
  readonly wrapper: ChatWrapper;
  readonly take: Mutex;
}

const mostContext = 16_384;

/**
 * Loads a model file.
 *
 * @throws {KitbagError} (rejects) `model-unsupported` if it is not there, was cut, or cannot be loaded
 */
export async function loadLlamaFile(
  library: LlamaPackage,
  { model, path }: { readonly model: string; readonly path: string },
  options: LoadOptions,
  onProgress: (share: number) => void,
): Promise<LoadedLlama> {
  const problem = await findGgufProblem(path);
  if (problem !== undefined) throw new KitbagError("model-unsupported", { model, reason: problem });
  const said: string[] = [];
  try {
    const llama = await openLibrary(library, options.gpu ?? "auto", said);
    const { gpuLayers, contextSize = { max: mostContext }, threads } = options;
    const layers = gpuLayers === undefined ? {} : { gpuLayers };
    const file = await llama.loadModel({ modelPath: path, onLoadProgress: onProgress, ...layers });
    const context = await file.createContext({ contextSize, ...(threads !== undefined && { threads }) });
    return {
      llama,
      file,
      sequence: context.getSequence(),
      contextSize: context.contextSize,
      wrapper: library.resolveChatWrapper(file),
      take: createMutex(),
    };
  } catch (cause) {
    const found = isNamed(cause, "NoBinaryFoundError") ? noBinary : describeCause(cause);
    const reason = [found, ...said].join("; ").replaceAll(path, "the file").slice(0, 500);
    throw new KitbagError("model-unsupported", { model, reason }, { cause });
  }
}

const noBinary = `node-llama-cpp finds no llama.cpp that runs here; run: npm install @node-llama-cpp/${process.platform === "darwin" ? "mac" : process.platform}-${process.arch}`;

function isNamed(cause: unknown, name: string): boolean {
  return cause instanceof Error && cause.constructor.name === name;
}

/** The library is loaded once for each kind of card; what it writes to the log belongs to the file that is being loaded. */
const libraries = new Map<"auto" | false, { readonly llama: Promise<Llama>; said: string[] }>();

async function openLibrary(library: LlamaPackage, gpu: "auto" | false, said: string[]): Promise<Llama> {
  const known = libraries.get(gpu);
  if (known !== undefined) {
    known.said = said;
    return known.llama;
  }
  const opened = {
    said,
    llama: library.getLlama({
      gpu,
      // Only what npm installed: nothing is downloaded or compiled.
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: "error",
      logger: (_level, message) => void opened.said.push(message.trim()),
    }),
  };
  libraries.set(gpu, opened);
  opened.llama.catch(() => libraries.delete(gpu));
  return opened.llama;
}

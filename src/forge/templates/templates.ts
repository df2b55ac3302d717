import { apiClient } from "./api-client.ts";
import { csvReport } from "./csv-report.ts";
import { fileConverter } from "./file-converter.ts";
import { llmJudge } from "./llm-judge.ts";
import { pipeline } from "./pipeline.ts";
import { scriptBash, scriptNode, scriptPython } from "./scripts.ts";
import { skillPlain, skillWithScript } from "./skills.ts";
import { sqlQuery } from "./sql-query.ts";
import type { Template } from "./template.ts";
import { wasmAssemblyScript, wasmRust } from "./wasm.ts";
import { webScraper } from "./web-scraper.ts";

/** Every template there is, by name. */
export const templates: readonly Template[] = [
  apiClient,
  csvReport,
  fileConverter,
  llmJudge,
  pipeline,
  scriptBash,
  scriptNode,
  scriptPython,
  skillPlain,
  skillWithScript,
  sqlQuery,
  wasmAssemblyScript,
  wasmRust,
  webScraper,
];

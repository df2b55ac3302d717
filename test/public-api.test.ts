import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

import * as kitbag from "kitbag";
import * as agent from "kitbag/agent";
import * as forge from "kitbag/forge";
import * as client from "kitbag/client";
import * as http from "kitbag/http";
import * as mcp from "kitbag/mcp";
import * as models from "kitbag/models";
import * as runtimes from "kitbag/runtimes";
import * as stores from "kitbag/store";
import * as skills from "kitbag/skills";
import * as testing from "kitbag/testing";
import { expect, test } from "vitest";

import packageJson from "../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "..");

// These lists are literals on purpose. A change here is a change for everybody who uses Kitbag: is it meant?

test('"kitbag" exports these names', () => {
  expect(Object.keys(kitbag).toSorted()).toEqual([
    "KitbagError",
    "branch",
    "codeRuntime",
    "createCodeTool",
    "createOutputTool",
    "createWorkspace",
    "definePipeline",
    "defineSkill",
    "defineTool",
    "errorCodes",
    "injected",
    "isKitbagError",
    "mapReduce",
    "memoryStore",
    "openDeadLetters",
    "parallel",
    "pipeline",
    "pipelineRuntime",
    "pipelineSchema",
    "progress",
    "redactText",
    "redactValue",
    "renderToolDeclarations",
    "retry",
  ]);
});

test('"kitbag" exports these types', () => {
  expect(exportedTypes("src/index.ts")).toEqual([
    "AddOptions",
    "ApprovalDecision",
    "ApprovalRequest",
    "Approve",
    "AvailableTool",
    "BreakerOptions",
    "CallEnd",
    "CallEvent",
    "CallLog",
    "CallOptions",
    "CallStart",
    "CappedOutput",
    "CatalogOptions",
    "CodeCall",
    "CodeInput",
    "CodeLanguage",
    "CodeLimits",
    "CodeOutput",
    "CodeRuntime",
    "CodeRuntimeOptions",
    "CodeToolOptions",
    "Coercion",
    "DeadLetter",
    "DeadLetters",
    "DefinePipelineOptions",
    "Diagnostic",
    "ErrorCode",
    "ErrorDetails",
    "FailedOutcome",
    "Failure",
    "FileNamer",
    "FileParameters",
    "FilePolicy",
    "FileUse",
    "ForgetOptions",
    "FoundItem",
    "Guard",
    "GuardAct",
    "GuardPlace",
    "GuardVerdict",
    "Guarded",
    "InjectedRecord",
    "InjectedSource",
    "InjectorCall",
    "InvokeOptions",
    "JsonObject",
    "JsonSchema",
    "JsonValue",
    "Middleware",
    "NamedFile",
    "OkOutcome",
    "OutputHead",
    "OutputMatch",
    "OutputMatches",
    "OutputPage",
    "OutputSlice",
    "PageOptions",
    "Permissions",
    "PipelineSpec",
    "PipelineStep",
    "Problem",
    "Progress",
    "PublicCall",
    "Queue",
    "QuotaLimits",
    "QuotaOptions",
    "Quotas",
    "RateLimit",
    "Recalled",
    "RedactOptions",
    "RedactionKind",
    "RedactionOptions",
    "RegisteredTool",
    "RenderedCatalog",
    "RetryDeadOptions",
    "RetryOptions",
    "RetryPolicy",
    "ReuseDefinition",
    "Runtime",
    "RuntimeContext",
    "RuntimeDescription",
    "Scopes",
    "ScopesOf",
    "SearchOptions",
    "SearchOutputOptions",
    "Session",
    "SessionOptions",
    "Skill",
    "SkillContext",
    "SkillDefinition",
    "SkillFile",
    "SkillFolder",
    "SkillMethods",
    "SkillOptions",
    "SkillOutcome",
    "SkillState",
    "SkillToolState",
    "SkillUsage",
    "SliceOutputOptions",
    "StateEntry",
    "StateExpectation",
    "StateListOptions",
    "StateOptions",
    "Store",
    "TelemetryOptions",
    "Tool",
    "ToolAnnotations",
    "ToolAuthor",
    "ToolCache",
    "ToolComponent",
    "ToolContext",
    "ToolDefinition",
    "ToolExample",
    "ToolLimits",
    "ToolOutcome",
    "ToolRate",
    "ToolReuse",
    "ToolSource",
    "ToolState",
    "ToolUse",
    "TypedTool",
    "Workspace",
    "WorkspaceChange",
    "WorkspaceLimits",
    "WorkspaceOptions",
    "WrittenFile",
  ]);
});

test('"kitbag/agent" exports these names', () => {
  expect(Object.keys(agent).toSorted()).toEqual([
    "agentTool",
    "billPrompt",
    "createAgent",
    "createDebugger",
    "createMemorySkill",
    "createMemoryTools",
    "deleteConversation",
    "handoff",
    "listConversations",
    "openLongTermMemory",
    "readConversation",
    "readRunCosts",
    "renderCosts",
  ]);
});

test('"kitbag/agent" exports these types', () => {
  expect(exportedTypes("src/agent.ts")).toEqual([
    "Agent",
    "AgentCall",
    "AgentEvent",
    "AgentHooks",
    "AgentOptions",
    "AgentRun",
    "AgentSource",
    "AgentTelemetryOptions",
    "AgentToolOptions",
    "AnswerCacheOptions",
    "AnswerVerdict",
    "Breakpoint",
    "CallVerdict",
    "Conversation",
    "ConversationRun",
    "ConversationSummary",
    "CostKind",
    "CostLine",
    "CostRow",
    "DebugAction",
    "DebugStop",
    "DebuggerOptions",
    "Decision",
    "Divergence",
    "ExposureName",
    "Fact",
    "FactExtractor",
    "FactProposal",
    "FactQuery",
    "FileCommand",
    "ForgetRequest",
    "Forgotten",
    "ForkChanges",
    "Guard",
    "GuardPlace",
    "GuardVerdict",
    "Guarded",
    "HandoffOptions",
    "InputRedaction",
    "LongTermMemory",
    "LongTermMemoryOptions",
    "MemoryFile",
    "MemoryFiles",
    "MemoryLimits",
    "MemoryOptions",
    "MemoryOwner",
    "MemoryRecord",
    "MemorySource",
    "MemoryToolsOptions",
    "MemoryTrust",
    "ModelSettings",
    "ModelVerdict",
    "NewFact",
    "OutcomeVerdict",
    "OutputOf",
    "PromptPart",
    "RecallOptions",
    "RecalledTurn",
    "Recollection",
    "Remembered",
    "ReplayReport",
    "RunLimits",
    "RunOptions",
    "RunResult",
    "RunUsage",
    "StopReason",
    "SummaryKind",
    "Task",
    "Turn",
    "TurnSource",
    "UserMemory",
    "WorkingMemory",
  ]);
});

test('"kitbag/http" exports these names', () => {
  expect(Object.keys(http).toSorted()).toEqual(["createApiRoute", "createHandler", "localCaller"]);
  expect(exportedTypes("src/http/index.ts")).toEqual([
    "ApiRoute",
    "Caller",
    "Handler",
    "HandlerOptions",
    "HttpParts",
    "ProblemDocument",
  ]);
});

test('"kitbag/client" exports these names', () => {
  expect(Object.keys(client).toSorted()).toEqual(["ProblemError", "createClient"]);
});

test('"kitbag/mcp" exports these names', () => {
  expect(Object.keys(mcp).toSorted()).toEqual(["createMcpServer", "openGate", "openMcpServers"]);
});

test('"kitbag/mcp" exports these types', () => {
  expect(exportedTypes("src/mcp/index.ts")).toEqual([
    "Caller",
    "ClientAnswers",
    "Gate",
    "GateEvent",
    "GateLimits",
    "GateOAuth",
    "GateOptions",
    "GateRequest",
    "GateToken",
    "McpArgument",
    "McpClientAccess",
    "McpExposure",
    "McpExposureRule",
    "McpGeneration",
    "McpNotice",
    "McpNotifier",
    "McpOAuth",
    "McpOffer",
    "McpOfferedTool",
    "McpPromptSource",
    "McpResourceSource",
    "McpServerContent",
    "McpServerEntry",
    "McpServerEvent",
    "McpServerLimits",
    "McpServerOptions",
    "McpServersOptions",
    "McpServing",
    "Rate",
    "Refusal",
    "RequestEnd",
    "Route",
    "ServedClient",
    "StdioOptions",
    "StdioServing",
  ]);
});

test('"kitbag/models" exports these names', () => {
  expect(Object.keys(models).toSorted()).toEqual([
    "asModel",
    "auto",
    "balance",
    "choose",
    "compressText",
    "contextWindowOf",
    "createImageCache",
    "createPriceOf",
    "describePlaces",
    "estimateCost",
    "estimateMessageTokens",
    "estimatePromptTokens",
    "estimateToolTokens",
    "fallback",
    "listServerModels",
    "localModel",
    "parseToolCalls",
    "prepareImages",
    "promptTools",
    "readPartialJson",
    "repairToolInput",
    "resolveModel",
    "toEmbedder",
    "toImagePart",
    "toOriginalBox",
    "toOriginalPoint",
    "withImages",
    "withRetries",
    "withSettings",
  ]);
});

test('"kitbag/models" exports these types', () => {
  expect(exportedTypes("src/models.ts")).toEqual([
    "AnyModel",
    "AutoOptions",
    "BalanceOptions",
    "BalancedModel",
    "CallProblem",
    "CallStyle",
    "CallableTool",
    "Choice",
    "ChooseOptions",
    "CompressOptions",
    "CompressedText",
    "ContextWindows",
    "CostEstimate",
    "CountingModel",
    "Embedder",
    "EmbedderSource",
    "EmbeddingModel",
    "EstimatedQuestion",
    "Fallback",
    "FallbackOptions",
    "FinishReason",
    "FoundCall",
    "ImageBox",
    "ImageCache",
    "ImageCacheOptions",
    "ImagePart",
    "ImagePartOptions",
    "ImagePoint",
    "ImageSource",
    "ListServerModelsOptions",
    "LocalModelOptions",
    "Model",
    "ModelAnswer",
    "ModelCall",
    "ModelClock",
    "ModelContent",
    "ModelError",
    "ModelErrorCode",
    "ModelMessage",
    "ModelNeeds",
    "ModelPart",
    "ModelPrompt",
    "ModelSettings",
    "ModelStream",
    "ModelTool",
    "ModelUsage",
    "NamedImage",
    "OriginalImage",
    "Outage",
    "OwnPrice",
    "OwnPrices",
    "ParseToolCallsOptions",
    "ParsedToolCalls",
    "PlaceOptions",
    "PrepareImagesOptions",
    "PriceOf",
    "PriceOptions",
    "PromptParts",
    "PromptToolsOptions",
    "RepairedInput",
    "ResolveModelOptions",
    "Retry",
    "RetryOptions",
    "SeeingModel",
    "ServerModel",
    "TimeLimits",
  ]);
});

test('"kitbag/store" exports these names', () => {
  expect(Object.keys(stores).toSorted()).toEqual([
    "anchorAudit",
    "combineStores",
    "createRuns",
    "createVersions",
    "exportAudit",
    "keepVersions",
    "openAudit",
    "postgresStore",
    "postgresVectors",
    "readAudit",
    "readCallStats",
    "readCallTree",
    "redisStore",
    "sqliteStore",
    "sqliteVectors",
    "verifyAudit",
    "verifyAuditLines",
  ]);
});

test('"kitbag/store" exports these types', () => {
  expect(exportedTypes("src/store.ts")).toEqual([
    "AddRunOptions",
    "Audit",
    "AuditBegin",
    "AuditEnd",
    "AuditEntry",
    "AuditKeySource",
    "AuditLine",
    "AuditOptions",
    "AuditProblem",
    "AuditSetAside",
    "AuditVerdict",
    "CallFigures",
    "CallStats",
    "CallTree",
    "FileDiff",
    "KeepVersionsOptions",
    "KeptVersions",
    "ListRunsOptions",
    "LiveStats",
    "LiveTails",
    "MayForget",
    "NearVector",
    "OpenOptions",
    "OwnerStats",
    "PostgresStoreOptions",
    "PostgresVectors",
    "PostgresVectorsOptions",
    "ReadAuditOptions",
    "ReadCallStatsOptions",
    "RecordedCallStats",
    "RedisStore",
    "RedisStoreOptions",
    "Run",
    "RunClock",
    "RunEntry",
    "RunEvent",
    "RunFailure",
    "RunHandler",
    "RunOutcome",
    "RunRecord",
    "RunSummary",
    "RunWorker",
    "Runs",
    "RunsOptions",
    "SlowCall",
    "SqliteStoreOptions",
    "SqliteVectors",
    "SqliteVectorsOptions",
    "StepContext",
    "StepOptions",
    "StepResolution",
    "StoreParts",
    "TimeStats",
    "TimeStep",
    "ToolStats",
    "UserStats",
    "VectorStore",
    "VerifyAuditLinesOptions",
    "VerifyAuditOptions",
    "Version",
    "VersionContent",
    "VersionDiff",
    "VersionFile",
    "VersionNotes",
    "VersionSource",
    "Versions",
    "WorkOptions",
  ]);
});

test('"kitbag/runtimes" exports these names', () => {
  expect(Object.keys(runtimes).toSorted()).toEqual(["openRuntimes"]);
});

test('"kitbag/runtimes" exports these types', () => {
  expect(exportedTypes("src/runtimes.ts")).toEqual([
    "Breakpoint",
    "BreakpointRequest",
    "DebugEvent",
    "DebugOptions",
    "DebugSession",
    "DebuggedCall",
    "Evaluation",
    "Runtimes",
    "RuntimesOptions",
    "Scope",
    "StackFrame",
    "StopReason",
    "Variable",
  ]);
});

test('"kitbag/forge" exports these names', () => {
  expect(Object.keys(forge).toSorted()).toEqual([
    "createForgeTools",
    "createImportTool",
    "createWorkflowTools",
    "importSkills",
    "openForge",
    "removeSkill",
    "restoreSkill",
    "rollbackSkill",
    "updateSkills",
  ]);
});

test('"kitbag/forge" exports these types', () => {
  expect(exportedTypes("src/forge.ts")).toEqual([
    "CandidateTool",
    "ChangeOptions",
    "CodeDraft",
    "DraftHead",
    "ExampleResult",
    "FetchOptions",
    "Forge",
    "ForgeAnswer",
    "ForgeDiagnostic",
    "ForgeEvent",
    "ForgeLanguage",
    "ForgeOptions",
    "ForgePolicy",
    "ForgeVersion",
    "ForgedSkill",
    "ForgedTool",
    "ImportCandidate",
    "ImportLimits",
    "ImportOptions",
    "ImportPlugin",
    "ImportReport",
    "ImportToolOptions",
    "LiveSkill",
    "LiveTool",
    "PipelineDraft",
    "RefusedTool",
    "RemoveOptions",
    "RemovedSkill",
    "ReplayDifference",
    "ReplayReport",
    "RollbackOptions",
    "RolledBackSkill",
    "SkillAnswer",
    "SkillChangeOptions",
    "SkillDifference",
    "SkillDraft",
    "SkillUpdate",
    "SkippedFolder",
    "TestReport",
    "ToolChanges",
    "ToolDraft",
    "UpdateOptions",
    "UpdateSkillsOptions",
    "VersionStep",
    "WaitingTool",
    "WorkflowToolsOptions",
  ]);
});

test('"kitbag/skills" exports these names', () => {
  expect(Object.keys(skills).toSorted()).toEqual([
    "createFolderTrust",
    "createSkillSource",
    "followSkills",
    "loadSkills",
    "openProjectLock",
    "parseSkillDocument",
    "renderSkillBody",
  ]);
});

test('"kitbag/skills" exports these types', () => {
  expect(exportedTypes("src/skills.ts")).toEqual([
    "FolderTrust",
    "FolderTrustOptions",
    "FollowedSkills",
    "LoadSkillsOptions",
    "LoadedSkills",
    "LockReader",
    "ScriptInterface",
    "SkillDocument",
    "SkillHolder",
    "SkillReading",
    "SkillReport",
    "SkillSource",
    "SkillSourceOptions",
    "ToolReport",
  ]);
});

test('"kitbag/testing" exports these names', () => {
  expect(Object.keys(testing).toSorted()).toEqual([
    "mockModel",
    "providerError",
    "recordRun",
    "recordedModel",
    "recordedTools",
    "renderRun",
    "sandboxConformance",
    "storeConformance",
    "watchedModel",
  ]);
});

test('"kitbag/testing" exports these types', () => {
  expect(exportedTypes("src/testing/index.ts")).toEqual([
    "ConformanceCheck",
    "ExitStatus",
    "Guarantee",
    "Limits",
    "MockAnswer",
    "MockAnswerParts",
    "MockCall",
    "MockFile",
    "MockModel",
    "MockModelOptions",
    "MockReasoning",
    "MockScript",
    "MockUsage",
    "Mount",
    "Profile",
    "ProviderErrorFacts",
    "RecordRunOptions",
    "RecordedModel",
    "RecordedModelOptions",
    "RecordingDivergence",
    "RunFixture",
    "RunFixtureEnd",
    "Sandbox",
    "SandboxName",
    "SandboxProcess",
    "ShownPrompt",
    "StoreConformanceOptions",
    "StorePart",
    "WatchedModel",
  ]);
});

test("errorCodes are these", () => {
  expect(kitbag.errorCodes).toEqual([
    "address-invalid",
    "answer-cut",
    "answer-invalid",
    "answer-refused",
    "approval-denied",
    "approval-failed",
    "approval-missing",
    "audit-broken",
    "audit-key-invalid",
    "author-denied",
    "budget-spent",
    "build-failed",
    "call-cancelled",
    "call-crashed",
    "call-cycle",
    "call-depth",
    "call-missing",
    "call-timeout",
    "call-uncertain",
    "call-unreadable",
    "caller-read-only",
    "code-failed",
    "compiler-missing",
    "config-invalid",
    "config-missing",
    "config-untrusted",
    "conversation-damaged",
    "dead-letter-busy",
    "dead-letter-missing",
    "debug-failed",
    "dependency-failed",
    "dependency-refused",
    "descriptors-exhausted",
    "draft-not-found",
    "draft-refused",
    "embedder-missing",
    "file-denied",
    "gate-unprotected",
    "grant-changed",
    "guard-refused",
    "home-unusable",
    "hook-failed",
    "image-invalid",
    "import-failed",
    "import-refused",
    "import-taken",
    "injection-missing",
    "input-invalid",
    "interpreter-missing",
    "job-lost",
    "lease-lost",
    "limit-reached",
    "listen-failed",
    "mcp-failed",
    "memory-exceeded",
    "memory-full",
    "memory-invalid",
    "middleware-failed",
    "model-context-exceeded",
    "model-denied",
    "model-failed",
    "model-key-missing",
    "model-name-invalid",
    "model-overloaded",
    "model-refused",
    "model-timeout",
    "model-unavailable",
    "model-unmatched",
    "model-unsupported",
    "name-not-found",
    "network-failed",
    "network-refused",
    "network-rule-invalid",
    "node-unsupported",
    "option-invalid",
    "output-flooded",
    "output-invalid",
    "output-missing",
    "output-too-large",
    "owner-differs",
    "owner-invalid",
    "package-missing",
    "permission-refused",
    "pipeline-invalid",
    "price-unknown",
    "program-failed",
    "provider-missing",
    "provider-unknown",
    "quota-reached",
    "recording-diverged",
    "request-refused",
    "run-damaged",
    "run-ended",
    "run-incomplete",
    "run-leased",
    "run-not-found",
    "run-paused",
    "run-stopped",
    "runtime-missing",
    "sandbox-failed",
    "sandbox-missing",
    "sandbox-weak",
    "schema-invalid",
    "scope-missing",
    "script-changed",
    "script-failed",
    "session-closed",
    "skill-broken",
    "skill-duplicate",
    "skill-failed",
    "skill-file-changed",
    "skill-file-missing",
    "skill-invalid",
    "skill-name-missing",
    "skill-not-found",
    "skill-required",
    "skill-untrusted",
    "state-full",
    "state-invalid",
    "step-failed",
    "step-uncertain",
    "store-closed",
    "store-conflict",
    "store-failed",
    "store-key-invalid",
    "store-newer",
    "store-unaccepted",
    "store-unavailable",
    "store-unsafe",
    "store-value-invalid",
    "tool-ambiguous",
    "tool-broken",
    "tool-deleted",
    "tool-duplicate",
    "tool-failed",
    "tool-foreign",
    "tool-invalid",
    "tool-not-found",
    "tool-not-made",
    "tool-quarantined",
    "tool-reserved",
    "tool-unavailable",
    "tool-undeclared",
    "usage-invalid",
    "user-unknown",
    "version-conflict",
    "version-not-found",
  ]);
});

test("package.json has these entries, each for bundlers, for ES modules and for CommonJS", () => {
  const entry = (name: string): object => ({
    "@kitbag/source": `./src/${name}.ts`,
    module: { types: `./dist/${name}.d.ts`, default: `./dist/modules/${name}.js` },
    import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
    require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.js` },
  });
  expect(packageJson.exports).toEqual({
    ".": entry("index"),
    "./agent": entry("agent"),
    "./ai-sdk": entry("adapters/ai-sdk"),
    "./client": entry("http/client"),
    "./forge": entry("forge"),
    "./http": entry("http/index"),
    "./langchain": entry("adapters/langchain"),
    "./mastra": entry("adapters/mastra"),
    "./mcp": entry("mcp/index"),
    "./models": entry("models"),
    "./openai-agents": entry("adapters/openai-agents"),
    "./runtimes": entry("runtimes"),
    "./skills": entry("skills"),
    "./store": entry("store"),
    "./testing": entry("testing/index"),
    "./package.json": "./package.json",
  });
  expect(packageJson.bin).toEqual({ kitbag: "./dist/cli/main.js" });
});

test.for([
  "src/forge.ts",
  "src/http/client.ts",
  "src/http/index.ts",
  "src/index.ts",
  "src/mcp/index.ts",
  "src/runtimes.ts",
  "src/skills.ts",
  "src/store.ts",
  "src/testing/index.ts",
])("%s exports no function without an example", (entry) => {
  const sources = exportedValues(entry).map(({ name, file }) => ({
    name,
    text: readFileSync(join(root, file), "utf8"),
  }));

  const bare = sources.filter(({ name, text }) => {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\nexport (?:async )?function ${name}\\b`, "su").exec(text);
    return comment !== null && !comment[1]?.includes("@example");
  });

  expect(bare.map(({ name }) => name)).toEqual([]);
});

test.for([
  { name: "kitbag", expected: ["semver", "tokenx", "typebox"] },
  { name: "kitbag/models", expected: ["jsonrepair", "typebox"] },
  { name: "kitbag/store", expected: [] },
  { name: "kitbag/testing", expected: [] },
])('import "$name" loads no schema library, no command line and no model', async ({ name, expected }) => {
  const packages = await loadedPackages(name);

  expect(packages).toEqual(expected);
});

/** The names that an entry exports for the compiler only, sorted. */
function exportedTypes(entry: string): string[] {
  const lists = exportLists(entry).flatMap(({ isType, names }) =>
    names.filter((name) => isType || name.startsWith("type ")).map((name) => name.replace(/^type |.* as /gu, "")),
  );
  return lists.toSorted();
}

function exportedValues(entry: string): { name: string; file: string }[] {
  return exportLists(entry).flatMap(({ isType, names, from }) =>
    isType
      ? []
      : names.filter((name) => !name.startsWith("type ")).map((name) => ({ name, file: join(dirname(entry), from) })),
  );
}

/** An entry is a list of `export { … } from "…"`, and nothing else. */
function exportLists(entry: string): { isType: boolean; names: string[]; from: string }[] {
  const text = readFileSync(join(root, entry), "utf8");
  const lists = [...text.matchAll(/^export (type )?\{([^}]*)\} from "([^"]+)";$/gmu)];
  expect(text.match(/^export /gmu)?.length, `every export of ${entry} is a list`).toBe(lists.length);
  return lists.map(([, type, names = "", from = ""]) => ({
    isType: type !== undefined,
    names: names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    from,
  }));
}

/** The packages that a new process loads to import `name`, sorted. */
async function loadedPackages(name: string): Promise<string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const found = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/u.exec(url);
        if (found) packages.add(found[1]);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(name)});
    console.log(JSON.stringify([...packages].toSorted()));
  `;
  const args = ["--conditions=@kitbag/source", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return JSON.parse(stdout) as string[];
}

/**
 * The test kit (`kitbag/testing`): conformance suites for stores and sandboxes, a scripted model, and recorded runs as fixtures. May import
 * every row below it. Each suite is a list of `{ name, run }`: start with `store-conformance.ts` and `models/mock-model.ts`.
 *
 * @module
 */
export type { ConformanceCheck } from "./conformance.ts";
export type {
  ExitStatus,
  Guarantee,
  Limits,
  Mount,
  Profile,
  Sandbox,
  SandboxName,
  SandboxProcess,
} from "../sandbox/sandbox.ts";
export type {
  MockAnswer,
  MockAnswerParts,
  MockCall,
  MockFile,
  MockReasoning,
  MockScript,
  MockUsage,
} from "./models/mock-model.ts";
export { mockModel, type MockModel, type MockModelOptions } from "./models/mock-model.ts";
export { providerError, type ProviderErrorFacts } from "./models/provider-error.ts";
export type { ShownPrompt } from "./models/watched-model.ts";
export { watchedModel, type WatchedModel } from "./models/watched-model.ts";
export { recordRun, type RecordRunOptions } from "./runs/record-run.ts";
export { recordedModel } from "./runs/recorded-model.ts";
export type { RecordedModel, RecordedModelOptions, RecordingDivergence } from "./runs/recorded-model.ts";
export { recordedTools } from "./runs/recorded-tools.ts";
export { renderRun } from "./runs/render-run.ts";
export type { RunFixture, RunFixtureEnd } from "./runs/run-fixture.ts";
export { sandboxConformance } from "./sandbox-conformance.ts";
export { storeConformance, type StoreConformanceOptions, type StorePart } from "./store-conformance.ts";

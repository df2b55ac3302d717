/** Stores that last, and what is kept in them: runs, audit, statistics, versions. */
export type {
  AuditBegin,
  AuditEnd,
  AuditEntry,
  AuditLine,
  AuditProblem,
  AuditSetAside,
} from "./records/audit/audit-entry.ts";
export type { AuditKeySource } from "./records/audit/audit-keys.ts";
export type { AuditVerdict } from "./records/audit/check-chain.ts";
export { exportAudit, readAudit } from "./records/audit/export-audit.ts";
export type { ReadAuditOptions } from "./records/audit/export-audit.ts";
export { openAudit } from "./records/audit/open-audit.ts";
export type { Audit, AuditOptions } from "./records/audit/open-audit.ts";
export { anchorAudit, verifyAudit, verifyAuditLines } from "./records/audit/verify-audit.ts";
export type { VerifyAuditLinesOptions, VerifyAuditOptions } from "./records/audit/verify-audit.ts";
export { combineStores } from "./store/combine-stores.ts";
export type { LiveTails, StoreParts } from "./store/combine-stores.ts";
export { postgresStore } from "./store/postgres/postgres-store.ts";
export type { PostgresStoreOptions } from "./store/postgres/postgres-store.ts";
export type { MayForget } from "./store/redis/redis-link.ts";
export { redisStore } from "./store/redis/redis-store.ts";
export type { RedisStore, RedisStoreOptions } from "./store/redis/redis-store.ts";
export { createRuns } from "./records/runs/create-runs.ts";
export type { AddRunOptions, OpenOptions, Runs } from "./records/runs/create-runs.ts";
export type { ListRunsOptions, RunSummary } from "./records/runs/create-runs.ts";
export type { Clock as RunClock } from "./platform/clock.ts";
export type { RunEntry, RunEvent, RunFailure, RunOutcome, RunRecord } from "./records/runs/run-records.ts";
export type { RunHandler, RunWorker, WorkOptions } from "./records/runs/run.ts";
export type { Run, StepContext, StepOptions, StepResolution } from "./records/runs/run.ts";
export type { RunsOptions } from "./records/runs/runs-options.ts";
export { sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type { SqliteStoreOptions } from "./store/sqlite/sqlite-store.ts";
export type { NearVector, VectorStore } from "./core/embedder.ts";
export { postgresVectors } from "./store/vectors/postgres-vectors.ts";
export type { PostgresVectors, PostgresVectorsOptions } from "./store/vectors/postgres-vectors.ts";
export { sqliteVectors } from "./store/vectors/sqlite-vectors.ts";
export type { SqliteVectors, SqliteVectorsOptions } from "./store/vectors/sqlite-vectors.ts";
export type {
  CallFigures,
  CallStats,
  LiveStats,
  OwnerStats,
  TimeStats,
  TimeStep,
  ToolStats,
  UserStats,
} from "./records/stats/call-stats.ts";
export { readCallStats } from "./records/stats/read-call-stats.ts";
export type { ReadCallStatsOptions, RecordedCallStats } from "./records/stats/read-call-stats.ts";
export { readCallTree } from "./records/stats/read-call-tree.ts";
export type { CallTree } from "./records/stats/read-call-tree.ts";
export type { SlowCall } from "./records/stats/read-call-stats.ts";
export { createVersions } from "./records/versions/versions.ts";
export type {
  FileDiff,
  Version,
  VersionContent,
  VersionDiff,
  VersionFile,
  VersionNotes,
  Versions,
  VersionSource,
} from "./records/versions/versions.ts";
export { keepVersions } from "./workspace/versions/keep-versions.ts";
export type { KeepVersionsOptions, KeptVersions } from "./workspace/versions/keep-versions.ts";

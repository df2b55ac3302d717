/** Stores that last, and what is kept in them: runs, audit, statistics, versions. */
export type {
  AuditBegin,
  AuditEnd,
  AuditEntry,
  AuditLine,
  AuditProblem,
  AuditSetAside,
} from "./store/audit/audit-entry.ts";
export type { AuditKeySource } from "./store/audit/audit-keys.ts";
export type { AuditVerdict } from "./store/audit/check-chain.ts";
export { exportAudit, readAudit } from "./store/audit/export-audit.ts";
export type { ReadAuditOptions } from "./store/audit/export-audit.ts";
export { openAudit } from "./store/audit/open-audit.ts";
export type { Audit, AuditOptions } from "./store/audit/open-audit.ts";
export { anchorAudit, verifyAudit, verifyAuditLines } from "./store/audit/verify-audit.ts";
export type { VerifyAuditLinesOptions, VerifyAuditOptions } from "./store/audit/verify-audit.ts";
export { combineStores } from "./store/combine-stores.ts";
export type { LiveTails, StoreParts } from "./store/combine-stores.ts";
export { postgresStore } from "./store/postgres/postgres-store.ts";
export type { PostgresStoreOptions } from "./store/postgres/postgres-store.ts";
export type { MayForget } from "./store/redis/check-redis.ts";
export { redisStore } from "./store/redis/redis-store.ts";
export type { RedisStore, RedisStoreOptions } from "./store/redis/redis-store.ts";
export { createRuns } from "./store/runs/create-runs.ts";
export type { AddRunOptions, OpenOptions, Runs } from "./store/runs/create-runs.ts";
export type { ListRunsOptions, RunSummary } from "./store/runs/list-runs.ts";
export type { RunClock } from "./store/runs/run-clock.ts";
export type { RunEntry, RunEvent, RunFailure, RunOutcome, RunRecord } from "./store/runs/run-records.ts";
export type { RunHandler, RunWorker, WorkOptions } from "./store/runs/run-work.ts";
export type { Run, StepContext, StepOptions, StepResolution } from "./store/runs/run.ts";
export type { RunsOptions } from "./store/runs/runs-options.ts";
export { sqliteStore } from "./store/sqlite/sqlite-store.ts";
export type { SqliteStoreOptions } from "./store/sqlite/sqlite-store.ts";
export type { CallFigures, CallStats, OwnerStats, TimeStats, ToolStats } from "./store/stats/call-stats.ts";
export { readCallStats } from "./store/stats/read-call-stats.ts";
export type { ReadCallStatsOptions, RecordedCallStats } from "./store/stats/read-call-stats.ts";
export { readCallTree } from "./store/stats/read-call-tree.ts";
export type { CallTree } from "./store/stats/read-call-tree.ts";
export type { SlowCall } from "./store/stats/slowest.ts";
export { createVersions } from "./store/versions/versions.ts";
export type {
  FileDiff,
  Version,
  VersionContent,
  VersionDiff,
  VersionFile,
  VersionNotes,
  Versions,
  VersionSource,
} from "./store/versions/versions.ts";
export { keepVersions } from "./workspace/versions/keep-versions.ts";
export type { KeepVersionsOptions, KeptVersions } from "./workspace/versions/keep-versions.ts";

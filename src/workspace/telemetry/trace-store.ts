import type { Audit } from "../../records/audit/open-audit.ts";
import type { CallRecorder } from "../../records/stats/call-records.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { BlobStore, KeyValueStore, LogStore, Store } from "../../core/store.ts";
import { getOpenTelemetry, isRecording, traceOf } from "./tracing.ts";
import { conventions, own } from "./semantic-names.ts";

/** A store whose work for a call is in spans. Keys are not in them: they may say who asked. */
export function traceStore(store: Store): Store {
  // Looked up when they are used: what is behind the door may change.
  const { counters } = store;
  const log = (): LogStore => store.log;
  const blobs = (): BlobStore => store.blobs;
  return {
    kv: traceValues("kv", () => store.kv),
    ...(counters && { counters: traceValues("counters", () => counters) }),
    log: {
      append: (stream, values, options) => trace("log.append", () => log().append(stream, values, options)),
      read: (stream, options) => trace("log.read", () => log().read(stream, options)),
      tail: (stream, options) => log().tail(stream, options),
      position: (stream) => trace("log.position", () => log().position(stream)),
      streams: (options) => trace("log.streams", () => log().streams(options)),
    },
    blobs: {
      put: (bytes) => trace("blobs.put", () => blobs().put(bytes)),
      get: (digest) => trace("blobs.get", () => blobs().get(digest)),
      slice: (digest, offset, length) => trace("blobs.slice", () => blobs().slice(digest, offset, length)),
      size: (digest) => trace("blobs.size", () => blobs().size(digest)),
      list: (options) => trace("blobs.list", () => blobs().list(options)),
      collect: (keep, options) => trace("blobs.collect", () => blobs().collect(keep, options)),
    },
    queue: (name) => store.queue(name),
    close: () => store.close(),
  };
}

function traceValues(part: "kv" | "counters", values: () => KeyValueStore): KeyValueStore {
  return {
    get: (key) => trace(`${part}.get`, () => values().get(key)),
    set: (key, value, options) => trace(`${part}.set`, () => values().set(key, value, options)),
    delete: (key, options) => trace(`${part}.delete`, () => values().delete(key, options)),
    list: (options) => trace(`${part}.list`, () => values().list(options)),
    increment: (key, by, options) => trace(`${part}.increment`, () => values().increment(key, by, options)),
  };
}

/** A recorder of calls whose work for a call is in spans: several calls may share an append, each has a span of its own. */
export function traceCalls(calls: CallRecorder): CallRecorder {
  return { append: (record, options) => trace("log.append", () => calls.append(record, options)) };
}

/** An audit whose work for a call is in spans. */
export function traceAudit(audit: Audit): Audit {
  return {
    append: (entry) => trace("audit.append", () => audit.append(entry)),
    digest: (value) => audit.digest(value),
    seal: (value) => audit.seal(value),
    close: () => audit.close(),
  };
}

/** Does it in a span if a call is being traced; its context is known only if a context manager is registered, as SDKs do. */
function trace<Value>(operation: string, work: () => Promise<Value>): Promise<Value> {
  const api = getOpenTelemetry();
  const active = api?.context.active();
  const found = active && traceOf(active);
  if (api === undefined || active === undefined || found === undefined || !isRecording(found, active)) return work();
  const attributes = { [own.storeOperation]: operation };
  const span = found.tracing.tracer.startSpan(`store ${operation}`, { attributes }, active);
  return api.context.with(api.trace.setSpan(active, span), async () => {
    try {
      return await work();
    } catch (cause) {
      span.setAttribute(conventions.errorType, codeOf(cause));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      throw cause;
    } finally {
      span.end();
    }
  });
}

function codeOf(cause: unknown): string {
  return isKitbagError(cause) ? cause.code : "_OTHER";
}

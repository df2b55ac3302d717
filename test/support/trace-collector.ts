import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span as it came over the wire. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** 2 is an error. */
  readonly status: number;
  readonly message: string | undefined;
  readonly links: readonly string[];
}

/** Something that receives spans by OTLP over HTTP, as JSON. */
export interface TraceCollector {
  /** Where an exporter sends to. */
  readonly url: string;
  /** Everything that came, in the order in which spans began. */
  spans(): readonly CollectedSpan[];
  close(): Promise<void>;
}

/** Starts a receiver of the OTLP protocol on a free port of the loopback. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const isRight = request.method === "POST" && request.url === "/v1/traces";
      const isJson = request.headers["content-type"] === "application/json";
      const body = await text(request);
      if (isRight && isJson) spans.push(...parseRequest(JSON.parse(body) as ExportRequest));
      response.writeHead(isRight && isJson ? 200 : 400, { "content-type": "application/json" }).end("{}");
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans: () => spans.toSorted((left, right) => left.startMs - right.startMs),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The parts of `ExportTraceServiceRequest` that are looked at. */
interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[] }[];
}

interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: WireValue }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links?: readonly { readonly spanId: string }[];
}

interface WireValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

function parseRequest({ resourceSpans }: ExportRequest): CollectedSpan[] {
  const all = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  return all.map((span) => ({
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, toValue(value)])),
    status: span.status.code ?? 0,
    message: span.status.message,
    links: (span.links ?? []).map(({ spanId }) => spanId),
  }));
}

function toValue({ stringValue, intValue, doubleValue, boolValue }: WireValue): string | number | boolean {
  return stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}

import * as api from "@opentelemetry/api";
import fc from "fast-check";
import { expect, test } from "vitest";

import { parseTraceContext, toTraceContext } from "./tracing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

test("parseTraceContext() reads what toTraceContext() writes", () => {
  const span = parseTraceContext(api, { traceparent, tracestate: "vendor=1,other=2" });

  expect(span).toMatchObject({ traceId, spanId, traceFlags: 1, isRemote: true });
  const context = api.trace.setSpanContext(api.ROOT_CONTEXT, span as api.SpanContext);
  expect(toTraceContext(api, context)).toEqual({ traceparent, tracestate: "vendor=1,other=2" });
});

test("parseTraceContext() takes versions to come, which may say more", () => {
  expect(parseTraceContext(api, { traceparent: `01-${traceId}-${spanId}-03-more` })).toMatchObject({ traceFlags: 1 });
  expect(parseTraceContext(api, { traceparent: `01-${traceId}-${spanId}-00` })).toMatchObject({ traceFlags: 0 });
});

test.for([
  undefined,
  "",
  "__proto__",
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `${traceparent}\n`,
  ` ${traceparent}`,
])("parseTraceContext() takes %j for none", (text) => {
  expect(parseTraceContext(api, { traceparent: text })).toBeUndefined();
});

test("parseTraceContext() never throws, and what it reads is valid", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (tail, tracestate) => {
      const span = parseTraceContext(api, { traceparent: `00-${traceId}-${spanId}-${tail}`, tracestate });

      return span === undefined || api.isSpanContextValid(span);
    }),
  );
});

test("toTraceContext() is empty outside of a trace", () => {
  expect(toTraceContext(api, api.ROOT_CONTEXT)).toEqual({});
  const invalid = api.trace.setSpanContext(api.ROOT_CONTEXT, api.INVALID_SPAN_CONTEXT);
  expect(toTraceContext(api, invalid)).toEqual({});
});

test("toTraceContext() has no tracestate where there is none", () => {
  const context = api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags: 0 });

  expect(toTraceContext(api, context)).toEqual({ traceparent: `00-${traceId}-${spanId}-00` });
});

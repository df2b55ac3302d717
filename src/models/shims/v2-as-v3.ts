import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2CallWarning,
  LanguageModelV2Content,
  LanguageModelV2FinishReason,
  LanguageModelV2StreamPart,
  LanguageModelV2Usage,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
  LanguageModelV3ToolResult,
  LanguageModelV3Usage,
  SharedV3Warning,
} from "@ai-sdk/provider";

import type { ModelPart, ModelStream } from "../model.ts";
import { fromPartAnswer, mapSource, toPartAnswer } from "./part-source.ts";
import { toV2Prompt } from "./to-v2-prompt.ts";

/** Makes a model of version 3 from one of version 2. */
export function v2AsV3(model: LanguageModelV2): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    async doGenerate(call) {
      const { content, finishReason, usage, warnings, ...answer } = await model.doGenerate(toV2Call(call));
      return {
        ...answer,
        content: content.map(toContent),
        finishReason: toFinishReason(finishReason),
        usage: toUsage(usage),
        warnings: toWarnings(warnings),
      };
    },
    async doStream(call) {
      // What the versions do not share is changed part by part; all else is the same.
      const answer = toPartAnswer((await model.doStream(toV2Call(call))) as unknown as ModelStream);
      const change = (part: ModelPart): ModelPart => toPart(part as unknown as LanguageModelV2StreamPart) as ModelPart;
      const changed = { ...answer, source: mapSource(answer.source, change) };
      return fromPartAnswer(changed) as unknown as LanguageModelV3StreamResult;
    },
  };
}

function toV2Call({ prompt, tools, ...call }: LanguageModelV3CallOptions): LanguageModelV2CallOptions {
  // Where the two differ is only in whether a provider's option may be `undefined`.
  const v2Call = { ...call, prompt: toV2Prompt(prompt) } as LanguageModelV2CallOptions;
  if (tools !== undefined) v2Call.tools = tools.map(toTool);
  return v2Call;
}

type LanguageModelV2ToolResult = Extract<LanguageModelV2Content, { type: "tool-result" }>;
type V3Tool = NonNullable<LanguageModelV3CallOptions["tools"]>[number];
type V2Tool = NonNullable<LanguageModelV2CallOptions["tools"]>[number];

function toTool(tool: V3Tool): V2Tool {
  if (tool.type === "provider") return { ...tool, type: "provider-defined" };
  const { inputExamples: _, strict: __, ...rest } = tool;
  return rest as V2Tool;
}

function toPart(part: LanguageModelV2StreamPart): LanguageModelV3StreamPart {
  if (part.type === "stream-start") return { ...part, warnings: toWarnings(part.warnings) };
  if (part.type === "tool-result") return toResult(part);
  if (part.type !== "finish") return part;
  return { ...part, usage: toUsage(part.usage), finishReason: toFinishReason(part.finishReason) };
}

function toContent(content: LanguageModelV2Content): LanguageModelV3Content {
  return content.type === "tool-result" ? toResult(content) : content;
}

function toResult(whole: LanguageModelV2ToolResult): LanguageModelV3ToolResult {
  const { providerExecuted: _, result, ...part } = whole;
  return { ...part, result: (result ?? "") as NonNullable<LanguageModelV3ToolResult["result"]> };
}

function toFinishReason(reason: LanguageModelV2FinishReason | undefined): LanguageModelV3FinishReason {
  return { unified: reason === undefined || reason === "unknown" ? "other" : reason, raw: undefined };
}

/** Old models do not always say what they must: what is missing is not known. */
function toUsage(usage: Partial<LanguageModelV2Usage> | null | undefined): LanguageModelV3Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {};
  return {
    inputTokens: {
      total: inputTokens,
      noCache: rest(inputTokens, cachedInputTokens),
      cacheRead: cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: outputTokens, text: rest(outputTokens, reasoningTokens), reasoning: reasoningTokens },
  };
}

/** Some providers count the part with the whole and some beside it: a rest below nothing means the latter. */
function rest(total: number | undefined, part: number | undefined): number | undefined {
  if (total === undefined || part === undefined) return total;
  return part > total ? undefined : total - part;
}

function toWarnings(warnings: readonly LanguageModelV2CallWarning[] | undefined): SharedV3Warning[] {
  return (warnings ?? []).map(toWarning);
}

function toWarning(warning: LanguageModelV2CallWarning): SharedV3Warning {
  if (warning.type === "other") return warning;
  const feature = warning.type === "unsupported-tool" ? `tool ${warning.tool?.name}` : String(warning.setting);
  return { type: "unsupported", feature, ...(warning.details === undefined ? {} : { details: warning.details }) };
}

/**
 * Kitbag's models: any provider by one string, an offline one, and what makes several of them one.
 *
 * @module
 */
export type {
  FinishReason,
  Model,
  ModelAnswer,
  ModelCall,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelPrompt,
  ModelStream,
  ModelTool,
  ModelUsage,
} from "./models/model.ts";

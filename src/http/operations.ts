import type { OperationName } from "./paths.ts";
import type { Operation } from "./operation.ts";
import { approvalOperations } from "./routes/approvals.ts";
import { chatOperations } from "./routes/chat.ts";
import { conversationOperations } from "./routes/conversations.ts";
import { openAiOperations } from "./routes/openai.ts";
import { recordOperations } from "./routes/records.ts";
import { runOperations } from "./routes/runs.ts";
import { skillOperations } from "./routes/skills.ts";
import { toolOperations } from "./routes/tools.ts";

/** Every operation of the API, by name. */
export const operations = {
  ...skillOperations,
  ...toolOperations,
  ...runOperations,
  ...approvalOperations,
  ...chatOperations,
  ...openAiOperations,
  ...conversationOperations,
  ...recordOperations,
} as const satisfies Readonly<Record<OperationName, Operation>>;

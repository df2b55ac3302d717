/** What tokens are spent on. */
export type CostKind = "model" | "instructions" | "conversation" | "skill" | "tool";

/**
 * One row of what a run used.
 *
 * The rows of kind `model` say what the providers say, and their sum is that of the run. All other rows divide the same tokens by what
 * they were spent on, so their sum is the same again; they are estimates, and to be shown with "≈". What is said once is paid for
 * with every question after it: a result of 100 tokens before 9 questions costs 900.
 */
export interface CostRow {
  readonly kind: CostKind;
  /** `provider/model`, the address of a tool, the name of a skill. */
  readonly name: string;
  /** Of a tool: the skill or component that it belongs to. */
  readonly skill?: string;
  /** How often the model was asked, the tool called, the skill opened, closed or read. */
  readonly calls: number;
  readonly inputTokens: number;
  /** Of the input: the definitions of tools. */
  readonly schemaTokens: number;
  /** Of the input: what came of calls; of a skill, its instructions. */
  readonly resultTokens: number;
  /** What the model wrote: of a tool, the input of its calls. */
  readonly outputTokens: number;
  /** In US dollars; not there if the price of an answer is not known. */
  readonly cost?: number;
  readonly isEstimate: boolean;
}

import type { QuotaName } from "./quotas.ts";

/** One thing that is wrong with a value: where, what was found, what was expected. */
export interface Problem {
  /** Where, as a path from the value's root: `filters[0].size`; empty for the root itself. */
  readonly path: string;
  readonly expected: string;
  readonly found: string;
  /** The nearest thing that would have been right. */
  readonly didYouMean?: string;
}

/** The end of what a tool printed and called before it was stopped, without secrets. */
export interface UntilThen {
  readonly stdout?: string;
  readonly stderr?: string;
  /** What a program of a model printed. */
  readonly console?: string;
  /** What it called. */
  readonly calls?: readonly { readonly tool: string; readonly status: string; readonly durationMs: number }[];
}

/** All failures with their facts: a row is a failure. */
export interface ErrorDetails {
  /** A text is not an address of the form `tool` or `owner/tool`. */
  "address-invalid": { readonly address: string };
  /** The output limit cut the answer of a run off, more often than the run may have it continued. `text` is the answer until then. */
  "answer-cut": { readonly run: string; readonly model: string; readonly times: number; readonly text: string };
  /** An answer of a model must be JSON that fits a schema, and is not, also after the model was told what is wrong. */
  "answer-invalid": { readonly model: string; readonly problems: readonly Problem[] };
  /** The model refused to answer a run, or its provider filtered the answer. `text` is what was said until then. */
  "answer-refused": { readonly run: string; readonly model: string; readonly text: string };
  /** The call was not approved. */
  "approval-denied": { readonly tool: string; readonly reason: string };
  /** The approval function threw or answered something that is not a decision. */
  "approval-failed": { readonly tool: string; readonly reason: string };
  /** The tool needs an approval, and there is no approval function. */
  "approval-missing": { readonly tool: string };
  /** The audit was tampered with, or its key or its anchor belongs to another audit: nothing is appended, so that the break stays visible. */
  "audit-broken": {
    readonly position: number;
    readonly problem: string;
    /** An entry itself is wrong: accepting the store needs a new audit. */
    readonly isChainBroken?: boolean;
  };
  /** The key of the audit is missing, too short, or not private. */
  "audit-key-invalid": { readonly key: string; readonly reason: string };
  /** A call and its nested calls have reached the maximum number of calls. */
  "budget-spent": { readonly tool: string; readonly limit: number };
  /** A tool could not be compiled; `lines` is what the compiler said. */
  "build-failed": { readonly source: string; readonly reason: string; readonly lines: readonly string[] };
  /** The caller cancelled the call, or the call it belongs to ended. */
  "call-cancelled": { readonly tool: string; readonly reason: string };
  /** A tool called itself, directly or through others, too often. */
  "call-cycle": { readonly tool: string; readonly chain: readonly string[]; readonly limit: number };
  /** Kitbag itself failed during a call. */
  "call-crashed": { readonly tool: string; readonly reason: string };
  /** Nested calls are too deep. */
  "call-depth": { readonly tool: string; readonly chain: readonly string[]; readonly limit: number };
  /** The log has no call with this id. */
  "call-missing": { readonly call: string };
  /** The call was still running at its limit, or a program has computed for that long; with what it printed and called until then. */
  "call-timeout": {
    readonly tool: string;
    readonly limitMs: number;
    readonly counted?: "computing";
    readonly untilThen?: UntilThen;
  };
  /** A call was running when its process died, and must not be run twice. `key` if it was made with one by a program. */
  "call-uncertain": { readonly tool: string; readonly key?: string };
  /** A model wrote a call that was cut off, or that cannot be parsed. */
  "call-unreadable": { readonly tool: string; readonly reason: string };
  /** A program that a model wrote failed; with what it printed and called until then. */
  "code-failed": {
    readonly tool: string;
    readonly reason: string;
    readonly console: string;
    readonly calls: readonly {
      readonly tool: string;
      readonly status: string;
      readonly code?: string;
      readonly durationMs: number;
    }[];
  };
  /** There is no compiler for a tool's language on this machine. */
  "compiler-missing": { readonly source: string; readonly language: string; readonly cure: string };
  /** A configuration file cannot be used. */
  "config-invalid": { readonly path: string; readonly reason: string };
  /** There is no configuration file where one is needed. */
  "config-missing": { readonly path: string };
  /** A file that runs in our process was not trusted, or has changed since. */
  "config-untrusted": {
    readonly path: string;
    readonly changed: readonly string[];
    /** Of one that is data: the keys that need trust. */
    readonly keys?: readonly string[];
  };
  /** The stored part of a conversation cannot be read. */
  "conversation-damaged": { readonly conversation: string; readonly reason: string };
  /** A script cannot be debugged, or the debugger cannot do what was asked. */
  "debug-failed": { readonly tool: string; readonly reason: string };
  /** The failed call is being retried right now, here or in another process. */
  "dead-letter-busy": { readonly id: string };
  /** No call that failed for good is kept under this id. */
  "dead-letter-missing": { readonly id: string };
  /** Packages that a tool needs could not be installed. */
  "dependency-failed": {
    readonly language: string;
    /** What kind of failure it is: `not-found`, `no-wheel`, `hash`, `offline`, `index`, `disk`, … */
    readonly problem: string;
    /** The package that it is about, where one is known. */
    readonly package?: string;
    readonly reason: string;
    readonly cure: string;
  };
  /** A skill asks for a package in a way that is not possible. */
  "dependency-refused": { readonly dependency: string; readonly file: string; readonly reason: string };
  /** A call could not open a file or start a program, because the process has reached its limit of open files. */
  "descriptors-exhausted": { readonly tool: string; readonly reason: string };
  /** A person approves or denies a draft of a tool that does not wait, or does not wait any more. */
  "draft-not-found": { readonly id: string; readonly known: readonly string[] };
  /** A draft of a tool or a skill did not pass: nothing of it is live. `reasons` are lines, the most important first. */
  "draft-refused": { readonly name: string; readonly reasons: readonly string[] };
  /** The caller named a file that is not given to the tool. */
  "file-denied": { readonly tool: string; readonly file: string; readonly reason: string };
  /** A listener that the network can reach has neither a token nor OAuth. */
  "gate-unprotected": { readonly host: string };
  /** The file at a granted or shielded path has changed: a link, a mount or another file is in its place, or it was removed. */
  "grant-changed": { readonly path: string; readonly found: string; readonly cure: string };
  /** A guard of an agent or a workspace refuses a text or a value. */
  "guard-refused": { readonly guard: string; readonly place: string; readonly reason: string };
  /** An image cannot be given to a model: the file is missing, too large, damaged, or not an image. */
  "image-invalid": { readonly image: string; readonly reason: string };
  /** A source of skills could not be fetched or read, or nothing in it can be used. */
  "import-failed": { readonly source: string; readonly reason: string };
  /** A source of skills must not be unpacked. `entry` is the name of the file in it that is not allowed. */
  "import-refused": { readonly source: string; readonly entry?: string; readonly reason: string };
  /** A folder or a file is already in the place where an imported skill goes. */
  "import-taken": { readonly name: string; readonly path: string; readonly cure: string };
  /** A tool needs injected values that were not given. */
  "injection-missing": { readonly tool: string; readonly names: readonly string[] };
  /** The folder of a person's own files cannot be made or written. */
  "home-unusable": { readonly home: string; readonly reason: string };
  /** A hook of an agent threw. */
  "hook-failed": { readonly hook: string; readonly reason: string };
  /** The input does not fit the tool's schema. */
  "input-invalid": { readonly tool: string; readonly problems: readonly Problem[] };
  /** The program that runs a script is not on this machine. */
  "interpreter-missing": { readonly tool: string; readonly interpreter: string; readonly cure: string };
  /** Another worker has the job now, or it is done. */
  "job-lost": { readonly queue: string; readonly job: string; readonly attempt: number };
  /** Another worker has the run now, or its lease was released: nothing can be written to it. */
  "lease-lost": { readonly run: string; readonly epoch: number; readonly reason: string };
  /** Too many calls. After `retryAfterMs` another call is possible. */
  "limit-reached": { readonly tool: string; readonly rate: string; readonly retryAfterMs: number };
  /** A service cannot listen at an address: another program uses it, it is not of this machine, or it needs a permission. */
  "listen-failed": { readonly address: string; readonly reason: string };
  /** Another MCP server cannot be used: it does not start, does not answer, or died. */
  "mcp-failed": { readonly server: string; readonly reason: string };
  /** A tool used more memory than it may; with what it printed and called until then. */
  "memory-exceeded": { readonly tool: string; readonly limitBytes: number; readonly untilThen?: UntilThen };
  /** Something is to be found by what it says, and there is no model that compares texts. `cure` says where to pass one. */
  "embedder-missing": { readonly what: string; readonly cure: string };
  /** A memory has reached a limit: of facts, of files or of bytes. */
  "memory-full": { readonly what: string; readonly limit: number };
  /** A fact, the working memory, or the path of a file of a memory is not valid. */
  "memory-invalid": { readonly what: string; readonly found: string; readonly expected: string };
  /** A middleware threw, or answered something that is not an outcome. */
  "middleware-failed": { readonly tool: string; readonly reason: string };
  /** The prompt is longer than what the model can read. */
  "model-context-exceeded": { readonly model: string; readonly status?: number; readonly reason: string };
  /** The provider rejects this API key. `cure` says which key it is about. */
  "model-denied": {
    readonly model: string;
    readonly status?: number;
    readonly reason: string;
    readonly cure: string;
  };
  /** A model failed in a way that says nothing about the question, the key or the provider's load. */
  "model-failed": { readonly model: string; readonly status?: number; readonly reason: string };
  /** A model needs a key that is not set. Any of `variables` may hold it. */
  "model-key-missing": { readonly model: string; readonly variables: readonly string[] };
  /** A text is not the name of a model. `model` is shown without what could be a secret. */
  "model-name-invalid": { readonly model: string; readonly reason: string };
  /** The provider takes no more requests now: a rate limit, too much load, a quota that is spent. */
  "model-overloaded": {
    readonly model: string;
    readonly status?: number;
    readonly reason: string;
    /** When the provider says it may be asked again. */
    readonly retryAfterMs?: number;
  };
  /** The provider does not accept the question as it is: asking again does not help. */
  "model-refused": {
    readonly model: string;
    readonly status?: number;
    readonly reason: string;
    readonly cure: string;
  };
  /** A model did not answer in time. `phase` is the part of the answer that was late: `request`, `first part` or `next part`. */
  "model-timeout": { readonly model: string; readonly phase: string; readonly limitMs: number };
  /** The provider cannot be reached, has an error of its own, or broke off its answer. */
  "model-unavailable": {
    readonly model: string;
    readonly status?: number;
    readonly reason: string;
    readonly retryAfterMs?: number;
  };
  /** No model of the table meets the requirements. */
  "model-unmatched": { readonly need: string; readonly reasons: readonly string[] };
  /** A value is not a model, or a model of an unsupported version of the interface. */
  "model-unsupported": { readonly model: string; readonly reason: string };
  /** A command names a token, an approval or another thing that does not exist. */
  "name-not-found": { readonly what: string; readonly name: string; readonly cure: string };
  /** A connection is allowed, but could not be made, or broke. */
  "network-failed": { readonly target: string; readonly reason: string };
  /** A connection is not allowed. */
  "network-refused": { readonly target: string; readonly reason: string };
  /** A text is not a rule of the permission `network`. */
  "network-rule-invalid": { readonly rule: string; readonly reason: string };
  /** Kitbag was imported by a Node that is too old for it. */
  "node-unsupported": { readonly found: string };
  /** An option has a value it cannot have. */
  "option-invalid": { readonly option: string; readonly found: string; readonly expected: string };
  /** A tool printed more than its limit, and was stopped; with the end of what it printed until then. */
  "output-flooded": { readonly tool: string; readonly limitBytes: number; readonly untilThen?: UntilThen };
  /** The output does not fit the tool's schema, or is not JSON. */
  "output-invalid": { readonly tool: string; readonly problems: readonly Problem[] };
  /** No output is kept under the handle. */
  "output-missing": { readonly handle: string };
  /** The output is larger than anything that is kept. */
  "output-too-large": { readonly tool: string; readonly limitBytes: number };
  /** A function needs an optional package that is not installed. */
  "package-missing": { readonly peer: string; readonly user: string };
  /** A permission cannot be enforced here, or must not be given. */
  "permission-refused": { readonly tool: string; readonly permission: string; readonly reason: string };
  /** The definition of a pipeline is wrong. */
  "pipeline-invalid": { readonly pipeline: string; readonly problems: readonly Problem[] };
  /** A user tries to change or delete a tool or a skill of another user. */
  "owner-differs": { readonly kind: "tool" | "skill"; readonly name: string };
  /** A text is not the name of an owner, or an owner of another kind has the name. */
  "owner-invalid": { readonly owner: string; readonly reason: string };
  /** An unexpected error: in Kitbag, or in code that runs beside it. */
  "program-failed": { readonly reason: string };
  /** A run has a cost limit, and the price of its model is not known. */
  "price-unknown": { readonly model: string };
  /** The package that speaks to a provider is not installed; `variables` are those that may hold its key. */
  "provider-missing": {
    readonly model: string;
    readonly peer: string;
    readonly variables: readonly string[];
  };
  /** There is no provider of this name. */
  "provider-unknown": {
    readonly provider: string;
    readonly nearest: readonly string[];
    readonly known: readonly string[];
  };
  /**
   * A user has reached a quota. `startsAgain` is the time at which the count starts from 0, in ISO 8601; it is not set for a quota of things
   * that the user must end or delete.
   */
  "quota-reached": {
    readonly user: string;
    readonly quota: QuotaName;
    readonly limit: number;
    readonly used: number;
    readonly startsAgain?: string;
    /** The tool did run; only its output could not be kept. */
    readonly ran?: boolean;
  };
  /** A run does something else than in its recording. In `difference`, `-` marks lines of the recording and `+` lines of now. */
  "recording-diverged": { readonly what: string; readonly difference: string };
  /** A request is answered with an HTTP status instead of being let in. */
  "request-refused": { readonly status: number; readonly reason: string };
  /** A line of the journal of a run is damaged. `soundStep` is the last step whose lines are all readable, if there is one. */
  "run-damaged": {
    readonly run: string;
    readonly line: number;
    readonly problem: string;
    readonly soundStep?: number;
  };
  /** The run has ended: nothing can be written to it. */
  "run-ended": { readonly run: string };
  /** A run cannot go on, because a tool or a skill that it was using does not exist any more. */
  "run-incomplete": { readonly run: string; readonly missing: string; readonly reason: string };
  /** Another worker has the run. `until` is a time as `2026-11-16T03:00:00.000Z`. */
  "run-leased": { readonly run: string; readonly worker: string; readonly until: string };
  /** There is no run of this id in the store. */
  "run-not-found": { readonly run: string; readonly nearest?: readonly string[] };
  /** A run waits for approvals: it has not ended. `text` is what its model said last. */
  "run-paused": { readonly run: string; readonly approvals: readonly string[]; readonly text: string };
  /** A run was stopped before its task was done. `text` is what its model said last. */
  "run-stopped": { readonly run: string; readonly reason: string; readonly text: string };
  /** The workspace has no runtime for this kind of tool. */
  "runtime-missing": { readonly tool: string; readonly kind: string; readonly known: readonly string[] };
  /** The sandbox could not start or hold a program. */
  "sandbox-failed": { readonly sandbox: string; readonly reason: string };
  /** No sandbox works on this machine, or not the one that was asked for. */
  "sandbox-missing": { readonly tried: readonly string[]; readonly asked?: string };
  /** A sandbox was asked for that does not enforce what is needed. `found` is what its test saw instead. */
  "sandbox-weak": { readonly sandbox: string; readonly lacks: readonly string[]; readonly found?: string };
  /** A schema cannot be used. */
  "schema-invalid": { readonly where: string; readonly problems: readonly Problem[] };
  /** The bytes of a file are not those that were checked. */
  "script-changed": { readonly path: string };
  /** A script ended with an exit code other than 0, or by a signal. `stdout` is the end of what it printed until then. */
  "script-failed": {
    readonly tool: string;
    readonly code?: number;
    readonly signal?: string;
    readonly stderr: string;
    readonly stdout?: string;
    /** Why Kitbag refused a call of the script, or something else that it asked for, if it ended because of that. */
    readonly refused?: string;
    readonly hint?: string;
  };
  /** The caller's token has none of the scopes that allow a call of the tool. */
  "scope-missing": { readonly tool: string; readonly scopes: readonly string[] };
  /** A method of a closed session was called. */
  "session-closed": { readonly action: string };
  /** A tool that a skill uses is missing, or is not the version that the skill was made for. */
  "skill-broken": { readonly skill: string; readonly problems: readonly Problem[] };
  /** There is already a skill of this name. */
  "skill-duplicate": { readonly skill: string };
  /** A skill's own code failed while it was opened. */
  "skill-failed": { readonly skill: string; readonly step: string; readonly reason: string };
  /** A file of a skill is no longer the one that was listed, or cannot be read. */
  "skill-file-changed": { readonly skill: string; readonly path: string };
  /** A skill has no file of this path. */
  "skill-file-missing": {
    readonly skill: string;
    readonly path: string;
    readonly nearest: readonly string[];
    readonly count: number;
  };
  /** The definition of a skill is wrong. */
  "skill-invalid": { readonly skill: string; readonly problems: readonly Problem[] };
  /** A caller closes a skill without its name, and no skill or more than one skill is open. */
  "skill-name-missing": { readonly open: readonly string[] };
  /** No skill has the name that was asked for. */
  "skill-not-found": { readonly skill: string; readonly nearest: readonly string[]; readonly count: number };
  /** A skill stays open, because other open skills require it. */
  "skill-required": { readonly skill: string; readonly by: readonly string[] };
  /** This skill's folder was not trusted, or has changed since. */
  "skill-untrusted": {
    readonly skill: string;
    readonly directory: string;
    readonly changed: readonly string[];
    /** The person took the trust back with `kitbag trust --remove`. */
    readonly removed?: true;
  };
  /** The state of a tool or a skill has reached its limit. */
  "state-full": { readonly owner: string; readonly limit: number; readonly limitBytes: number };
  /** A key or a value that the state of a tool cannot hold. */
  "state-invalid": { readonly key: string; readonly problems: readonly Problem[] };
  /** A step of a composed tool failed. */
  "step-failed": { readonly tool: string; readonly step: string; readonly code: string; readonly reason: string };
  /** It is not known whether a step happened, and it must not happen twice. */
  "step-uncertain": { readonly run: string; readonly step: string };
  /** The store was closed before. */
  "store-closed": { readonly operation: string };
  /** Another write to the same place came first. */
  "store-conflict": { readonly where: string; readonly expected: string; readonly found: string };
  /** The store could not read or write what the call needs: its limits, its cache, its key or its records. */
  "store-failed": { readonly reason: string; readonly ran: boolean };
  /** A key or a stream name that a store cannot hold. */
  "store-key-invalid": { readonly key: string; readonly reason: string };
  /** The file was made by a newer version. */
  "store-newer": { readonly store: string; readonly version: number; readonly newest: number };
  /** A person must agree before the store is used: it came from elsewhere, or is a copy. */
  "store-unaccepted": {
    readonly store: string;
    readonly reason: string;
    /** The command that agrees. */
    readonly accept: string;
  };
  /** The file or the server of a store cannot be reached, read or written now. */
  "store-unavailable": {
    readonly store: string;
    readonly reason: string;
    /** What to do. */
    readonly cure: string;
    /** Whether the write may have happened all the same. */
    readonly mayBeWritten: boolean;
  };
  /** The server of a store is set up in a way that can lose acknowledged writes. */
  "store-unsafe": { readonly store: string; readonly reasons: readonly string[]; readonly cure: string };
  /** A value that a store cannot hold. */
  "store-value-invalid": { readonly where: string; readonly problems: readonly Problem[] };
  /** Several owners have a tool of this name. */
  "tool-ambiguous": { readonly tool: string; readonly addresses: readonly string[] };
  /** Code called a tool that it neither owns nor declares in `uses`. */
  "tool-undeclared": {
    readonly tool: string;
    /** The address of the tool whose code made the call. */
    readonly caller: string;
    /** The skill that must declare it, if the caller belongs to one. */
    readonly skill?: string;
  };
  /** Code in a sandbox, or a tool called by such code, called a tool that only people, models and host code may call. */
  "tool-reserved": { readonly tool: string; readonly caller: string };
  /** A read-only tool called a tool that is not read-only. */
  "caller-read-only": { readonly tool: string; readonly caller: string };
  /** A tool that was made here called a tool that its author may not call. */
  "author-denied": {
    readonly tool: string;
    readonly caller: string;
    readonly author: string;
    readonly scopes: readonly string[];
  };
  /** The tool failed so often that it cannot be called for a while. */
  "tool-broken": { readonly tool: string; readonly retryAfterMs: number };
  /** The tool was made here, and deleted. It can be brought back. */
  "tool-deleted": { readonly tool: string };
  /** The owner already has a tool of this name. */
  "tool-duplicate": { readonly tool: string; readonly owner: string };
  /** The tool's code failed. */
  "tool-failed": { readonly tool: string; readonly reason: string };
  /** A caller passed a tool that is not in the workspace. */
  "tool-foreign": { readonly tool: string };
  /** The definition of a tool is wrong. */
  "tool-invalid": { readonly tool: string; readonly problems: readonly Problem[] };
  /** No tool has the name that was asked for. */
  "tool-not-found": {
    readonly tool: string;
    readonly nearest: readonly string[];
    readonly count: number;
    /** The skill that the address names, if no skill with tools has this name or a similar one. */
    readonly skill?: string;
  };
  /** The tool exists, but was not made here, so it cannot be changed here. */
  "tool-not-made": {
    readonly tool: string;
    /** The skill that it belongs to, if it does. */
    readonly skill?: string;
    /** The folder of the skill, if it has one. */
    readonly folder?: string;
  };
  /** Another MCP server has changed the description of a tool since it was trusted, so it does not run. */
  "tool-quarantined": { readonly tool: string; readonly server: string; readonly changed: readonly string[] };
  /** The tool exists, but its skill is closed. */
  "tool-unavailable": { readonly tool: string; readonly owner: string };
  /** A command was used in a wrong way. */
  "usage-invalid": { readonly reason: string };
  /** A call or a run of a user cannot go on, because the scopes of the user cannot be found now. */
  "user-unknown": { readonly user: string };
  /** A tool has changed since the editor read it; `changed` names the parts that are different. */
  "version-conflict": {
    readonly address: string;
    readonly expected: string;
    readonly current: string;
    readonly changed: readonly string[];
  };
  /** No version of this number, digest or label is kept. */
  "version-not-found": { readonly address: string; readonly which: string; readonly known: readonly string[] };
}

/** The code of a failure. */
export type ErrorCode = keyof ErrorDetails;

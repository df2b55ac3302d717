/** The clients of others, each as what all of them can do. Their packages are in a folder of their own, so their types are written down here. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** How a client reaches the server. */
export type Reach =
  | {
      readonly over: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Environment;
      readonly cwd: string;
    }
  | { readonly over: "http"; readonly url: string };

type Environment = Readonly<Record<string, string>>;

/** What came of a call, as the client tells it. */
export interface Answer {
  readonly text: string;
  readonly failed: boolean;
  /** Whether the client had to call the tool through `call_tool`, because its list does not have it. */
  readonly isIndirect?: true;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: () => void;
}

/** A client that is connected. What a client does not offer is not there. */
export interface ConnectedClient {
  /** The names of the tools, as the client would show them to a model now. */
  list(): Promise<readonly string[]>;
  call(name: string, input: object, options?: CallOptions): Promise<Answer>;
  readResource?(uri: string): Promise<string>;
  /** How often it was told that the list of tools changed. */
  told?(): number;
  readonly can: { readonly progress: boolean; readonly cancel: boolean };
  close(): Promise<unknown>;
}

/** A client of others. */
export interface ClientUnderTest {
  readonly name: string;
  readonly package: string;
  readonly over: readonly Reach["over"][];
  connect(reach: Reach): Promise<ConnectedClient>;
}

/** Where the packages are. */
export const clientsFolder: string = join(import.meta.dirname, "node_modules");

/** The version of a package that is installed there. */
export function versionOf(name: string): string {
  const require = createRequire(join(import.meta.dirname, "package.json"));
  return (require(join(folderOf(name), "package.json")) as { version: string }).version;
}

/** Loads a module of a package there. The caller says what of it is used. */
export async function loadClient<Shape>(file: string): Promise<Shape> {
  return (await import(pathToFileURL(join(clientsFolder, file)).href)) as Shape;
}

interface Block {
  readonly type?: string;
  readonly text?: string;
}

export interface McpResult {
  readonly content?: unknown;
  readonly isError?: boolean;
}

export function toAnswer({ content, isError = false }: McpResult): Answer {
  return { text: textOf(content), failed: isError };
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? "");
  return (content as readonly Block[]).map(({ text }) => text ?? "").join("\n");
}

/** Some clients answer with what failed, others throw it. */
export async function answerOf(calling: Promise<Answer>): Promise<Answer> {
  return calling.catch((cause: unknown) => ({ text: String(cause), failed: true }));
}

/** Makes a transport. */
export type MakeTransport = new (...given: readonly unknown[]) => unknown;

/** What a client is told to start. */
export function toSpawn({ command, args, env, cwd }: Extract<Reach, { over: "stdio" }>): object {
  return { command, args: [...args], env, cwd, stderr: "ignore" };
}

/** The Inspector is in a folder of its own. */
function folderOf(name: string): string {
  return name === "@modelcontextprotocol/inspector"
    ? join(import.meta.dirname, "../inspector/node_modules", name)
    : join(clientsFolder, name);
}

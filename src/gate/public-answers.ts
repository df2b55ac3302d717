import type { ServerResponse } from "node:http";

import type { Challenge } from "./access/challenge.ts";
import type { Checked } from "./request/gate-request.ts";

/** What every client may read without a token. */
interface PublicParts {
  readonly challenge: Pick<Challenge, "documents">;
  readonly unavailable: string | undefined;
  readonly findProblem: (() => Promise<string | undefined>) | undefined;
}

/** Answers what needs no token: whether the service lives, whether it can work now, and where its tokens come from. */
export interface PublicAnswers {
  /** Whether the request asks for one of them; then it is answered. */
  send(request: Checked): boolean;
}

const healthPath = "/healthz";
const readyPath = "/readyz";

/** Makes the public answers. */
export function createPublicAnswers({ challenge, unavailable, findProblem }: PublicParts): PublicAnswers {
  const findReason = findProblem === undefined ? undefined : createReadiness(findProblem);
  return {
    send(request) {
      const { path } = request;
      const { method } = request.incoming;
      if (method !== "GET" && method !== "HEAD") return false;
      if (path === healthPath || (path === readyPath && (unavailable !== undefined || findReason === undefined))) {
        sendState(request, unavailable);
        return true;
      }
      if (path === readyPath) {
        void findReason?.().then((reason) => sendState(request, reason));
        return true;
      }
      const document = challenge.documents.get(path);
      if (document === undefined) return false;
      // Pages need to read where tokens come from; whether something listens here is not their business.
      request.response.setHeader("access-control-allow-origin", "*");
      sendDocument(request, 200, document);
      return true;
    },
  };
}

/** The public paths as logs and metrics name them; nothing for another path. */
export function toPublicPath(path: string): string | undefined {
  if (path === healthPath || path === readyPath) return path;
  return path.startsWith("/.well-known/") ? "/.well-known/*" : undefined;
}

function sendState(request: Checked, reason: string | undefined): void {
  const state = reason === undefined ? { status: "ok" } : { status: "unavailable", reason };
  sendDocument(request, reason === undefined ? 200 : 503, JSON.stringify(state));
}

function sendDocument({ incoming, response }: Checked, status: number, document: string): void {
  if (isGone(response)) return;
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(document) })
    .end(incoming.method === "HEAD" ? undefined : document);
}

/** Looking took so long that the client left, or the gate was closed. */
function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.headersSent;
}

/** How long an answer about readiness is good: clients that ask more often get the same one. */
const freshMs = 1000;
/** How long a look may take. */
const lookMs = 3000;
const noAnswer = "what this service keeps its data in does not answer";

/** Looks whether the service can work: one look at a time, at most one a second. Never rejects. */
function createReadiness(findProblem: () => Promise<string | undefined>): () => Promise<string | undefined> {
  let last: Promise<string | undefined> | undefined;
  return () => {
    last ??= look(findProblem).finally(() => {
      setTimeout(() => (last = undefined), freshMs).unref();
    });
    return last;
  };
}

async function look(findProblem: () => Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(noAnswer), lookMs);
  });
  try {
    return await Promise.race([findProblem(), late]);
  } catch {
    // The text of the failure may hold an address or a path.
    return noAnswer;
  } finally {
    clearTimeout(timer);
  }
}

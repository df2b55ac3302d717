import { startPython, type PythonProcess } from "../scripts/python/python-process.ts";
import { createPythonReader, largestPythonSource, type PythonReader } from "../scripts/python/python-reader.ts";

/** A reader of Python that keeps a helper ready, so that a saved script is read without waiting for an interpreter to start. */
export interface StandbyPython extends PythonReader {
  /** Starts the helper if there is none. */
  prepare(): void;
}

/** More files than these are not one save, and are read by as many helpers as that is worth. */
const mostAtOnce = 16;

const limitMs = 10_000;

/** Makes a reader. The helper is started by {@link StandbyPython.prepare} alone; without it, files are read as otherwise. */
export function createStandbyPython(): StandbyPython {
  const readOtherwise = createSharedReader();
  let helper: PythonProcess | undefined;
  let asked = 0;
  let isClosed = false;

  async function readWith(
    process: PythonProcess,
    ...[source, modules]: Parameters<PythonReader["read"]>
  ): ReturnType<PythonReader["read"]> {
    asked += 1;
    const answer = await process.ask(source, modules);
    asked -= 1;
    if (answer.ok !== "lost") return answer;
    // It may have ended for any reason; a new one says what is wrong with this file.
    if (helper === process) helper = undefined;
    return readOtherwise(source, modules);
  }

  return {
    prepare() {
      if (!isClosed) helper ??= startPython({ command: ["python3"], limitMs });
    },
    read(source, modules) {
      const isForHelper = helper !== undefined && asked < mostAtOnce && source.length <= largestPythonSource;
      return isForHelper ? readWith(helper as PythonProcess, source, modules) : readOtherwise(source, modules);
    },
    async close() {
      isClosed = true;
      helper?.kill();
      helper = undefined;
    },
  };
}

/** One reader for all files that are asked for in one turn: it ends its helpers when it has nothing more to do. */
function createSharedReader(): PythonReader["read"] {
  let current: PythonReader | undefined;
  return (source, modules) => {
    if (current === undefined) {
      current = createPythonReader({ limitMs });
      setImmediate(() => {
        current = undefined;
      });
    }
    return current.read(source, modules);
  };
}

import { Transform, type Readable } from "node:stream";

/** What Node itself says on standard error when it is debugged. */
const notes = ["Debugger attached.\n", "Waiting for the debugger to disconnect...\n"];

/** The same stream; `onText` hears what passes. */
export function listenTo(stream: Readable, onText: (text: string) => void): Readable {
  const decoder = new TextDecoder();
  const tell = (text: string): void => {
    if (text !== "") onText(text);
  };
  return chain(
    stream,
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        tell(decoder.decode(piece, { stream: true }));
        done(null, piece);
      },
      flush(done) {
        tell(decoder.decode());
        done();
      },
    }),
  );
}

/** Takes out what Node says about its debugger; the rest passes as it is. */
export function withoutNotes(stream: Readable): Readable {
  return chain(
    stream,
    new Transform({
      transform(piece: Buffer, _encoding, done) {
        // Node writes each of them at once.
        let text = piece.toString("latin1");
        for (const note of notes) text = text.replace(note, "");
        done(null, Buffer.from(text, "latin1"));
      },
    }),
  );
}

function chain(stream: Readable, transform: Transform): Readable {
  const end = (): void => {
    if (!transform.writableEnded) transform.end();
  };
  for (const event of ["end", "close", "error"]) stream.once(event, end);
  transform.once("close", () => stream.destroy());
  stream.pipe(transform, { end: false });
  return transform;
}

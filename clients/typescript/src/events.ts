/**
 * The events of a debate or an evaluation: reading a stream of them, and following it across connections that break.
 *
 * A service sends an entry's events together, and the entry's number with the last of them. So an event is handed out
 * once its entry is whole: what a broken connection cut off comes again, and nothing comes twice or is lost.
 */
import { type GainsayError, GainsayError as AnyError, UnexpectedAnswer, Unreachable } from "./errors.js";
import { Broken, type Exchange, type Opened, Trying, isPassing, joined, pause } from "./exchange.js";
import { Answer, errorOf, object, part } from "./wire.js";

const EVENT_STREAM = "text/event-stream";
/** The most characters of one event. */
export const EVENT_MAX = 64 << 20;
/** The bounds of the seconds that a stream may have a client wait (`retry:`). */
const RETRY_MIN_S = 0.1;
const RETRY_MAX_S = 30;
const ERROR_MAX = 1 << 20;

/** An event. `id` is the number of its entry: give it as `after` to go on behind it. `data` is the event as it came. */
export interface Event {
  id: number;
  name: string;
  data: Record<string, unknown>;
}

/** All members of an event at one level: our own beside those of a format's reference. */
export function membersOf(event: Event): Record<string, unknown> {
  return { ...event.data, ...(event.data["gainsay"] as Record<string, unknown> | undefined) };
}

/** A block of the stream. */
interface Frame {
  id?: string;
  name: string;
  data?: string;
  retryMs?: number;
}

/** Bytes of an event stream to frames, as WHATWG HTML, 9.2.6 says. A block that the stream cuts off is no frame. */
export class Decoder {
  private readonly text = new TextDecoder();
  private pieces: string[] = [];
  private lines: string[] = [];
  private size = 0;
  private afterCr = false;

  /** The frames that are whole with these bytes; throws `UnexpectedAnswer` for one that is too large. */
  *feed(chunk: Uint8Array): Generator<Frame> {
    const whole = this.text.decode(chunk, { stream: true });
    if (!whole) return;
    const text = this.afterCr && whole.startsWith("\n") ? whole.slice(1) : whole;
    this.afterCr = whole.endsWith("\r");
    for (const piece of text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []) {
      if ((this.size += piece.length) > EVENT_MAX)
        throw new UnexpectedAnswer(`expected events of at most ${EVENT_MAX} characters, found a larger one`);
      this.pieces.push(piece);
      if (!/[\r\n]$/.test(piece)) continue;
      const line = this.pieces.join("").replace(/[\r\n]+$/, "");
      this.pieces = [];
      if (line) this.lines.push(line);
      else if (this.lines.length) {
        const lines = this.lines;
        [this.lines, this.size] = [[], 0];
        yield frame(lines);
      }
    }
  }
}

function frame(lines: string[]): Frame {
  const found: Frame = { name: "message" };
  const data: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "event") found.name = value;
    else if (name === "id") found.id = value;
    else if (name === "data") data.push(value);
    else if (name === "retry" && /^[0-9]{1,9}$/.test(value)) found.retryMs = Number(value);
  }
  if (data.length) found.data = data.join("\n");
  return found;
}

/** What is followed: the path of its events, what is asked of them, and the name of its last one. */
export interface Stream {
  path: string;
  query: Record<string, string>;
  final: string;
}

/** The events of a debate. */
export function debateStream(debate: string, view: string): Stream {
  return { path: `/v1/debates/${part(debate)}/events`, query: { view }, final: "final" };
}

/** The events of an evaluation. */
export function evaluationStream(evaluation: string): Stream {
  return { path: `/v1/evaluations/${part(evaluation)}/events`, query: {}, final: "evaluation.concluded" };
}

/** One stream followed to its end: what was seen, and what is held until its entry is whole. */
export class Follower {
  private retryS = 1;
  private held: [string, string][] = [];
  private moved = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly stream: Stream,
    private seen: number | undefined,
  ) {}

  /** Every event after the last that was seen, over as many connections as it takes. */
  async *follow(): AsyncGenerator<Event, void, undefined> {
    const { terms } = this.exchange;
    let trying = new Trying(terms, terms.giveUpAfter);
    for (;;) {
      this.moved = false;
      let fault: GainsayError = new Unreachable(`the stream ${this.stream.path} ended before its final event`);
      try {
        if (yield* this.listen()) return;
      } catch (error) {
        if (error instanceof Broken) fault = this.exchange.unreachable(error, trying);
        else if (error instanceof AnyError && isPassing(error)) fault = error;
        else throw error;
      }
      if (this.moved) {
        trying = new Trying(terms, terms.giveUpAfter); // the service was there: the time to give up begins anew
        await pause(this.retryS * (1 + Math.random() / 2));
      } else await trying.pauseAfter(fault);
    }
  }

  /** One connection; whether the stream is over. */
  private async *listen(): AsyncGenerator<Event, boolean, undefined> {
    const headers: Record<string, string> = { accept: EVENT_STREAM };
    if (this.seen !== undefined) headers["last-event-id"] = String(this.seen);
    const { path, query, final } = this.stream;
    const { terms } = this.exchange;
    const request = { method: "GET", path, query, headers, repeatable: true };
    const opened = await this.exchange.open(request, terms.silence);
    try {
      await this.exchange.look(opened.answer);
      if (opened.answer.status === 204) return true;
      if (opened.answer.status !== 200) throw errorOf(await rest(opened), terms.server);
      if (opened.answer.media !== EVENT_STREAM)
        throw new UnexpectedAnswer(`expected ${EVENT_STREAM}, found ${opened.answer.media || "no media type"}`);
      const decoder = new Decoder();
      this.held = [];
      for (let chunk; (chunk = await opened.read()); )
        for (const each of decoder.feed(chunk))
          for (const event of this.take(each)) {
            yield event;
            if (event.name === final) return true;
          }
      return false;
    } finally {
      opened.close();
    }
  }

  /** The events of an entry that is whole with a frame. */
  private take(found: Frame): Event[] {
    if (found.retryMs !== undefined) {
      this.retryS = Math.min(Math.max(found.retryMs / 1000, RETRY_MIN_S), RETRY_MAX_S);
      return [];
    }
    if (found.data !== undefined) this.held.push([found.name, found.data]);
    if (found.id === undefined) {
      this.moved ||= found.data === undefined; // a comment in a silence
      return [];
    }
    if (!/^[0-9]{1,9}$/.test(found.id))
      throw new UnexpectedAnswer(`expected the number of an entry as the id of an event, found ${found.id.slice(0, 40)}`);
    const id = Number(found.id);
    const held = this.held;
    this.held = [];
    if (this.seen !== undefined && id <= this.seen) return []; // sent twice, by a proxy that keeps what it should not
    [this.seen, this.moved] = [id, true];
    return held.map(([name, text]) => {
      const data = object(text);
      if (data === undefined)
        throw new UnexpectedAnswer(`expected a JSON object as the data of ${name}, found ${text.slice(0, 80)}`);
      return { id, name, data };
    });
  }
}

async function rest(opened: Opened): Promise<Answer> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let piece; size < ERROR_MAX && (piece = await opened.read()); size += piece.length) pieces.push(piece);
  return new Answer(opened.answer.status, opened.answer.headers, joined(pieces, size));
}

/**
 * Sending a request until it is answered: what is sent again, after which pause, and for how long.
 *
 * A request is sent again after a connection that failed and after an answer that says so (408, 425, 429, 502, 503, 504,
 * and 409 `fenced`), if it is `repeatable`: a read, an abort, a question that costs nothing, or a case under its key. Any
 * other request is sent again only where it cannot have reached the service. A pause is never shorter than Retry-After,
 * and no pause begins that would end after the time of the call.
 */
import { BadConsistency, type Hash, decodeHash, verifyConsistency } from "./consistency.js";
import { GainsayError, UnexpectedAnswer, Unreachable } from "./errors.js";
import { type HeadMemory, forked } from "./headMemory.js";
import { Head, parseCheckpoint } from "./heads.js";
import { Answer, type Query, type Request, type Server, errorOf, logPath } from "./wire.js";

const PASSING = [408, 425, 429, 502, 503, 504];
const HEAD = "gainsay-checkpoint";
const VERSION = /^[0-9]{1,4}\.[0-9]{1,4}$/;
const LONGEST_PAUSE_S = 15;
/** How often in a row another process may remember a head while one is proved. */
const RACES = 5;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The most bytes of an answer that is read into memory. */
export const ANSWER_MAX = 256 << 20;

/** How a client behaves. Times are in seconds. */
export interface Terms {
  server: Server;
  headers: Record<string, string>;
  fetch: typeof fetch;
  giveUpAfter: number;
  answerWithin: number;
  silence: number;
  firstPause: number;
}

/** The connection failed. `sent`: the service may have the request. */
export class Broken extends Error {
  constructor(
    reason: string,
    readonly sent: boolean,
  ) {
    super(reason);
  }
}

export function seconds(): number {
  return performance.now() / 1000;
}

export function pause(forSeconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const timer = setTimeout(done, Math.min(1000 * forSeconds, LONGEST_TIMER_MS));
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      failed(signal.reason);
    });
  });
}

/** The tries of one call: how long the next pause is, and whether there is time for it. */
export class Trying {
  tries = 0;
  private readonly endsAt: number;
  private pauseS: number;

  constructor(terms: Terms, forSeconds: number) {
    this.endsAt = seconds() + forSeconds;
    this.pauseS = terms.firstPause;
  }

  get left(): number {
    return this.endsAt - seconds();
  }

  /** Pause before the next try, or throw the fault where there is no time for one. */
  async pauseAfter(fault: GainsayError): Promise<void> {
    this.tries += 1;
    const next = Math.max(this.pauseS, fault.retryAfter ?? 0) * (1 + Math.random() / 2);
    this.pauseS = Math.min(2 * this.pauseS, LONGEST_PAUSE_S);
    if (next >= this.left) throw fault;
    await pause(next);
  }
}

/** An answer whose body is read apart. */
export interface Opened {
  answer: Answer;
  /** The next bytes, nothing at the end; throws `Broken`. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  close(): void;
}

/** Sends requests for all calls of one client, and looks at the head of every answer. */
export class Exchange {
  /** The version of the API that gave the latest answer. */
  apiVersion: string | undefined;

  constructor(
    readonly terms: Terms,
    readonly memory: HeadMemory,
  ) {}

  /** The successful answer to a request; throws the `GainsayError` of any other. */
  async send(request: Request, isWhole: (answer: Answer) => boolean = () => true): Promise<Answer> {
    const waits = request.waits ?? 0;
    const trying = new Trying(this.terms, this.terms.giveUpAfter + waits);
    for (;;) {
      let [fault, repeat]: [GainsayError, boolean] = [new Unreachable("no try yet"), true];
      try {
        const answer = await this.once(request, Math.max(0.001, Math.min(this.terms.answerWithin + waits, trying.left)));
        await this.look(answer);
        if (answer.isSuccess) {
          if (isWhole(answer)) return answer;
          throw new Broken(`the file ends after ${answer.body.length} bytes, before its end`, true);
        }
        fault = errorOf(answer, this.terms.server);
        repeat = request.repeatable && isPassing(fault);
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        fault = this.unreachable(error, trying);
        repeat = request.repeatable || !error.sent;
      }
      if (!repeat) throw fault;
      await trying.pauseAfter(fault);
    }
  }

  unreachable(broken: Broken, trying: Trying): Unreachable {
    const tries = trying.tries ? ` (try ${trying.tries + 1})` : "";
    return new Unreachable(`no whole answer from ${this.terms.server.origin}: ${broken.message}${tries}`);
  }

  /** One try: the whole answer within so many seconds; throws `Broken`. */
  private async once(request: Request, within: number): Promise<Answer> {
    const opened = await this.open(request, within, within);
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    try {
      for (let piece; (piece = await opened.read()); ) {
        pieces.push(piece);
        if ((size += piece.length) > ANSWER_MAX)
          throw new UnexpectedAnswer(`expected an answer of at most ${ANSWER_MAX} bytes, found a larger one`);
      }
    } finally {
      opened.close();
    }
    return new Answer(opened.answer.status, opened.answer.headers, joined(pieces, size));
  }

  /** An answer to be read piece by piece, within `silence` seconds each and `within` seconds in all; throws `Broken`. */
  async open(request: Request, silence: number, within = Infinity): Promise<Opened> {
    const leaving = new AbortController();
    const endsAt = seconds() + within;
    const timely = async <T>(work: Promise<T>): Promise<T> => {
      const left = Math.max(0, Math.min(silence, endsAt - seconds()));
      const timer = setTimeout(() => leaving.abort(), Math.min(1000 * left, LONGEST_TIMER_MS));
      try {
        return await work;
      } catch (error) {
        leaving.abort();
        throw leaving.signal.reason && left <= 0 ? new Broken("no time is left", true) : broken(error, left);
      } finally {
        clearTimeout(timer);
      }
    };
    const init: RequestInit = {
      method: request.method,
      headers: { ...this.terms.headers, ...request.headers },
      redirect: "manual",
      cache: "no-store",
      signal: leaving.signal,
    };
    if (request.body !== undefined) init.body = request.body;
    const response = await timely(this.terms.fetch(this.terms.server.address(request), init));
    const reader = response.body?.getReader();
    return {
      answer: new Answer(response.status, response.headers),
      read: async () => (reader === undefined ? undefined : (await timely(reader.read())).value as Uint8Array<ArrayBuffer>),
      close: () => leaving.abort(),
    };
  }

  /** Note the version of an answer, compare its head with what is remembered, and have proofs that are due. */
  async look(answer: Answer): Promise<void> {
    const said = answer.headers.get("gainsay-version") ?? "";
    if (VERSION.test(said)) this.apiVersion = said;
    const given = answer.headers.get(HEAD);
    if (given === null) return;
    await this.memory.note(given);
    await this.prove(false);
  }

  /** Ask for the proofs of the heads kept aside, if a batch is due; throws `LogForked`. */
  async prove(now: boolean): Promise<void> {
    const batch = this.memory.beginBatch(now);
    if (batch === undefined) return;
    const trying = new Trying(this.terms, this.terms.giveUpAfter);
    try {
      for (const log of batch.ended) {
        const last = await this.lastCheckpoint(log, trying);
        if (last !== undefined) batch.heads.push(last);
      }
      for (const head of batch.heads) for (let race = 0; race < RACES && !(await this.proveHead(head, trying)); race++);
    } finally {
      this.memory.endBatch();
    }
  }

  /** Prove a head, or tell that it cannot be; false where another process remembered a third one meanwhile. */
  private async proveHead(head: Head, trying: Trying): Promise<boolean> {
    const kept = (await this.memory.store.heads()).get(head.log) ?? head;
    const [old, newer] = head.size < kept.size ? [head, kept] : [kept, head];
    const path = old.size === 0n || old.size === newer.size ? [] : await this.path(old, newer, trying);
    if (typeof path === "string") {
      this.memory.missing(head, path);
      return true;
    }
    try {
      await verifyConsistency(old.size, newer.size, path, decodeHash(old.root)!, decodeHash(newer.root)!);
    } catch (error) {
      if (!(error instanceof BadConsistency)) throw error;
      this.memory.refused(head);
      throw forked(head, kept, error.message);
    }
    return this.memory.proved(head, kept);
  }

  /** The consistency proof of two heads, or why it cannot be had. */
  private async path(old: Head, newer: Head, trying: Trying): Promise<Hash[] | string> {
    const query = { from: String(old.size), to: String(newer.size) };
    const answer = await this.ask(logPath(old.log, "consistency"), query, trying);
    if (typeof answer === "string") return answer;
    const nodes = answer.text.split("\n").slice(0, -1).map(decodeHash);
    const path = nodes.filter((node) => node !== undefined);
    return path.length === nodes.length && /^$|\n$/.test(answer.text) ? path : "the answer is no proof";
  }

  /** The head of a log that has ended, if it has to be proved. */
  private async lastCheckpoint(log: string, trying: Trying): Promise<Head | undefined> {
    const answer = await this.ask(logPath(log, "checkpoint"), {}, trying);
    if (typeof answer === "string") return undefined;
    let head: Head;
    try {
      head = parseCheckpoint(answer.text);
    } catch {
      return undefined;
    }
    if (head.log !== log) return undefined;
    await this.memory.noteHead(head);
    this.memory.followed(log);
    return this.memory.aside.has(String(head)) ? head : undefined;
  }

  /** One try of a request about heads: its answer, or why there is none. A batch takes no longer than a call. */
  private async ask(path: string, query: Query, trying: Trying): Promise<Answer | string> {
    if (trying.left <= 0) return "the time for proofs was over";
    let answer: Answer;
    try {
      const within = Math.min(this.terms.answerWithin, trying.left);
      answer = await this.once({ method: "GET", path, query, repeatable: true }, within);
    } catch (error) {
      if (error instanceof Broken) return error.message;
      throw error;
    }
    const given = answer.headers.get(HEAD);
    if (given !== null) await this.memory.note(given);
    return answer.status === 200 ? answer : String(errorOf(answer, this.terms.server));
  }
}

/** Whether the same request may succeed later. */
export function isPassing(fault: GainsayError): boolean {
  return PASSING.includes(fault.status ?? 0) || fault.code === "fenced";
}

export function joined(pieces: Uint8Array<ArrayBuffer>[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** What a failed connection means. */
function broken(error: unknown, within: number): Broken {
  if (error instanceof DOMException && error.name === "AbortError")
    return new Broken(`nothing came for ${within.toFixed(1)} s`, true);
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const sent = !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(cause?.code ?? "");
  const reason = cause?.code ?? cause?.message;
  return new Broken(`${(error as Error).message}${reason ? ` (${reason})` : ""}`, sent);
}

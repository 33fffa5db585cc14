/** The client of one service. */
import { Conflict, GainsayError, Refused, TimedOut, UnexpectedAnswer, Unreachable } from "./errors.js";
import { type Event, Follower, debateStream, evaluationStream } from "./events.js";
import { Exchange, pause, seconds } from "./exchange.js";
import { HeadMemory, type HeadNotice } from "./headMemory.js";
import { type Head, type HeadStore, MemoryHeads } from "./heads.js";
import type { components } from "./schema.js";
import { type Answer, type Query, type Request, type Value, Server, encode, expectMedia, logPath, part, whole } from "./wire.js";

/** The types of requests and answers. An answer may have members and values of a newer service. */
export type Schemas = components["schemas"];
export type CaseRequest = Schemas["CaseRequest"];
export type Summary = Schemas["Summary"];
export type Result = Schemas["Result"];
export type View = "summary" | "full";
export type Viewed<V extends View> = V extends "full" ? Result : Summary;
type Values = Value | readonly Value[];

/** Filters of `GET /v1/debates`; a list means any of its values. */
export interface Filters {
  since?: Value;
  until?: Value;
  taskType?: Values;
  useCase?: Values;
  model?: Values;
  status?: Values;
  format?: Values;
  outcome?: Values;
  confidence?: Values;
  flag?: Values;
  materiality?: Values;
  humanReview?: boolean;
  /** Values by key, or null for any value; all have to match. */
  metadata?: Record<string, string | null>;
  q?: string;
  sort?: string;
}

export interface Options {
  /** Sent as a bearer token, to this origin alone. */
  token?: string;
  /** Sent with every request, to this origin alone. */
  headers?: Record<string, string>;
  /** Remembers the head of each audit log: `MemoryHeads`, unless you give another. */
  heads?: HeadStore;
  /** Proofs of heads are asked for at most once in so many seconds (1). */
  proveEvery?: number;
  /** Is told what is no reason to refuse an answer; console.warn, unless you give another. */
  onHead?: (notice: HeadNotice) => void;
  /** Seconds for one call with all repetitions (60). */
  giveUpAfter?: number;
  /** Seconds for one answer (60). */
  answerWithin?: number;
  /** The most seconds between two pieces of a stream (45); it sends a comment every 15. */
  silence?: number;
  /** Seconds before the first repetition (0.25); each further pause is twice as long. */
  firstPause?: number;
  /** For proxies and certificates: fetch, unless you give another. It must not follow redirects. */
  fetch?: typeof fetch;
}

/** A case that is recorded, once, under `key`. `answer` is absent where it came before and its debate is not over. */
export interface Submitted {
  debateId: string;
  status: string;
  key: string;
  replayed: boolean;
  answer?: Schemas["Submission"] | Summary | Result;
}

const JSON_TYPE = "application/json";
const JSONL_TYPE = "application/jsonl";
const ZIP_TYPE = "application/zip";
const TEXT_TYPE = "text/plain";
const DEBATES = "/v1/debates";
const BATCHES = "/v1/batches";
const EVALUATIONS = "/v1/evaluations";
const EVALUATION_SETS = "/v1/evaluation-sets";
const WAIT_MAX_S = 60;
const POLL_S = 1;
const MEDIA = { html: "text/html", markdown: "text/markdown", pdf: "application/pdf" } as const;
const LINES = { jsonl: JSONL_TYPE, csv: "text/csv" } as const;
const RESULT_MEDIA = { json: JSON_TYPE, ...MEDIA } as const;

/** A client of one service. Times are in seconds. No redirect is followed. */
export class Gainsay {
  private readonly exchange: Exchange;
  private readonly server: Server;

  constructor(address: string, options: Options = {}) {
    this.server = new Server(address);
    const memory = new HeadMemory(
      options.heads ?? new MemoryHeads(),
      options.proveEvery ?? 1,
      seconds,
      options.onHead ?? (({ kind, head, reason }) => console.warn(`gainsay-client: head ${kind}: ${head}: ${reason}`)),
    );
    this.exchange = new Exchange(
      {
        server: this.server,
        headers: headersOf(options),
        fetch: options.fetch ?? ((...asked) => fetch(...asked)),
        giveUpAfter: options.giveUpAfter ?? 60,
        answerWithin: options.answerWithin ?? 60,
        silence: options.silence ?? 45,
        firstPause: options.firstPause ?? 0.25,
      },
      memory,
    );
  }

  /**
   * Submit a case: one record and one bill, however often connections break. All tries go under `key`, a new UUID unless
   * you give one; with `wait` the service answers when the debate ends, or after so many seconds (60 at most).
   */
  async submit(case_: CaseRequest, options: { key?: string; wait?: number; view?: View } = {}): Promise<Submitted> {
    const key = options.key ?? crypto.randomUUID();
    try {
      return await this.submitUnder(key, case_, options);
    } catch (error) {
      if (error instanceof Unreachable) throw error.under(key);
      if (error instanceof GainsayError) error.key = key;
      throw error;
    }
  }

  private async submitUnder(key: string, case_: CaseRequest, options: { wait?: number; view?: View }): Promise<Submitted> {
    const waits = Math.max(0, Math.min(Math.floor(options.wait ?? 0), WAIT_MAX_S));
    const headers: Record<string, string> = { "content-type": JSON_TYPE, "idempotency-key": quotedKey(key) };
    if (options.wait !== undefined) headers["prefer"] = `wait=${waits}`;
    const query = { view: options.view ?? "summary" };
    const asked = { method: "POST", path: DEBATES, query, headers, body: encode(case_), repeatable: true, waits };
    let answer: Answer;
    try {
      answer = await this.exchange.send(asked);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      this.server.expectOwn(error.location);
      if (error.code !== "idempotency_in_progress" || error.debateId === undefined) throw error;
      return { debateId: error.debateId, status: "running", key, replayed: true };
    }
    this.server.expectOwn(answer.headers.get("location"));
    const found = answer.members<Schemas["Submission"]>();
    if (typeof found.debateId !== "string" || typeof found.status !== "string")
      throw new UnexpectedAnswer(`expected debateId and status of a recorded case, found ${Object.keys(found)}`);
    const replayed = answer.headers.get("idempotency-replayed") === "true";
    return { debateId: found.debateId, status: found.status, key, replayed, answer: found };
  }

  /** Submit a case, wait, and read the result; throws `TimedOut` with the debate, which goes on. */
  async review<V extends View = "summary">(
    case_: CaseRequest,
    options: { key?: string; timeout?: number; view?: V } = {},
  ): Promise<Viewed<V>> {
    const view: View = options.view ?? "summary";
    const endsAt = seconds() + (options.timeout ?? 600);
    const wait = options.timeout ?? WAIT_MAX_S;
    const submitted = await this.submit(case_, { ...(options.key === undefined ? {} : { key: options.key }), wait, view });
    const answer = submitted.answer;
    if (!isUnderWay(submitted.status) && answer && "view" in answer && answer.view === view) return answer as Viewed<V>;
    try {
      return (await this.waitUntil(submitted.debateId, endsAt, view)) as Viewed<V>;
    } catch (error) {
      if (error instanceof Unreachable) throw error.under(submitted.key, submitted.debateId);
      if (error instanceof GainsayError) {
        // The debate goes on, and so does its bill: it must not be lost with the wait.
        error.key = submitted.key;
        error.problem["debateId"] ??= submitted.debateId;
      }
      throw error;
    }
  }

  /** Read one debate in its present state. */
  async result<V extends View = "summary">(debate: string, options: { view?: V } = {}): Promise<Viewed<V>> {
    return ofDebate(debate, await this.get<Viewed<V>>(debatePath(debate), { view: options.view ?? "summary" }));
  }

  /** Wait until a debate is over, and read its result; throws `TimedOut`. */
  async wait<V extends View = "summary">(
    debate: string,
    options: { timeout?: number; view?: V } = {},
  ): Promise<Viewed<V>> {
    const endsAt = seconds() + (options.timeout ?? 600);
    return (await this.waitUntil(debate, endsAt, options.view ?? "summary")) as Viewed<V>;
  }

  private async waitUntil(debate: string, endsAt: number, view: View): Promise<Summary | Result> {
    let tag = "";
    for (;;) {
      const headers: Record<string, string> = tag ? { "if-none-match": tag } : {};
      const request = { method: "GET", path: debatePath(debate), query: { view }, headers, repeatable: true };
      const answer = await this.exchange.send(request);
      if (answer.status !== 304) {
        const found = ofDebate(debate, answer.members<Summary | Result>());
        if (!isUnderWay(found.status) && !answer.headers.has("retry-after")) return found;
      }
      tag = answer.headers.get("etag") ?? "";
      const next = Math.max(answer.retryAfter ?? 0, POLL_S);
      if (seconds() + next > endsAt)
        throw new TimedOut(`debate ${debate} is not over; it goes on, and can be waited for again`, {
          problem: { debateId: debate },
        });
      await pause(next);
    }
  }

  /** Every event of a debate to its end, each once, however often connections break. */
  follow(debate: string, options: { after?: number; view?: View } = {}): AsyncGenerator<Event, void, undefined> {
    return new Follower(this.exchange, debateStream(debate, options.view ?? "summary"), options.after).follow();
  }

  /** Abort a debate: it makes no further model calls. An abort is idempotent. */
  async abort(debate: string, options: { reason?: string } = {}): Promise<Schemas["Abortion"]> {
    return this.post(`${debatePath(debate)}/abort`, options);
  }

  /**
   * Submit many cases as one file, under a `ceiling` in US dollars: stored once under `key`. `lines` is the file, or its
   * lines: cases, or `{ key, case }` with a key of your own.
   */
  async createBatch(
    lines: string | readonly (CaseRequest | Schemas["BatchLine"])[],
    options: { ceiling?: string; deadline?: string | Date; name?: string; key?: string } = {},
  ): Promise<Schemas["BatchState"]> {
    const { ceiling, key, ...named } = options;
    const body = typeof lines === "string" ? whole(lines) : lines.map((line) => `${encode(line)}\n`).join("");
    return this.stored(BATCHES, { ...named, ceilingUSD: ceiling }, JSONL_TYPE, body, key);
  }

  /** What a service answers that stores a body once under a key. */
  private async stored<T>(
    path: string,
    query: Record<string, string | Date | undefined>,
    media: string,
    body: string,
    key: string = crypto.randomUUID(),
  ): Promise<T> {
    const headers = { "content-type": media, "idempotency-key": quotedKey(key) };
    try {
      const answer = await this.exchange.send({ method: "POST", path, query, headers, body, repeatable: true });
      this.server.expectOwn(answer.headers.get("location"));
      return answer.members<T>();
    } catch (error) {
      if (error instanceof Unreachable) throw error.under(key);
      if (error instanceof GainsayError) error.key = key;
      throw error;
    }
  }

  /** One page of batches, the newest first; `after` is `next` of the page before. */
  async batches(options: { limit?: number; after?: string } = {}): Promise<Schemas["BatchList"]> {
    return this.get(BATCHES, options);
  }

  /** How a batch stands. */
  async batch(batch: string): Promise<Schemas["BatchState"]> {
    return this.get(`${BATCHES}/${part(batch)}`);
  }

  /** The lines of a batch with what became of them, or as `csv` its decisions: a whole file, or an error. */
  async batchResults(batch: string, options: { form?: "jsonl" | "csv" } = {}): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.accepted(`${BATCHES}/${part(batch)}/results`, {}, mediaOf(options.form ?? "jsonl", LINES))).body;
  }

  /** Abort a batch: none of its cases begins any more. An abort is idempotent. */
  async abortBatch(batch: string, options: { reason?: string } = {}): Promise<Schemas["BatchState"]> {
    return this.post(`${BATCHES}/${part(batch)}/abort`, options);
  }

  /** Register the text of a plan file (TOML), once under `key`. The service then asks its items. */
  async registerEvaluation(plan: string, options: { key?: string } = {}): Promise<Schemas["EvaluationState"]> {
    return this.stored(EVALUATIONS, {}, JSON_TYPE, encode({ plan }), options.key);
  }

  /** One page of evaluations, the newest first; `after` is `next` of the page before. */
  async evaluations(options: { limit?: number; after?: string } = {}): Promise<Schemas["EvaluationList"]> {
    return this.get(EVALUATIONS, options);
  }

  /** The golden sets that plans may name; no item and no label is shown. */
  async evaluationSets(): Promise<Schemas["GoldenSetList"]> {
    return this.get(EVALUATION_SETS);
  }

  /** How an evaluation stands, with its result once there is one. */
  async evaluation(evaluation: string): Promise<Schemas["EvaluationState"]> {
    return this.get(`${EVALUATIONS}/${part(evaluation)}`);
  }

  /** The events of an evaluation to its end, each once, however often connections break. */
  followEvaluation(evaluation: string, options: { after?: number } = {}): AsyncGenerator<Event, void, undefined> {
    return new Follower(this.exchange, evaluationStream(evaluation), options.after).follow();
  }

  /** Stop an evaluation: nothing more of it is asked. A stop is idempotent. */
  async stopEvaluation(evaluation: string, options: { reason?: string } = {}): Promise<Schemas["EvaluationState"]> {
    return this.post(`${EVALUATIONS}/${part(evaluation)}/stop`, options);
  }

  /** The report of an evaluation; JSON, HTML and Markdown are in UTF-8. */
  async evaluationReport(
    evaluation: string,
    form: keyof typeof RESULT_MEDIA = "markdown",
    options: { paper?: "a4" | "letter" } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.reported(`${EVALUATIONS}/${part(evaluation)}/report`, form, RESULT_MEDIA, options);
  }

  /** The records of an evaluation and of its debates, or its bundle (a ZIP): a whole file, or an error. */
  async exportEvaluation(
    evaluation: string,
    options: { form?: "records" | "bundle" } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bundle = options.form === "bundle";
    const [media, isWhole] = bundle ? [ZIP_TYPE, (answer: Answer) => isZip(answer.body)] : [JSONL_TYPE, isExport];
    return (await this.accepted(`${EVALUATIONS}/${part(evaluation)}/audit`, {}, media, isWhole)).body;
  }

  /** Ask the gate alone; nothing is stored. */
  async gate(case_: Schemas["GateRequest"]): Promise<Schemas["Gate"]> {
    return this.post("/v1/gate", case_);
  }

  /** Quote the cost of a case; nothing is stored. */
  async quote(case_: CaseRequest): Promise<Schemas["PriceQuote"]> {
    return this.post("/v1/quotes", case_);
  }

  /** Check citations against sources; nothing is stored. */
  async checkCitations(batch: Schemas["Batch"]): Promise<Schemas["CheckedCitations"]> {
    return this.post("/v1/citations/check", batch);
  }

  /** The debates that match, over all pages of `limit` (100). */
  async *find(options: Filters & { limit?: number } = {}): AsyncGenerator<Schemas["DebateSummary"], void, undefined> {
    for (let after: string | undefined; ; ) {
      const asked = { limit: 100, ...options, ...(after === undefined ? {} : { after }) };
      const page = await this.findPage(asked);
      yield* page.debates;
      if (!page.next) return;
      if (page.next === after) throw new UnexpectedAnswer("expected another cursor on the next page, found the same one");
      after = page.next;
    }
  }

  /** One page of the debates that match, with facets; `after` is `next` of the page before. */
  async findPage(
    options: Filters & { after?: string; limit?: number; facets?: Values } = {},
  ): Promise<Schemas["DebateList"]> {
    const { metadata, ...query } = options;
    const pairs = Object.entries(metadata ?? {}).map(([name, value]) => (value === null ? name : `${name}=${value}`));
    return this.get(DEBATES, { ...query, metadata: pairs });
  }

  /** The documents of a debate, as recorded. */
  async documents(debate: string): Promise<Record<string, unknown>> {
    return this.get(`${debatePath(debate)}/documents`);
  }

  /** The text of a document. */
  async document(debate: string, document: string): Promise<string> {
    return this.text(`${debatePath(debate)}/documents/${part(document)}`);
  }

  /** The report of a debate; HTML and Markdown are in UTF-8. */
  async report(
    debate: string,
    form: keyof typeof MEDIA = "markdown",
    options: { paper?: "a4" | "letter" } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.reported(`${debatePath(debate)}/report`, form, MEDIA, options);
  }

  private async reported(
    path: string,
    form: string,
    media: Readonly<Record<string, string>>,
    query: Record<string, string | undefined>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.accepted(path, query, mediaOf(form, media))).body;
  }

  /** The evidence of a decision: a whole ZIP, or an error. */
  async bundle(debate: string): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.accepted(`${debatePath(debate)}/audit`, {}, ZIP_TYPE, (answer) => isZip(answer.body))).body;
  }

  /** The records of a log, all or filtered: a whole file, or an error. */
  async export(log: string, options: Query & { form?: "jsonl" | "csv" } = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { form = "jsonl", ...filters } = options;
    const query = { ...filters, format: form };
    return (await this.accepted(logPath(log, "records"), query, mediaOf(form, LINES), form === "csv" ? undefined : isExport)).body;
  }

  /** The audit logs with their keys and latest heads. */
  async logs(): Promise<Schemas["LogList"]> {
    return this.get("/v1/audit/logs");
  }

  /** The verifier keys, for information. */
  async keys(): Promise<Schemas["KeyList"]> {
    return this.get("/v1/audit/keys");
  }

  /** The latest signed checkpoint of a log; of the newest without one. */
  async checkpoint(log?: string): Promise<string> {
    const name = log ?? (await this.logs()).logs.at(-1)?.log;
    if (name === undefined) throw new UnexpectedAnswer("expected a log of the caller, found none: nothing has been recorded yet");
    return this.text(logPath(name, "checkpoint"));
  }

  /** The proof that `old` records of a log begin the newer ones, as base64 hashes. */
  async consistency(log: string, old: number | bigint, newer?: number | bigint): Promise<string[]> {
    const query = { from: String(old), to: newer === undefined ? null : String(newer) };
    return (await this.text(logPath(log, "consistency"), query)).split("\n").filter(Boolean);
  }

  /** The proof that a record, by its index or as `debate.n`, is in a log. */
  async proveRecord(log: string, record: string | number, options: { size?: number } = {}): Promise<string> {
    return this.text(logPath(log, `proof/${part(String(record))}`), options);
  }

  /** One page of the debates that rest on a prompt, a model, a document ..., by the service's parameter. */
  async recall(asked: Query): Promise<Schemas["RecallList"]> {
    return this.get("/v1/audit/recall", asked);
  }

  /** Who you are to the service: your tenant, your roles, and what you may do. */
  async caller(): Promise<Schemas["KnownCaller"]> {
    return this.get("/v1/caller");
  }

  async models(): Promise<Schemas["ModelList"]> {
    return this.get("/v1/models");
  }

  async prompts(): Promise<Schemas["PromptList"]> {
    return this.get("/v1/prompts");
  }

  async policy(): Promise<Schemas["PolicyDetail"]> {
    return this.get("/v1/policy");
  }

  /** What remains of the tenant's money for today and this month, and what of it is only held. */
  async budget(): Promise<Schemas["TenantBudget"]> {
    return this.get("/v1/budget");
  }

  /** Any other request. Only a read, and what has an Idempotency-Key, is sent again after a failure. */
  async request(
    method: string,
    path: string,
    options: { query?: Query; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    if (!path.startsWith("/"))
      // It would be joined to the host, and lead with the token to another.
      throw new Refused(`expected a path that begins with /, found ${path}`, { code: "bad_request" });
    const given = Object.entries(options.headers ?? {}).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
    const headers = Object.fromEntries(given);
    const repeatable = ["GET", "HEAD", "OPTIONS"].includes(method.toUpperCase()) || "idempotency-key" in headers;
    const asked: Request = { method: method.toUpperCase(), path, headers, repeatable };
    if (options.query !== undefined) asked.query = options.query;
    if (options.body !== undefined) {
      asked.body = encode(options.body);
      headers["content-type"] ??= JSON_TYPE;
    }
    return this.exchange.send(asked);
  }

  /** Prove now what is kept aside; gives the heads that could not be proved, with the reasons. */
  async proveHeads(): Promise<Map<Head, string>> {
    await this.exchange.prove(true);
    return this.unproved;
  }

  /** The version of the API that gave the latest answer, such as `1.0`; undefined before there was one. */
  get apiVersion(): string | undefined {
    return this.exchange.apiVersion;
  }

  /** The heads that are not proved yet, with the reason why not; empty for one that was not asked for so far. */
  get unproved(): Map<Head, string> {
    return new Map([...this.exchange.memory.aside.values()].map(({ head, reason }) => [head, reason]));
  }

  /** The remembered head of each log. */
  heads(): Promise<Map<string, Head>> {
    return this.exchange.memory.store.heads();
  }

  private async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.exchange.send({ method: "GET", path, query, repeatable: true })).members<T>();
  }

  private async text(path: string, query: Query = {}): Promise<string> {
    return (await this.accepted(path, query, TEXT_TYPE)).text;
  }

  /** What stands at a path, which is of this type or no answer of the service. */
  private async accepted(
    path: string,
    query: Query,
    accept: string,
    isWhole: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> {
    const request: Request = { method: "GET", path, query, headers: { accept }, repeatable: true };
    return this.exchange.send(request, (answer) => {
      expectMedia(answer, accept, this.server);
      return isWhole(answer);
    });
  }

  /** A question that stores nothing and costs nothing, or an abort: it may be asked again. */
  private async post<T>(path: string, body: unknown): Promise<T> {
    const headers = { "content-type": JSON_TYPE };
    return (await this.exchange.send({ method: "POST", path, headers, body: encode(body), repeatable: true })).members<T>();
  }
}

/** The media type of a form; throws `Refused` for a form that there is none of. */
function mediaOf(form: string, media: Readonly<Record<string, string>>): string {
  const found = Object.hasOwn(media, form) ? media[form] : undefined;
  if (found === undefined) throw new Refused(`expected the form as one of ${Object.keys(media).join(", ")}, found ${form}`);
  return found;
}

function headersOf(options: Options): Record<string, string> {
  const given = Object.entries(options.headers ?? {}).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const headers = Object.fromEntries(given);
  if (options.token === undefined) return headers;
  if ("authorization" in headers) throw new TypeError("expected a token or a header Authorization, found both");
  if (!/^[!-~]+$/.test(options.token)) throw new TypeError("expected a token of printable ASCII characters without spaces");
  return { ...headers, authorization: `Bearer ${options.token}` };
}

/** A result, if it is of this debate; throws `UnexpectedAnswer` for one that a cache has mixed up. */
function ofDebate<T extends Summary | Result>(debate: string, found: T): T {
  if (String(found.debateId).toLowerCase() === debate.toLowerCase()) return found;
  throw new UnexpectedAnswer(`expected the result of debate ${debate}, found that of ${found.debateId}`);
}

function debatePath(debate: string): string {
  return `${DEBATES}/${part(debate)}`;
}

function isUnderWay(status: string): boolean {
  return status === "queued" || status === "running";
}

/** A key as the header has it (RFC 9651, 3.3.3); throws `Refused`. */
function quotedKey(key: string): string {
  if (!/^[ -~]{1,255}$/.test(key))
    throw new Refused("expected a key of 1 to 255 printable ASCII characters, such as a UUID", { code: "bad_request" });
  return `"${key.replace(/[\\"]/g, "\\$&")}"`;
}

/** Whether a ZIP has its end: the record that ends its directory, without a comment. */
function isZip(bytes: Uint8Array): boolean {
  const end = bytes.length - 22;
  return end >= 0 && [0x50, 0x4b, 0x05, 0x06].every((byte, at) => bytes[end + at] === byte);
}

/** Whether an export has its last line. */
function isExport(answer: Answer): boolean {
  return /(^|\n)\{"records":[0-9]+\}\n$/.test(new TextDecoder().decode(answer.body.subarray(-200)));
}

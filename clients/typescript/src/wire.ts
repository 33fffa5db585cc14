/** Requests and answers as values, and what an answer says as an error. */
import { type ErrorMembers, type GainsayError, Refused, UnexpectedAnswer, UntrustedAddress, family } from "./errors.js";

/** The most characters of a foreign answer that an error repeats. */
const QUOTED = 300;

export type Value = string | number | boolean | Date;
/** Parameters by name; a list gives one several times. */
export type Query = Record<string, Value | readonly Value[] | null | undefined>;

export interface Request {
  method: string;
  path: string;
  query?: Query;
  headers?: Record<string, string>;
  body?: string;
  /** A second one changes nothing and costs nothing. */
  repeatable: boolean;
  /** Seconds that the service may hold it. */
  waits?: number;
}

/** An answer. A stream's body is read apart. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly body: Uint8Array<ArrayBuffer> = new Uint8Array(0),
  ) {}

  get isSuccess(): boolean {
    return [200, 201, 202, 204, 304].includes(this.status);
  }

  /** Its media type without parameters. */
  get media(): string {
    return (this.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  }

  /** The seconds of Retry-After; a date, which only proxies send, counts as none. */
  get retryAfter(): number | undefined {
    const given = (this.headers.get("retry-after") ?? "").trim();
    return /^[0-9]+$/.test(given) ? Number(given.slice(0, 9)) : undefined;
  }

  get text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** The body as a JSON object; throws `UnexpectedAnswer`. */
  members<T = Record<string, unknown>>(): T {
    const found = object(this.text);
    if (found === undefined)
      throw new UnexpectedAnswer(
        `expected a JSON object from the service, found ${this.media || "no media type"}: ${excerpt(this.text)}; ` +
          "check the address of the service and the proxies before it",
        { status: this.status },
      );
    return found as T;
  }
}

/** The address of a service: its origin, and the path before its own paths. */
export class Server {
  readonly origin: string;
  private readonly prefix: string;

  constructor(address: string) {
    let url: URL | undefined;
    try {
      url = new URL(address);
    } catch {
      url = undefined;
    }
    if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.search || url.hash)
      throw new TypeError(`expected the address of a service, such as https://gainsay.example, found ${address}`);
    if (url.username || url.password)
      throw new TypeError("expected an address without a user and a password; give a token instead");
    this.origin = url.origin;
    this.prefix = url.pathname.replace(/\/+$/, "");
  }

  /** The whole address of a request. */
  address(request: Request): string {
    const asked = pairs(request.query ?? {});
    asked.flat().forEach(whole);
    const query = new URLSearchParams(asked).toString();
    return `${this.origin}${this.prefix}${request.path}${query ? `?${query}` : ""}`;
  }

  /** Throws `UntrustedAddress` for the address of another origin. */
  expectOwn(location: string | null | undefined): void {
    if (location == null) return;
    let found = "";
    try {
      found = new URL(location, `${this.origin}${this.prefix}/`).origin;
    } catch {
      // no address at all
    }
    if (found !== this.origin)
      throw new UntrustedAddress(
        `the answer leads to ${location.slice(0, QUOTED)}, and the client was given ${this.origin}; nothing is sent there`,
      );
  }
}

/** A body as JSON; throws `Refused` for a number that JSON cannot say, which would be sent as null. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    if (typeof each === "number" && !Number.isFinite(each))
      throw new Refused(`expected numbers that JSON can say, found ${each} as ${name}`, { code: "wrong_shape" });
    return typeof each === "bigint" ? each.toString() : each;
  });
}

/** The text; throws `Refused` for half a surrogate pair, which would be sent as another character. */
export function whole(text: string): string {
  const at = text.search(/\p{Surrogate}/u);
  if (at < 0) return text;
  throw new Refused(`expected whole characters, found half of one at ${at}`, { code: "bad_request" });
}

/** A value as one part of a path; throws `Refused` for one that would be another path. */
export function part(value: string): string {
  whole(value);
  if (!value || value === "." || value === "..")
    throw new Refused(`expected an id, found "${value}"`, { code: "bad_request" });
  return encodeURIComponent(value);
}

/** The path of something of a log, which is named by three parts. */
export function logPath(log: string, rest: string): string {
  return ["/v1/audit/logs", ...log.split("/").map(part), rest].join("/");
}

export function pairs(query: Query): [string, string][] {
  return Object.entries(query).flatMap(([name, given]) =>
    (Array.isArray(given) ? given : [given])
      .filter((value) => value != null)
      .map((value): [string, string] => [name, value instanceof Date ? value.toISOString() : String(value)]),
  );
}

/** Throws `UnexpectedAnswer` for an answer of another type than the one that is asked for: a proxy's page is none. */
export function expectMedia(answer: Answer, wanted: string, server: Server): void {
  if (answer.media === wanted) return;
  const found = answer.media || "no media type";
  throw new UnexpectedAnswer(
    `expected ${wanted} from ${server.origin}, found ${found}; something else may answer there, such as a proxy`,
    members({ status: answer.status }, answer.headers.get("request-id")),
  );
}

/** The error that an answer says. */
export function errorOf(answer: Answer, server: Server): GainsayError {
  const given = answer.headers.get("request-id");
  if (answer.status === 0 || (answer.status >= 300 && answer.status < 400))
    return new UnexpectedAnswer(
      `expected an answer of ${server.origin}, found a redirect to ${answer.headers.get("location") ?? "another address"}; ` +
        "nothing is sent there: give the client the address that answers by itself",
      members({ status: answer.status }, given),
    );
  const problem = object(answer.text) ?? {};
  const code = typeof problem["code"] === "string" && problem["code"] ? problem["code"] : `http_${answer.status}`;
  const detail = problem["detail"] || problem["title"] || `status ${answer.status}: ${excerpt(answer.text)}`;
  const found: ErrorMembers = { code, status: answer.status, problem };
  if (answer.retryAfter !== undefined) found.retryAfter = answer.retryAfter;
  const location = answer.headers.get("location");
  if (location !== null) found.location = location;
  return new (family(answer.status, code))(String(detail), members(found, problem["requestId"] ?? given));
}

function members(found: ErrorMembers, requestId: unknown): ErrorMembers {
  return typeof requestId === "string" && requestId ? { ...found, requestId } : found;
}

/** The JSON object that a text is, if it is one. */
export function object(text: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found)
      ? (found as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function excerpt(text: string): string {
  return text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}...`;
}

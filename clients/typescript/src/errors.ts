/**
 * Every error of the client: one base, a class for each family of answers, and one for each way of having none. A code
 * that is unknown, of a newer service, maps by its status.
 */
import type { Head } from "./heads.js";

/** A fault of a request: the field as a JSON Pointer (RFC 6901), and what is wrong with it. */
export interface FieldFault {
  pointer: string;
  detail: string;
}

export interface ErrorMembers {
  code?: string;
  status?: number;
  requestId?: string;
  retryAfter?: number;
  location?: string;
  problem?: Record<string, unknown>;
  key?: string;
}

/** The base of all errors. `code` is stable, `detail` is for people, `requestId` finds the request in the service's log. */
export class GainsayError extends Error {
  static readonly code: string = "client_error";
  readonly code: string;
  readonly detail: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  readonly location: string | undefined;
  /** All members of the problem document, of a newer service too. */
  readonly problem: Record<string, unknown>;
  /** The key of the case that was submitted: under it another try is recorded and billed once with this one. */
  key: string | undefined;

  constructor(detail: string, members: ErrorMembers = {}) {
    const code = members.code ?? (new.target as typeof GainsayError).code;
    super(`${code}: ${detail}${members.requestId ? ` (request ${members.requestId})` : ""}`);
    this.name = new.target.name;
    this.code = code;
    this.detail = detail;
    this.status = members.status;
    this.requestId = members.requestId;
    this.retryAfter = members.retryAfter;
    this.location = members.location;
    this.problem = members.problem ?? {};
    this.key = members.key;
  }

  /** Every fault that the service found, with its field. */
  get errors(): FieldFault[] {
    const given = this.problem["errors"];
    return Array.isArray(given) ? given.filter((part) => typeof part === "object" && part !== null) : [];
  }

  /** The debate that the error is about, where it is about one. */
  get debateId(): string | undefined {
    return text(this.problem["debateId"]);
  }
}

/** 400, 406, 413, 415, 422 ...: the request has to change; `errors` has every fault. */
export class Refused extends GainsayError {
  static override readonly code: string = "refused";
}
/** Another case was sent before under this key. */
export class KeyReused extends Refused {
  static override readonly code = "idempotency_key_reused";
}
/** 401, 403. */
export class Unauthorized extends GainsayError {
  static override readonly code = "unauthorized";
}
/** 402: the rest of a tenant's limit does not cover the case; nothing is recorded, and the key is still free. */
export class BudgetExhausted extends GainsayError {
  static override readonly code = "budget_exhausted";
  /** `tenantDay` or `tenantMonth`. */
  get limit(): string | undefined {
    return text(this.problem["limit"]);
  }
  /** What remains of the limit, as a decimal string. */
  get leftUSD(): string | undefined {
    return text(this.problem["leftUSD"]);
  }
  get ends(): string | undefined {
    return text(this.problem["ends"]);
  }
}
/** 404, 410. */
export class NotFound extends GainsayError {
  static override readonly code = "not_found";
}
/** 409: not yet, or no longer; `debateId` where the service names one. */
export class Conflict extends GainsayError {
  static override readonly code = "conflict";
}
/** 408, 429, 502, 503, 504: a repetition may succeed after `retryAfter`. */
export class Unavailable extends GainsayError {
  static override readonly code = "unavailable";
}
/** 500 and other faults of the service. */
export class ServiceFault extends GainsayError {
  static override readonly code = "internal";
}
/**
 * No whole answer came within the time that the client has for one call. Where that was a case, it may be recorded:
 * submit it again under `key`, and it is debated and billed once.
 */
export class Unreachable extends GainsayError {
  static override readonly code = "unreachable";
  /** The same of a case, with the key that it was sent under, and its debate where that is known. */
  under(key: string, debateId?: string): Unreachable {
    const fate = debateId === undefined ? "the case may be recorded: " : `debate ${debateId} is recorded: wait for it again, or `;
    const words = `${fate}submit it again under the key ${key}, and it is billed once`;
    return new Unreachable(`${this.detail}; ${words}`, { key, ...(debateId === undefined ? {} : { problem: { debateId } }) });
  }
}
/** The debate is not over in the time that the caller waits. It goes on, and so does its bill: wait again. */
export class TimedOut extends GainsayError {
  static override readonly code = "timed_out";
}
/** An answer that the service does not give; something else answers at this address. */
export class UnexpectedAnswer extends GainsayError {
  static override readonly code: string = "unexpected_answer";
}
/** An answer leads to another origin than the client was given; nothing is sent there. */
export class UntrustedAddress extends UnexpectedAnswer {
  static override readonly code = "untrusted_address";
}
/** The service showed two heads of one log that cannot both be true: keep both, and show them to an auditor. */
export class LogForked extends GainsayError {
  static override readonly code = "log_forked";
  constructor(
    detail: string,
    readonly kept: Head,
    readonly found: Head,
  ) {
    super(detail);
  }
}

type Family = new (detail: string, members?: ErrorMembers) => GainsayError;

const BY_STATUS: Record<number, Family> = {
  401: Unauthorized,
  402: BudgetExhausted,
  403: Unauthorized,
  404: NotFound,
  408: Unavailable,
  409: Conflict,
  410: NotFound,
  425: Unavailable,
  429: Unavailable,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

/** The class of an error answer. */
export function family(status: number, code: string): Family {
  if (code === KeyReused.code) return KeyReused;
  return BY_STATUS[status] ?? (status >= 500 ? ServiceFault : Refused);
}

function text(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}

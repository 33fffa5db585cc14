/**
 * The heads that answers name, compared with the head that is remembered of each log.
 *
 *     a head of a size that is known, with its root        fine
 *     ... with another root                                LogForked, before the answer is handed out
 *     a larger head                                        kept aside; its proof is asked for in the next batch
 *     a smaller one, of a replica that is behind           the same: the proof leads from it to the remembered one
 *     a proof that does not hold                           LogForked
 *     no proof (no answer, an error, an unreadable one)    told, counted in `unproved`, asked for again later
 *     a head of the next log of the tenant (a rotation)    remembered beside the old one; the old log's last checkpoint
 *                                                          is asked for, and must continue what is remembered
 *     a head of another log                                told, and remembered beside the others
 */
import { LogForked } from "./errors.js";
import { Head, type HeadStore, parseHead } from "./heads.js";

const ASIDE_MAX = 16;
const PROVED_MAX = 4096;
/** The most logs that are remembered: a server that names another log in each answer fills no storage. */
const LOGS_MAX = 100;
const LATEST_RETRY_S = 60;

/** What a caller should know, and what is no reason to refuse an answer. */
export interface HeadNotice {
  kind: "unproved" | "rotated" | "otherLog" | "dropped";
  head: Head;
  reason: string;
}

/** What one client knows of the logs. */
export class HeadMemory {
  /** The heads that are not proved yet, with the reason; an empty one where no batch has asked so far. */
  readonly aside = new Map<string, { head: Head; reason: string }>();
  private readonly roots = new Map<string, string>();
  private ended: string[] = [];
  private nextAt = 0;
  private pauseS: number;
  private busy = false;
  private noting: Promise<unknown> = Promise.resolve();

  constructor(
    readonly store: HeadStore,
    private readonly everyS: number,
    private readonly now: () => number,
    private readonly tell: (notice: HeadNotice) => void,
  ) {
    this.pauseS = everyS;
  }

  /** Compare the head of an answer with what is known, and keep aside what needs a proof; throws `LogForked`. */
  async note(text: string): Promise<void> {
    const head = parseHead(text);
    if (this.roots.get(place(head)) !== head.root) await this.noteHead(head);
  }

  /** The same for a head that is read already; one at a time. */
  noteHead(head: Head): Promise<void> {
    const noted = this.noting.then(() => this.compare(head));
    this.noting = noted.catch(() => undefined);
    return noted;
  }

  private async compare(head: Head): Promise<void> {
    const known = await this.store.heads();
    const kept = known.get(head.log);
    if (kept !== undefined) {
      const before = this.roots.get(place(kept));
      if (before !== undefined && before !== kept.root) throw forked(kept, new Head(kept.log, kept.size, before), "");
      this.prove(kept);
    }
    const seen = [...this.aside.values()].find((each) => place(each.head) === place(head))?.head.root;
    const root = this.roots.get(place(head)) ?? seen;
    if (root !== undefined && root !== head.root) throw forked(head, new Head(head.log, head.size, root), "");
    if (root !== undefined) return;
    if (kept === undefined) await this.begin(head, known);
    else if (this.aside.size >= ASIDE_MAX)
      this.tell({ kind: "dropped", head, reason: `${ASIDE_MAX} heads wait for their proofs` });
    else this.aside.set(String(head), { head, reason: "" });
  }

  /** The first head of a log, which is trusted. */
  private async begin(head: Head, known: Map<string, Head>): Promise<void> {
    if (known.size >= LOGS_MAX) {
      this.tell({ kind: "dropped", head, reason: `${known.size} logs are remembered` });
      return;
    }
    const kept = await this.store.keep(head, undefined);
    if (String(kept) !== String(head)) {
      this.aside.set(String(head), { head, reason: "" }); // another process was first
      return;
    }
    this.prove(head);
    const before = [...known.values()].filter((old) => old.series === head.series).sort((a, b) => a.epoch - b.epoch);
    const last = before.at(-1);
    if (last !== undefined && last.epoch < head.epoch) {
      this.ended.push(last.log);
      this.tell({ kind: "rotated", head, reason: `the tenant's log was ${last.log}` });
    } else if (known.size && !before.length)
      this.tell({ kind: "otherLog", head, reason: `remembered are ${[...known.keys()].join(", ")}` });
  }

  /** The heads to prove and the logs that have ended, if a batch is due; `endBatch` has to follow. */
  beginBatch(now: boolean): { heads: Head[]; ended: string[] } | undefined {
    if (this.busy || !(this.aside.size || this.ended.length) || (!now && this.now() < this.nextAt)) return undefined;
    this.busy = true;
    const heads = [...this.aside.values()].map((each) => each.head);
    return { heads: heads.sort((a, b) => Number(a.size - b.size)), ended: [...this.ended] };
  }

  /** Let the next batch begin, later the more often proofs could not be had. */
  endBatch(): void {
    const failed = this.ended.length > 0 || [...this.aside.values()].some((each) => each.reason);
    this.pauseS = failed ? Math.min(2 * this.pauseS, LATEST_RETRY_S) : this.everyS;
    this.nextAt = this.now() + this.pauseS;
    this.busy = false;
  }

  /** A proof holds between a head and the kept one; false where another process has remembered a third head. */
  async proved(head: Head, kept: Head): Promise<boolean> {
    const now = head.size > kept.size ? await this.store.keep(head, kept) : kept;
    if (String(now) !== String(head) && String(now) !== String(kept)) return false;
    this.prove(head);
    this.aside.delete(String(head));
    return true;
  }

  /** A head is wrong: it is forgotten, so that the same head is refused again. */
  refused(head: Head): void {
    this.aside.delete(String(head));
  }

  /** A proof could not be had; it is asked for again later. */
  missing(head: Head, reason: string): void {
    const found = this.aside.get(String(head));
    const first = !found?.reason;
    if (found) found.reason = reason;
    if (first) this.tell({ kind: "unproved", head, reason });
  }

  /** The last checkpoint of a log that has ended is noted; until then it is asked for with every batch. */
  followed(log: string): void {
    this.ended = this.ended.filter((each) => each !== log);
  }

  private prove(head: Head): void {
    this.roots.set(place(head), head.root);
    if (this.roots.size > PROVED_MAX) this.roots.delete(this.roots.keys().next().value!);
  }
}

function place(head: Head): string {
  return `${head.log} ${head.size}`;
}

/** The error for two heads of one log. */
export function forked(found: Head, kept: Head, why: string): LogForked {
  const words =
    found.size === kept.size
      ? `${kept.log} has shown ${kept.size} records under two roots, ${kept.root} and ${found.root}, by the header ` +
        "Gainsay-Checkpoint; no log has both."
      : `the heads ${kept} and ${found} are not of one log: ${why}.`;
  return new LogForked(`${words} Keep both, and show them to an auditor (gainsay audit compare)`, kept, found);
}

/** Heads of audit logs, and where the largest proven one of each log is remembered. */
import { decodeHash } from "./consistency.js";
import { UnexpectedAnswer } from "./errors.js";

/** The head of a log: its name (`<host>/<tenant>/<epoch>`), the number of its records, and their root in base64. */
export class Head {
  constructor(
    readonly log: string,
    readonly size: bigint,
    readonly root: string,
  ) {}

  /** As the header Gainsay-Checkpoint has it. */
  toString(): string {
    return `${this.log} ${this.size} ${this.root}`;
  }

  /** What the logs of one tenant have in common: a rotation changes the epoch alone. */
  get series(): string {
    return this.log.slice(0, this.log.lastIndexOf("/"));
  }

  get epoch(): number {
    return Number(this.log.slice(this.log.lastIndexOf("/") + 1));
  }
}

/** The head in the words of the header; throws `UnexpectedAnswer`. Further words, of a newer service, pass. */
export function parseHead(text: string): Head {
  const [log = "", size = "", root = ""] = text.trim().split(/\s+/);
  if (
    !/^(?:(?!\.{1,2}\/)[!-.0-~]+\/){2}[1-9][0-9]{0,5}$/.test(log) ||
    !/^(?:0|[1-9][0-9]{0,18})$/.test(size) ||
    !decodeHash(root)
  )
    throw new UnexpectedAnswer(
      `expected a head as log, size and base64 root in Gainsay-Checkpoint, found ${text.slice(0, 200)}`,
    );
  return new Head(log, BigInt(size), root);
}

/** The head of a signed checkpoint, whose signatures are not checked here; throws `UnexpectedAnswer`. */
export function parseCheckpoint(note: string): Head {
  return parseHead(note.split("\n").slice(0, 3).join(" "));
}

/** Remembers one head of each log. */
export interface HeadStore {
  /** The remembered heads by log. */
  heads(): Promise<Map<string, Head>>;
  /** Remember a head if `insteadOf` is still what is remembered; gives what is remembered now. */
  keep(head: Head, insteadOf: Head | undefined): Promise<Head>;
}

/** Heads for as long as the object lives. */
export class MemoryHeads implements HeadStore {
  private readonly kept = new Map<string, Head>();

  async heads(): Promise<Map<string, Head>> {
    return new Map(this.kept);
  }

  async keep(head: Head, insteadOf: Head | undefined): Promise<Head> {
    if (String(this.kept.get(head.log)) === String(insteadOf)) this.kept.set(head.log, head);
    return this.kept.get(head.log)!;
  }
}

/** What `StorageHeads` needs of a storage: localStorage has it. */
export interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
}

/** Heads in a storage of a browser, or in anything that keeps a text under a name. Throws where the text is damaged. */
export class StorageHeads implements HeadStore {
  constructor(
    private readonly storage: TextStorage,
    private readonly name = "gainsay-heads",
  ) {}

  async heads(): Promise<Map<string, Head>> {
    const heads = (this.storage.getItem(this.name) ?? "").split("\n").filter(Boolean).map(parseHead);
    return new Map(heads.map((head) => [head.log, head]));
  }

  async keep(head: Head, insteadOf: Head | undefined): Promise<Head> {
    const kept = await this.heads();
    if (String(kept.get(head.log)) === String(insteadOf)) {
      kept.set(head.log, head);
      this.storage.setItem(this.name, [...kept.values()].join("\n"));
    }
    return kept.get(head.log)!;
  }
}

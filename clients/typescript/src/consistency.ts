/** The proof that an older tree of a log is the beginning of a newer one (RFC 9162, section 2.1.4). */

export type Hash = Uint8Array<ArrayBuffer>;

/** The proof does not hold. */
export class BadConsistency extends Error {}

const HASH_BYTES = 32;
const PATH_MAX = 63;

/** Checks by RFC 9162, 2.1.4.2 that `old` records under `oldRoot` begin the `size` newer ones; else `BadConsistency`. */
export async function verifyConsistency(
  old: bigint,
  size: bigint,
  path: readonly Hash[],
  oldRoot: Hash,
  newRoot: Hash,
): Promise<void> {
  if (old < 0n || old > size) throw new BadConsistency(`expected an older size from 0 to ${size}, found ${old}`);
  if (path.length > PATH_MAX || [oldRoot, newRoot, ...path].some((node) => node.length !== HASH_BYTES))
    throw new BadConsistency(`expected at most ${PATH_MAX} hashes of ${HASH_BYTES} bytes`);
  if (old === size || old === 0n) {
    const expected = old === size ? newRoot : await sha256(new Uint8Array(0));
    if (path.length || !same(oldRoot, expected))
      throw new BadConsistency(`the roots of ${old} and ${size} records do not follow from each other`);
    return;
  }
  const nodes = old & (old - 1n) ? [...path] : [oldRoot, ...path]; // step 2: a full tree is a node of the new one
  if (!nodes.length) throw new BadConsistency("the path is empty"); // step 1
  let [fn, sn] = [old - 1n, size - 1n]; // step 3
  while (fn & 1n) [fn, sn] = [fn >> 1n, sn >> 1n]; // step 4
  let [fr, sr] = [nodes[0]!, nodes[0]!]; // step 5
  for (const node of nodes.slice(1)) {
    // step 6
    if (sn === 0n) throw new BadConsistency("the path has more hashes than are needed");
    if (fn & 1n || fn === sn) {
      [fr, sr] = [await parent(node, fr), await parent(node, sr)];
      while (fn && !(fn & 1n)) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else sr = await parent(sr, node);
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  if (sn !== 0n) throw new BadConsistency("the path has fewer hashes than are needed"); // step 7
  if (!same(fr, oldRoot) || !same(sr, newRoot))
    throw new BadConsistency(`the path leads to another root of ${same(fr, oldRoot) ? size : old} records`);
}

export function same(a: Hash, b: Hash): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

async function parent(left: Hash, right: Hash): Promise<Hash> {
  const node = new Uint8Array(1 + 2 * HASH_BYTES);
  node[0] = 1;
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
}

async function sha256(bytes: Hash): Promise<Hash> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** The hash that a text has in base64, if it is one. */
export function decodeHash(text: string): Hash | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return bytes.length === HASH_BYTES ? bytes : undefined;
}

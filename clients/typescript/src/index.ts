/** The client of Gainsay: one call for a review, one bill, a stream that goes on, and a log that cannot fork unseen. */
export * from "./client.js";
export * from "./errors.js";
export { type Event, membersOf } from "./events.js";
export type { HeadNotice } from "./headMemory.js";
export { Head, type HeadStore, MemoryHeads, StorageHeads, type TextStorage, parseCheckpoint, parseHead } from "./heads.js";
export type { components, paths } from "./schema.js";
export { Answer, type Query, type Value } from "./wire.js";

/** The keys that are good now: found by hash, kept as the file says, and ended with their sockets when it drops them. */
import { timingSafeEqual } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from '../../logger.ts'
import type { AnyMethod } from '../../rpc/method.ts'
import { createKeyPermissions, type Permission } from '../../rpc/permissions.ts'
import type { Entitlement } from '../../rpc/session.ts'
import { keyHashIn } from './api-key.ts'
import { parseKeys, readKeys, readKeyText } from './key-file.ts'
import type { KeyRecord } from './key-record.ts'

/** All keys of a file. */
export interface KeyRing {
  /** The key that is the last segment of a path; `undefined` when it is none, unknown, revoked or run out. */
  find(path: string): LivingKey | undefined
  close(): void
}

/** Editors write in several steps; the file is read when they rest, milliseconds. */
const SETTLE_MS = 50
/** Not every file system tells of changes; so often the file is looked at, milliseconds. */
const LOOK_MS = 2000
const NOBODY = Buffer.alloc(32)

/** A key that callers hold, for as long as it is good. What it opens follows the file, for open sockets too. */
export class LivingKey {
  readonly name: string
  readonly hash: Buffer
  #entitlements = new Set<Entitlement>()
  #record: KeyRecord
  #permits: Permission
  /** The answers so far: lists are short, but asked for every call. */
  #answers = new Map<string, boolean>()
  #until: number
  #timer: NodeJS.Timeout | undefined
  #listeners = new Set<() => void>()

  /** `until` is when it runs out, in milliseconds since 1970. */
  constructor(hash: string, record: KeyRecord, until: number) {
    this.name = record.name
    this.hash = Buffer.from(hash, 'hex')
    this.#record = record
    this.#permits = createKeyPermissions(record.allow)
    this.#until = until
    this.update(record, until)
  }

  get record(): KeyRecord {
    return this.#record
  }

  /** One set for good, so that a session that took it sees what becomes of it. */
  get entitlements(): ReadonlySet<Entitlement> {
    return this.#entitlements
  }

  isGood(): boolean {
    return Date.now() < this.#until
  }

  allows(method: Pick<AnyMethod, 'name' | 'aliases'>): boolean {
    let answer = this.#answers.get(method.name)
    if (answer === undefined) {
      answer = this.#permits(method)
      this.#answers.set(method.name, answer)
    }
    return answer
  }

  /** Registers what to do when the key is good no longer, at once if it is not; the returned function takes it back. */
  onEnd(listener: () => void): () => void {
    if (this.isGood()) this.#listeners.add(listener)
    else listener()
    return () => this.#listeners.delete(listener)
  }

  update(record: KeyRecord, until: number): void {
    this.#record = record
    this.#permits = createKeyPermissions(record.allow)
    this.#answers.clear()
    if (record.stateOverride) this.#entitlements.add('stateOverride')
    else this.#entitlements.delete('stateOverride')
    this.#until = until
    this.#wait()
  }

  end(): void {
    this.#until = 0
    clearTimeout(this.#timer)
    for (const listener of [...this.#listeners]) listener()
    this.#listeners.clear()
  }

  /** Forgets it without a word to anyone. */
  release(): void {
    clearTimeout(this.#timer)
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (this.#until === Infinity) return
    // A file may name a time that is further away than a timer can wait; nothing is lost by looking in between.
    const pause = Math.min(Math.max(0, this.#until - Date.now()), 2 ** 31 - 1)
    this.#timer = setTimeout(() => (this.isGood() ? this.#wait() : this.end()), pause)
    this.#timer.unref()
  }
}

/** Every hash that is good, with its record and when it runs out. */
function* goodHashes(keys: readonly KeyRecord[]): Generator<[string, KeyRecord, number]> {
  for (const record of keys) {
    if (record.revoked !== undefined) continue
    yield [record.hash, record, Infinity]
    const { previous } = record
    if (previous === undefined) continue
    const until = Date.parse(previous.until)
    if (until > Date.now()) yield [previous.hash, record, until]
  }
}

/** Calls back whenever the file may have changed; the returned function stops it. */
function watchFile(path: string, changed: () => void): () => void {
  let settle: NodeJS.Timeout | undefined
  const soon = () => {
    clearTimeout(settle)
    settle = setTimeout(changed, SETTLE_MS).unref()
  }
  let watcher: FSWatcher | undefined
  try {
    // The directory, since the file itself is replaced by others of its name.
    watcher = watch(dirname(path), { persistent: false }, soon).on('error', () => {})
  } catch {
    // Too many watchers on this machine: looking now and then is enough.
  }
  let seen = ''
  const look = setInterval(async () => {
    const now = await stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => 'missing',
    )
    if (now !== seen) soon()
    seen = now
  }, LOOK_MS).unref()
  return () => {
    watcher?.close()
    clearInterval(look)
    clearTimeout(settle)
  }
}

/** Opens the keys of a file and follows it. Throws `invalid-options` when it is not there or not good at the start. */
export function openKeyRing(path: string, logger: Logger): KeyRing {
  let living = new Map<string, LivingKey>()
  let text: string | undefined

  function apply(keys: readonly KeyRecord[]): void {
    const before = living
    living = new Map()
    for (const [hash, record, until] of goodHashes(keys)) {
      const known = before.get(hash)
      // Sockets and limits know a key by its name: under another one it is another key.
      if (known !== undefined && known.name === record.name && known.isGood()) {
        known.update(record, until)
        before.delete(hash)
        living.set(hash, known)
      } else {
        living.set(hash, new LivingKey(hash, record, until))
      }
    }
    for (const key of before.values()) key.end()
  }

  /** Reads the file again; one that is not good leaves the keys as they are, and is logged. */
  function reload(): void {
    let next: string | undefined
    try {
      next = readKeyText(path)
      if (next === text) return
      apply(next === undefined ? readKeys(path) : parseKeys(next, path))
      logger.info('the key file has changed', { keys: living.size })
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      logger.error(`${words} The keys from before stay as they were.`)
    }
    text = next
  }

  text = readKeyText(path)
  apply(text === undefined ? readKeys(path) : parseKeys(text, path))
  const stop = watchFile(path, reload)

  return {
    find(where) {
      const { hash, wellFormed } = keyHashIn(where)
      const key = living.get(hash.toString('hex'))
      const equal = timingSafeEqual(hash, key?.hash ?? NOBODY)
      return key !== undefined && equal && wellFormed && key.isGood() ? key : undefined
    },
    close() {
      stop()
      for (const key of living.values()) key.release()
    },
  }
}

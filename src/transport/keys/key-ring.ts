/** The valid keys of a key file, by hash: follows changes of the file, and ends keys that it drops with their sockets. */

import { timingSafeEqual } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { LONGEST_DELAY } from '../../options/kinds.ts'
import type { AnyMethod } from '../../rpc/method.ts'
import { createKeyPermissions, type Permission } from '../../rpc/permissions.ts'
import type { Entitlement } from '../../rpc/session.ts'
import { keyHashIn } from './api-key.ts'
import { parseKeys, readKeys, readKeyText } from './key-file.ts'
import type { KeyRecord } from './key-record.ts'

/** Editors write in several steps; the file is read after this pause, milliseconds. */
const SETTLE_MS = 50
/** Not every file system reports changes; the file is checked this often, milliseconds. */
const CHECK_MS = 2000
/** Compared with when no key has the hash, so that every refusal takes the same time. */
const NO_HASH = Buffer.alloc(32)

/** A valid key of the file. Its rights follow the file, for open sockets too. */
export class ActiveKey {
  readonly name: string
  readonly hash: Buffer
  #entitlements = new Set<Entitlement>()
  #record: KeyRecord
  #permits: Permission
  /** Cached answers of `#permits` by method name: it is asked on every call. */
  #permitted = new Map<string, boolean>()
  #until: number
  #timer: NodeJS.Timeout | undefined
  #listeners = new Set<() => void>()

  /** `until` is when it expires, in milliseconds since 1970. */
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

  /** One set for the lifetime of the key, so that open sessions see its changes. */
  get entitlements(): ReadonlySet<Entitlement> {
    return this.#entitlements
  }

  isGood(): boolean {
    return Date.now() < this.#until
  }

  allows(method: Pick<AnyMethod, 'name' | 'aliases'>): boolean {
    let answer = this.#permitted.get(method.name)
    if (answer === undefined) {
      answer = this.#permits(method)
      this.#permitted.set(method.name, answer)
    }
    return answer
  }

  /** Calls back once the key is no longer valid, at once if it is not now; the returned function stops that. */
  onEnd(listener: () => void): () => void {
    if (this.isGood()) this.#listeners.add(listener)
    else listener()
    return () => this.#listeners.delete(listener)
  }

  update(record: KeyRecord, until: number): void {
    this.#record = record
    this.#permits = createKeyPermissions(record.allow)
    this.#permitted.clear()
    if (record.stateOverride) this.#entitlements.add('stateOverride')
    else this.#entitlements.delete('stateOverride')
    this.#until = until
    this.#scheduleEnd()
  }

  end(): void {
    this.#until = 0
    clearTimeout(this.#timer)
    for (const listener of [...this.#listeners]) listener()
    this.#listeners.clear()
  }

  /** Stops its timer without calling listeners. */
  release(): void {
    clearTimeout(this.#timer)
  }

  #scheduleEnd(): void {
    clearTimeout(this.#timer)
    if (this.#until === Infinity) return
    // A file may name a time further away than a timer can wait; the timer is then set again.
    const pause = Math.min(Math.max(0, this.#until - Date.now()), LONGEST_DELAY)
    this.#timer = setTimeout(() => (this.isGood() ? this.#scheduleEnd() : this.end()), pause)
    this.#timer.unref()
  }
}

/** Every valid hash with its record and when it expires. */
function* validHashes(keys: readonly KeyRecord[]): Generator<[string, KeyRecord, number]> {
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
    // Too many watchers on this machine: the interval below is enough.
  }
  let version = ''
  const check = setInterval(async () => {
    const now = await stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => 'missing',
    )
    if (now !== version) soon()
    version = now
  }, CHECK_MS).unref()
  return () => {
    watcher?.close()
    clearInterval(check)
    clearTimeout(settle)
  }
}

/** All keys of a file. */
export class KeyRing {
  readonly #path: string
  readonly #logger: Logger
  readonly #stopWatching: () => void
  #active = new Map<string, ActiveKey>()
  #text: string | undefined

  /** Opens a key file and follows its changes. Throws `invalid-options` when it is missing or malformed at the start. */
  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
    this.#text = readKeyText(path)
    this.#apply(this.#text)
    this.#stopWatching = watchFile(path, () => this.#reload())
  }

  /** The key that is the last segment of a path; `undefined` when it is malformed, unknown, revoked or expired. */
  find(requestPath: string): ActiveKey | undefined {
    const { hash, wellFormed } = keyHashIn(requestPath)
    const key = this.#active.get(hash.toString('hex'))
    const equal = timingSafeEqual(hash, key?.hash ?? NO_HASH)
    return key !== undefined && equal && wellFormed && key.isGood() ? key : undefined
  }

  close(): void {
    this.#stopWatching()
    for (const key of this.#active.values()) key.release()
  }

  /** Reads the file again; a malformed file is logged, and the keys stay as they are. */
  #reload(): void {
    let next: string | undefined
    try {
      next = readKeyText(this.#path)
      if (next === this.#text) return
      this.#apply(next)
      this.#logger.info('the key file has changed', { keys: this.#active.size })
    } catch (error) {
      this.#logger.error(`${messageOf(error)} The keys from before stay as they were.`)
    }
    this.#text = next
  }

  /** Puts the keys of a text in the place of those before; ends keys that it does not have. */
  #apply(text: string | undefined): void {
    const keys = text === undefined ? readKeys(this.#path) : parseKeys(text, this.#path)
    const before = this.#active
    this.#active = new Map()
    for (const [hash, record, until] of validHashes(keys)) {
      const known = before.get(hash)
      // Sockets and limits identify a key by its name: under another name it is another key.
      if (known !== undefined && known.name === record.name && known.isGood()) {
        known.update(record, until)
        before.delete(hash)
        this.#active.set(hash, known)
      } else {
        this.#active.set(hash, new ActiveKey(hash, record, until))
      }
    }
    for (const key of before.values()) key.end()
  }
}

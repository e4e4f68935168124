/** What a transaction changed of accounts and their storage, as lines. */
import pc from 'picocolors'
import { type Hex, isHex } from '../encoding/hex.ts'
import type { AccountState, StateDiff } from './remote-trace.ts'
import { coins } from './terminal-text.ts'

const NOTHING: AccountState = { storage: {} }
/** Numbers of this size are hashes, addresses or texts more often than counts. */
const LARGE = 10n ** 24n

function word(value: bigint): string {
  return value < LARGE ? `${value}` : `0x${value.toString(16)}`
}

function change(name: string, before: string, after: string): string {
  return `  ${pc.dim(name)} ${pc.red(before)} → ${pc.green(after)}`
}

/** The keys that either has. */
function keysOf(before: Readonly<Record<Hex, unknown>>, after: Readonly<Record<Hex, unknown>>): Hex[] {
  // `Object.keys` takes the keys of a record for any text.
  return Object.keys({ ...before, ...after }).filter(isHex)
}

function slots(pre: AccountState, post: AccountState): string[] {
  return keysOf(pre.storage, post.storage)
    .sort()
    .map((slot) => {
      const [before, after] = [pre.storage[slot] ?? 0n, post.storage[slot] ?? 0n]
      return change(`slot 0x${BigInt(slot).toString(16)}`, word(before), word(after))
    })
}

/** Lines for each account that changed; `nameOf` gives what to call it. */
export function stateDiffLines({ pre, post }: StateDiff, nameOf: (address: Hex) => string): string[] {
  return keysOf(pre, post).flatMap((address) => {
    const before = pre[address] ?? NOTHING
    const after = post[address]
    if (after === undefined) return [nameOf(address), `  ${pc.red('is gone')}`]
    const lines: string[] = []
    if (after.balance !== undefined && after.balance !== before.balance) {
      const difference = after.balance - (before.balance ?? 0n)
      const sign = difference < 0n ? `-${coins(-difference)}` : `+${coins(difference)}`
      const line = change('balance', coins(before.balance ?? 0n), coins(after.balance))
      lines.push(`${line} ${pc.dim(`(${sign})`)}`)
    }
    if (after.nonce !== undefined && after.nonce !== before.nonce) {
      lines.push(change('nonce', `${before.nonce ?? 0n}`, `${after.nonce}`))
    }
    if (after.code !== undefined && after.code.length > 0) {
      lines.push(
        change(
          'code',
          before.code?.length ? `${before.code.length} bytes` : 'none',
          `${after.code.length} bytes`,
        ),
      )
    }
    lines.push(...slots(before, after))
    return lines.length === 0 ? [] : [nameOf(address), ...lines]
  })
}

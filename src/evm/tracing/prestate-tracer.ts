/** The accounts and slots that a transaction touched, before and after. */
import { type Account, EMPTY_CODE_HASH } from '../../chain/account.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import { cellWord } from '../../state/state-keys.ts'
import type { FrameEnd, TraceEnd, Tracer } from './tracer.ts'

/** An account at one point in time. */
export interface AccountSnapshot {
  /** Did it exist? */
  readonly exists: boolean
  /** Wei. */
  readonly balance: bigint
  readonly nonce: bigint
  readonly code: Uint8Array
  /** The touched slots; 0 where none is stored. */
  readonly storage: ReadonlyMap<bigint, bigint>
}

/** One account before and after. `after` is absent when it was deleted. */
export interface TouchedAccount {
  readonly address: Hex
  readonly before: AccountSnapshot
  readonly after: AccountSnapshot | undefined
  /** Is it a contract that the transaction created? */
  readonly created: boolean
}

interface Reads {
  account: Account | undefined
  readonly slots: Map<bigint, bigint>
}

function snapshot(
  account: Account | undefined,
  storage: ReadonlyMap<bigint, bigint>,
  state: StateReader,
): AccountSnapshot {
  const { balance = 0n, nonce = 0n, codeHash = EMPTY_CODE_HASH } = account ?? {}
  const code = codeHash === EMPTY_CODE_HASH ? EMPTY : state.code(codeHash)
  return { exists: account !== undefined, balance, nonce, code, storage }
}

/** Records the reads of the state before the transaction; `touched` is complete once it is over. */
export class PrestateTracer implements Tracer {
  readonly #reads = new Map<Hex, Reads>()
  readonly #created = new Set<Hex>()
  #touched: readonly TouchedAccount[] = []

  /** Every account that was read, also by frames that failed, in the order of first reads. */
  get touched(): readonly TouchedAccount[] {
    return this.#touched
  }

  wrapState(before: StateReader): StateReader {
    const reads = this.#reads
    const of = (address: Hex): Reads => {
      let known = reads.get(address)
      if (known === undefined) {
        known = { account: before.account(address), slots: new Map() }
        reads.set(address, known)
      }
      return known
    }
    this.#before = before
    return {
      account: (address) => of(address).account,
      cell(address, slot) {
        const value = before.cell(address, slot)
        of(address).slots.set(slot, cellWord(value))
        return value
      },
      storage(address, slot) {
        const { slots } = of(address)
        const known = slots.get(slot)
        if (known !== undefined) return known
        const value = before.storage(address, slot)
        slots.set(slot, value)
        return value
      },
      cells: (address) => before.cells(address),
      code: (hash) => before.code(hash),
    }
  }

  #before: StateReader | undefined

  exit({ created, failure }: FrameEnd): void {
    if (created !== undefined && failure === undefined) this.#created.add(created)
  }

  finish({ after }: TraceEnd): void {
    const before = this.#before
    if (before === undefined) return
    const addresses = [...this.#reads]
    this.#touched = addresses.map(([address, { account, slots }]) => {
      const left = after.account(address)
      // A new contract has no storage below, so its writes read none.
      const written = left !== undefined && this.#created.has(address) ? after.cells(address).keys() : []
      const storage = new Map(
        [...slots.keys(), ...written].map((slot) => [slot, after.storage(address, slot)] as const),
      )
      return {
        address,
        before: snapshot(account, slots, before),
        after: left && snapshot(left, storage, after),
        created: this.#created.has(address),
      }
    })
  }
}

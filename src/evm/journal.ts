/** What a message changes beside and within the state, undone together when its frame fails. */
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, withBalance } from '../chain/account.ts'
import type { Log } from '../chain/receipt.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Overlay } from '../state/overlay.ts'
import { TransientStorage } from './transient-storage.ts'

/** 0x03 keeps its touch through a revert: an accident of Ethereum's history that its state tests hold (EIP-161). */
const KEEPS_TOUCH: Hex = '0x0000000000000000000000000000000000000003'

/** Gas refunded for a contract that is destroyed. */
const DESTRUCTION_REFUND = 24_000

/** Lengths to return to. */
interface Mark {
  readonly logs: number
  readonly destroyed: number
  readonly touched: number
  readonly storageRefund: number
}

/** The effects of one top-level message: one checkpoint a frame, taken back when the frame does not succeed. */
export class Journal {
  readonly state: Overlay
  readonly transient = new TransientStorage()
  readonly logs: Log[] = []
  /** Contracts that asked to be destroyed, in order, each once. */
  readonly destroyed: Hex[] = []
  /** Accounts that were written, for Ethereum's sweep of empty ones; kept only when asked for. */
  readonly #touched: Hex[] | undefined
  readonly #marks: Mark[] = []
  #keptTouch = false
  /** Gas to refund for cleared storage. */
  storageRefund = 0
  /** Did a CALL with value happen? Stays set whatever becomes of it. */
  valueCallSeen = false

  /** Gas to refund in total, not yet capped. */
  get refund(): number {
    return this.storageRefund + DESTRUCTION_REFUND * this.destroyed.length
  }

  constructor(state: Overlay, parts: { readonly tracksTouches: boolean }) {
    this.state = state
    this.#touched = parts.tracksTouches ? [] : undefined
  }

  checkpoint(): void {
    this.state.checkpoint()
    this.transient.checkpoint()
    this.#marks.push({
      logs: this.logs.length,
      destroyed: this.destroyed.length,
      touched: this.#touched?.length ?? 0,
      storageRefund: this.storageRefund,
    })
  }

  commit(): void {
    this.#marks.pop()
    this.transient.commit()
    this.state.commit()
  }

  revert(): void {
    const mark = this.#marks.pop()
    if (mark === undefined) throw new Error('no checkpoint is open')
    this.state.revert()
    this.transient.revert()
    this.logs.length = mark.logs
    this.destroyed.length = mark.destroyed
    this.storageRefund = mark.storageRefund
    if (this.#touched !== undefined) {
      this.#keptTouch ||= this.#touched.includes(KEEPS_TOUCH, mark.touched)
      this.#touched.length = mark.touched
    }
  }

  /**
   * Moves value, which the sender has; creates the receiver where there is none, also for nothing
   * (docs/protocol.md#63-calls-and-creations).
   */
  transfer(from: Hex, to: Hex, value: bigint): void {
    if (value !== 0n) {
      const sender = this.state.account(from) ?? EMPTY_ACCOUNT
      if (sender.balance < value) throw new Error(`${from} has ${sender.balance} wei and not ${value}`)
      this.state.putAccount(from, withBalance(sender, sender.balance - value))
      this.touch(from)
    }
    const receiver = this.state.account(to)
    if (receiver === undefined || value !== 0n) {
      const account = receiver ?? EMPTY_ACCOUNT
      this.state.putAccount(to, withBalance(account, account.balance + value))
    }
    this.touch(to)
  }

  /** The code at an address; empty where there is none, the same array each time. */
  codeOf(address: Hex): Uint8Array {
    const account = this.state.account(address)
    if (account === undefined || account.codeHash === EMPTY_CODE_HASH) return EMPTY
    return this.state.code(account.codeHash)
  }

  /** Notes that an account was written. */
  touch(address: Hex): void {
    this.#touched?.push(address)
  }

  /** Every account written by frames that stood, and 0x03 when any frame wrote it. */
  touched(): ReadonlySet<Hex> {
    const all = new Set(this.#touched)
    if (this.#keptTouch) all.add(KEEPS_TOUCH)
    return all
  }
}

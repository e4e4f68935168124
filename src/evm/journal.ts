/** What a message changes beside and within the state, undone together when its frame fails. */
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, withBalance } from '../chain/account.ts'
import { delegateOf } from '../chain/authorization.ts'
import type { Creation } from '../chain/block.ts'
import type { Log } from '../chain/receipt.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Overlay } from '../state/overlay.ts'

/** Storage that lasts one transaction (TLOAD, TSTORE: EIP-1153, RSKIP-446). Words by contract and slot, all 0 at first. */
class TransientStorage {
  readonly #words = new Map<Hex, Map<bigint, bigint>>()
  readonly #undo: { readonly words: Map<bigint, bigint>; readonly slot: bigint; readonly old: bigint }[] = []

  get(address: Hex, slot: bigint): bigint {
    return this.#words.get(address)?.get(slot) ?? 0n
  }

  put(address: Hex, slot: bigint, value: bigint): void {
    let words = this.#words.get(address)
    if (words === undefined) {
      words = new Map()
      this.#words.set(address, words)
    }
    this.#undo.push({ words, slot, old: words.get(slot) ?? 0n })
    words.set(slot, value)
  }

  /** What `revert` returns to. */
  mark(): number {
    return this.#undo.length
  }

  revert(mark: number): void {
    while (this.#undo.length > mark) {
      const change = this.#undo.pop()
      change?.words.set(change.slot, change.old)
    }
  }
}

/** What to return to: the lengths of lists, the refund, and the mark of transient storage. */
interface Checkpoint {
  /** Count of internal transactions when the message began; a revert does not restore it. */
  readonly recorded: number
  readonly logs: number
  readonly destroyed: number
  readonly creations: number
  readonly raised: number
  readonly refund: number
  readonly transient: number
}

/** The effects of one top-level message: one checkpoint a frame, reverted when the frame does not succeed. */
export class Journal {
  readonly state: Overlay
  readonly transient = new TransientStorage()
  readonly logs: Log[] = []
  /** Contracts that executed SELFDESTRUCT, in order, each once. */
  readonly destroyed: Hex[] = []
  /** Contracts made below the top frame, in order. */
  readonly creations: Creation[] = []
  /** Accounts whose nonces creations of the top frame and those below have raised, in order. */
  readonly raised: Hex[] = []
  /** Counts the internal transactions (evm/internal-transaction.ts); those below a creation only until it ends. */
  recorded = 0
  /** Accounts of the calls, creations and self-destructs below the top frame; those of reverted frames stay. */
  participants: Set<Hex> | undefined
  readonly #open: Checkpoint[] = []
  /** Codes of this message by hash: a state looks for them in several places. */
  readonly #codes = new Map<Hex, Uint8Array>()
  readonly #precompiles: ReadonlyMap<Hex, unknown> | undefined
  #lastInvolved: Hex | undefined
  #lastCaller: Hex | undefined
  /** Gas to give back. */
  refund = 0
  /** Did a CALL with value happen? Stays set when its frame is reverted. */
  valueCallSeen = false

  /** `precompiles` where accounts delegate (RSKIP-545): a precompiled contract is no delegate. */
  constructor(state: Overlay, precompiles?: ReadonlyMap<Hex, unknown>) {
    this.state = state
    this.#precompiles = precompiles
  }

  checkpoint(): void {
    this.state.checkpoint()
    this.#open.push({
      recorded: this.recorded,
      logs: this.logs.length,
      destroyed: this.destroyed.length,
      creations: this.creations.length,
      raised: this.raised.length,
      refund: this.refund,
      transient: this.transient.mark(),
    })
  }

  commit(): void {
    this.state.commit()
    this.#open.pop()
  }

  revert(): void {
    this.state.revert()
    const checkpoint = this.#open.pop()
    if (checkpoint === undefined) throw new RangeError('no checkpoint is open')
    this.logs.length = checkpoint.logs
    this.destroyed.length = checkpoint.destroyed
    this.creations.length = checkpoint.creations
    this.raised.length = checkpoint.raised
    this.refund = checkpoint.refund
    this.transient.revert(checkpoint.transient)
  }

  /** Drops from the count what ran inside a creation; the creation itself counts as one. */
  endCreation(): void {
    const before = this.#open.at(-1)?.recorded ?? 0
    if (this.recorded > before) this.recorded = before + 1
  }

  /**
   * How many internal transactions the frame above the message at a depth, which is 1 or more, recorded before that
   * message, and how often creations have raised an account's nonce since it began.
   */
  placeOf(depth: number, account: Hex): { readonly index: number; readonly raised: number } {
    const message = this.#open[depth]
    const frame = this.#open[depth - 1]
    if (message === undefined || frame === undefined) throw new RangeError(`no message at depth ${depth}`)
    let raised = 0
    for (let i = message.raised; i < this.raised.length; i++) if (this.raised[i] === account) raised++
    return { index: message.recorded - frame.recorded - 1, raised }
  }

  /** Counts two accounts as participants. */
  involve(caller: Hex, other: Hex): void {
    if (other === this.#lastInvolved && caller === this.#lastCaller) return
    this.#lastInvolved = other
    this.#lastCaller = caller
    this.participants ??= new Set()
    this.participants.add(caller).add(other)
  }

  /**
   * Moves value, which the sender has; creates the receiver where there is none, also for nothing
   * (docs/internals/protocol.md#63-calls-and-creations).
   */
  transfer(from: Hex, to: Hex, value: bigint): void {
    const balance = this.state.account(from)?.balance ?? 0n
    if (value > 0n && balance < value) throw new Error(`${from} has ${balance} wei and not ${value}`)
    this.pay(from, to, value)
  }

  /** `transfer` of value that the sender may lack: its balance is then below zero, as the Bridge's can be in the reference node. */
  pay(from: Hex, to: Hex, value: bigint): void {
    if (value !== 0n) {
      const sender = this.state.account(from) ?? EMPTY_ACCOUNT
      this.state.putAccount(from, withBalance(sender, sender.balance - value))
    }
    const receiver = this.state.account(to)
    if (receiver === undefined || value !== 0n) {
      const account = receiver ?? EMPTY_ACCOUNT
      this.state.putAccount(to, withBalance(account, account.balance + value))
    }
  }

  /** The code that a call of an address runs: that of its delegate where it delegates (RSKIP-545), which is followed once. */
  codeToRun(address: Hex): Uint8Array {
    const code = this.codeOf(address)
    const delegate = this.#precompiles === undefined ? undefined : delegateOf(code)
    if (delegate === undefined) return code
    return this.#precompiles?.has(delegate) ? EMPTY : this.codeOf(delegate)
  }

  /** The code at an address; empty where there is none, the same array each time. */
  codeOf(address: Hex): Uint8Array {
    const account = this.state.account(address)
    if (account === undefined || account.codeHash === EMPTY_CODE_HASH) return EMPTY
    let code = this.#codes.get(account.codeHash)
    if (code === undefined) {
      code = this.state.code(account.codeHash)
      this.#codes.set(account.codeHash, code)
    }
    return code
  }
}

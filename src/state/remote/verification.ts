/** State proven against the state root of the block's header, where the upstream serves proofs. */

import type { ChainConfig } from '../../chain/config.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import { type Hex, toFixedHex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import type { RpcCall, RpcFailure, RpcOutcome } from '../../upstream/replies.ts'
import { RecentMap } from '../recent-map.ts'
import { type Asker, isUnserved } from './asker.ts'
import type { CacheRecord } from './cache/records.ts'
import { blockParameter, type Capabilities, PROBED, proofCall } from './capabilities.ts'
import type { RemoteBlockId, RemoteHeader, StateItem } from './model.ts'
import { type Proven, readEthereumProof, readOwnProof, WireProof } from './state-proofs.ts'
import { accountRecords, MOST_SLOTS } from './state-requests.ts'
import { Data, readAnswer, wrongAnswer } from './wire.ts'

/** What proving takes. */
export interface VerificationParts {
  readonly point: RemoteBlockId
  readonly asker: Asker
  readonly config: ChainConfig
  readonly capabilities: Capabilities
  readonly isSameFamily: boolean
  headerByHash(hash: Hex): Promise<RemoteHeader | undefined>
  readonly notice: (message: string) => void
}

/** The outcome of asking for proofs. */
export type Proof =
  /** Items that a proof cannot show, such as long cells of precompiled contracts, have no record. */
  | { readonly kind: 'proven'; readonly records: readonly CacheRecord[] }
  | { readonly kind: 'refused'; readonly call: RpcCall; readonly failure: RpcFailure }
  | { readonly kind: 'unprovable'; readonly why: string }

/** What is wanted of an account. */
interface Wanted {
  readonly address: Hex
  readonly slots: bigint[]
  /** Also nonce, balance and code? */
  isWhole: boolean
}

function byAccount(items: readonly StateItem[]): Wanted[] {
  const open = new Map<Hex, Wanted>()
  const all: Wanted[] = []
  for (const item of items) {
    const { address } = item
    let wanted = open.get(address)
    if (wanted === undefined || wanted.slots.length === MOST_SLOTS) {
      wanted = { address, slots: [], isWhole: false }
      open.set(address, wanted)
      all.push(wanted)
    }
    if (item.kind === 'cell') wanted.slots.push(item.slot)
    else wanted.isWhole = true
  }
  return all
}

/** The records of an account that its proof and code stand for. */
function recordsOf(
  { address, slots, isWhole }: Wanted,
  { account, cells }: Proven,
  code: Uint8Array,
  place: { readonly config: ChainConfig; readonly block: RemoteBlockId },
): CacheRecord[] {
  const records: CacheRecord[] = slots.flatMap((slot) => {
    const value = cells.get(slot)
    return value === undefined ? [] : [{ kind: 'cell', address, slot, value, isProven: true }]
  })
  if (!isWhole) return records
  const { balance, nonce } = account ?? { balance: 0n, nonce: 0n }
  return [...records, ...accountRecords(address, { balance, nonce, code }, place, true)]
}

const refusalOf = (failure: RpcFailure): string =>
  isUnserved(failure) ? 'it serves no eth_getProof' : failure.message

/** The state of a development node may have been edited after its block: its proofs lead to another root. */
const missedRoot = ({ number }: RemoteBlockId, error: unknown): string =>
  `its proofs do not lead to the state root of block ${number} (${messageOf(error)})`

/** Blocks that are known to have been proven. */
const KEPT_BLOCKS = 1024

/** Proves state of the upstream, once `open` has found that the upstream serves proofs. */
export class Verification {
  readonly #parts: VerificationParts
  readonly #readProof: typeof readOwnProof | typeof readEthereumProof
  #isServed = false
  #isNoticed = false
  /** Blocks whose root a proof has led to: a later proof that does not lead there is a wrong answer. */
  readonly #proven = new RecentMap<Hex, true>(KEPT_BLOCKS)

  constructor(parts: VerificationParts) {
    this.#parts = parts
    this.#readProof = parts.isSameFamily ? readOwnProof : readEthereumProof
  }

  /** Decides by the outcome of `proofCall` at the fork point whether proofs are asked for from now on. */
  async open(probe: RpcOutcome): Promise<void> {
    this.#isNoticed = false
    const why = await this.#whyUnproven(probe)
    this.#isServed = why === undefined
    if (why === undefined) this.#proven.set(this.#parts.point.hash, true)
    else this.noteUnproven(why)
  }

  /** Are proofs asked for, of the state of this block? */
  appliesTo(block: RemoteBlockId): boolean {
    return this.#isServed && this.#hasRoot(block)
  }

  /** Gives one notice, once for an upstream, why state is taken without a proof. */
  noteUnproven(given: string | RpcFailure): void {
    if (this.#isNoticed) return
    this.#isNoticed = true
    const why = typeof given === 'string' ? given : refusalOf(given)
    const { asker, notice } = this.#parts
    notice(`The state of the fork is not proven by the upstream ${asker.origin()}: ${why}.`)
  }

  /** Asks for proofs and code with `send`, in one request. Throws `upstream` for what contradicts the header. */
  async prove(
    block: RemoteBlockId,
    items: readonly StateItem[],
    send: (calls: readonly RpcCall[]) => Promise<readonly RpcOutcome[]>,
  ): Promise<Proof> {
    const requests = byAccount(items).map((wanted) => ({ wanted, calls: this.#callsFor(wanted, block) }))
    const calls = requests.flatMap((request) => request.calls)
    const [root, outcomes] = await Promise.all([this.#rootOf(block), send(calls)])
    if (typeof root === 'string') return { kind: 'unprovable', why: root }
    const results: unknown[] = []
    for (const [index, call] of calls.entries()) {
      const outcome = outcomes[index]
      if (outcome !== undefined && 'error' in outcome)
        return { kind: 'refused', call, failure: outcome.error }
      results.push(outcome?.result)
    }
    const records: CacheRecord[] = []
    for (const { wanted, calls: own } of requests) {
      const found = await this.#readAccount(block, root.stateRoot, wanted, results.splice(0, own.length))
      if (typeof found === 'string') return { kind: 'unprovable', why: found }
      records.push(...found)
    }
    this.#proven.set(block.hash, true)
    return { kind: 'proven', records }
  }

  /** The records of an account from the results of `#callsFor`; a text is why they cannot be proven. */
  async #readAccount(
    block: RemoteBlockId,
    stateRoot: Hex,
    wanted: Wanted,
    [proofResult, codeResult]: readonly unknown[],
  ): Promise<CacheRecord[] | string> {
    const { asker, config } = this.#parts
    const { address, slots, isWhole } = wanted
    const origin = asker.origin()
    const wrong = (what: string) => wrongAnswer(origin, `at block ${block.number} ${what}`)
    const proof = readAnswer(WireProof, proofResult, 'eth_getProof', origin)
    const code = isWhole ? readAnswer(Data, codeResult, 'eth_getCode', origin) : EMPTY
    let shown: Proven
    try {
      shown = await this.#readProof(stateRoot, address, slots, proof)
    } catch (error) {
      if (this.#proven.get(block.hash) === undefined) return missedRoot(block, error)
      throw wrong(
        `the proof of ${address} does not lead to the state root ${stateRoot} (${messageOf(error)})`,
      )
    }
    if (isWhole && !shown.isCode(code))
      throw wrong(`the code of ${address} is not the one that its proof shows`)
    return recordsOf(wanted, shown, code, { config, block })
  }

  #hasRoot({ number }: RemoteBlockId): boolean {
    const { isSameFamily, config } = this.#parts
    return !isSameFamily || config.rulesAt(number).unifiedTrie
  }

  /** The state root of a block; a text is why there is none to prove against. */
  async #rootOf(block: RemoteBlockId): Promise<{ readonly stateRoot: Hex } | string> {
    if (!this.#hasRoot(block)) return `the header of block ${block.number} has no root of the present trie`
    const found = await this.#parts.headerByHash(block.hash)
    if (found === undefined) return `it does not have the header of block ${block.number}`
    return found.isVerified
      ? found.header
      : `the hash of block ${block.number} is not that of the known members of its header`
  }

  async #whyUnproven(probe: RpcOutcome): Promise<string | undefined> {
    const { point, asker, capabilities } = this.#parts
    if ('error' in probe && isUnserved(probe.error)) return refusalOf(probe.error)
    const root = await this.#rootOf(point)
    if (typeof root === 'string') return root
    if ((await this.#flawOf(root.stateRoot, probe)) === undefined) return undefined
    // The probe names the block as the operator does: a tag may have moved, and a hash has forms.
    const call = proofCall(blockParameter(point, capabilities.anchor))
    const [again] = await asker.send([call], `a proof of the state of block ${point.number}`)
    return this.#flawOf(root.stateRoot, again)
  }

  /** Why an outcome of `proofCall` does not lead to the root. */
  async #flawOf(stateRoot: Hex, outcome: RpcOutcome | undefined): Promise<string | undefined> {
    if (outcome === undefined) return 'it did not answer eth_getProof'
    if ('error' in outcome) return refusalOf(outcome.error)
    const proof = WireProof.safeParse(outcome.result)
    if (!proof.success) return 'its eth_getProof has an unknown form'
    try {
      await this.#readProof(stateRoot, PROBED, [], proof.data)
      return undefined
    } catch (error) {
      return missedRoot(this.#parts.point, error)
    }
  }

  #callsFor({ address, slots, isWhole }: Wanted, block: RemoteBlockId): RpcCall[] {
    const { anchor, codeAnchor } = this.#parts.capabilities
    const keys = slots.map((slot) => toFixedHex(slot, 32))
    const proof: RpcCall = { method: 'eth_getProof', params: [address, keys, blockParameter(block, anchor)] }
    if (!isWhole) return [proof]
    return [proof, { method: 'eth_getCode', params: [address, blockParameter(block, codeAnchor)] }]
  }
}

/** Reads state out of proofs that lead to the state root of the block's header, where the upstream serves them. */

import type { ChainConfig } from '../../chain/config.ts'
import { type Hex, toFixedHex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import type { RpcCall, RpcFailure, RpcOutcome } from '../../upstream/replies.ts'
import { RecentMap } from '../recent-map.ts'
import { type Asker, isUnserved } from './asker.ts'
import type { CacheRecord } from './cache/records.ts'
import { blockParameter, type Capabilities, proofCall } from './capabilities.ts'
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

/** What came of asking for proofs. */
export type Proof =
  /** Of items that a proof does not reach, such as long cells of precompiled contracts, there is no record. */
  | { readonly kind: 'proven'; readonly records: readonly CacheRecord[] }
  | { readonly kind: 'refused'; readonly call: RpcCall; readonly failure: RpcFailure }
  | { readonly kind: 'unprovable'; readonly why: string }

/** Proves state of the upstream. */
export interface Verification {
  /** Takes the outcome of `proofCall` at the fork point into account: are proofs asked for from now on? */
  open(probe: RpcOutcome): Promise<void>
  /** Are they, of the state of this block? */
  appliesTo(block: RemoteBlockId): boolean
  /** Asks for proofs and code with `send`, in one request. Throws `upstream` for what contradicts the header. */
  prove(
    block: RemoteBlockId,
    items: readonly StateItem[],
    send: (calls: readonly RpcCall[]) => Promise<readonly RpcOutcome[]>,
  ): Promise<Proof>
  /** States, once for an upstream, why state is taken without a proof. */
  noteUnproven(why: string | RpcFailure): void
}

/** What is wanted of an account: slots, and all but its storage? */
interface Wanted {
  readonly address: Hex
  readonly slots: bigint[]
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

/** The records of an account that its proof and code stand for; a text is what is wrong. */
function recordsOf(
  { address, slots, isWhole }: Wanted,
  { account, isCode, cells }: Proven,
  code: Uint8Array,
  place: { readonly config: ChainConfig; readonly block: RemoteBlockId },
): CacheRecord[] | string {
  const records: CacheRecord[] = slots.flatMap((slot) => {
    const value = cells.get(slot)
    return value === undefined ? [] : [{ kind: 'cell', address, slot, value, isProven: true }]
  })
  if (!isWhole) return records
  if (!isCode(code)) return `the code of ${address} is not the one that its proof shows`
  const { balance, nonce } = account ?? { balance: 0n, nonce: 0n }
  return [...records, ...accountRecords(address, { balance, nonce, code }, place, true)]
}

const refusalOf = (failure: RpcFailure): string =>
  isUnserved(failure) ? 'it serves no eth_getProof' : failure.message

/** A development node's state may have been edited after its block; a proof of that is none of the block's. */
const missedRoot = ({ number }: RemoteBlockId, error: unknown): string =>
  `its proofs do not lead to the state root of block ${number} (${messageOf(error)})`

/** Blocks that are known to have been proven. */
const KEPT_BLOCKS = 1024

/** Makes it; until it is opened, nothing is proven. */
export function createVerification(parts: VerificationParts): Verification {
  const { point, asker, config, capabilities, isSameFamily } = parts
  const read = isSameFamily ? readOwnProof : readEthereumProof
  let isServed = false
  let isNoted = false
  /** Blocks with a proof that led to their root: one that does not is a lie there, and no other state than the header's. */
  const proven = new RecentMap<Hex, true>(KEPT_BLOCKS)

  function noteUnproven(given: string | RpcFailure): void {
    if (isNoted) return
    isNoted = true
    const why = typeof given === 'string' ? given : refusalOf(given)
    parts.notice(`The state of the fork is not proven by the upstream ${asker.origin()}: ${why}.`)
  }

  const hasRoot = ({ number }: RemoteBlockId) => !isSameFamily || config.rulesAt(number).unifiedTrie

  /** The state root of a block; a text is why there is none to prove against. */
  async function rootOf(block: RemoteBlockId): Promise<{ readonly stateRoot: Hex } | string> {
    if (!hasRoot(block)) return `the header of block ${block.number} has no root of the present trie`
    const found = await parts.headerByHash(block.hash)
    if (found === undefined) return `it does not have the header of block ${block.number}`
    return found.isVerified
      ? found.header
      : `the hash of block ${block.number} is not that of the known members of its header`
  }

  /** Why an outcome of `proofCall` does not lead to the root. */
  async function flawOf(stateRoot: Hex, call: RpcCall, outcome: RpcOutcome): Promise<string | undefined> {
    if ('error' in outcome) return refusalOf(outcome.error)
    const proof = WireProof.safeParse(outcome.result)
    if (!proof.success) return 'its eth_getProof has an unknown form'
    try {
      await read(stateRoot, call.params[0] as Hex, [], proof.data)
      return undefined
    } catch (error) {
      return missedRoot(point, error)
    }
  }

  async function whyUnproven(probe: RpcOutcome): Promise<string | undefined> {
    if ('error' in probe && isUnserved(probe.error)) return refusalOf(probe.error)
    const root = await rootOf(point)
    if (typeof root === 'string') return root
    // The probe names the block as the operator does: a tag may have moved, and a hash has forms.
    const call = proofCall(blockParameter(point, capabilities.anchor))
    if ((await flawOf(root.stateRoot, call, probe)) === undefined) return undefined
    const [again] = await asker.send([call], `a proof of the state of block ${point.number}`)
    return flawOf(root.stateRoot, call, again as RpcOutcome)
  }

  function callsFor({ address, slots, isWhole }: Wanted, block: RemoteBlockId): RpcCall[] {
    const keys = slots.map((slot) => toFixedHex(slot, 32))
    const proof: RpcCall = {
      method: 'eth_getProof',
      params: [address, keys, blockParameter(block, capabilities.anchor)],
    }
    const codeAt = blockParameter(block, capabilities.codeAnchor)
    return isWhole ? [proof, { method: 'eth_getCode', params: [address, codeAt] }] : [proof]
  }

  return {
    noteUnproven,
    async open(probe) {
      isNoted = false
      const why = await whyUnproven(probe)
      isServed = why === undefined
      if (why === undefined) proven.set(point.hash, true)
      else noteUnproven(why)
    },
    appliesTo: (block) => isServed && hasRoot(block),
    async prove(block, items, send) {
      const all = byAccount(items)
      const calls = all.map((wanted) => callsFor(wanted, block))
      const [root, outcomes] = await Promise.all([rootOf(block), send(calls.flat())])
      if (typeof root === 'string') return { kind: 'unprovable', why: root }
      const failed = outcomes.findIndex((outcome) => 'error' in outcome)
      const failure = outcomes[failed]
      if (failure !== undefined && 'error' in failure) {
        return { kind: 'refused', call: calls.flat()[failed] as RpcCall, failure: failure.error }
      }
      const results = outcomes.map((outcome) => ('result' in outcome ? outcome.result : undefined))
      const origin = asker.origin()
      const wrong = (what: string) => wrongAnswer(origin, `at block ${block.number} ${what}`)
      const records: CacheRecord[] = []
      let at = 0
      for (const wanted of all) {
        const { address, slots, isWhole } = wanted
        const proof = readAnswer(WireProof, results[at++], 'eth_getProof', origin)
        const code = isWhole ? readAnswer(Data, results[at++], 'eth_getCode', origin) : new Uint8Array(0)
        let shown: Proven
        try {
          shown = await read(root.stateRoot, address, slots, proof)
        } catch (error) {
          if (proven.get(block.hash) === undefined)
            return { kind: 'unprovable', why: missedRoot(block, error) }
          throw wrong(
            `the proof of ${address} does not lead to the state root ${root.stateRoot} (${messageOf(error)})`,
          )
        }
        const own = recordsOf(wanted, shown, code, { config, block })
        if (typeof own === 'string') throw wrong(own)
        records.push(...own)
      }
      proven.set(block.hash, true)
      return { kind: 'proven', records }
    },
  }
}

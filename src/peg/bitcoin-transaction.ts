/** One Bitcoin transaction with the coins that it spends, and what it is to the peg. */
import { idOf, transactionSizes, virtualSize } from '../bitcoin/chain/block.ts'
import { kindOf, type ScriptKind } from '../bitcoin/chain/script-kind.ts'
import { displayed } from '../bitcoin/displayed-hash.ts'
import type { BitcoinNode, FoundTransaction } from '../bitcoin/node-interface.ts'
import { revealedScript } from '../bitcoin/redeem-input.ts'
import { parseRedeem } from '../bitcoin/redeem-script-parser.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { type Input, isCoinbase, type Output, type Transaction } from '../bitcoin/transaction.ts'
import { equal } from '../encoding/bytes.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { instructionsOf } from '../evm/precompiles/bridge/pegin/instructions.ts'
import { bridgeLogs, TOPIC } from './bridge-logs.ts'
import { meaningOf, type PegMeaning, releaseId } from './meaning.ts'
import { releasedIn } from './releases.ts'

/** Inputs whose coins are looked up: each takes a request to a Bitcoin Core. */
const MOST_COINS = 100

/** What an input or output pays with or to. */
export interface ScriptParty {
  readonly kind: ScriptKind
  readonly address: string | undefined
  /** The federation whose address it is. */
  readonly federation: 'active' | 'retiring' | 'proposed' | undefined
}

/** The script of several keys that an input reveals. */
export interface RevealedKeys {
  readonly required: number
  readonly keys: number
  /** Does it have a branch of emergency keys? */
  readonly hasEmergency: boolean
}

/** An input. `coin` is what it spends; `undefined` in a coinbase, and where it was not looked up. */
export interface InputDetails {
  readonly bitcoinTransaction: string | undefined
  readonly index: number
  readonly coin: (ScriptParty & { readonly satoshi: bigint }) | undefined
  readonly reveals: RevealedKeys | undefined
}

/** An output. */
export interface OutputDetails extends ScriptParty {
  readonly satoshi: bigint
  readonly script: Hex
  /** The account of this chain that the instructions of a peg-in name (RSKIP-170). */
  readonly receiver: Hex | undefined
}

/** A transaction. Hashes are texts without `0x`, amounts satoshi. */
export interface BitcoinTransactionDetails {
  readonly bitcoinTransaction: string
  readonly block: { readonly hash: string; readonly height: number; readonly timestamp: number } | undefined
  /** Blocks on its block, that one included; 0 in the mempool; `undefined` where Bitcoin does not have it. */
  readonly confirmations: number | undefined
  readonly isCoinbase: boolean
  readonly version: number
  readonly lockTime: number
  /** Bytes, with the witness and as blocks count them. */
  readonly size: number
  readonly virtualSize: number
  readonly fee: bigint | undefined
  readonly inputs: readonly InputDetails[]
  readonly outputs: readonly OutputDetails[]
  readonly peg: PegMeaning | undefined
}

/** What a transaction is looked up in. `height`: of the next block. */
export interface DetailsParts {
  readonly engine: Engine
  readonly node: BitcoinNode
  readonly bridge: BridgeState
  readonly height: number
}

type Found = Omit<FoundTransaction, 'confirmations'> & { readonly confirmations: number | undefined }

function unsent(transaction: Transaction): Found {
  return { transaction, block: undefined, confirmations: undefined }
}

/**
 * The transaction with this hash: Bitcoin's, or one of the Bridge that waits. Also by the hash that it had before it was
 * signed, by which the Bridge's logs name it.
 */
async function find(id: string, { engine, node, bridge: { peg } }: DetailsParts): Promise<Found | undefined> {
  const own = await node.transaction(id)
  if (own !== undefined) return own
  const spend = peg.svpSpend.get()?.transaction
  const waiting = [...peg.waiting.get().map(({ transaction }) => transaction), ...peg.signing.get().values()]
  const one = [...waiting, ...(spend === undefined ? [] : [spend])].find(
    (each) => idOf(each) === id || releaseId(each) === id,
  )
  if (one !== undefined) return unsent(one)
  const [created] = await bridgeLogs(engine, [[TOPIC.created], null, [`0x${id}`]])
  const hash = created?.log.topics[1]
  if (hash === undefined) return undefined
  const releases = await bridgeLogs(engine, [[TOPIC.released], [hash]])
  const signed = releases.flatMap(({ log }) => releasedIn(log) ?? []).find((each) => releaseId(each) === id)
  return signed && ((await node.transaction(idOf(signed))) ?? unsent(signed))
}

function partyOf(script: Uint8Array, { federations }: BridgeState): ScriptParty {
  const roles = [
    ['active', federations.active()],
    ['retiring', federations.retiring()],
    ['proposed', federations.proposed()],
  ] as const
  const role = roles.find(([, each]) => each !== undefined && equal(each.outputScript, script))
  return { kind: kindOf(script).kind, address: addressOf(script), federation: role?.[0] }
}

function revealsOf(input: Input): RevealedKeys | undefined {
  try {
    const script = revealedScript(input)
    const redeem = script && parseRedeem(script)
    if (redeem === undefined) return undefined
    const { required, keys, hasEmergency } = redeem
    return { required, keys: keys.length, hasEmergency }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

async function coinsOf(
  transaction: Transaction,
  node: BitcoinNode,
): Promise<readonly (Output | undefined)[]> {
  if (isCoinbase(transaction)) return []
  const found = new Map<string, Promise<FoundTransaction | undefined>>()
  const spent = transaction.inputs.slice(0, MOST_COINS).map(async ({ hash, index }) => {
    const id = displayed(hash)
    const from = found.get(id) ?? node.transaction(id)
    found.set(id, from)
    return (await from)?.transaction.outputs[index]
  })
  return Promise.all(spent)
}

function receiverIn(transaction: Transaction, script: Uint8Array): Hex | undefined {
  try {
    return instructionsOf({ ...transaction, outputs: [{ value: 0n, script }] })?.receiver
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function feeOf({ inputs, outputs }: Transaction, coins: readonly (Output | undefined)[]): bigint | undefined {
  const spent = coins.flatMap((coin) => (coin === undefined ? [] : [coin.value]))
  if (spent.length < inputs.length) return undefined
  const sum = (values: readonly bigint[]) => values.reduce((all, value) => all + value, 0n)
  return sum(spent) - sum(outputs.map(({ value }) => value))
}

/** A transaction by its hash, in lower case; `undefined` where neither Bitcoin nor the Bridge has it. */
export async function bitcoinTransaction(
  id: string,
  parts: DetailsParts,
): Promise<BitcoinTransactionDetails | undefined> {
  const found = await find(id, parts)
  if (found === undefined) return undefined
  const { engine, node, bridge, height } = parts
  const { transaction, block, confirmations } = found
  const coins = await coinsOf(transaction, node)
  const isFirst = isCoinbase(transaction)
  return {
    bitcoinTransaction: idOf(transaction),
    block: block && { hash: block.hash, height: block.height, timestamp: block.header.time },
    confirmations,
    isCoinbase: isFirst,
    version: transaction.version | 0,
    lockTime: transaction.lockTime,
    size: transactionSizes(transaction).size,
    virtualSize: virtualSize(transaction),
    fee: isFirst ? undefined : feeOf(transaction, coins),
    inputs: transaction.inputs.map((input, i) => {
      const coin = coins[i]
      return {
        bitcoinTransaction: isFirst ? undefined : displayed(input.hash),
        index: input.index,
        coin: coin && { ...partyOf(coin.script, bridge), satoshi: coin.value },
        reveals: revealsOf(input),
      }
    }),
    outputs: transaction.outputs.map(({ value, script }) => ({
      ...partyOf(script, bridge),
      satoshi: value,
      script: toHex(script),
      receiver: receiverIn(transaction, script),
    })),
    peg: isFirst ? undefined : await meaningOf(engine, bridge, transaction, height),
  }
}

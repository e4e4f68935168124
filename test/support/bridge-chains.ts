/**
 * Chains of Bridge calls that the reference node's classes executed (fixtures/bridge/chains), run block by block through
 * this node's execution, and the first step whose result is another one here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { decodeBlock } from '../../src/chain/block.ts'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { headerHash } from '../../src/chain/header.ts'
import { type Receipt, receiptsRoot } from '../../src/chain/receipt.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { frameList, frameStrings } from '../../src/encoding/rlp-frame.ts'
import type { TransactionOutcome } from '../../src/execution/apply-transaction.ts'
import { createReferenceReplay } from './reference-chains.ts'

const FOLDER = new URL('../../fixtures/bridge/chains/', import.meta.url)
const config = CHAINS.regtest
const BRIDGE = PRECOMPILE_ADDRESS.bridge

interface RecordedLog {
  readonly address?: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

interface RecordedTransaction {
  readonly hash: Hex
  /** Calls of the Bridge by contracts; `rejected` once a frame above has failed, which changes the hash. */
  readonly internal?: readonly {
    readonly hash: Hex
    readonly from: Hex
    readonly to: Hex
    readonly value: string
    readonly rejected: boolean
  }[]
  readonly raw: Hex
  /** Absent where headers of `bitcoin-headers.json` are the argument. */
  readonly input?: Hex
  readonly status: 0 | 1
  readonly output: Hex
  readonly error?: string
  readonly gasUsed: number
  readonly logs: readonly RecordedLog[]
}

/** A step in which a block was executed. */
interface BlockStep {
  readonly note?: string
  readonly block: number
  readonly header: string
  readonly stateRoot: Hex
  readonly transactions?: readonly RecordedTransaction[]
  readonly storageDiff?: readonly (readonly [slot: Hex, bytes: Hex | null])[] | 'left out'
  readonly balanceDiff?: readonly (readonly [address: string, before: string | null, after: string])[]
  readonly bitcoin?: { readonly headersOf?: string; readonly from?: number; readonly to?: number }
}

/** A step in which a call was simulated on the best block. */
interface CallStep {
  readonly note?: string
  readonly call: string
  readonly caller?: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly gasUsed: number
}

/** A chain of its own from the regtest genesis on. */
export interface BridgeChain {
  readonly about: string
  readonly head: { readonly number: number; readonly hash: Hex; readonly stateRoot: Hex }
  readonly steps: readonly (BlockStep | CallStep)[]
}

function load<T>(name: string): T {
  return JSON.parse(gunzipSync(readFileSync(new URL(`${name}.json.gz`, FOLDER))).toString())
}

/** Names of the chains. */
export function bridgeChainNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => /-\d+\.json\.gz$/.test(file))
    .map((file) => file.replace('.json.gz', ''))
}

/** A chain by name. */
export function bridgeChain(name: string): BridgeChain {
  return load(name)
}

const EMPTY_UNCLES = '1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** Gives the headers of a chain, each of which is written as its difference from the one before. */
function headerReader() {
  let previous = ''
  return ({ header: text, stateRoot }: BlockStep, parentHash: Hex): Hex => {
    let header = text
    if (text.startsWith('~')) {
      const letters = [...previous]
      for (const patch of text.slice(1).split(',')) {
        const colon = patch.indexOf(':')
        const at = Number(patch.slice(0, colon))
        for (const [i, letter] of [...patch.slice(colon + 1)].entries()) letters[at + i] = letter
      }
      header = letters.join('')
    }
    previous = header
    return header
      .replace('P', parentHash.slice(2))
      .replace('S', stateRoot.slice(2))
      .replace('Z', '0'.repeat(512))
      .replaceAll('Y', '0'.repeat(64))
      .replace('U', EMPTY_UNCLES) as Hex
  }
}

const word = (value: number): string => value.toString(16).padStart(64, '0')

/** Call data of `receiveHeaders` with the headers of these heights, first and last included; the file begins at height 1. */
function headersInput(from: number, to: number): Hex {
  const headers = load<readonly Hex[]>('bitcoin-headers').slice(from - 1, to)
  const offsets = headers.map((_, i) => word(32 * headers.length + 128 * i))
  const members = headers.map((header) => word(80) + header.slice(2).padEnd(192, '0'))
  return `0xe5400e7b${word(32)}${word(headers.length)}${offsets.join('')}${members.join('')}`
}

function rawTransaction({ raw, input }: RecordedTransaction, { bitcoin }: BlockStep): Uint8Array {
  const data = input ?? headersInput(bitcoin?.from ?? 0, bitcoin?.to ?? 0)
  return fromHex(raw.replace('D', data.slice(2)) as Hex)
}

/** The REMASC transaction of a block. */
function remasc(number: number): Uint8Array {
  const nonce = number === 1 ? Uint8Array.of(0) : fromHex(hexOf(number - 1))
  const zero = Uint8Array.of(0)
  return frameStrings([
    nonce,
    zero,
    zero,
    fromHex(PRECOMPILE_ADDRESS.remasc),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
  ])
}

function hexOf(value: number): Hex {
  const text = value.toString(16)
  return `0x${text.length % 2 === 0 ? text : `0${text}`}`
}

/** A difference: of which step, of what, as recorded and as found here. */
export interface BridgeDifference {
  readonly step: number
  readonly note: string
  readonly field: string
  readonly expected: unknown
  readonly actual: unknown
}

/** Values side by side. */
type Compare = (field: string, expected: unknown, actual: unknown) => void

function compareLogs(compare: Compare, recorded: RecordedTransaction, receipt: Receipt | undefined): void {
  const expected = recorded.logs.map(({ address = BRIDGE, topics, data }) => ({ address, topics, data }))
  const actual = (receipt?.logs ?? []).map(({ address, topics, data }) => ({
    address,
    topics,
    data: toHex(data),
  }))
  compare('logs', expected, actual)
}

function compareTransaction(
  compare: Compare,
  recorded: RecordedTransaction,
  receipt: Receipt | undefined,
  outcome: TransactionOutcome | undefined,
): void {
  compare('status', recorded.status === 1, receipt?.succeeded)
  compare('gasUsed', BigInt(recorded.gasUsed), receipt?.gasUsed)
  compareLogs(compare, recorded, receipt)
  if (recorded.error === undefined && outcome !== undefined) {
    compare('output', recorded.output, toHex(outcome.output))
  }
}

type Replay = ReturnType<typeof createReferenceReplay>

/** Runs the chains' steps on the regtest genesis. */
class ChainRun {
  readonly #replay: Replay = createReferenceReplay()
  readonly #header = headerReader()
  readonly differences: BridgeDifference[] = []
  #head: Hex = this.#replay.genesisHash

  /** Runs a step; what differs is added to `differences`. */
  async run(step: BlockStep | CallStep, index: number): Promise<void> {
    const compare: Compare = (field, expected, actual) => {
      const [is, shouldBe] = [actual, expected].map((value) =>
        JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)),
      )
      if (is !== shouldBe) {
        const note = 'call' in step ? `call ${step.call}` : `block ${step.block}: ${step.note ?? 'empty'}`
        this.differences.push({ step: index, note, field, expected, actual })
      }
    }
    if ('call' in step) await this.#call(step, compare)
    else await this.#block(step, compare)
  }

  async #call(step: CallStep, compare: Compare): Promise<void> {
    const { failure, output, gasUsed } = await this.#replay.simulate(this.#head, {
      to: BRIDGE,
      data: fromHex(step.input),
      ...(step.caller !== undefined && { from: step.caller }),
    })
    compare('failed', step.error !== undefined, failure !== undefined)
    if (step.error === undefined) compare('output', step.output, toHex(output))
    compare('gasUsed', BigInt(step.gasUsed), gasUsed)
  }

  async #block(step: BlockStep, compare: Compare): Promise<void> {
    const transactions = step.transactions ?? []
    const raws = [...transactions.map((transaction) => rawTransaction(transaction, step)), remasc(step.block)]
    const header = fromHex(this.#header(step, this.#head))
    const block = decodeBlock(frameList([header, frameList(raws), frameList([])]), config)
    const result = await this.#replay.run(block)
    for (const [index, recorded] of transactions.entries()) {
      compareTransaction(compare, recorded, result.receipts[index], result.outcomes[index])
    }
    this.#head = headerHash(block.header, config)
    this.#compareState(compare, step)
    compare('stateRoot', block.header.stateRoot, result.stateRoot)
    compare('receiptsRoot', block.header.receiptsRoot, receiptsRoot(result.receipts))
    compare('logsBloom', toHex(block.header.logsBloom), toHex(result.logsBloom))
    compare('gasUsed', block.header.gasUsed, result.gasUsed)
    compare('paidFees', block.header.paidFees, result.paidFees)
  }

  #compareState(compare: Compare, { storageDiff = [], balanceDiff = [] }: BlockStep): void {
    if (storageDiff !== 'left out') {
      const changes = this.#replay.cellChanges(this.#head, BRIDGE)
      const recorded = new Map(storageDiff.map(([slot, bytes]) => [BigInt(slot), bytes ?? '0x'] as const))
      for (const slot of new Set([...recorded.keys(), ...changes.keys()])) {
        const name = `cell ${slotName(slot)}`
        compare(name, recorded.get(slot) ?? 'unchanged', changes.get(slot) ?? 'unchanged')
      }
    }
    for (const [address, , after] of balanceDiff) {
      const account = this.#replay.state(this.#head).account(`0x${address}`)
      compare(`balance of ${address}`, after, String(account?.balance ?? 0n))
    }
  }

  get head(): Hex {
    return this.#head
  }
}

/** The text of a slot that is a name; hexadecimal for others. */
function slotName(slot: bigint): string {
  const bytes = Buffer.from(slot.toString(16).padStart(64, '0'), 'hex')
  const text = bytes.toString('latin1').replace(/^\0+/, '')
  return /^[\w]+$/.test(text) ? text : `0x${bytes.toString('hex')}`
}

/** Everything in which the first step that differs does; no members when all are equal. */
export async function firstDifference(chain: BridgeChain): Promise<readonly BridgeDifference[]> {
  const run = new ChainRun()
  for (const [index, step] of chain.steps.entries()) {
    await run.run(step, index)
    if (run.differences.length > 0) return run.differences
  }
  if (run.head !== chain.head.hash) {
    const step = chain.steps.length
    return [{ step, note: 'head', field: 'hash', expected: chain.head.hash, actual: run.head }]
  }
  return []
}

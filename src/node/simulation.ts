/** Simulated steps as a program in the node's process asks for them, with the values of that language. */
import type { AbiValue } from '../abi/codec.ts'
import { decodedText } from '../abi/registry.ts'
import type { VariableChange } from '../abi/storage/changes.ts'
import type { Log } from '../chain/receipt.ts'
import { type Hex, toFixedHex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { ExecutedStep, StepBlock, StepResult } from '../engine/queries/simulate-steps.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import type { AccountChange, Change } from '../execution/account-changes.ts'
import type { AssetChange } from '../execution/asset-changes.ts'
import type { TokenFacts } from '../execution/token-facts.ts'
import { type NamingBudget, namingBudget, VariableChanges, wordsOf } from '../execution/variable-changes.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import { openSession } from '../rpc/session.ts'
import { layoutsOf } from '../rpc/simulation-options.ts'
import { simulateSent } from '../rpc/step-simulation.ts'
import { CallBlock } from '../rpc/wire/block-reference.ts'
import { StepSimulationObject } from '../rpc/wire/steps.ts'
import { type AccountChanges, type Amount, hexOf, sentChanges } from './account-changes.ts'

/** A message or transaction. Gas in gas, value and gas price in wei; what is absent is as in `evm_simulate`. */
export interface SimulateMessage {
  readonly from?: Hex | undefined
  /** Absent or null to create a contract. */
  readonly to?: Hex | null | undefined
  readonly value?: Amount | undefined
  readonly data?: Uint8Array | Hex | undefined
  readonly gas?: Amount | undefined
  readonly gasPrice?: Amount | undefined
  readonly nonce?: Amount | undefined
}

/** Changes of accounts before a step, by address. */
export type SimulateOverrides = Readonly<
  Record<
    Hex,
    AccountChanges & {
      /** For a precompiled contract: the address where it runs instead. */
      readonly movePrecompileToAddress?: Hex | undefined
    }
  >
>

/** A later block; one of `seconds` and `time`, or `blocks`. */
export interface SimulateWarp {
  readonly seconds?: number | undefined
  readonly blocks?: number | undefined
  /** The timestamp, seconds since 1970. */
  readonly time?: number | undefined
}

/** One step. */
export type SimulateStep =
  /** A message as in `eth_call`, without nonce and fee; what it writes stays for the later steps. */
  | { readonly call: SimulateMessage }
  /** A transaction of the block. */
  | { readonly send: SimulateMessage }
  | { readonly set: SimulateOverrides }
  | { readonly warp: SimulateWarp }

/** What the first step finds. */
export interface SimulateOptions {
  /** The head unless given. */
  readonly block?:
    | 'latest'
    | 'pending'
    | 'earliest'
    | number
    | bigint
    | { readonly blockHash: Hex }
    | undefined
  /** How many transactions of the block have run before the steps; all unless given. */
  readonly transactionIndex?: number | undefined
  readonly stateOverrides?: SimulateOverrides | undefined
  /** Fields of the block; `time` in seconds since 1970, `baseFeePerGas` (the minimum gas price) in wei. */
  readonly blockOverrides?:
    | {
        readonly number?: Amount | undefined
        readonly time?: Amount | undefined
        readonly gasLimit?: Amount | undefined
        readonly feeRecipient?: Hex | undefined
        readonly prevRandao?: Amount | undefined
        readonly baseFeePerGas?: Amount | undefined
        readonly blockHash?: Readonly<Record<number, Hex>> | undefined
      }
    | undefined
}

/** An event of a known ABI. */
export interface SimulatedEvent {
  readonly name: string
  readonly arguments: readonly {
    readonly name: string
    readonly type: string
    readonly value: AbiValue
  }[]
  /** The whole in one line. */
  readonly text: string
}

/** A log, and its event where the ABI is known. */
export interface SimulatedLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly event?: SimulatedEvent
}

/** What differs of an account; balance in wei. An account that does not exist has zeros and no code. */
export interface SimulatedAccountChange {
  readonly address: Hex
  readonly balance?: Change<bigint>
  readonly nonce?: Change<bigint>
  readonly code?: Change<Hex>
  /** Words of 32 bytes. */
  readonly storage: readonly (Change<Hex> & { readonly slot: Hex })[]
  /** The changed variables by name, where the storage layout is known. */
  readonly variables: readonly VariableChange[]
}

/** What a call or a send did. */
export interface SimulatedMessage {
  readonly kind: 'call' | 'send'
  readonly block: StepBlock
  readonly succeeded: boolean
  /** Why it failed, or could not run; `data` is what it reverted with. */
  readonly error?: { readonly message: string; readonly data?: Hex }
  readonly returnData: Hex
  /** Gas, the refund deducted. */
  readonly gasUsed: bigint
  /** What the sender paid for the gas, wei; 0 of a call. */
  readonly fee: bigint
  /** The contract that it created. */
  readonly contractAddress?: Hex
  readonly logs: readonly SimulatedLog[]
  /** Absent where it could not run. */
  readonly trace?: CallFrame
  /** Transfers and approvals in order, with what their tokens answer. */
  readonly assetChanges: readonly (AssetChange & TokenFacts)[]
  readonly stateChanges: readonly SimulatedAccountChange[]
}

/** Where a set or a warp led to. */
export interface SimulatedPlace {
  readonly kind: 'set' | 'warp'
  readonly block: StepBlock
}

/** The result of a step. */
export type SimulateResult<S extends SimulateStep = SimulateStep> = S extends
  | { readonly call: unknown }
  | { readonly send: unknown }
  ? SimulatedMessage
  : SimulatedPlace

/** The results of steps, each at the place of its step. */
export type SimulateResults<S extends readonly SimulateStep[]> = {
  readonly [K in keyof S]: SimulateResult<S[K]>
}

/** What simulating needs of a node. */
interface Simulating {
  readonly engine: Engine
  readonly options: Pick<ResolvedNodeOptions, 'dialect' | 'stateOverride' | 'rpcTimeoutMs'>
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The members of an object with other values; anything else as it is, for its reader to refuse. */
function membersMapped<T>(given: T, map: (value: never) => unknown): unknown {
  if (!isObject(given)) return given
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, map(value as never)]))
}

const sentOverrides = (overrides: SimulateOverrides | undefined) =>
  membersMapped(overrides, (changes: AccountChanges) => (isObject(changes) ? sentChanges(changes) : changes))

function sentStep(step: SimulateStep): unknown {
  if (!isObject(step)) return step
  if ('call' in step) return { ...step, call: membersMapped(step.call, hexOf) }
  if ('send' in step) return { ...step, send: membersMapped(step.send, hexOf) }
  return 'set' in step ? { ...step, set: sentOverrides(step.set) } : step
}

/** Runs the steps; domain values. Throws `NodeError` as `node.simulate` does. */
export async function executeSteps(
  { engine, options }: Simulating,
  steps: readonly SimulateStep[],
  { block = 'latest', transactionIndex, stateOverrides, blockOverrides }: SimulateOptions = {},
): Promise<readonly StepResult[]> {
  const sent = StepSimulationObject.read(
    {
      steps: Array.isArray(steps) ? steps.map(sentStep) : steps,
      transactionIndex,
      stateOverrides: sentOverrides(stateOverrides),
      blockOverrides: membersMapped(blockOverrides, hexOf),
    },
    'simulation',
  )
  const place = CallBlock.read(hexOf(block), 'block')
  const { rpcTimeoutMs } = options
  const deadline = rpcTimeoutMs === 0 ? 0 : Date.now() + rpcTimeoutMs
  return simulateSent(sent, place, { engine, options, session: openSession('in process'), deadline })
}

function toEvent({ names }: Engine, log: Log): SimulatedEvent | undefined {
  const event = names.event(log)
  if (event === undefined) return undefined
  return {
    name: event.name,
    arguments: event.parameters.map(({ name, type }, at) => ({
      name,
      type,
      value: event.values[at] as AbiValue,
    })),
    text: decodedText(event),
  }
}

const wordText = (word: bigint): Hex => toFixedHex(word, 32)

function toAccountChange(
  { code, storage, ...change }: AccountChange,
  variables: VariableChanges,
): SimulatedAccountChange {
  return {
    ...change,
    ...(code && { code: { from: toHex(code.from), to: toHex(code.to) } }),
    storage: storage.map(({ slot, from, to }) => ({
      slot: wordText(slot),
      from: wordText(from),
      to: wordText(to),
    })),
    variables: variables.of(
      change.address,
      storage.map(({ slot }) => slot),
    ),
  }
}

/** What a message did, in the values of the language. `naming` is for all results of one answer. */
export function toMessage(
  step: ExecutedStep,
  engine: Engine,
  naming: NamingBudget = namingBudget(),
): SimulatedMessage {
  const { kind, block, succeeded, failure, gasUsed, fee, created, root, before, after } = step
  const variables = new VariableChanges(before, after, layoutsOf(engine), wordsOf(root), naming)
  const { output } = failure ?? {}
  return {
    kind,
    block,
    succeeded,
    ...(failure && { error: { message: failure.reason, ...(output?.length && { data: toHex(output) }) } }),
    returnData: toHex(step.output),
    gasUsed,
    fee,
    ...(created !== undefined && { contractAddress: created }),
    logs: step.logs.map((log) => {
      const event = toEvent(engine, log)
      const { address, topics, data } = log
      return { address, topics, data: toHex(data), ...(event && { event }) }
    }),
    ...(root && { trace: root }),
    assetChanges: step.assets.map((change) => ({ ...step.tokens.get(change.token ?? '0x'), ...change })),
    stateChanges: step.changes.map((change) => toAccountChange(change, variables)),
  }
}

/** Runs work that reads states, on a fork until all that it reads is fetched: it must have no side effects. */
export function asQuery<T>({ fork }: Engine, work: () => Promise<T>): Promise<T> {
  return fork === undefined ? work() : fork.demand.query(work)
}

/** Simulates steps, each on the state that the one before it left; see `Node.simulate`. */
export async function simulate<const S extends readonly SimulateStep[]>(
  node: Simulating,
  steps: S,
  options?: SimulateOptions,
): Promise<SimulateResults<S>> {
  const { engine } = node
  const results = await asQuery(engine, async () => {
    const naming = namingBudget()
    const done = await executeSteps(node, steps, options)
    return done.map((step) =>
      step.kind === 'call' || step.kind === 'send' ? toMessage(step, engine, naming) : step,
    )
  })
  // Each result has the kind of its step.
  return results as unknown as SimulateResults<S>
}

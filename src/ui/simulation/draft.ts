/** What the page edits: the texts of all fields, read into a scenario when it is simulated, shared, saved or copied. */
import { encodeCall } from '../abi.ts'
import { coins, type Hex, quantity, toBigInt } from '../format.ts'
import { addressOf, bytesOf, countOf, quantityOf, weiOf } from '../input.ts'
import type { AbiEntry } from '../model.ts'
import {
  type AccountRow,
  at,
  type BlockRow,
  blockOverridesOf,
  blockRowsOf,
  overridesOf,
  rowsOf,
} from './override-rows.ts'
import {
  isBlockText,
  KINDS,
  MOST_STEPS,
  type Scenario,
  type ScenarioMessage,
  type ScenarioStep,
  type StepKind,
  type Warp,
} from './scenario.ts'

/** The fields of a message. */
export interface MessageTexts {
  readonly from: string
  /** Empty: the creation of a contract. */
  readonly to: string
  /** Coins. */
  readonly value: string
  readonly gas: string
  readonly gasPrice: string
  readonly nonce: string
  /** The input in hex; unused while `form` is there. */
  readonly data: string
}

/** The function that is called, and a text for each argument; `null` where the input is entered as bytes. */
export type FunctionTexts = { readonly entry: AbiEntry; readonly texts: readonly string[] } | null

/** A step; only the fields of its kind are used. */
export interface StepDraft {
  /** Counts up. */
  readonly id: number
  readonly kind: StepKind
  readonly isOff: boolean
  readonly message: MessageTexts
  /** `undefined` until the user or the ABI of the contract decides. */
  readonly form: FunctionTexts | undefined
  readonly rows: readonly AccountRow[]
  readonly warp: { readonly seconds: string; readonly blocks: string; readonly time: string }
}

/** The whole page. */
export interface Draft {
  readonly block: string
  /** The index of the transaction before which the steps run; empty: after all of the block. */
  readonly place: string
  readonly overrides: readonly AccountRow[]
  readonly blockOverrides: readonly BlockRow[]
  readonly steps: readonly StepDraft[]
}

const NO_MESSAGE: MessageTexts = { from: '', to: '', value: '', gas: '', gasPrice: '', nonce: '', data: '' }
const NO_WARP = { seconds: '', blocks: '', time: '' }
/** A row of overrides that is not filled in. */
export const NO_ACCOUNT_ROW: AccountRow = { address: '', what: 'balance', name: '', value: '' }

/** A page without steps. */
export const EMPTY_DRAFT: Draft = { block: 'latest', place: '', overrides: [], blockOverrides: [], steps: [] }

let lastId = 0

/** A step that is not filled in. */
export function emptyStep(kind: StepKind): StepDraft {
  return {
    id: ++lastId,
    kind,
    isOff: false,
    message: NO_MESSAGE,
    form: undefined,
    rows: kind === 'set' ? [NO_ACCOUNT_ROW] : [],
    warp: NO_WARP,
  }
}

const isBlank = (text: string): boolean => text.trim() === ''

/** The block parameter in a text: a tag, a height or a hash. Throws an Error in words. */
function blockOf(text: string): string {
  const plain = text.trim().toLowerCase()
  if (plain === '') return 'latest'
  const block = /^\d[\d\s_\u202f]*$/.test(plain) ? quantity(BigInt(plain.replace(/\D/g, ''))) : plain
  if (!isBlockText(block))
    throw new Error('Block: expected a height, a hash, or latest, pending, earliest, safe or finalized')
  return block
}

/** The input of a message. Throws an Error in words. */
export function inputOf({ message, form }: StepDraft): Hex | undefined {
  if (form !== null && form !== undefined) return encodeCall(form.entry, form.texts)
  return isBlank(message.data) ? undefined : at('data', () => bytesOf(message.data))
}

function messageOf(step: StepDraft): ScenarioMessage {
  const { from, to, value, gas, gasPrice, nonce } = step.message
  const field = <Value>(name: string, text: string, read: (text: string) => Value): Value | undefined =>
    isBlank(text) ? undefined : at(name, () => read(text))
  const fields = {
    from: field('from', from, addressOf),
    to: field('to', to, addressOf),
    data: inputOf(step),
    value: field('value', value, (text) => quantity(weiOf(text))),
    gas: field('gas', gas, quantityOf),
    gasPrice: field('gas price', gasPrice, quantityOf),
    nonce: field('nonce', nonce, quantityOf),
  }
  if (fields.to === undefined && fields.data === undefined) {
    throw new Error('expected an address to call, or the init code of a contract as data')
  }
  return present(fields)
}

/** The members that are there. */
function present<Value>(
  members: Readonly<Record<string, Value | undefined>>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  )
}

function warpOf({ seconds, blocks, time }: StepDraft['warp']): Warp {
  const field = (name: string, text: string) => (isBlank(text) ? undefined : at(name, () => countOf(text)))
  const warp = present({
    seconds: field('seconds', seconds),
    blocks: field('blocks', blocks),
    time: field('time', time),
  })
  if (Object.keys(warp).length === 0) throw new Error('expected seconds, blocks or a time')
  if (warp.seconds !== undefined && warp.time !== undefined)
    throw new Error('expected seconds or a time, not both')
  return warp
}

/** The step that the fields describe. Throws an Error that names the field. */
export function stepOf(step: StepDraft): ScenarioStep {
  const off = step.isOff ? { off: true as const } : {}
  switch (step.kind) {
    case 'set': {
      const set = overridesOf(step.rows, 'row')
      if (set === undefined) throw new Error('expected an account to change')
      return { set, ...off }
    }
    case 'warp':
      return { warp: warpOf(step.warp), ...off }
    case 'call':
      return { call: messageOf(step), ...off }
    case 'send':
      return { send: messageOf(step), ...off }
  }
}

/** Is the step switched on? */
export const isOn = ({ isOff }: StepDraft): boolean => !isOff

/** The scenario that the fields describe, with the steps that are wanted. Throws an Error that names the step and the field. */
export function scenarioOf(
  { block, place, overrides, blockOverrides, steps }: Draft,
  isWanted: (step: StepDraft) => boolean = () => true,
): Scenario {
  const stateOverrides = overridesOf(overrides, 'Override')
  const ofBlock = blockOverridesOf(blockOverrides)
  if (steps.length > MOST_STEPS) throw new Error(`There are more than ${MOST_STEPS} steps`)
  return {
    block: blockOf(block),
    ...(!isBlank(place) && { transactionIndex: at('Place in the block', () => countOf(place)) }),
    ...(stateOverrides !== undefined && { stateOverrides }),
    ...(ofBlock !== undefined && { blockOverrides: ofBlock }),
    steps: steps.flatMap((step, i) => (isWanted(step) ? [at(`Step ${i + 1}`, () => stepOf(step))] : [])),
  }
}

const decimal = (value: Hex | undefined): string => (value === undefined ? '' : toBigInt(value).toString())

function textsOf(message: ScenarioMessage): MessageTexts {
  const { from = '', to = '', data = '', value, gas, gasPrice, nonce } = message
  return {
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    data,
    value: value === undefined ? '' : coins(toBigInt(value)),
    gas: decimal(gas),
    gasPrice: decimal(gasPrice),
    nonce: decimal(nonce),
  }
}

function draftOfStep(step: ScenarioStep): StepDraft {
  const kind = KINDS.find((each) => step[each] !== undefined) ?? 'call'
  const { seconds, blocks, time } = step.warp ?? {}
  const text = (count: number | undefined): string => (count === undefined ? '' : String(count))
  return {
    ...emptyStep(kind),
    isOff: step.off === true,
    message: textsOf(step.call ?? step.send ?? {}),
    rows: rowsOf(step.set),
    warp: { seconds: text(seconds), blocks: text(blocks), time: text(time) },
  }
}

/** The fields that describe a scenario. */
export function draftOf(scenario: Scenario): Draft {
  const { block, transactionIndex, stateOverrides, blockOverrides, steps } = scenario
  const isHeight = block.startsWith('0x') && block.length < 66
  return {
    block: isHeight ? BigInt(block).toString() : block,
    place: transactionIndex === undefined ? '' : String(transactionIndex),
    overrides: rowsOf(stateOverrides),
    blockOverrides: blockRowsOf(blockOverrides),
    steps: steps.map(draftOfStep),
  }
}

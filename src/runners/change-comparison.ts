/** Compares what a simulated transaction does with what a test expects of it. */
import type { AbiValue } from '../abi/codec.ts'
import type { VariableValue } from '../abi/storage/value-type.ts'
import { type Hex, lowerCaseHex, toHex } from '../encoding/hex.ts'
import type { ExecutedStep } from '../engine/queries/simulate-steps.ts'
import { invalidParams } from '../errors.ts'
import { haveValues, readVariables } from '../execution/variables.ts'
import type { Node } from '../node/node.ts'
import type { SimulatedLog, SimulatedMessage } from '../node/simulation.ts'
import { layoutsOf } from '../rpc/simulation-options.ts'
import type { StateReader } from '../state/model.ts'

type Whole = bigint | number

/** A number before and after. */
export interface ExpectedNumber {
  readonly from?: Whole | undefined
  readonly to?: Whole | undefined
  /** `to` less `from`; of the sender's balance without the fee. */
  readonly by?: Whole | undefined
}

/** A variable before and after. */
export interface ExpectedVariable {
  readonly from?: VariableValue | undefined
  readonly to?: VariableValue | undefined
  /** `to` less `from`, of a number. */
  readonly by?: Whole | undefined
}

/** An argument of an event: numbers in any form, bytes and addresses in hex of any case. */
export type ExpectedArgument = bigint | number | boolean | string | Uint8Array | readonly ExpectedArgument[]

/** An event of a known ABI; what is absent may be anything. */
export interface ExpectedEvent {
  readonly name: string
  /** The contract. */
  readonly address?: Hex | undefined
  /** By name, or all in order. */
  readonly arguments?: readonly ExpectedArgument[] | Readonly<Record<string, ExpectedArgument>> | undefined
}

/** What a transaction is expected to do; what is absent may be anything, except that it has to succeed. */
export interface ExpectedChanges {
  /** It fails, with a reason that contains the text or fits the pattern. */
  readonly reverts?: true | string | RegExp | undefined
  /** Gas used, the refund deducted: the number, or bounds that include it. */
  readonly gas?: Whole | { readonly atLeast?: Whole; readonly atMost?: Whole } | undefined
  /** By account, wei; a number is the difference, without the fee of the sender. */
  readonly balances?: Readonly<Record<Hex, Whole | ExpectedNumber>> | undefined
  /** By token of ERC-20 and account: the difference that its transfer events make. */
  readonly tokens?: Readonly<Record<Hex, Readonly<Record<Hex, Whole>>>> | undefined
  /** By contract and path of the variable (`balances[0x…]`), whose storage layout has to be known. */
  readonly storage?: Readonly<Record<Hex, Readonly<Record<string, ExpectedVariable>>>> | undefined
  /** Events among those that it emits, in this order. */
  readonly events?: readonly ExpectedEvent[] | undefined
}

/** An expectation that does not hold. */
export interface Mismatch {
  readonly path: string
  readonly expected: string
  readonly actual: string
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => {
    if (typeof each === 'bigint') return each.toString()
    return each instanceof Uint8Array ? toHex(each) : each
  })

function outcomeMismatch(
  { succeeded, failure, root }: ExecutedStep,
  reverts: ExpectedChanges['reverts'],
): Mismatch[] {
  const path = 'reverts'
  const reason = failure?.reason ?? ''
  const actual = succeeded ? 'success' : reason
  if (root === undefined) return [{ path, expected: 'a transaction that can run', actual: reason }]
  if (reverts === undefined) return succeeded ? [] : [{ path, expected: 'success', actual }]
  const expected = reverts === true ? 'a failure' : String(reverts)
  const fits =
    reverts === true || (typeof reverts === 'string' ? reason.includes(reverts) : reverts.test(reason))
  return !succeeded && fits ? [] : [{ path, expected, actual }]
}

function gasMismatch({ gasUsed }: ExecutedStep, gas: ExpectedChanges['gas']): Mismatch[] {
  if (gas === undefined) return []
  const { atLeast = undefined, atMost = undefined } =
    typeof gas === 'object' ? gas : { atLeast: gas, atMost: gas }
  const isWithin =
    (atLeast === undefined || gasUsed >= BigInt(atLeast)) &&
    (atMost === undefined || gasUsed <= BigInt(atMost))
  if (isWithin) return []
  const bounds = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
  const expected = typeof gas === 'object' ? bounds.filter(Boolean).join(', ') : String(gas)
  return [{ path: 'gas', expected, actual: String(gasUsed) }]
}

/** Compares a number before and after; `add` counts towards the difference alone. */
function numberMismatches(
  path: string,
  { from, to, by }: ExpectedNumber,
  [before, after]: readonly [bigint, bigint],
  add = 0n,
): Mismatch[] {
  return (
    [
      ['from', from, before],
      ['to', to, after],
      ['by', by, after - before + add],
    ] as const
  ).flatMap(([name, expected, actual]) =>
    expected === undefined || BigInt(expected) === actual
      ? []
      : [{ path: `${path}.${name}`, expected: String(expected), actual: String(actual) }],
  )
}

function balanceMismatches(
  { before, after, root, fee }: ExecutedStep,
  balances: NonNullable<ExpectedChanges['balances']>,
): Mismatch[] {
  return Object.entries(balances).flatMap(([key, expected]) => {
    const address = lowerCaseHex(key)
    const values = [before, after].map((state) => state.account(address)?.balance ?? 0n)
    return numberMismatches(
      `balances.${key}`,
      typeof expected === 'object' ? expected : { by: expected },
      values as [bigint, bigint],
      root?.from === address ? fee : 0n,
    )
  })
}

function tokenMismatches(
  { assets }: ExecutedStep,
  tokens: NonNullable<ExpectedChanges['tokens']>,
): Mismatch[] {
  const moved = (token: Hex, account: Hex) =>
    assets
      .filter(({ type, change, token: own }) => type === 'erc20' && change === 'transfer' && own === token)
      .reduce((sum, { from, to, amount = 0n }) => {
        return sum + (to === account ? amount : 0n) - (from === account ? amount : 0n)
      }, 0n)
  return Object.entries(tokens).flatMap(([token, accounts]) =>
    Object.entries(accounts).flatMap(([account, by]) =>
      numberMismatches(`tokens.${token}.${account}`, { by }, [
        0n,
        moved(lowerCaseHex(token), lowerCaseHex(account)),
      ]),
    ),
  )
}

/** Compares variables of one contract. */
class VariableComparison {
  readonly #step: ExecutedStep
  readonly #address: Hex
  readonly #path: string
  readonly #layoutAt: ReturnType<typeof layoutsOf>

  constructor(node: Node, step: ExecutedStep, key: string) {
    this.#step = step
    this.#address = lowerCaseHex(key)
    this.#path = `storage.${key}`
    this.#layoutAt = layoutsOf(node.engine)
  }

  mismatches(name: string, { from, to, by }: ExpectedVariable): Mismatch[] {
    const { before, after } = this.#step
    const path = `${this.#path}.${name}`
    const differences =
      by === undefined
        ? []
        : numberMismatches(path, { by }, [this.#number(before, name), this.#number(after, name)])
    return [
      ...this.#different('from', before, name, from),
      ...this.#different('to', after, name, to),
      ...differences,
    ]
  }

  #different(member: string, state: StateReader, name: string, value: VariableValue | undefined): Mismatch[] {
    if (value === undefined) return []
    const named = { values: new Map([[name, value]]), layoutAt: this.#layoutAt, path: this.#path }
    if (haveValues(state, this.#address, named)) return []
    const actual = textOf(this.#read(state, name))
    return [{ path: `${this.#path}.${name}.${member}`, expected: textOf(value), actual }]
  }

  #read(state: StateReader, name: string): VariableValue | undefined {
    const named = { paths: [name], layoutAt: this.#layoutAt, path: this.#path }
    return readVariables(state, this.#address, named).get(name)
  }

  #number(state: StateReader, name: string): bigint {
    const value = this.#read(state, name)
    if (typeof value === 'bigint') return value
    throw invalidParams(`${this.#path}.${name}.by: the variable is not a number`)
  }
}

const INTEGER = /^(0x[0-9a-f]+|-?\d+)$/i

function isSameNumber(actual: bigint, expected: ExpectedArgument): boolean {
  if (typeof expected === 'bigint') return expected === actual
  if (typeof expected === 'number') return Number.isSafeInteger(expected) && BigInt(expected) === actual
  return typeof expected === 'string' && INTEGER.test(expected) && BigInt(expected) === actual
}

function isSame(actual: AbiValue, expected: ExpectedArgument | undefined): boolean {
  if (expected === undefined) return false
  if (typeof actual === 'bigint') return isSameNumber(actual, expected)
  if (typeof actual === 'boolean') return actual === expected
  if (typeof actual === 'string' || actual instanceof Uint8Array) {
    const [one, other] = [actual, expected].map((value) =>
      value instanceof Uint8Array ? toHex(value) : value,
    )
    if (typeof one !== 'string' || typeof other !== 'string') return false
    return one.startsWith('0x') ? one.toLowerCase() === other.toLowerCase() : one === other
  }
  if (!isList(expected) || expected.length !== actual.length) return false
  return actual.every((value, at) => isSame(value, expected[at]))
}

const isList = (value: unknown): value is readonly ExpectedArgument[] => Array.isArray(value)

function isExpected({ address, event }: SimulatedLog, expected: ExpectedEvent): boolean {
  if (event?.name !== expected.name) return false
  if (expected.address !== undefined && lowerCaseHex(expected.address) !== address) return false
  const { arguments: wanted = {} } = expected
  if (isList(wanted)) {
    const values = event.arguments.map(({ value }) => value)
    return isSame(values, wanted)
  }
  return Object.entries(wanted).every(([name, value]) =>
    event.arguments.some((argument) => argument.name === name && isSame(argument.value, value)),
  )
}

function eventMismatches(logs: readonly SimulatedLog[], events: readonly ExpectedEvent[]): Mismatch[] {
  let from = 0
  for (const [index, expected] of events.entries()) {
    const at = logs.findIndex((log, each) => each >= from && isExpected(log, expected))
    if (at < 0) {
      const emitted = logs
        .slice(from)
        .map(({ address, event }) => event?.text ?? `a log of ${address} whose ABI is not known`)
      const actual = emitted.length === 0 ? 'no event' : emitted.join(', ')
      return [{ path: `events[${index}]`, expected: textOf(expected), actual }]
    }
    from = at + 1
  }
  return []
}

/** All expectations that do not hold, in the order of their members. Throws `invalid-params` for a variable that is not known. */
export function mismatchesOf(
  node: Node,
  step: ExecutedStep,
  { logs }: SimulatedMessage,
  { reverts, gas, balances = {}, tokens = {}, storage = {}, events = [] }: ExpectedChanges,
): Mismatch[] {
  const variables = Object.entries(storage).flatMap(([address, expected]) => {
    const comparison = new VariableComparison(node, step, address)
    return Object.entries(expected).flatMap(([name, value]) => comparison.mismatches(name, value))
  })
  return [
    ...outcomeMismatch(step, reverts),
    ...gasMismatch(step, gas),
    ...balanceMismatches(step, balances),
    ...tokenMismatches(step, tokens),
    ...variables,
    ...eventMismatches(logs, events),
  ]
}

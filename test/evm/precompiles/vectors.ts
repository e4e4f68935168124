/** What the tests of precompiled contracts share: published vectors from files, a calling environment, contracts by address. */
import { readFileSync } from 'node:fs'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import {
  type Precompile,
  type PrecompileEnvironment,
  PrecompileFailure,
} from '../../../src/evm/precompiles/precompile.ts'
import { PRECOMPILES } from '../../../src/evm/precompiles/table.ts'

/** One call: `fails`, or the output. */
export interface Vector {
  readonly contract?: string
  readonly name: string
  readonly input: Hex
  readonly output?: Hex
  readonly gas?: string | number
  readonly fails?: true
}

/** The parsed JSON of `fixtures/precompiles/<name>.json`. */
export function fixture<Shape>(name: string): Shape {
  return JSON.parse(
    readFileSync(new URL(`../../../fixtures/precompiles/${name}.json`, import.meta.url), 'utf8'),
  ) as Shape
}

/** A call by code that a transaction started, on a chain without ancestors. */
export const ENVIRONMENT: PrecompileEnvironment = {
  depth: 0,
  caller: `0x${'11'.repeat(20)}`,
  value: 0n,
  isStatic: false,
  kind: 'call',
  isTop: false,
  isLocal: false,
  transaction: undefined,
  originHash: undefined,
  callHash: () => undefined,
  number: 1,
  timestamp: 0,
  storage: { get: () => 0n, bytes: () => EMPTY, setBytes: () => {} },
  emit: () => {},
  balance: () => 0n,
  transfer: () => {},
  ancestor: () => undefined,
}

/** The precompiled contract at an address, given by its low digits. */
export function contractAt(digits: string): Precompile {
  const contract = PRECOMPILES.get(`0x${digits.padStart(40, '0')}`)
  if (contract === undefined) throw new Error(`no precompiled contract at ${digits}`)
  return contract
}

/** Gas a call needs. */
export function gasOf(contract: Precompile, input: Hex, env = ENVIRONMENT): bigint {
  return contract.requiredGas(fromHex(input), env)
}

/** Output of a call, or the word `failure` when it fails to execute. */
export function outcome(contract: Precompile, input: Hex, env = ENVIRONMENT): Hex | 'failure' {
  try {
    return toHex(contract.run(fromHex(input), env))
  } catch (error) {
    if (error instanceof PrecompileFailure) return 'failure'
    throw error
  }
}

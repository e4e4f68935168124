/** Precompiled contracts that offer methods by ABI selector. */
import { toNumber } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import {
  type PrecompileCode,
  type PrecompileEnvironment,
  PrecompileFailure,
  type PrecompileGas,
} from './precompile.ts'

/** How one method reads its arguments, what it costs and what it does. */
export interface MethodDefinition<Arguments> {
  /** Name and types, as hashed for the selector. */
  readonly signature: string
  /** Reads the arguments that follow the selector; a RangeError means that they are malformed. */
  decode(data: Uint8Array): Arguments
  /** Gas; `inputLength` counts the selector too. */
  gas(args: Arguments, inputLength: number): bigint
  /** The encoded result; throws PrecompileFailure. */
  run(args: Arguments, env: PrecompileEnvironment): Uint8Array
}

interface PreparedCall {
  readonly gas: bigint
  run(env: PrecompileEnvironment): Uint8Array
}

/** A method whose argument type is its own business. */
export interface Method {
  readonly selector: number
  /** The call that `input` makes; throws a RangeError on malformed arguments. */
  prepare(input: Uint8Array): PreparedCall
}

/** Hides a method's argument type, so that methods of all kinds fit one list. */
export function precompileMethod<Arguments>(definition: MethodDefinition<Arguments>): Method {
  return {
    selector: toNumber(keccak256(new TextEncoder().encode(definition.signature)).subarray(0, 4)),
    prepare(input) {
      const args = definition.decode(input.subarray(4))
      return { gas: definition.gas(args, input.length), run: (env) => definition.run(args, env) }
    },
  }
}

/** A contract whose gas is its methods'. */
export interface MethodContract extends PrecompileCode {
  readonly methodGas: PrecompileGas
}

/**
 * A contract of methods without a default one. Missing or unknown selectors and malformed arguments are free of charge
 * and fail to execute; superfluous data are ignored.
 */
export function methodContract(methods: readonly Method[]): MethodContract {
  const bySelector = new Map(methods.map((method) => [method.selector, method]))

  function prepare(input: Uint8Array): PreparedCall | undefined {
    if (input.length < 4) return undefined
    try {
      return bySelector.get(toNumber(input.subarray(0, 4)))?.prepare(input)
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  return {
    methodGas: (input) => prepare(input)?.gas ?? 0n,
    run(input, env) {
      const call = prepare(input)
      if (call === undefined) throw new PrecompileFailure('no such method, or malformed arguments')
      return call.run(env)
    },
  }
}

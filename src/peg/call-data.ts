/** Call data of the Bridge's methods: the selector and ABI-encoded arguments. */
import { concat, fromBigIntFixed } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'

/** An argument: an integer, `bytes` or `bytes32`, or `bytes[]`. */
export type CallArgument = bigint | Uint8Array | readonly Uint8Array[]

const WORD = 32

const word = (value: bigint | number): Uint8Array => fromBigIntFixed(BigInt.asUintN(256, BigInt(value)), WORD)

function encodeBytes(bytes: Uint8Array): Uint8Array {
  return concat(word(bytes.length), bytes, new Uint8Array(-bytes.length & (WORD - 1)))
}

/** Heads that point to tails behind them. */
function encodeList(items: readonly Uint8Array[]): Uint8Array {
  const tails = items.map(encodeBytes)
  let at = WORD * tails.length
  const heads = tails.map((tail) => {
    const head = word(at)
    at += tail.length
    return head
  })
  return concat(word(items.length), ...heads, ...tails)
}

function encodeDynamic(argument: CallArgument, type: string): Uint8Array | undefined {
  if (typeof argument === 'bigint' || type === 'bytes32') return undefined
  return argument instanceof Uint8Array ? encodeBytes(argument) : encodeList(argument)
}

/** The data of a call. `signature`: name and canonical types, of which there is an argument each. */
export function callData(signature: string, ...args: readonly CallArgument[]): Uint8Array {
  const types = signature.slice(signature.indexOf('(') + 1, -1).split(',')
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  let at = WORD * args.length
  for (const [i, argument] of args.entries()) {
    const tail = encodeDynamic(argument, types[i] ?? '')
    if (tail === undefined) {
      heads.push(typeof argument === 'bigint' ? word(argument) : (argument as Uint8Array))
      continue
    }
    heads.push(word(at))
    tails.push(tail)
    at += tail.length
  }
  return concat(keccak256(new TextEncoder().encode(signature)).subarray(0, 4), ...heads, ...tails)
}

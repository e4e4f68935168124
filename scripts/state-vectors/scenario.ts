/** What a vector is made from: a small world, a transaction, and the assembly that most of them share. */
import type { Transaction } from '../../src/chain/transaction.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { CONTRACT, type Given } from '../../test/support/execution.ts'

/** Becomes one vector. The sender is rich and has nonce 1; the transaction calls CONTRACT unless it names another. */
export interface Scenario {
  readonly name: string
  readonly accounts?: Readonly<Record<Hex, Given>>
  readonly transaction?: Partial<
    Pick<Transaction, 'nonce' | 'gasPrice' | 'gasLimit' | 'to' | 'value' | 'data'>
  >
  readonly coinbase?: Hex
}

/** A scenario of one contract. */
export function contract(
  name: string,
  code: string | Uint8Array,
  rest: Omit<Scenario, 'name'> = {},
): Scenario {
  return { name, ...rest, accounts: { [CONTRACT]: { code, balance: 100n }, ...rest.accounts } }
}

/** The four ways to call. */
export const CALL_KINDS = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'] as const

/** Assembly of a call with `length` bytes of input from memory 0, output of 64 bytes to memory 64. */
export function calling(
  kind: (typeof CALL_KINDS)[number],
  to: Hex | string,
  { gas = 'GAS', value = 0n, length = 0 }: { gas?: string; value?: bigint; length?: number } = {},
): string {
  const takesValue = kind === 'CALL' || kind === 'CALLCODE'
  return `64 64 ${length} 0 ${takesValue ? value : ''} ${to} ${gas} ${kind}`
}

/** Assembly that stores the top of the stack. */
export function keep(slot: number): string {
  return `${slot} SSTORE`
}

/** Assembly that puts bytes at memory 0. */
export function inMemory(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let i = 0; i < bytes.length; i += 32) {
    const hex = Buffer.from(bytes.subarray(i, i + 32))
      .toString('hex')
      .padEnd(64, '0')
    lines.push(`PUSH32 0x${hex} ${i} MSTORE`)
  }
  return lines.join(' ')
}

/** Assembly of a creation; the address, or 0, is left on the stack. */
export function creating(kind: 'CREATE' | 'CREATE2', initcode: Uint8Array, value = 0n, salt = 0n): string {
  return `${inMemory(initcode)} ${kind === 'CREATE2' ? salt : ''} ${initcode.length} 0 ${value} ${kind}`
}

/** An address that ends in these digits. */
export function ending(digits: string): Hex {
  return `0x${digits.padStart(40, '0')}`
}

/** All pairs. */
export function pairs<A, B>(left: readonly A[], right: readonly B[]): (readonly [A, B])[] {
  return left.flatMap((a) => right.map((b) => [a, b] as const))
}

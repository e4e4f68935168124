/** Outputs that can be spent. */

import { sha256 } from '../../encoding/hash.ts'
import { digitsOf, displayed } from '../displayed-hash.ts'
import { OP } from '../script.ts'
import type { Input, Output, Transaction } from '../transaction.ts'

/** An output that no block has spent yet. */
export interface Coin extends Output {
  /** Of its block. */
  readonly height: number
  readonly isCoinbase: boolean
}

/** Bytes of the longest script that can be spent. */
export const MAX_SCRIPT = 10_000

/** Digits of an index in the key of an output. */
export const INDEX_DIGITS = 8

/** The key of an output: text of the transaction's hash, and the index as digits. */
export function outputKey(id: string, index: number): string {
  return id + index.toString(16).padStart(INDEX_DIGITS, '0')
}

/** The key of the output that an input spends. */
export function spentKey({ hash, index }: Pick<Input, 'hash' | 'index'>): string {
  return outputKey(displayed(hash), index)
}

/** Transaction and index of an output's key. */
export function outputOf(key: string): { readonly id: string; readonly index: number } {
  return { id: key.slice(0, -INDEX_DIGITS), index: Number.parseInt(key.slice(-INDEX_DIGITS), 16) }
}

/** Can nothing spend it? Such outputs are no coins. */
export function isUnspendable({ script }: Output): boolean {
  return script[0] === OP.RETURN || script.length > MAX_SCRIPT
}

/** The key of a script in the indexes: its SHA-256 as digits. */
export function scriptKey(script: Uint8Array): string {
  return digitsOf(sha256(script))
}

/** The coins that a transaction of a block makes, with their keys. */
export function coinsOf(
  transaction: Transaction,
  id: string,
  height: number,
  isCoinbase: boolean,
): readonly (readonly [string, Coin])[] {
  return transaction.outputs.flatMap((output, index) =>
    isUnspendable(output) ? [] : [[outputKey(id, index), { ...output, height, isCoinbase }] as const],
  )
}

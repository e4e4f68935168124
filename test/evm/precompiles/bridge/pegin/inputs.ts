/** Inputs of peg-ins and transactions with them, as the tests of peg-ins make them. */
import { push } from '../../../../../src/bitcoin/script.ts'
import type { Input, Output, Transaction } from '../../../../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { fromHex } from '../../../../../src/encoding/hex.ts'

/** An input without script. */
export const input = (parts: Partial<Input> = {}): Input => ({
  hash: new Uint8Array(32).fill(1),
  index: 0,
  script: EMPTY,
  sequence: 0xffffffff,
  witness: [],
  ...parts,
})

/** A transaction of one input. */
export const transactionOf = (first: Input, outputs: readonly Output[] = []): Transaction => ({
  version: 2,
  inputs: [first],
  outputs,
  lockTime: 0,
})

/** Pushes, one after another. */
export const pushes = (...items: readonly Uint8Array[]): Uint8Array => concat(...items.map(push))

/** Bytes of the length of a signature. */
export const SIGNATURE = new Uint8Array(71).fill(0x30)

/** The public key of `federator3`, compressed, and the account of the same key. */
export const KEY = fromHex('0x02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1')
export const ACCOUNT = '0x6b045752f4d650a510a353bbf7e52988331e7f5b'

/** A Bridge that is shown blocks of a parent chain, and proofs about their transactions. */
import { parseAddress, TEST_VERSIONS } from '../../../../../src/bitcoin/address.ts'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import {
  encodeStripped,
  type Input,
  type Output,
  type Transaction,
} from '../../../../../src/bitcoin/transaction.ts'
import { doubleSha256 } from '../../../../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../../../../src/encoding/hex.ts'
import type { PrecompileEnvironment } from '../../../../../src/evm/precompiles/precompile.ts'
import { partialTree, treeNode } from '../../../../bitcoin/partial-tree.ts'
import { dataOf, FEDERATOR, freshBridge, GENESIS_HASH, hashOf, mineHeader, texts } from '../calls.ts'

/** All coins, wei: what the Bridge has at first. */
const ALL_COINS = 21_000_000n * 10n ** 18n

/** Script of an output to the federation that a fresh local network begins with, by its published address. */
export const FEDERATION_SCRIPT = (() => {
  const address = parseAddress('2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7', TEST_VERSIONS)
  if (address === undefined) throw new Error('no address')
  return outputScript({ kind: 'scriptHash', hash: address.slice(1) })
})()

/** A block with transactions; the tree about one of them, by position. */
export interface ParentBlock {
  readonly height: number
  readonly header: Uint8Array
  tree(position: number): Hex
}

/** A Bridge with all coins, called by transactions. */
export function peggedBridge(change: Partial<PrecompileEnvironment> = {}) {
  const bridge = freshBridge({
    isTop: true,
    isLocal: false,
    balance: () => ALL_COINS - bridge.transfers.reduce((sum, [, wei]) => sum + wei, 0n),
    ...change,
  })
  let tip = GENESIS_HASH
  let height = 0

  function extend(merkleRoot?: Uint8Array): Uint8Array {
    height += 1
    const header = mineHeader(tip, { seed: height, ...(merkleRoot && { merkleRoot }) })
    tip = hashOf(header)
    return header
  }

  /** Shows a block whose transactions have these hashes, and two above it. At most 252 hashes. */
  function block(leaves: readonly Uint8Array[]): ParentBlock {
    let top = 0
    while (2 ** top < leaves.length) top++
    const header = extend(treeNode(leaves, top, 0))
    const own = height
    bridge.raw(dataOf('receiveHeaders', texts([header, extend(), extend()])), { caller: FEDERATOR })
    return { height: own, header, tree: (position) => toHex(partialTree(leaves, (i) => i === position)) }
  }

  /** Shows a block with a transaction's bytes, and registers it. */
  function register(bytes: Uint8Array, transaction?: Partial<PrecompileEnvironment>): Hex | 'failure' {
    const leaves = [doubleSha256(Uint8Array.of(height)), doubleSha256(bytes)]
    const { height: at, tree } = block(leaves)
    return bridge.raw(dataOf('registerBtcTransaction', toHex(bytes), BigInt(at), tree(1)), transaction)
  }

  return { ...bridge, block, register }
}

/** The bytes of a transaction without witness. */
export function rawOf(inputs: readonly Input[], outputs: readonly Output[]): Uint8Array {
  const transaction: Transaction = { version: 2, inputs, outputs, lockTime: 0 }
  return encodeStripped(transaction)
}

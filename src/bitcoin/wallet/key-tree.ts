/** Keys of wallets: a tree (BIP-32) for each wallet, from the node's seed and the wallet's name. */
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { concat } from '../../encoding/bytes.ts'
import { sha256 } from '../../encoding/hash.ts'
import type { PrivateKey } from '../private-key.ts'

/** Derives keys; remembers the trunk of each wallet's tree. */
export class KeyTree {
  readonly #seed: Uint8Array
  readonly #chains = new Map<string, HDKey>()

  constructor(seed: Uint8Array) {
    this.#seed = seed
  }

  /** A wallet's key at an index of the receiving or the change chain, and its path. */
  keyAt(name: string, isChange: boolean, index: number): { readonly key: PrivateKey; readonly path: string } {
    const trunk = `m/0'/${isChange ? 1 : 0}'`
    const { privateKey } = this.#chain(name, trunk).deriveChild(0x80000000 + index)
    if (privateKey === null || privateKey === undefined) throw new Error('The key has no private part.')
    return { key: { secret: privateKey, isCompressed: true }, path: `${trunk}/${index}'` }
  }

  #chain(name: string, trunk: string): HDKey {
    const id = `${trunk} ${name}`
    const known = this.#chains.get(id)
    if (known !== undefined) return known
    const chain = HDKey.fromMasterSeed(sha256(concat(this.#seed, utf8ToBytes(name)))).derive(trunk)
    this.#chains.set(id, chain)
    return chain
  }
}

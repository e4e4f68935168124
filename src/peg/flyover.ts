/** What a test of flyover peg-ins needs: addresses that commit to a contract, and proofs of the payments to them (RSKIP-176). */
import { parseAddress } from '../bitcoin/address.ts'
import { encodePartialTree } from '../bitcoin/chain/merkle-root.ts'
import type { BitcoinNode } from '../bitcoin/node-interface.ts'
import { outputScript } from '../bitcoin/output-script.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { encodeStripped, txid } from '../bitcoin/transaction.ts'
import { equal } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import { flyoverHash } from '../evm/precompiles/bridge/federation/federation.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { derivationHashOf } from '../evm/precompiles/bridge/pegin/flyover.ts'

/** What the address of a flyover peg-in commits to. Bitcoin addresses are those of keys or scripts. */
export interface FlyoverAgreement {
  /** Hash of what the parties agreed on, 32 bytes. */
  readonly agreement: Hex
  /** Bitcoin address that a refund goes to. */
  readonly user: string
  /** The contract that calls the Bridge. */
  readonly contract: Hex
  /** Bitcoin address of the liquidity provider. */
  readonly provider: string
}

/** The address, and the Bitcoin addresses as `registerFastBridgeBtcTransaction` takes them: 21 bytes. */
export interface FlyoverAddress {
  readonly address: string
  readonly derivationHash: Hex
  readonly user: Hex
  readonly provider: Hex
}

function bytesOf(address: string, name: string, { network }: BridgeState): Uint8Array {
  const bytes = parseAddress(address, network.parent.addresses)
  if (bytes !== undefined) return bytes
  throw invalidParams(
    `${name}: expected a Bitcoin address of a key's or script's hash, not ${address.slice(0, 100)}`,
  )
}

/** The address of the active federation for an agreement. Throws `invalid-params` for an address of another form. */
export function flyoverAddress(bridge: BridgeState, agreement: FlyoverAgreement): FlyoverAddress {
  const user = bytesOf(agreement.user, 'user', bridge)
  const provider = bytesOf(agreement.provider, 'provider', bridge)
  const contract = fromHex(agreement.contract)
  const derivationHash = derivationHashOf(fromHex(agreement.agreement), { user, contract, provider })
  const hash = flyoverHash(derivationHash, bridge.federations.active())
  const address = addressOf(outputScript({ kind: 'scriptHash', hash }))
  if (address === undefined) throw new Error('a script hash has no address')
  return { address, derivationHash: toHex(derivationHash), user: toHex(user), provider: toHex(provider) }
}

/** What proves a transaction to the Bridge: its bytes without witness, and a partial Merkle tree of its block (BIP-37). */
export interface BitcoinProof {
  readonly transaction: Hex
  readonly height: number
  readonly tree: Hex
}

/** The proof of a transaction by its hash; `undefined` where it is in no block of the best chain. */
export async function proofOf(node: BitcoinNode, id: string): Promise<BitcoinProof | undefined> {
  const found = await node.transaction(id)
  const block = found?.block && (await node.block(found.block.hash))
  if (found === undefined || block === undefined) return undefined
  const own = txid(found.transaction)
  const leaves = block.transactions.map(txid)
  const tree = encodePartialTree(leaves, new Set([leaves.findIndex((leaf) => equal(leaf, own))]))
  return { transaction: toHex(encodeStripped(found.transaction)), height: block.height, tree: toHex(tree) }
}

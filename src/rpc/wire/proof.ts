/** Account proofs on the wire (EIP-1186). */
import { z } from 'zod'
import { EMPTY_ACCOUNT } from '../../chain/account.ts'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import { encodeRlp } from '../../encoding/rlp.ts'
import type { AccountProof } from '../../engine/model.ts'
import { arrayOf, mapOf, type Parameter, refine } from '../parameter.ts'
import { NamedAddress } from './overrides.ts'
import { AddressText, BalanceText, DataText, HashText, Quantity, QuantityText } from './scalars.ts'

/** Maximum number of storage keys per request; each costs a walk through the trie and a list of nodes. */
const MAX_KEYS = 1024

/** Storage slots to prove: 32-byte keys, or shorter ones read as numbers. */
export const StorageKeys: Parameter<readonly bigint[]> = arrayOf(Quantity, {
  most: MAX_KEYS,
  what: `an array of at most ${MAX_KEYS} keys`,
  whatAtMost: `an array of at most ${MAX_KEYS} keys`,
})

/** Storage slots to read, by account; `MAX_KEYS` limits the slots of all accounts together. */
export const SlotsByAccount: Parameter<ReadonlyMap<Hex, readonly bigint[]>> = refine(
  mapOf(NamedAddress, arrayOf(Quantity), (name, key) => `${name} key ${key}`),
  {
    where: (slots) =>
      slots.size > 0 && [...slots.values()].reduce((sum, { length }) => sum + length, 0) <= MAX_KEYS,
    what: `at least one account and at most ${MAX_KEYS} slots in all`,
  },
)

/** The proof object; nodes are RLP, root first. */
export const ProofObject = z.lazy(() =>
  z
    .strictObject({
      address: AddressText,
      accountProof: z.array(DataText),
      balance: BalanceText,
      codeHash: HashText,
      nonce: QuantityText,
      storageHash: HashText,
      storageProof: z.array(z.strictObject({ key: HashText, value: QuantityText, proof: z.array(DataText) })),
    })
    .meta({ id: 'AccountProof' }),
)

const rlpText = (node: Uint8Array): Hex => toHex(encodeRlp(node))

/** An account that does not exist is shown as an empty one; the proof tells the two apart. */
export function toRpcProof(proof: AccountProof): z.infer<typeof ProofObject> {
  const { balance, codeHash, nonce } = proof.account ?? EMPTY_ACCOUNT
  return {
    address: proof.address,
    accountProof: proof.accountProof.map(rlpText),
    balance: toQuantity(balance),
    codeHash,
    nonce: toQuantity(nonce),
    storageHash: proof.storageHash,
    storageProof: proof.storageProof.map(({ slot, value, proof: nodes }) => ({
      key: toFixedHex(slot, 32),
      value: toQuantity(value),
      proof: nodes.map(rlpText),
    })),
  }
}

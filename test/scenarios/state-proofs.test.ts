/** `eth_getProof` against the state roots of the blocks, whose roots are those of the reference node. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node, verifyStateProof } from '../../src/index.ts'

const A: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

interface Proof {
  readonly address: Hex
  readonly accountProof: readonly Hex[]
  readonly balance: Hex
  readonly nonce: Hex
  readonly codeHash: Hex
  readonly storageHash: Hex
  readonly storageProof: readonly { readonly key: Hex; readonly value: Hex; readonly proof: readonly Hex[] }[]
}

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

const call = async <T>(method: string, ...params: unknown[]) => (await node.request({ method, params })) as T
const word = (value: number) => value.toString(16).padStart(64, '0')

/** Init code that stores `values[i]` in slot i and deploys nothing. */
function storing(values: readonly number[]): string {
  return `0x${values.map((value, slot) => `7f${word(value)}7f${word(slot)}55`).join('')}00`
}

async function deploy(values: readonly number[]): Promise<{ address: Hex; block: Hex }> {
  const hash = await call<Hex>('eth_sendTransaction', { from: A, data: storing(values), gas: '0x4c4b40' })
  const receipt = await call<{ contractAddress: Hex; blockNumber: Hex }>('eth_getTransactionReceipt', hash)
  return { address: receipt.contractAddress, block: receipt.blockNumber }
}

async function proofAt(address: Hex, slots: readonly number[], block: Hex): Promise<Proof> {
  const keys = slots.map((slot) => `0x${word(slot)}`)
  return call<Proof>('eth_getProof', address, keys, block)
}

/** What a proof shows under the block's state root; `undefined` where it shows an absence. Throws when it shows neither. */
async function proven(proof: Proof, block: Hex) {
  const { stateRoot } = await call<{ stateRoot: Hex }>('eth_getBlockByNumber', block)
  return verifyStateProof(proof, stateRoot)
}

/** What the proof object itself claims. */
function claimed({ nonce, balance, storageProof }: Proof) {
  return {
    nonce: BigInt(nonce),
    balance: BigInt(balance),
    storage: storageProof.map(({ value }) => BigInt(value)),
  }
}

/** A byte of a node, or of the length in front of it, was changed. */
const ALTERED =
  /^(The last node of the proof is not the root|A node of the proof is not the child of the one above|invalid RLP: remainder must be zero|invalid RLP \(safeSlice\): end slice of Uint8Array out-of-bounds)$/

describe('eth_getProof', () => {
  it('proves accounts and slots, both empty and not empty', async () => {
    const values = Array.from({ length: 40 }, (_, i) => i * i + 1)
    const { address, block } = await deploy(values)
    const slots = [0, 1, 39, 40, 255, 256]
    const proof = await proofAt(address, slots, block)
    const account = await proven(proof, block)
    expect(account).toEqual(claimed(proof))
    expect(account?.storage).toEqual(slots.map((slot) => BigInt(values[slot] ?? 0)))

    const sender = await proofAt(A, [0], block)
    expect(await proven(sender, block)).toEqual(claimed(sender))
    expect(sender).toMatchObject({ storageHash: EMPTY_TRIE_ROOT, storageProof: [{ value: '0x0' }] })
    expect(proof.storageHash).not.toBe(EMPTY_TRIE_ROOT)
  })

  it('proves that an account is absent', async () => {
    const { block } = await deploy([1])
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n << 100n, max: (1n << 160n) - 1n }), async (number) => {
        const address = toHex(fromBigIntFixed(number, 20))
        const proof = await proofAt(address, [7], block)
        expect(await proven(proof, block)).toBeUndefined()
        expect(proof).toMatchObject({ balance: '0x0', nonce: '0x0', storageProof: [{ value: '0x0' }] })
      }),
      { numRuns: 40 },
    )
  })

  it('proves the state of each earlier block, not that of the head', async () => {
    const deployed = [await deploy([1]), await deploy([2, 3]), await deploy([4, 5, 6])]
    for (const { block } of deployed) {
      for (const { address, block: born } of deployed) {
        const proof = await proofAt(address, [0, 1, 2, 3], block)
        const account = await proven(proof, block)
        if (BigInt(born) > BigInt(block)) expect(account).toBeUndefined()
        else expect(account).toEqual(claimed(proof))
      }
    }
  })

  it('is invalid after any byte is changed', async () => {
    const { address, block } = await deploy([1, 2, 3])
    const proof = await proofAt(address, [1], block)
    const honest = await proven(proof, block)
    expect(honest).toEqual(claimed(proof))
    const touch = (nodes: readonly Hex[], which: number, at: number): Hex[] =>
      nodes.map((text, i) => {
        if (i !== which % nodes.length) return text
        const bytes = fromHex(text)
        bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1
        return toHex(bytes)
      })
    await fc.assert(
      fc.asyncProperty(fc.nat(99), fc.nat(999), async (which, at) => {
        const account = { ...proof, accountProof: touch(proof.accountProof, which, at) }
        await expect(proven(account, block)).rejects.toThrow(ALTERED)
        const storageProof = proof.storageProof.map((slot) => ({
          ...slot,
          proof: touch(slot.proof, which, at),
        }))
        await expect(proven({ ...proof, storageProof }, block)).rejects.toThrow(ALTERED)
      }),
      { numRuns: 40 },
    )
  })
})

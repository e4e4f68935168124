/** The storage of the Bridge after the reference node's chains: the cells that the reference node has, byte for byte. */

import { describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { fromBigInt, fromBigIntFixed, toBigInt } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { CELL } from '../../src/state/bridge-cells.ts'
import { cellBytes } from '../../src/state/state-keys.ts'
import { fixture } from '../support/fixture.ts'
import { createReferenceReplay, type ReferenceChain, referenceChains } from '../support/reference-chains.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge

/** Key of a cell in the reference node's trie (docs/internals/protocol.md#56-state-keys). */
function cellKey(slot: bigint): Hex {
  const address = fromHex(BRIDGE)
  const prefix = `00${hex(keccak256(address).subarray(0, 10))}${hex(address)}00`
  return `0x${prefix}${hex(keccak256(fromBigIntFixed(slot, 32)).subarray(0, 10))}${hex(fromBigInt(slot))}`
}

function hex(bytes: Uint8Array): string {
  return toHex(bytes).slice(2)
}

/** The end of a key: the slot without leading zeros. */
const SLOT_AT = 2 + 2 * (1 + 10 + 20 + 1 + 10)

async function bridgeAfter(name: string): Promise<(slot: bigint) => Uint8Array> {
  const replay = createReferenceReplay()
  const [chain] = referenceChains(name) as [ReferenceChain]
  await replay.differencesOf(chain)
  const [head] = chain.blocks.at(-1) as ReferenceChain['blocks'][number]
  const state = replay.stateAfter(head)
  return (slot) => cellBytes(state.cell(BRIDGE, slot))
}

describe('the storage of the Bridge', () => {
  it('equals that of the reference node after calls of every method', async () => {
    const cells = new Map(fixture<[Hex, Hex][]>('reference-node/bridge-cells.json'))
    const read = await bridgeAfter('bridge')
    const slots = [...cells.keys()].map((key) => toBigInt(fromHex(`0x${key.slice(SLOT_AT)}`)))
    const stored = [...new Set([...slots, ...Object.values(CELL)])]
      .map((slot) => [cellKey(slot), toHex(read(slot))] as const)
      .filter(([, bytes]) => bytes !== '0x')
    expect(new Map(stored)).toEqual(cells)
  })

  it.each(['existence', 'inputs', 'transfers'])('has no cells after the chain %s', async (name) => {
    const read = await bridgeAfter(name)
    for (const slot of Object.values(CELL)) expect(read(slot)).toHaveLength(0)
  })
})

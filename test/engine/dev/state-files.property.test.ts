/** Random chains through a state file and back: blocks, receipts, logs, states and pool are the same. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contractAddress } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { KEYS, transfer } from '../../support/forge.ts'
import { ask, pictureOf } from '../../support/state-files.ts'

const NOW = 1_700_000_000
/** Logs the value that came, stores it under the block's number, and destroys itself in favour of the caller for 3 wei. */
const CONTRACT = deployer(
  assemble(
    'CALLVALUE PUSH1 0 PUSH1 0 LOG1 CALLVALUE NUMBER SSTORE CALLVALUE PUSH1 3 EQ PUSH1 17 JUMPI STOP JUMPDEST CALLER SELFDESTRUCT',
  ),
)
const senders = KEYS.map((_, sender) => transfer(sender, {}).from)
const contract = contractAddress(senders[0] as Hex, 0n)
const OTHER: Hex = `0x${'0e'.repeat(20)}`

type Step =
  | {
      readonly do: 'send'
      readonly sender: number
      readonly value: bigint
      readonly calls: boolean
      readonly gap: boolean
    }
  | { readonly do: 'mine' }
  | {
      readonly do: 'edit'
      readonly address: Hex
      readonly what: 'balance' | 'code' | 'storage' | 'nonce'
      readonly value: number
    }
  | { readonly do: 'impersonate' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send'),
      sender: fc.nat(2),
      value: fc.bigInt(0n, 3n),
      calls: fc.boolean(),
      gap: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('mine') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit'),
      address: fc.constantFrom(contract, OTHER),
      what: fc.constantFrom('balance', 'code', 'storage', 'nonce'),
      value: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('impersonate') }) },
)

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

async function play(node: Node, steps: readonly Step[]): Promise<void> {
  const { commands, queries } = node.engine
  await commands.submit(transfer(0, { nonce: 0n, to: null, value: 0n, data: CONTRACT }))
  await commands.mine()
  for (const one of steps) {
    if (one.do === 'mine') {
      await commands.mine()
    } else if (one.do === 'impersonate') {
      await ask(node, 'hardhat_setBalance', OTHER, '0xffffffff')
      await ask(node, 'hardhat_impersonateAccount', OTHER)
      await ask(node, 'eth_sendTransaction', { from: OTHER, to: contract, value: '0x1', gasPrice: '0x0' })
    } else if (one.do === 'send') {
      const nonce = queries.pendingNonce(senders[one.sender] as Hex) + (one.gap ? 1n : 0n)
      const to = one.calls ? { to: contract } : {}
      await commands.submit(transfer(one.sender, { nonce, value: one.value, ...to })).catch(() => undefined)
    } else {
      const { address, what, value } = one
      const edits: Record<typeof what, readonly [string, ...unknown[]]> = {
        balance: ['hardhat_setBalance', address, `0x${value}`],
        code: ['hardhat_setCode', address, '0x00'.slice(0, 2 + 2 * (value % 2))],
        storage: ['hardhat_setStorageAt', address, word(value), word(value >> 1)],
        nonce: ['hardhat_setNonce', address, `0x${value + 5}`],
      }
      await ask(node, ...edits[what]).catch(() => undefined)
    }
  }
}

const options = { mining: 'manual', now: () => NOW } as const

it('reproduces the chain of one node on another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.boolean(), async (steps, isUsed) => {
      const first = await createNode(options)
      // Another genesis, and in half of the cases blocks that have to leave.
      const second = await createNode({ ...options, genesisTime: isUsed ? 7 : 0 })
      try {
        await play(first, steps)
        if (isUsed) await ask(second, 'evm_mine')
        const dump = await ask(first, 'anvil_dumpState', true)
        await ask(second, 'anvil_loadState', dump)
        const picture = await pictureOf(second)
        expect(picture).toEqual(await pictureOf(first))
        // A second time changes nothing, and both continue alike.
        await ask(second, 'evm_loadState', dump)
        expect(await pictureOf(second)).toEqual(picture)
        for (const node of [first, second]) await node.engine.commands.mine()
        expect(await pictureOf(second)).toEqual(await pictureOf(first))
        // The state alone makes the same state of a fresh node.
        const third = await createNode(options)
        await ask(third, 'anvil_loadState', await ask(first, 'anvil_dumpState'))
        expect(third.engine.queries.head().postState).toBe(first.engine.queries.head().postState)
        await third.close()
      } finally {
        await first.close()
        await second.close()
      }
    }),
    { numRuns: 8 },
  )
})

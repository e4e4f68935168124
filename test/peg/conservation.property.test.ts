/** Coins are neither made nor lost, whatever happens on the two chains in whatever order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayed } from '../../src/bitcoin/displayed-hash.ts'
import { type Transaction, txid } from '../../src/bitcoin/transaction.ts'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { equal } from '../../src/encoding/bytes.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import type { Peg } from '../../src/peg/peg.ts'
import { releasedIn } from '../../src/peg/releases.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'
const BRIDGE = PRECOMPILE_ADDRESS.bridge
const WEI_PER_SATOSHI = 10n ** 10n
const ALL_COINS = 2_100_000_000_000_000n

type Step = (node: Node, peg: Peg) => Promise<unknown>

const call = (node: Node, method: string, ...params: unknown[]) => node.request({ method, params })
const named = (name: string, step: Step) => Object.assign(step, { toString: () => name })
const satoshi = (least: number, most: number) => fc.integer({ min: least, max: most }).map(BigInt)
const count = (least: number, most: number) => fc.integer({ min: least, max: most })

const federationAddress = async (peg: Peg) => (await peg.status()).active.address
/** A payment without instructions, which the Bridge credits to the sender's key, or keeps below the minimum. */
const plain = (value: bigint) =>
  named(`pay ${value}`, async (_, peg) => peg.faucet(await federationAddress(peg), value, 1))
const askOut = (value: bigint) =>
  named(`ask out ${value}`, (node) =>
    call(node, 'eth_sendTransaction', {
      from: COW,
      to: BRIDGE,
      value: `0x${(value * WEI_PER_SATOSHI).toString(16)}`,
      gas: '0x186a0',
    }),
  )

const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(satoshi(500_000, 5_000_000), count(0, 4))
    .map(([value, blocks]) =>
      named(`in ${value}, ${blocks}`, (_, peg) => peg.pegIn(RECEIVER, value, blocks)),
    ),
  satoshi(400_000, 3_000_000).map(plain),
  satoshi(200_000, 1_000_000).map(askOut),
  satoshi(300_000, 900_000).map((value) => named(`out ${value}`, (_, peg) => peg.pegOut(COW, value))),
  count(1, 5).map((blocks) => named(`mine ${blocks}`, (node) => call(node, 'hardhat_mine', `0x${blocks}`))),
  count(1, 4).map((blocks) => named(`bitcoin ${blocks}`, (_, peg) => peg.mine(blocks))),
  count(1, 3).map((depth) => named(`reorg ${depth}`, (_, peg) => peg.reorg(depth))),
  count(1, 3).map((depth) =>
    named(`reorg here ${depth}`, async (node) => {
      if (Number(await call(node, 'eth_blockNumber')) > depth) await call(node, 'evm_reorg', { depth })
    }),
  ),
  fc.constant(
    named('snapshot, in, revert', async (node, peg) => {
      const id = await call(node, 'evm_snapshot')
      await peg.pegIn(RECEIVER, 700_000n)
      expect(await call(node, 'evm_revert', id)).toBe(true)
    }),
  ),
)

/** The releases that left the Bridge, by the logs of the canonical chain. */
async function released({ engine: { queries } }: Node): Promise<readonly Transaction[]> {
  const range = { from: 0, to: queries.head().block.header.number }
  const logs = await queries.logs({ range, addresses: [BRIDGE], topics: [], maxBlocks: 0, maxLogs: 0 })
  return logs.flatMap(({ log }) => releasedIn(log) ?? [])
}

/**
 * What this chain has of the coins of Bitcoin, with what was asked out, equals what the Bridge can spend, with the change
 * of releases that it has made and not yet registered. What such a release pays to receivers and miners has left this chain.
 */
async function expectConserved(node: Node, peg: Peg): Promise<void> {
  const { federations, peg: cells } = await peg.federation.bridge()
  const balance = BigInt((await call(node, 'eth_getBalance', BRIDGE, 'latest')) as string)
  const issued = ALL_COINS * WEI_PER_SATOSHI - balance
  const asked = cells.requests.get().reduce((sum, { amount }) => sum + amount, 0n)
  const locked = federations
    .activeOutputs()
    .get()
    .reduce((sum, { value }) => sum + value, 0n)
  const { outputScript } = federations.active()
  const made = [
    ...cells.waiting.get().map(({ transaction }) => transaction),
    ...cells.signing.get().values(),
    ...(await released(node)),
  ]
  // A reorganisation of this chain may bring back a release that is on Bitcoin already, and registered.
  const byId = new Map(made.map((release) => [displayed(txid(release)), release]))
  const inFlight = [...byId.values()].filter((release) => cells.processedHeight(txid(release)) === undefined)
  const change = inFlight
    .flatMap(({ outputs }) => outputs)
    .filter(({ script }) => equal(script, outputScript))
    .reduce((sum, { value }) => sum + value, 0n)
  expect(issued + asked * WEI_PER_SATOSHI).toBe((locked + change) * WEI_PER_SATOSHI)
}

describe('coins', () => {
  it('are conserved to the satoshi after every step on both chains', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps) => {
        const node = await createNode({ bitcoin: true, frozenClock: true, bitcoinBlocksPer: 5 })
        try {
          const { bitcoin: peg } = node
          if (peg === undefined) throw new Error('the node has no Bitcoin chain')
          await peg.pegIn(RECEIVER, 10_000_000n)
          for (const one of steps) {
            await one(node, peg)
            await expectConserved(node, peg)
          }
        } finally {
          await node.close()
        }
      }),
      { numRuns: 6, endOnFailure: true },
    )
  })
})

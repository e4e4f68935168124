/** Coins are neither made nor lost, whatever happens on the two chains in whatever order. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Transaction, txid } from '../../src/bitcoin/transaction.ts'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { frameStrings } from '../../src/encoding/rlp-frame.ts'
import { createNode, type Node } from '../../src/index.ts'
import { bridgeLogs, TOPIC } from '../../src/peg/bridge-logs.ts'
import { type ReleaseKind, releaseId, releaseOf } from '../../src/peg/meaning.ts'
import { secretOfName } from '../../src/peg/members.ts'
import type { Peg } from '../../src/peg/peg.ts'
import { releasedIn } from '../../src/peg/releases.ts'
import { known } from '../../src/peg/relevance.ts'
import { dataOf } from '../evm/precompiles/bridge/calls.ts'
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

const bitcoin = async (peg: Peg, method: string, ...params: unknown[]) => {
  const body = JSON.stringify({ method, params })
  const reply = await peg.answer({ verb: 'POST', path: '/', body }, () => false)
  const { result, error } = JSON.parse(reply?.body ?? '{}')
  if (error !== null) throw new Error(error.message)
  return result
}

/** A peg-in whose instructions are malformed, which goes back to its sender. */
const refunded = (value: number) =>
  named(`refund ${value}`, async (_, peg) => {
    const wallets = (await bitcoin(peg, 'listwallets')) as string[]
    if (wallets.length === 0) await bitcoin(peg, 'createwallet', 'w')
    const address = await bitcoin(peg, 'getnewaddress', '', 'legacy')
    await peg.faucet(address, 20_000_000n)
    const coins = (await bitcoin(peg, 'listunspent', 1, 9999, [address])) as { txid: string; vout: number }[]
    const inputs = coins.slice(0, 1).map(({ txid: id, vout }) => ({ txid: id, vout }))
    const outputs = [{ [await federationAddress(peg)]: value / 1e8 }, { data: '52534b5403' }]
    const raw = await bitcoin(peg, 'createrawtransaction', inputs, outputs)
    const { hex } = await bitcoin(peg, 'signrawtransactionwithwallet', raw)
    await bitcoin(peg, 'sendrawtransaction', hex, 0)
    await peg.mine(1)
  })

/** Passes its call data to the Bridge. */
const FORWARDER = '0x601f80600b6000396000f3366000803760006000366000600063010000065af1503d6000803e3d6000f3'
const flyover = (value: bigint) =>
  named(`flyover ${value}`, async (node, peg) => {
    const deploy = await call(node, 'eth_sendTransaction', { from: COW, data: FORWARDER, gas: '0x30d40' })
    const receipt = (await call(node, 'eth_getTransactionReceipt', deploy)) as { contractAddress: Hex }
    const { contractAddress: contract } = receipt
    const [user, provider] = ['n3Td8mT4864Srnp9L9iFMgm2QaB3L1XpqB', '2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p']
    const parties = { agreement: toHex(new Uint8Array(32).fill(7)), user, contract, provider }
    const address = await peg.flyoverAddress(parties)
    const proof = await peg.proof(await peg.faucet(address.address, value, 3))
    if (proof === undefined) throw new Error('the payment is in no block')
    await call(node, 'evm_mine')
    const data = dataOf(
      'registerFastBridgeBtcTransaction',
      ...[proof.transaction, BigInt(proof.height), proof.tree, parties.agreement],
      ...[address.user, contract, address.provider, false],
    )
    await call(node, 'eth_sendTransaction', { from: COW, to: contract, data, gas: '0x7a120' })
    expect(BigInt((await call(node, 'eth_getBalance', contract)) as string)).toBe(value * WEI_PER_SATOSHI)
  })

async function voteAs(node: Node, from: Hex, data: Hex): Promise<void> {
  await call(node, 'hardhat_impersonateAccount', from)
  await call(node, 'hardhat_setBalance', from, '0xde0b6b3a7640000')
  await call(node, 'eth_sendTransaction', { from, to: BRIDGE, data, gas: '0x7a120' })
}

const fee = (perKb: bigint) =>
  named(`fee ${perKb}`, (node) =>
    voteAs(node, '0x53f8f6dabd612b6137215ddd7758bb5cdd638922', dataOf('voteFeePerKbChange', perKb)),
  )

/** The federation's accounts and keys, of the names; all at once, until the coins are those of the new one. */
async function changeFederation(names: readonly string[], node: Node, peg: Peg, check: () => Promise<void>) {
  const keys = names.map((name) => secp256k1.getPublicKey(secretOfName(name), true)).map(toHex)
  const vote = async (name: string, ...args: unknown[]) => {
    for (const voter of ['auth-a', 'auth-b', 'auth-c'])
      await voteAs(node, addressOf(secretOfName(voter)), dataOf(name, ...args))
  }
  await vote('createFederation')
  for (const key of keys) await vote('addFederatorPublicKeyMultikey', key, key, key)
  const sorted = keys.toSorted().map((key) => fromHex(key))
  await vote('commitFederation', toHex(keccak256(frameStrings(sorted))))
  const { proposed } = await peg.status()
  for (let i = 0; (await peg.status()).active.address !== proposed?.address; i++) {
    expect(i).toBeLessThan(40)
    await peg.mine(3)
    await call(node, 'hardhat_mine', '0x8')
    await check()
  }
  for (let i = 0; (await peg.status()).retiring !== undefined; i++) {
    expect(i).toBeLessThan(40)
    await peg.mine(3)
    await call(node, 'hardhat_mine', '0xc')
    await check()
  }
}

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
  count(600_000, 3_000_000).map(refunded),
  satoshi(600_000, 3_000_000).map(flyover),
  satoshi(20_000, 150_000).map(fee),
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

/** A transaction that the Bridge has made and what it made it for. Satoshi. */
interface Made {
  readonly kind: ReleaseKind
  readonly transaction: Transaction
  readonly spent: bigint
  readonly isRegistered: boolean
}

const sumOf = (outputs: readonly { readonly value: bigint }[]) =>
  outputs.reduce((sum, { value }) => sum + value, 0n)

/** All transactions of the Bridge that the canonical chain has logs of, each once. */
async function madeBy(node: Node, peg: Peg): Promise<readonly Made[]> {
  const { peg: cells } = await peg.federation.bridge()
  const spend = cells.svpSpend.get()?.transaction
  const bodies = new Map(
    [
      ...cells.waiting.get().map(({ transaction }) => transaction),
      ...cells.signing.get().values(),
      ...(spend === undefined ? [] : [spend]),
      ...(await released(node)),
    ].map((transaction) => [releaseId(transaction), transaction]),
  )
  const made = (await bridgeLogs(node.engine, [[TOPIC.created]])).map(async (view): Promise<Made> => {
    const transaction = bodies.get(view.log.topics[2]?.slice(2))
    if (transaction === undefined) throw new Error('a transaction of the Bridge is nowhere')
    const { kind } = await releaseOf(node.engine, view, transaction)
    const id = txid(transaction)
    const spent = (cells.outpointValues(id) ?? []).reduce((sum, value) => sum + value, 0n)
    return { kind, transaction, spent, isRegistered: cells.processedHeight(id) !== undefined }
  })
  return Promise.all(made)
}

/**
 * What this chain has of the coins of Bitcoin, with what was asked out, equals what the Bridge can spend, with what comes
 * back of transactions that it has made and not yet registered, what a proposed federation has to send back, and the fees
 * of migrations and validations, which nobody on this chain pays. `scripts`: of all federations so far.
 */
async function expectConserved(node: Node, peg: Peg, scripts: Set<string>): Promise<void> {
  const { federations, federationCells, peg: cells } = await peg.federation.bridge()
  for (const { outputScript } of known(federations)) scripts.add(toHex(outputScript))
  const balance = BigInt((await call(node, 'eth_getBalance', BRIDGE, 'latest')) as string)
  const issued = ALL_COINS * WEI_PER_SATOSHI - balance
  const asked = cells.requests.get().reduce((sum, { amount }) => sum + amount, 0n)
  const locked = sumOf([...federationCells.newOutputs.get(), ...federationCells.oldOutputs.get()])
  const made = await madeBy(node, peg)
  const isOwn = ({ script }: { readonly script: Uint8Array }) => scripts.has(toHex(script))
  const comingBack = made
    .filter(({ kind, isRegistered }) => !isRegistered && kind !== 'refund')
    .flatMap(({ kind, transaction: { outputs } }) => (kind === 'svpFund' ? outputs.slice(2) : outputs))
    .filter(isOwn)
  const funds = made.filter(({ kind }) => kind === 'svpFund')
  const spends = made.filter(({ kind }) => kind === 'svpSpend')
  const validating = sumOf(
    funds.slice(spends.length).flatMap(({ transaction }) => transaction.outputs.slice(0, 2)),
  )
  const fees = [...funds, ...spends, ...made.filter(({ kind }) => kind === 'migration')].reduce(
    (sum, { spent, transaction }) => sum + spent - sumOf(transaction.outputs),
    0n,
  )
  const there = locked + sumOf(comingBack) + validating + fees
  expect(issued + asked * WEI_PER_SATOSHI).toBe(there * WEI_PER_SATOSHI)
}

describe('coins', () => {
  async function conserving(run: (node: Node, peg: Peg, check: () => Promise<void>) => Promise<void>) {
    const node = await createNode({ bitcoin: true, frozenClock: true, bitcoinBlocksPer: 5 })
    try {
      const { bitcoin: peg } = node
      if (peg === undefined) throw new Error('the node has no Bitcoin chain')
      const scripts = new Set<string>()
      await peg.pegIn(RECEIVER, 10_000_000n)
      await run(node, peg, () => expectConserved(node, peg, scripts))
    } finally {
      await node.close()
    }
  }

  it('are conserved to the satoshi after every step on both chains', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), (steps) =>
        conserving(async (node, peg, check) => {
          for (const one of steps) {
            await one(node, peg)
            await check()
          }
        }),
      ),
      { numRuns: 6, endOnFailure: true },
    )
  })

  it('are conserved through a federation change, fees of the federations counted', async () => {
    await conserving(async (node, peg, check) => {
      await askOut(800_000n)(node, peg)
      await refunded(3_000_000)(node, peg)
      await changeFederation(['federator4', 'federator5', 'federator6', 'federator7'], node, peg, check)
      for (const one of [flyover(900_000n), askOut(700_000n), refunded(700_000)]) {
        await one(node, peg)
        await call(node, 'hardhat_mine', '0x6')
        await check()
      }
      const { history } = await peg.status()
      expect(new Set(history.map(({ kind }) => kind))).toContain('migration')
      expect((await peg.pegOut(COW, 900_000n)).status).toBe('released')
      await check()
    })
  })
})

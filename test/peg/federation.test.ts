import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { afterEach, describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { signTransaction } from '../../src/chain/transaction.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { frameStrings } from '../../src/encoding/rlp-frame.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { callData } from '../../src/peg/call-data.ts'
import { secretOfName } from '../../src/peg/members.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'
const BRIDGE = PRECOMPILE_ADDRESS.bridge

let node: Node | undefined
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function started(options: NodeOptions = {}) {
  const opened = await createNode({ bitcoin: true, frozenClock: true, ...options })
  node = opened
  const { bitcoin: peg } = opened
  if (peg === undefined) throw new Error('the node has no Bitcoin chain')
  const call = (method: string, ...params: unknown[]) => opened.request({ method, params })
  return { node: opened, peg, call }
}

describe('the members', () => {
  it('complete a peg-out while one of them is stopped or signs something else', async () => {
    for (const conduct of ['stopped', 'wrong'] as const) {
      const { peg } = await started()
      await peg.pegIn(RECEIVER, 5_000_000n)
      const [first] = (await peg.status()).active.members
      peg.federation.members.setConduct(fromHex(first?.key as Hex), conduct)
      expect((await peg.pegOut(COW, 1_000_000n)).status).toBe('released')
      await node?.close()
    }
  })

  it('do not when two of three sign something else, until one returns', async () => {
    const { peg, call } = await started()
    await peg.pegIn(RECEIVER, 5_000_000n)
    const keys = (await peg.status()).active.members.map(({ key }) => fromHex(key))
    for (const key of keys.slice(1)) peg.federation.members.setConduct(key, 'wrong')
    const { transaction } = await peg.pegOut(COW, 1_000_000n, false)
    await call('hardhat_mine', '0x8')
    expect((await peg.status()).pegOuts).toEqual([
      { stage: 'signing', bitcoinTransaction: expect.any(String), missing: 1 },
    ])
    peg.federation.members.setConduct(keys[1] as Uint8Array, 'working')
    await call('evm_mine')
    expect((await peg.status()).pegOuts).toEqual([])
    expect(peg.bitcoin.chain.state.mempool.size).toBe(1)
    expect(await call('eth_getTransactionReceipt', transaction)).toMatchObject({ status: '0x1' })
  })
})

describe('what the members send', () => {
  const selectors = (pending: unknown) =>
    (pending as { transactions: { from: Hex; input: string }[] }).transactions
      .filter(({ input }) => input.length >= 10)
      .map(({ input }) => input.slice(0, 10))
  const UPDATE = '0x0c5a9990'
  const HEADERS = '0xe5400e7b'
  const REGISTRATION = '0x43dc0656'
  const SIGNATURE = '0xf10b9c59'

  it('is what the Bridge lacks, once, and an update each time that they are asked', async () => {
    const { peg, call } = await started({ federation: 'manual', mining: 'manual' })
    const pending = async () => selectors(await call('eth_getBlockByNumber', 'pending', true))
    const member = peg.federation.members.addresses[1]
    expect(await call('fed_updateBridge', member)).toBe(6)
    expect(await pending()).toEqual([...Array(5).fill(HEADERS), UPDATE])
    expect(await call('fed_updateBridge', member)).toBe(1)
    expect(await pending()).toEqual([...Array(5).fill(HEADERS), UPDATE, UPDATE])
    await call('evm_mine')
    const block = await call('eth_getBlockByNumber', 'latest', true)
    const senders = (block as { transactions: { from: Hex; input: string }[] }).transactions
    expect(senders.filter(({ input }) => input === UPDATE).map(({ from }) => from)).toEqual([member, member])
    await expect(call('fed_updateBridge', COW)).rejects.toThrow(/member: .* is no working member/)
  })

  it('are no peg-ins that the Bridge would keep', async () => {
    const { peg, call } = await started({ federation: 'manual', mining: 'manual' })
    const { active } = await peg.status()
    // Of a known sender, the faucet, and without instructions.
    await peg.faucet(active.address, 499_999n, 1)
    await peg.faucet(active.address, 500_000n, 3)
    await call('fed_updateBridge')
    const sent = selectors(await call('eth_getBlockByNumber', 'pending', true))
    expect(sent.filter((selector) => selector === REGISTRATION)).toHaveLength(1)
  })

  it('has signatures that do not wait in the pool, of a release once it is confirmed', async () => {
    const { node: opened, peg, call } = await started({ federation: 'manual', mining: 'manual' })
    await peg.pegIn(RECEIVER, 5_000_000n)
    await peg.pegOut(COW, 1_000_000n, false)
    const { federation } = peg
    for (let i = 0; (await federation.signatures()).length === 0 && i < 80; i++) {
      await call('fed_updateBridge')
      await call('evm_mine')
    }
    const [first, second] = await federation.signatures()
    expect(await federation.signatures()).toHaveLength(2)
    if (first === undefined || second === undefined) throw new Error('there are no two signatures')
    await opened.engine.commands.submit(first)
    expect((await federation.signatures()).map(({ hash }) => hash)).toEqual([second.hash])
    expect(selectors(await call('eth_getBlockByNumber', 'pending', true))).toEqual([SIGNATURE])
  })
})

describe('a federation that is voted', () => {
  it.each([
    ['known', ['federator4', 'federator5', 'federator6', 'federator7']],
    ['given', ['first', 'second', 'third', 'fourth']],
  ])('takes over the coins, signed by its own members, whose keys are %s', async (how, names) => {
    const { node: opened, peg, call } = await started()
    await peg.pegIn(RECEIVER, 50_000_000n)
    const keys = names.map((name) => secp256k1.getPublicKey(secretOfName(name), true))
    for (const name of how === 'given' ? names : []) {
      const secret = secretOfName(name)
      expect(await call('fed_importKey', toHex(secret))).toEqual({
        publicKey: toHex(secp256k1.getPublicKey(secret, true)),
        address: addressOf(secret),
      })
    }
    const vote = async (data: Uint8Array) => {
      for (const name of ['auth-a', 'auth-b', 'auth-c']) {
        const secret = secretOfName(name)
        const from = addressOf(secret)
        await call('hardhat_setBalance', from, '0xde0b6b3a7640000')
        const unsigned = {
          nonce: opened.engine.queries.pendingNonce(from),
          gasPrice: 0n,
          gasLimit: 500_000n,
          to: BRIDGE,
          value: 0n,
          data,
          chainId: 33,
        }
        await opened.engine.commands.submit(signTransaction(unsigned, secret, from))
      }
    }
    await vote(callData('createFederation()'))
    for (const key of keys)
      await vote(callData('addFederatorPublicKeyMultikey(bytes,bytes,bytes)', key, key, key))
    const sorted = keys.toSorted((a, b) => Buffer.compare(a, b))
    await vote(callData('commitFederation(bytes)', keccak256(frameStrings(sorted))))
    const { proposed, active: before } = await peg.status()
    expect(proposed).toMatchObject({ threshold: 3, members: { length: 4 } })

    // The fund and the spend transaction are made, signed, mined and registered on the way.
    const spend = async () => (await peg.federation.bridge()).peg.svpSpend.get()
    for (let i = 0; (await spend()) === undefined && i < 12; i++) {
      await call('evm_mine')
      await peg.mine(3)
    }
    // The new members sign the spend transaction once it has as many confirmations as a peg-out needs.
    for (let i = 0; i < 3; i++) {
      const unsigned = await spend()
      expect(
        unsigned?.transaction.inputs.map(({ witness }) => witness.filter(({ length }) => length > 0).length),
      ).toEqual([1, 1])
      await call('evm_mine')
    }
    await call('evm_mine')
    expect(await spend()).toBeUndefined()
    for (let i = 0; i < 3; i++) {
      await call('evm_mine')
      await peg.mine(3)
    }
    expect((await peg.status()).proposed).toBeUndefined()
    await call('hardhat_mine', '0x96')
    expect((await peg.status()).active.address).toBe(proposed?.address)
    expect((await peg.status()).retiring?.address).toBe(before.address)
    // Its coins migrate between 15 and 150 blocks later.
    for (let i = 0; i < 14; i++) {
      await call('hardhat_mine', '0xc')
      await peg.mine(3)
    }
    const { retiring, active, locked } = await peg.status()
    expect(retiring).toBeUndefined()
    expect(active.address).toBe(proposed?.address)
    expect(locked).toBeGreaterThan(49_000_000n)
    const kinds = new Set((await peg.status()).history.map(({ kind }) => kind))
    expect(kinds).toEqual(new Set(['pegIn', 'svpFund', 'svpSpend', 'migration']))
    expect((await peg.pegIn(RECEIVER, 1_000_000n)).status).toBe('registered')
    expect((await peg.pegOut(COW, 1_000_000n)).status).toBe('released')
  })
})

describe('a key that was given', () => {
  it('is kept in the data directory, and refused where it is none', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tandem-members-'))
    const { node: opened, call } = await started({ dataDir })
    await call('fed_importKey', toHex(secretOfName('first')))
    await expect(call('fed_importKey', `0x${'00'.repeat(32)}`)).rejects.toThrow(/more than zero/)
    await opened.close()
    const { peg } = await started({ dataDir })
    const publicKey = secp256k1.getPublicKey(secretOfName('first'), true)
    expect(peg.federation.members.keyOf(publicKey)?.address).toBe(addressOf(secretOfName('first')))
    await node?.close()
    await rm(dataDir, { recursive: true })
  })
})

import { encodeRlp, Interface, keccak256 } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { artifact } from '../../support/contracts.ts'
import { saying } from '../../support/refusals.ts'
import { ask, dispatcherOf, type Outcome } from '../../support/rpc.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const probe = artifact('Probe')
const coder = new Interface(probe.abi)

const evenHex = (quantity: string) => `0x${quantity.length % 2 === 0 ? '' : '0'}${quantity.slice(2)}`

describe('debug_compareRules', () => {
  let node: Node
  let address: Hex
  beforeAll(async () => {
    node = await createNode({ minedReverts: 'hash' })
    const hash = await send({ data: probe.bytecode })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    address = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterAll(() => node.close())

  const send = (parts: object) =>
    node.request({ method: 'eth_sendTransaction', params: [{ from: ALICE, gas: '0x4c4b40', ...parts }] })
  const invoke = (name: string, ...values: unknown[]) =>
    send({ to: address, data: coder.encodeFunctionData(name, values) })
  // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
  async function compare(...params: unknown[]): Promise<any> {
    const { result, error } = (await ask(dispatcherOf(node.engine), 'debug_compareRules', params)) as Outcome
    if (error !== undefined) throw new Error(`${error.code} ${error.message}`)
    return result
  }

  it('has the gas of the receipt, and that of Ethereum', async () => {
    const hash = await invoke('set', 1n, 2n)
    const report = await compare(hash)
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    expect(report.chain.gasUsed).toBe((receipt as { gasUsed: Hex }).gasUsed)
    expect(report).toMatchObject({
      fork: 'cancun',
      sameResult: true,
      sameLogs: true,
      parting: null,
      firstPriceDifference: {
        address,
        chain: { op: 'SSTORE', gasCost: 20_000, depth: 0 },
        ethereum: { op: 'SSTORE', gasCost: 22_100 },
      },
    })
    const storage = report.gas.find(({ group }: { group: string }) => group === 'storage')
    expect(storage).toEqual({ group: 'storage', chain: 20_000, ethereum: 22_100 })
  })

  it('runs a transaction at its position in the block', async () => {
    await node.request({ method: 'evm_setAutomine', params: [false] })
    const first = await invoke('set', 9n, 1n)
    const second = await invoke('set', 9n, 2n)
    await node.request({ method: 'evm_mine' })
    await node.request({ method: 'evm_setAutomine', params: [true] })
    const storage = async (hash: unknown) =>
      (await compare(hash)).gas.find(({ group }: { group: string }) => group === 'storage')
    expect(await storage(first)).toMatchObject({ chain: 20_000, ethereum: 22_100 })
    // The second changes what the first has written.
    expect(await storage(second)).toMatchObject({ chain: 5000, ethereum: 5000 })
  })

  it('compares a creation, whose contract starts with another nonce but has the same address', async () => {
    const hash = await send({ data: probe.bytecode })
    const { chain, ethereum, sameResult } = await compare(hash, 'shanghai')
    expect(chain.contractAddress).toBe(ethereum.contractAddress)
    expect(sameResult).toBe(true)
  })

  it('has the roots of the block under the rules of Ethereum', async () => {
    const hash = (await invoke('set', 5n, 6n)) as Hex
    const { ethereum, ethereumBlock } = await compare(hash)
    const raw = node.engine.queries.transaction(hash)?.transaction.raw as Uint8Array
    // A trie of one leaf (Yellow Paper, appendix D): the path of index 0 is the nibbles of 0x80, with an even leaf's flag 0x20.
    const rootOf = (value: string) => keccak256(encodeRlp(['0x2080', value]))
    expect(ethereumBlock).toEqual({
      transactions: 1,
      rejected: [],
      gasUsed: ethereum.gasUsed,
      transactionsRoot: rootOf(toHex(raw)),
      receiptsRoot: rootOf(encodeRlp(['0x01', evenHex(ethereum.gasUsed), `0x${'00'.repeat(256)}`, []])),
    })
  })

  it('has the same block for each of its transactions', async () => {
    await node.request({ method: 'evm_setAutomine', params: [false] })
    const hashes = [
      await invoke('set', 11n, 1n),
      await invoke('set', 12n, 2n),
      await invoke('failWithReason'),
    ]
    await node.request({ method: 'evm_mine' })
    await node.request({ method: 'evm_setAutomine', params: [true] })
    const [first, ...others] = await Promise.all(
      hashes.map(async (hash) => (await compare(hash)).ethereumBlock),
    )
    expect(first).toMatchObject({ transactions: 3, rejected: [] })
    for (const other of others) expect(other).toEqual(first)
    const of = async (fork: string) => (await compare(hashes[0], fork)).ethereumBlock
    expect((await of('shanghai')).transactionsRoot).toBe(first.transactionsRoot)
    // London has no PUSH0: the first transaction fails with all its gas, which leaves too little for the others.
    expect(await of('London')).toMatchObject({
      transactions: 1,
      gasUsed: '0x4c4b40',
      rejected: hashes.slice(1).map((hash) => ({ hash, reason: 'block gas limit reached' })),
    })
  })

  it('compares failures', async () => {
    const { chain, ethereum } = await compare(await invoke('failWithReason'))
    expect([chain, ethereum].map(({ status, reason }) => [status, reason])).toEqual([
      ['reverted', 'revert not today'],
      ['reverted', 'revert not today'],
    ])
  })

  it('ends at its deadline', async () => {
    const hash = (await invoke('arithmetic', 20_000n)) as Hex
    const { compareRules } = node.engine.queries
    await expect(compareRules(hash, 'cancun', 0.01)).rejects.toMatchObject({ kind: 'limit-exceeded' })
    expect(await compareRules(hash, 'cancun', 0)).toMatchObject({ sameResult: true })
  })

  it('returns null for unknown hashes, and refuses transactions that cannot be compared', async () => {
    expect(await compare(`0x${'1'.repeat(64)}`)).toBeNull()
    const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
    const reward = (block as { transactions: Hex[] }).transactions.at(-1)
    await expect(compare(reward)).rejects.toThrow(
      saying('-32602 transaction: the REMASC transaction is no message and is not compared'),
    )
    await expect(compare(`0x${'1'.repeat(64)}`, 'frontier')).rejects.toThrow(
      saying(
        '-32602 Invalid fork: expected one of petersburg, istanbul, berlin, london, paris, shanghai, cancun, prague.',
      ),
    )
  })
})

describe('debug_compareRuleSets', () => {
  let node: Node
  let hash: unknown
  /** PUSH0, PUSH0, SSTORE: 2 + 2 gas, and 20,000 for a new cell that stays 0 is 5,000. */
  const code = '0x5f5f55'
  beforeAll(async () => {
    node = await createNode()
    const alloc = [`0x${'c0'.repeat(20)}`, code]
    await node.request({ method: 'hardhat_setCode', params: alloc })
    hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: ALICE, to: alloc[0], data: '0x0001', gas: '0x186a0' }],
    })
  })
  afterAll(() => node.close())

  const compare = (...params: unknown[]) => ask(dispatcherOf(node.engine), 'debug_compareRuleSets', params)

  it('names what would change: price, result, where the runs part', async () => {
    expect(await compare(hash, { deactivate: ['rskip400'] })).toMatchObject({
      result: { sameResult: true, sameLogs: true, firstPriceDifference: null, divergence: null },
    })
    const { result } = (await compare(hash, { rules: { rskip398: null } })) as Outcome
    expect(result).toMatchObject({
      sameResult: false,
      chain: { status: 'succeeded' },
      other: { status: 'failed', gasUsed: '0x186a0' },
      firstPriceDifference: null,
      divergence: { index: 0, chain: { op: 'PUSH0', gasCost: 2 }, other: { op: 'INVALID', pc: 0 } },
    })
  })

  it('is the same by the same rules, at any name for them', async () => {
    for (const rules of ['next', 'tbd1000', {}, { activate: ['rskip398@1'] }]) {
      expect(await compare(hash, rules)).toMatchObject({
        result: { sameResult: true, sameLogs: true, divergence: null, firstPriceDifference: null },
      })
    }
  })

  it.each([
    [
      'vetiver',
      'rules.rules: "vetiver" is no rule or upgrade that this version knows; the nearest is vetiver900.',
    ],
    [
      { activate: ['rskip39888'] },
      'rules.activate: "rskip39888" is no rule or upgrade that this version knows; the nearest is rskip398',
    ],
    [{ other: 1 }, 'rules.other'],
    [5, 'rules'],
    [{ rules: { rskip398: -1 } }, 'rskip398'],
  ])('refuses %j', async (rules, message) => {
    const { error } = (await compare(hash, rules)) as Outcome
    expect(error?.code).toBe(-32602)
    expect(error?.message).toContain(message)
  })
})

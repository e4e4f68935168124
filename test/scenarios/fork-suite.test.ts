/** The same suite of contracts on a chain and on a fork of it gives the same receipts. */
import { Interface } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Hex, toQuantity } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { request, tokenAbi, type UpstreamChain, upstreamChain } from '../support/upstream-chain.ts'

const START = 1_800_000_000
const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0')

/** Stores its second word at its first, and logs both with the time of the block. */
const KEEPER = hex(
  deployer(
    assemble(`
      32 CALLDATALOAD 0 CALLDATALOAD SSTORE
      TIMESTAMP 0 MSTORE NUMBER 32 MSTORE 0 CALLDATALOAD SLOAD 0 CALLDATALOAD 64 0 LOG2 STOP
    `),
  ),
)
/** Creates an empty contract with CREATE2 and its input as salt, and destroys itself when the input is 9. */
const MAKER = hex(
  deployer(
    assemble(`
      0 CALLDATALOAD 0 0 0 CREATE2 0 MSTORE 32 0 LOG0
      0 CALLDATALOAD 9 EQ @end JUMPI STOP
      end: CALLER SELFDESTRUCT
    `),
  ),
)
/** Reverts with its input. */
const REVERTER = hex(deployer(assemble('CALLDATASIZE 0 0 CALLDATACOPY 1 7 SSTORE CALLDATASIZE 0 REVERT')))

let upstream: ServedNode
let chain: UpstreamChain
let keeper: Hex
let fork: Node

type Fields = Readonly<Record<string, unknown>>

/** The receipt of a transaction, as far as it does not name the block's hash. */
async function receiptOf(node: Node, fields: Fields): Promise<Fields> {
  const hash = await request<Hex>(node, 'eth_sendTransaction', {
    gas: '0x200000',
    gasPrice: '0x3b9aca00',
    ...fields,
  })
  await request(node, 'evm_mine')
  const receipt = await request(node, 'eth_getTransactionReceipt', hash)
  const { blockHash: _, logs, ...rest } = receipt as { blockHash: Hex; logs: Fields[] } & Fields
  return { ...rest, logs: logs.map(({ blockHash, ...log }) => log) }
}

/** Runs the suite, and returns what came of each step. */
async function suite(node: Node): Promise<Fields[]> {
  const { accounts, token, list } = chain
  const [owner, other, third] = accounts
  const receipts: Fields[] = []
  // With automining, sending a transaction that fails is an error.
  await request(node, 'evm_setAutomine', false)
  let time = START + 1000
  const step = async (fields: Fields) => {
    await request(node, 'evm_setNextBlockTimestamp', toQuantity(time++))
    const receipt = await receiptOf(node, fields)
    receipts.push(receipt)
    return receipt
  }
  const deploy = async (data: string) => (await step({ from: owner, data })).contractAddress as Hex
  const send = (from: Hex | undefined, to: Hex, data = '0x', value = '0x0') => step({ from, to, data, value })
  const encode = (name: string, ...values: unknown[]) => tokenAbi.encodeFunctionData(name, values)

  // Contracts of the past: a token, and storage that is set, changed and deleted.
  await send(owner, token, encode('transfer', third, 25n))
  await send(other, token, encode('approve', third, 400n))
  await send(third, token, encode('transferFrom', other, owner, 300n))
  await send(third, token, encode('transferFrom', other, owner, 300n))
  await send(other, token, encode('mint', other, 1n))
  await send(owner, token, encode('transferOwnership', other))
  await send(other, token, encode('mint', '0x00000000000000000000000000000000000a11ce', 9n))
  await send(owner, keeper, `0x${word(1)}${word(0)}`)
  await send(owner, keeper, `0x${word(1)}${word(6)}`)
  await send(owner, keeper, `0x${word(2)}${word(5)}`)
  await send(owner, keeper, `0x${word(77)}${word(78)}`)
  await send(owner, list, `0x${word(1)}`)
  // New ones.
  const made = artifact('Token')
  const own = await deploy(made.bytecode + new Interface(made.abi).encodeDeploy([500n]).slice(2))
  await send(owner, own, encode('transfer', other, 500n))
  await send(owner, own, encode('transfer', other, 1n))
  const maker = await deploy(MAKER)
  for (const salt of [1, 1, 2, 9, 3]) await send(other, maker, `0x${word(salt)}`)
  const reverter = await deploy(REVERTER)
  await send(third, reverter, `0x${word(3)}`)
  await send(third, reverter, '0x', '0x5')
  // Value to accounts old and new, more than there is gas for, and precompiled contracts.
  await send(owner, '0x00000000000000000000000000000000000a11ce', '0x', '0x7')
  await send(owner, '0x00000000000000000000000000000000000beef5', '0x', '0x7')
  await step({ from: owner, to: keeper, data: `0x${word(3)}${word(3)}`, gas: '0x6000' })
  await send(owner, '0x0000000000000000000000000000000000000002', '0x010203')
  // A snapshot, blocks without transactions, and a block of several transactions.
  const id = await request(node, 'evm_snapshot')
  await send(owner, keeper, `0x${word(2)}${word(99)}`)
  await request(node, 'evm_revert', id)
  await send(owner, keeper, `0x${word(2)}${word(0)}`)
  await request(node, 'hardhat_mine', '0x5')
  await request(node, 'evm_setNextBlockTimestamp', toQuantity(START + 500_000))
  receipts.push(await receiptOf(node, { from: owner, to: keeper, data: `0x${word(4)}${word(4)}` }))
  return receipts
}

beforeAll(async () => {
  upstream = await servedNode({ now: () => START })
  chain = await upstreamChain(upstream.node)
  const [from] = chain.accounts
  const created = await receiptOf(upstream.node, { from, data: KEEPER })
  keeper = created.contractAddress as Hex
  for (const [slot, value] of [
    [1, 11],
    [2, 22],
  ] as const) {
    await receiptOf(upstream.node, { from, to: keeper, data: `0x${word(slot)}${word(value)}` })
  }
  fork = await createNode({ fork: upstream.url, forkCache: false, now: () => START })
})
afterAll(async () => {
  await fork?.close()
  await upstream?.close()
})

it('a suite on a fork has the same receipts as on the original', async () => {
  const here = await suite(fork)
  const there = await suite(upstream.node)
  for (const [index, receipt] of there.entries()) expect(here[index], `step ${index}`).toEqual(receipt)
  expect(here).toHaveLength(there.length)
  const statuses = there.map(({ status }) => status)
  expect(statuses.filter((status) => status === '0x0').length).toBeGreaterThanOrEqual(4)
  expect(statuses.filter((status) => status === '0x1').length).toBeGreaterThanOrEqual(20)
})

/** A contract that emits numbers in events, on a served node, and calls that change its chain without the client under test. */
import { Interface, Wallet } from 'ethers'
import { toQuantity } from '../../src/encoding/hex.ts'
import type { Node, NodeOptions } from '../../src/index.ts'
import { artifact } from './contracts.ts'
import { eventRecorder } from './event-recorder.ts'
import { type ServedNode, servedNode } from './served-node.ts'

/** Key of the first local account, which sends all notes. */
export const COW_KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
/** Its address. */
export const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** The second local account. */
export const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'

const probe = artifact('Probe')
const noting = new Interface(probe.abi)
const cow = new Wallet(COW_KEY)

/** Call data of a note. */
export function noteData(number: number): `0x${string}` {
  return noting.encodeFunctionData('note', [number, '0xabcd']) as `0x${string}`
}

/** Calls a method of the node under test; most results are one string. */
export type Call = <T = string>(method: string, ...params: unknown[]) => Promise<T>

/** Returns a function that calls a node in process. */
export const callsOf =
  ({ request }: Pick<Node, 'request'>): Call =>
  <T>(method: string, ...params: unknown[]) =>
    request({ method, params }) as Promise<T>

type Block = Readonly<Record<'number' | 'totalDifficulty', string>>

/** Deploys the contract; resolves to the calls that use it. */
export async function deployNotes(call: Call) {
  const created = await call('eth_sendTransaction', { from: COW, data: probe.bytecode, gas: '0x2dc6c0' })
  const { contractAddress: address } = await call<{ contractAddress: `0x${string}` }>(
    'eth_getTransactionReceipt',
    created,
  )
  const signed = (at: number, number: number) =>
    cow.signTransaction({
      type: 0,
      chainId: 33,
      nonce: at,
      to: address,
      gasLimit: 200_000,
      gasPrice: 0,
      data: noteData(number),
    })

  return {
    address,
    /** Notes a number in a new transaction and returns its hash. */
    note: (number: number): Promise<string> =>
      call('eth_sendTransaction', { from: COW, to: address, gas: '0x30d40', data: noteData(number) }),
    /**
     * Replaces the block of a note and all later ones by a heavier branch: its first block holds another note only, the
     * others are empty.
     */
    async replace(hash: string, number: number): Promise<{ removed: string[]; added: string[] }> {
      const { blockNumber } = await call<{ blockNumber: string }>('eth_getTransactionByHash', hash)
      const head = await call<Block>('eth_getBlockByNumber', 'latest', false)
      const parent = await call<Block>('eth_getBlockByNumber', toQuantity(Number(blockNumber) - 1), false)
      // Each block adds difficulty 1, and 1 more for each of its uncles.
      const weight = Number(head.totalDifficulty) - Number(parent.totalDifficulty)
      const nonce = Number(await call('eth_getTransactionCount', COW, parent.number))
      const blocks = [{ transactions: [await signed(nonce, number)] }, ...Array(weight).fill({})]
      return call('evm_reorg', { depth: Number(head.number) - Number(parent.number), blocks })
    },
    /** The numbers of all notes of the canonical chain, upwards. */
    async noted(): Promise<number[]> {
      const logs = await call<{ topics: string[] }[]>('eth_getLogs', { fromBlock: '0x0', address })
      return logs.map(({ topics }) => Number(topics[1]))
    },
  }
}

/** A served node, automining unless the options differ, with the contract in block 1. */
export async function notingChain(options: NodeOptions = {}) {
  const calls = eventRecorder<string>()
  const served: ServedNode = await servedNode({ ...options, onCall: calls.record })
  return {
    ...served,
    ...(await deployNotes(served.call)),
    /** Resolves when clients have called this method so often and got the results. */
    called: (method: string, times = 1) => calls.until((name) => name === method, times),
  }
}

/** The result of `notingChain`. */
export type NotingChain = Awaited<ReturnType<typeof notingChain>>

/** A contract with a variable of each kind of type (`fixtures/contracts/Kinds.sol`), on a node, asked by its own getters. */
import { readFileSync } from 'node:fs'
import { Interface, type JsonFragment } from 'ethers'
import { type NamedTypes, readStorageLayout, type StorageLayout } from '../../src/abi/storage/layout.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'

/** The output of solc for a contract. */
export interface SolcArtifact {
  readonly contractName: string
  readonly abi: readonly JsonFragment[]
  readonly bytecode: Hex
  readonly deployedBytecode: Hex
  readonly storageLayout: object
}

/** Reads a contract of `Kinds.sol`. */
export function solcArtifact(name: 'Kinds' | 'Elsewhere'): SolcArtifact {
  return JSON.parse(readFileSync(new URL(`../../fixtures/contracts/${name}.json`, import.meta.url), 'utf8'))
}

/** The underlying types of type names in `Kinds.sol`. */
export const NAMED: NamedTypes = new Map([
  ['Price', 'uint128'],
  ['Tag', 'bytes4'],
])

type Words = ReadonlyMap<bigint, bigint>

/** A deployed contract whose storage is known. */
export interface Deployed {
  readonly node: Node
  readonly address: Hex
  readonly layout: StorageLayout
  /** The decoded result of a getter when these slots have these words. */
  get(storage: Words, name: string, ...values: unknown[]): Promise<unknown>
  /** The same with overrides of the contract as a caller sends them, or of another one that has its code. */
  answer(override: object, name: string, values: readonly unknown[], at?: Hex): Promise<unknown>
  /** Sends a transaction and returns the whole storage afterwards. */
  send(name: string, ...values: unknown[]): Promise<Words>
  close(): Promise<void>
}

/** Bigints, booleans, texts, and lists of them. */
function plain(value: unknown): unknown {
  return Array.isArray(value) ? Array.from(value, plain) : value
}

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Deploys a contract of `Kinds.sol` on a new node. */
export async function deployKinds(name: 'Kinds' | 'Elsewhere'): Promise<Deployed> {
  const { abi, bytecode, storageLayout } = solcArtifact(name)
  // ethers has no function types.
  const coder = new Interface(abi.filter((entry) => entry.name !== 'callback'))
  const node = await createNode()
  const [from] = (await node.request({ method: 'eth_accounts' })) as [Hex]
  async function sent(transaction: object): Promise<{ contractAddress: Hex; status: Hex }> {
    const hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from, gas: '0x5b8d80', ...transaction }],
    })
    return (await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
      contractAddress: Hex
      status: Hex
    }
  }
  const { contractAddress: address } = await sent({ data: bytecode })
  const answer: Deployed['answer'] = async (override, name, values, at = address) => {
    const data = name === 'callback' ? '0x083b2732' : coder.encodeFunctionData(name, values)
    const output = await node.request({
      method: 'eth_call',
      params: [{ to: at, data }, 'latest', { [at]: override }],
    })
    if (name === 'callback') return output
    const decoded = plain(coder.decodeFunctionResult(name, output as Hex)) as unknown[]
    return decoded.length === 1 ? decoded[0] : decoded
  }
  return {
    node,
    address,
    layout: readStorageLayout(storageLayout, NAMED),
    answer,
    async get(storage, name, ...values) {
      const stateDiff = Object.fromEntries([...storage].map(([slot, value]) => [word(slot), word(value)]))
      return answer({ stateDiff }, name, values)
    },
    async send(name, ...values) {
      const { status } = await sent({ to: address, data: coder.encodeFunctionData(name, values) })
      if (status !== '0x1') throw new Error(`${name} failed`)
      const state = await node.engine.queries.state({ tag: 'latest' })
      const cells = state?.cells(address) ?? new Map()
      return new Map([...cells.keys()].map((slot) => [slot, state?.storage(address, slot) ?? 0n]))
    },
    close: () => node.close(),
  }
}

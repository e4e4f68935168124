/** A chain to fork: a token, a linked list in storage, a few transactions. */
import { Interface } from 'ethers'
import { type Hex, toHex, toQuantity } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/node/node.ts'
import { assemble, deployer } from './assembler.ts'
import { artifact } from './contracts.ts'

const token = artifact('Token')
/** The token's interface. */
export const tokenAbi = new Interface(token.abi)

/** Follows a linked list: each slot holds the next, 0 ends it; returns how many there were. */
const LIST = deployer(
  assemble(`
    0 CALLDATALOAD 0 SWAP1
    next: DUP1 ISZERO @end JUMPI SLOAD SWAP1 1 ADD SWAP1 @next JUMP
    end: POP 0 MSTORE 32 0 RETURN
  `),
)
/** Slots of the list, from slot 1 on. */
export const LIST_LENGTH = 60
/** Call data that walk the list. */
export const WALK_LIST: Hex = `0x${'1'.padStart(64, '0')}`

type Json = Record<string, unknown>

/** One JSON-RPC call. */
export const request = <T = Json>(node: Pick<Node, 'request'>, method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>

/** The chain that was made. */
export interface UpstreamChain {
  readonly accounts: readonly Hex[]
  readonly token: Hex
  readonly list: Hex
  /** Hash of a transfer of 1000 tokens from the first account to the second. */
  readonly transfer: Hex
}

/** Sends call data from an account. */
export const sendCall = (node: Pick<Node, 'request'>, from: Hex | undefined, to: Hex, data: string) =>
  request<Hex>(node, 'eth_sendTransaction', { from, to, data, gas: '0x100000' })

/** The result of a call as an integer. */
export const readWord = async (
  node: Pick<Node, 'request'>,
  to: Hex,
  data: string,
  block: unknown = 'latest',
) => BigInt(await request<Hex>(node, 'eth_call', { to, data }, block))

interface Receipt {
  readonly status: Hex
  readonly contractAddress: Hex | null
}

/** Waits for the receipt of a transaction: Anvil answers before it mines. */
export async function receiptOf(node: Pick<Node, 'request'>, hash: Hex): Promise<Receipt> {
  for (;;) {
    const receipt = await request<Receipt | null>(node, 'eth_getTransactionReceipt', hash)
    if (receipt !== null) return receipt
  }
}

async function deploy(node: Pick<Node, 'request'>, from: Hex | undefined, data: string): Promise<Hex> {
  const hash = await request<Hex>(node, 'eth_sendTransaction', { from, data, gas: '0x300000' })
  return (await receiptOf(node, hash)).contractAddress as Hex
}

/** Makes the chain on a node that mines each transaction. */
export async function upstreamChain(node: Pick<Node, 'request'>): Promise<UpstreamChain> {
  const accounts = await request<Hex[]>(node, 'eth_accounts')
  const [owner, other] = accounts
  const address = await deploy(node, owner, token.bytecode + tokenAbi.encodeDeploy([1_000_000n]).slice(2))
  const list = await deploy(node, owner, toHex(LIST))
  for (let slot = 1; slot < LIST_LENGTH; slot++) {
    const next = `0x${(slot + 1).toString(16).padStart(64, '0')}`
    await request(node, 'hardhat_setStorageAt', list, toQuantity(slot), next)
  }
  const transfer = await sendCall(
    node,
    owner,
    address,
    tokenAbi.encodeFunctionData('transfer', [other, 1000n]),
  )
  await receiptOf(node, transfer)
  await request(node, 'evm_mine')
  return { accounts, token: address, list, transfer }
}

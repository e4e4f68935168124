/** Results of simulated steps, the contracts that the tests of them use, and asset changes as ethers decodes them. */
import { Interface, type Result } from 'ethers'
import type { Node } from '../../src/index.ts'
import { artifact } from './contracts.ts'
import { A } from './fake-chain.ts'

/** Hex text. */
export type Hex = `0x${string}`
/** A value before and after. */
export interface Change {
  readonly from: Hex
  readonly to: Hex
}
/** A log of a step. */
export interface Log {
  readonly address: Hex
  readonly topics: Hex[]
  readonly data: Hex
  readonly logIndex: Hex
  readonly decoded?: { text: string }
}
/** An asset change. */
export interface Asset {
  readonly type: string
  readonly change: string
  readonly from: Hex
  readonly to: Hex
  readonly token?: Hex
  readonly amount?: Hex
  readonly tokenId?: Hex
}
/** The result of a step. */
export interface Step {
  readonly kind: string
  readonly block: { number: Hex; timestamp: Hex }
  readonly status: Hex
  readonly returnData: Hex
  readonly gasUsed: Hex
  readonly error?: { message: string; data?: Hex }
  readonly contractAddress?: Hex
  readonly logs: Log[]
  readonly trace?: { type: string; error?: string; calls?: object[] }
  readonly assetChanges: Asset[]
  readonly stateChanges: {
    address: Hex
    balance?: Change
    nonce?: Change
    code?: Change
    storage?: (Change & { slot: Hex })[]
  }[]
}

export const vault = artifact('Vault')
export const vaultAbi = new Interface(vault.abi)
export const tokenAbi = new Interface(artifact('Token').abi)
export const deedAbi = new Interface(artifact('Deed').abi)
export const goodsAbi = new Interface(artifact('Goods').abi)

export const account = (digits: string): Hex => `0x${digits.padEnd(39, '0')}1`
export const word = (value: bigint | number | string): Hex =>
  `0x${BigInt(value).toString(16).padStart(64, '0')}`
export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** The asset changes that ethers decodes from logs. */
export function decodedAssets(logs: readonly Log[]): Asset[] {
  const name = (event: string) => (event.startsWith('Transfer') ? 'transfer' : 'approve')
  return logs.flatMap((log) => {
    for (const [type, abi] of [
      ['erc20', tokenAbi],
      ['erc721', deedAbi],
      ['erc1155', goodsAbi],
    ] as const) {
      const found = parsed(abi, log)
      if (found === undefined) continue
      const { args } = found
      const all = args.toObject()
      const change = {
        type,
        change: name(found.name),
        from: (all.from ?? all.owner ?? all.account).toLowerCase(),
        to: (all.to ?? all.spender ?? all.operator ?? all.approved).toLowerCase(),
        token: log.address,
      }
      if (found.name === 'TransferBatch') {
        return (all.ids as bigint[]).map((id, at) => ({
          ...change,
          amount: quantity((args.getValue('values') as bigint[])[at] as bigint),
          tokenId: quantity(id),
        }))
      }
      const [amount, id] = [all.value, all.tokenId ?? all.id]
      return [
        {
          ...change,
          ...(amount !== undefined && { amount: quantity(amount) }),
          ...(id !== undefined && { tokenId: quantity(id) }),
        },
      ]
    }
    return []
  })
}

/** ERC-20 and ERC-721 have events of the same name; ethers refuses one of another number of topics. */
function parsed(abi: Interface, log: Log): { name: string; args: Result } | undefined {
  try {
    return abi.parseLog(log) ?? undefined
  } catch {
    return undefined
  }
}

/** Addresses of a token, of a vault, and of the vault's own deed and goods. */
export interface Contracts {
  readonly token: Hex
  readonly safe: Hex
  readonly deed: Hex
  readonly goods: Hex
}

/** Deploys the contracts, a block each. */
export async function deployContracts(node: Node): Promise<Contracts> {
  const ask = <T = unknown>(method: string, ...params: unknown[]) =>
    node.request({ method, params }) as Promise<T>
  const deployed = async (data: string): Promise<Hex> => {
    const hash = await ask('eth_sendTransaction', { from: A, data, gas: '0x5b8d80' })
    await ask('evm_mine')
    return (await ask<{ contractAddress: Hex }>('eth_getTransactionReceipt', hash)).contractAddress
  }
  const token = await deployed(artifact('Token').bytecode + word(1_000_000).slice(2))
  const safe = await deployed(vault.bytecode)
  const own = async (name: string): Promise<Hex> =>
    `0x${(await ask<string>('eth_call', { to: safe, data: vaultAbi.encodeFunctionData(name) })).slice(26)}`
  return { token, safe, deed: await own('deed'), goods: await own('goods') }
}

/** The members of a value with the types of their values, and of the first item of a list; null is of any type. */
export function shapeOf(value: unknown, without: readonly string[] = []): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0], without)]
  if (typeof value !== 'object') return typeof value
  const members = Object.entries(value).filter(([key]) => !without.includes(key))
  return Object.fromEntries(members.map(([key, member]) => [key, shapeOf(member, without)]))
}

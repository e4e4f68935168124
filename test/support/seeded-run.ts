/** One sequence of calls whose results depend on nothing but the seed and the frozen clock, and its results. */
import { Wallet } from 'ethers'
import { type Call, COW, COW_KEY } from './noting-chain.ts'

/** The options of the node that the calls are made to. */
export const SEEDED = { seed: 'golden', frozenClock: true } as const

/** All results that could differ on another machine. */
export interface SeededRun {
  /** Hash and raw header of each block from genesis on. */
  readonly blocks: readonly { readonly hash: string; readonly header: string }[]
  readonly timestamps: readonly number[]
  /** In the order of sending; `raw` where the sender signed it. */
  readonly transactions: readonly { readonly hash: string; readonly raw?: string }[]
  readonly filters: readonly string[]
  /** Addresses of new accounts. */
  readonly created: readonly string[]
}

/** Init code of a contract that stores TIMESTAMP in slot 0 and NUMBER in slot 1: `42 6000 55 43 6001 55 00`. */
const RECORDER = '0x600a600c600039600a6000f342600055436001550000'

/** Makes the calls. */
export async function seededRun(call: Call): Promise<SeededRun> {
  const cow = new Wallet(COW_KEY)
  const common = { type: 0, chainId: 33, gasPrice: 1 }
  const transactions: { hash: string; raw?: string }[] = []
  async function send(request: object): Promise<string> {
    const raw = await cow.signTransaction({ ...common, ...request })
    const hash = await call('eth_sendRawTransaction', raw)
    transactions.push({ hash, raw })
    return hash
  }
  const filters = [await call('eth_newBlockFilter')]
  const deployed = await send({ nonce: 0, data: RECORDER, gasLimit: 200_000 })
  const { contractAddress: to } = await call<{ contractAddress: string }>(
    'eth_getTransactionReceipt',
    deployed,
  )
  await send({ nonce: 1, to, gasLimit: 100_000 })
  await call('evm_increaseTime', 3600)
  await call('evm_mine')
  const created = [await call('personal_newAccount', 'a'), await call('personal_newAccount', 'b')]
  await send({ nonce: 2, to: created[0], value: 1, gasLimit: 21_000 })
  const snapshot = await call('evm_snapshot')
  await call('evm_mine')
  await call('evm_revert', snapshot)
  await call('evm_reorg', { depth: 1, blocks: [{}, {}] })
  transactions.push({ hash: await call('eth_sendTransaction', { from: COW, to: created[1], value: '0x2' }) })
  filters.push(await call('eth_newPendingTransactionFilter'), await call('eth_newFilter', {}))
  const blocks: { hash: string; header: string }[] = []
  const timestamps: number[] = []
  const height = Number(await call('eth_blockNumber'))
  for (let number = 0; number <= height; number++) {
    const { hash, timestamp } = await call<{ hash: string; timestamp: string }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      false,
    )
    blocks.push({ hash, header: await call('ext_getRawBlockHeaderByHash', hash) })
    timestamps.push(Number(timestamp))
  }
  return { blocks, timestamps, transactions, filters, created }
}

/** Ethereum's own executor over its own state and trie, none of our code beneath: what our vectors and our adapter are held to. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import type { EVMMockBlockchainInterface } from '@ethereumjs/evm'
import { createLegacyTx } from '@ethereumjs/tx'
import { Account, Address } from '@ethereumjs/util'
import { createVM, type RunTxOpts, runTx, type VM } from '@ethereumjs/vm'
import type { Log } from '../../src/chain/receipt.ts'
import { fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import type { BlockEnvironment } from '../../src/evm/message.ts'
import type { Observed, Situation } from './differential.ts'

/** The result of a run in a vector. */
export interface Verdict {
  readonly status: Observed['status']
  readonly gas: bigint
  /** Root of the state afterwards. */
  readonly root: Hex
  /** Keccak-256 of the RLP of all logs. */
  readonly logs: Hex
}

/** The hash of logs in the official state tests. */
export function logsHash(logs: readonly Log[]): Hex {
  return keccakHex(
    encodeRlp(logs.map(({ address, topics, data }) => [fromHex(address), topics.map(fromHex), data])),
  )
}

const addressOf = (text: Hex): Address => new Address(fromHex(text))

function ethereum(hardfork: 'petersburg' | 'cancun'): Common {
  const forks = ['chainstart', 'homestead', 'tangerineWhistle', 'spuriousDragon', 'byzantium']
  forks.push('constantinople', 'petersburg')
  if (hardfork === 'cancun') forks.push('istanbul', 'berlin', 'london', 'paris', 'shanghai', 'cancun')
  const chain: ChainConfig = {
    name: 'oracle',
    chainId: 33,
    defaultHardfork: hardfork,
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: forks.map((name) => ({ name, block: 0 })),
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  return new Common({ chain, hardfork })
}

function blockOf(env: BlockEnvironment, common: Common): NonNullable<RunTxOpts['block']> {
  const header = {
    number: BigInt(env.number),
    coinbase: addressOf(env.coinbase),
    timestamp: BigInt(env.timestamp),
    difficulty: env.difficulty,
    prevRandao: fromBigIntFixed(env.difficulty, 32),
    gasLimit: env.gasLimit,
    gasUsed: 0n,
    baseFeePerGas: common.isActivatedEIP(1559) ? env.minimumGasPrice : undefined,
    getBlobGasPrice: () => 1n,
  }
  return { header, common, errorStr: () => '' } as unknown as NonNullable<RunTxOpts['block']>
}

function hashesOf(env: BlockEnvironment): EVMMockBlockchainInterface {
  const blockchain = {
    getBlock: async (height: number) => ({
      hash: () => fromHex(env.ancestorHash(height) ?? `0x${'00'.repeat(32)}`),
    }),
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}

async function fill({ stateManager }: VM, { accounts }: Situation): Promise<void> {
  await stateManager.checkpoint()
  for (const [text, { nonce, balance, code, storage }] of accounts) {
    const address = addressOf(text)
    await stateManager.putAccount(address, new Account(nonce, balance))
    if (code.length > 0) await stateManager.putCode(address, code)
    for (const [slot, value] of storage) {
      await stateManager.putStorage(address, fromBigIntFixed(slot, 32), fromHex(toHexWord(value)))
    }
  }
  await stateManager.commit()
  await stateManager.getStateRoot()
}

/** The bytes of a word without leading zeros. */
function toHexWord(value: bigint): Hex {
  const text = value.toString(16)
  return `0x${text.length % 2 === 0 ? text : `0${text}`}`
}

/** Runs a situation; a transaction that the library refuses leaves the state as given. */
export async function judge(situation: Situation, hardfork: 'petersburg' | 'cancun'): Promise<Verdict> {
  const { transaction, env } = situation
  const common = ethereum(hardfork)
  const vm = await createVM({ common, blockchain: hashesOf(env) })
  await fill(vm, situation)
  let status: Verdict['status'] = 'rejected'
  let gas = 0n
  let logs: readonly Log[] = []
  try {
    const { nonce, gasPrice, gasLimit, to, value, data } = transaction
    const fields = { nonce, gasPrice, gasLimit, value, data, ...(to !== null && { to: addressOf(to) }) }
    const tx = createLegacyTx(fields, { common, freeze: false })
    tx.getSenderAddress = () => addressOf(transaction.from)
    const { execResult, totalGasSpent } = await runTx(vm, {
      tx,
      block: blockOf(env, common),
      skipHardForkValidation: true,
    })
    const failure = execResult.exceptionError?.error
    status = failure === undefined ? 'succeeded' : failure === 'revert' ? 'reverted' : 'failed'
    gas = totalGasSpent
    logs = (execResult.logs ?? []).map(([address, topics, data]) => ({
      address: toHex(address),
      topics: topics.map(toHex),
      data,
    }))
  } catch (error) {
    // Its refusals end by naming VM and transaction, or come from making the transaction.
    if (!(error instanceof Error) || !/\(vm hf=|tx type=|initcode/.test(error.message)) throw error
  }
  return { status, gas, root: toHex(await vm.stateManager.getStateRoot()), logs: logsHash(logs) }
}

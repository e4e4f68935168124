/** Methods of development clients about the node itself: metadata, reset, snapshots. */
import { z } from 'zod'
import { toQuantity } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { method } from '../../method.ts'
import { optional } from '../../parameter.ts'
import { Flag, HashText, QuantityText } from '../../wire/scalars.ts'
import { evm_increaseTime, evm_revert, evm_setNextBlockTimestamp, evm_snapshot } from '../evm.ts'
import { RESET_SUMMARY, ResetOptions, requireUpstreamUrl, resetChain, Url } from '../reset.ts'
import { order, under } from './family.ts'

/** As Foundry spells it. */
const HARD_FORK = 'Cancun' as const

const RESET = order({
  name: 'reset',
  waitsForUpstream: true,
  summary: RESET_SUMMARY,
  params: { options: optional(ResetOptions, {}) },
  example: [],
  run: ({ options }, context) => resetChain(context, options),
})

export const anvil_setRpcUrl = method({
  name: 'anvil_setRpcUrl',
  changesState: true,
  waitsForUpstream: true,
  summary:
    'Sets the URL of the upstream of a fork; the new upstream must have the block that the fork starts from.',
  params: { url: Url },
  result: () => z.null(),
  examples: [],
  async run({ url }, context) {
    const { engine } = context
    if (engine.fork === undefined)
      throw invalidParams('url: this node forks no other chain; anvil_reset with forking starts a fork')
    requireUpstreamUrl(context, url, 'url')
    await engine.fork.remote.setUrls([url])
    return null
  },
})

const SET_LOGGING = order({
  name: 'setLoggingEnabled',
  summary:
    "Turns output of calls, blocks and console on the node's terminal on or off; warnings are always shown.",
  params: { on: Flag },
  example: [true],
  async run({ on }, { engine }) {
    engine.dev.setLoggingEnabled(on)
  },
})

export const hardhat_metadata = method({
  name: 'hardhat_metadata',
  // hardhat-ethers on the network `localhost` sends 30,000,000 gas with each transaction to any node that has this method.
  presets: ['hardhat', 'anvil'],
  summary:
    'Version of the node and head of its chain; `instanceId` is new after each start and reset. Open with --preset hardhat or anvil.',
  params: {},
  result: () =>
    z.object({
      clientVersion: z.string(),
      chainId: z.int(),
      instanceId: HashText,
      latestBlockNumber: z.int(),
      latestBlockHash: HashText,
      forkedNetwork: z
        .object({ chainId: z.int(), forkBlockNumber: z.int(), forkBlockHash: HashText })
        .optional()
        .describe('the chain that is forked'),
    }),
  examples: [
    {
      params: [],
      result: {
        clientVersion: 'Tandem/0.1.0/linux-x64/Node20/EMULATOR',
        chainId: 33,
        instanceId: '0xc48fdcdafe60a082e22ba755a5260c6888fa1447b59a11e22cfd12b9139ca6c8',
        latestBlockNumber: 0,
        latestBlockHash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
      },
      varies: true,
    },
  ],
  run(_, { engine: { config, dev, queries, fork }, options }) {
    const { hash, block } = queries.head()
    return {
      clientVersion: options.clientVersion,
      chainId: config.chainId,
      instanceId: dev.instanceId(),
      latestBlockNumber: block.header.number,
      latestBlockHash: hash,
      ...(fork && {
        forkedNetwork: {
          chainId: fork.remote.point.chainId,
          forkBlockNumber: fork.remote.point.number,
          forkBlockHash: fork.remote.point.hash,
        },
      }),
    }
  },
})

export const anvil_nodeInfo = method({
  name: 'anvil_nodeInfo',
  summary:
    'Head of the chain, settings of the next block, and the upstream of a fork: scheme and host of its URL.',
  params: {},
  result: () =>
    z.object({
      currentBlockNumber: QuantityText,
      currentBlockTimestamp: z.int().describe('seconds since 1970'),
      currentBlockHash: HashText,
      hardFork: z
        .literal(HARD_FORK)
        .describe('the fork of Ethereum whose opcodes the chain has; Foundry accepts no other names'),
      chainName: z.string().describe('the network whose rules hold'),
      transactionOrder: z.enum(['fees', 'fifo']),
      environment: z.object({
        baseFee: QuantityText.describe('what the BASEFEE instruction answers: the minimum gas price'),
        chainId: z.int(),
        gasLimit: QuantityText,
        gasPrice: QuantityText,
      }),
      forkConfig: z.object({
        forkUrl: z.string().nullable(),
        forkBlockNumber: z.int().nullable(),
        forkRetryBackoff: z.null(),
      }),
    }),
  examples: [
    {
      params: [],
      result: {
        currentBlockNumber: '0x0',
        currentBlockTimestamp: 0,
        currentBlockHash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
        hardFork: HARD_FORK,
        chainName: 'regtest',
        transactionOrder: 'fees',
        environment: { baseFee: '0x0', chainId: 33, gasLimit: '0x989680', gasPrice: '0x0' },
        forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
      },
    },
  ],
  run(_, { engine: { config, dev, queries, fork }, options }) {
    const { hash, block } = queries.head()
    const { header } = block
    const { gasLimit = header.gasLimit, minimumGasPrice = header.minimumGasPrice } = dev.headerOverrides()
    return {
      currentBlockNumber: toQuantity(header.number),
      currentBlockTimestamp: header.timestamp,
      currentBlockHash: hash,
      hardFork: HARD_FORK,
      chainName: config.name,
      transactionOrder: options.order,
      environment: {
        baseFee: toQuantity(minimumGasPrice),
        chainId: config.chainId,
        gasLimit: toQuantity(gasLimit),
        gasPrice: toQuantity(queries.gasPrice()),
      },
      forkConfig: {
        forkUrl: fork?.remote.upstream.origin ?? null,
        forkBlockNumber: fork?.remote.point.number ?? null,
        forkRetryBackoff: null,
      },
    }
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_NODE_METHODS = [
  ...RESET,
  ...SET_LOGGING,
  anvil_setRpcUrl,
  hardhat_metadata,
  { ...under('anvil_metadata', hardhat_metadata), presets: undefined },
  anvil_nodeInfo,
  under('anvil_snapshot', evm_snapshot),
  under('anvil_revert', evm_revert),
  under('anvil_increaseTime', evm_increaseTime),
  under('anvil_setNextBlockTimestamp', evm_setNextBlockTimestamp),
] as const

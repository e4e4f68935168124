/** Where `tandem import` puts blocks: a database of its own, or a running node. */
import { z } from 'zod'
import { type Block, decodeBlock, decodeBlockHeader } from '../chain/block.ts'
import { CHAINS, type ChainConfig } from '../chain/config.ts'
import { type Header, headerHash } from '../chain/header.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { createNode } from '../node/node.ts'
import type { NodeOptions } from '../options/options.ts'
import { createRemote } from './remote.ts'

/** What became of a block. */
export interface TakenBlock {
  /** False when the chain had it already. */
  readonly isNew: boolean
  readonly number: number
  readonly hash: Hex
  readonly gasUsed: bigint
}

/** Takes blocks one after another. */
export interface ImportTarget {
  /** Throws `invalid-block` when the block is malformed or breaks a rule; the chain is then as it was. */
  take(raw: Uint8Array): Promise<TakenBlock>
  head(): Promise<{ readonly number: number; readonly hash: string }>
  close(): Promise<void>
}

/** Reads a block; throws `invalid-block` when its bytes are malformed. */
function read<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new NodeError('invalid-block', `its bytes are not those of a block: ${why}`)
  }
}

function summary(header: Header, config: ChainConfig, isNew: boolean): TakenBlock {
  const { number, gasUsed } = header
  return { isNew, number, hash: headerHash(header, config), gasUsed }
}

/** Opens the data directory of the options, made when it is missing. Throws `database`. */
export async function openDirectory(options: NodeOptions): Promise<ImportTarget> {
  const node = await createNode({ ...options, mining: 'manual' })
  const { config, commands, queries } = node.engine
  return {
    async take(raw) {
      const header = read(() => decodeBlockHeader(raw, config))
      // The senders of a known block need not be recovered.
      if (queries.isCanonical(headerHash(header, config)) !== undefined) return summary(header, config, false)
      const block: Block = read(() => decodeBlock(raw, config))
      const { outcome } = await commands.importBlock(block)
      return summary(block.header, config, outcome !== 'known')
    },
    async head() {
      const { hash, block } = queries.head()
      return { number: block.header.number, hash }
    },
    close: () => node.close(),
  }
}

const Text = z.string().regex(/^0x[0-9a-f]+$/)
const Imported = z.object({ result: z.string() })
const Head = z.object({ number: Text, hash: Text })

/** Connects to a running node. Throws `NodeError` when it does not answer. */
export async function openRemote(url: string): Promise<ImportTarget> {
  const remote = createRemote(url)
  const config = await remoteChain(remote)
  return {
    async take(raw) {
      const header = read(() => decodeBlockHeader(raw, config))
      const { result } = await remote.call('evm_importBlock', [toHex(raw)], Imported)
      return summary(header, config, result !== 'EXIST')
    },
    async head() {
      const { number, hash } = await remote.call('eth_getBlockByNumber', ['latest', false], Head)
      return { number: Number(number), hash }
    },
    close: async () => {},
  }
}

/** The constants of the network that a node runs. Throws `NodeError` when its chain id is unknown. */
export async function remoteChain(remote: ReturnType<typeof createRemote>): Promise<ChainConfig> {
  const chainId = Number(await remote.call('eth_chainId', [], Text))
  const config = Object.values(CHAINS).find((chain) => chain.chainId === chainId)
  if (config !== undefined) return config
  throw new NodeError('internal', `The node at ${remote.shown} runs the unknown chain ${chainId}.`)
}

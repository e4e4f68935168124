/** A node in process with contracts that emit the logs given in their call data, and the commands to change its chain. */
import { contractAddress } from '../../src/chain/transaction.ts'
import { toFixedHex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { assemble, deployer } from './assembler.ts'
import { transfer } from './forge.ts'

/** One event with two topics, both from the call data, and as much data as asked for. */
const LOGGER = deployer(
  assemble('PUSH1 32 CALLDATALOAD PUSH1 0 CALLDATALOAD PUSH1 64 CALLDATALOAD PUSH1 0 LOG2 STOP'),
)

/** A topic by its number. */
export const topic = (number: number) => toFixedHex(BigInt(number), 32)

/** Starts the node, mining on request, with two such contracts in block 1. */
export async function loggingChain(options: NodeOptions = {}) {
  const node: Node = await createNode({ mining: 'manual', ...options })
  const { commands, queries } = node.engine
  const sender = transfer(0, {}).from
  // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
  const call = (method: string, ...params: unknown[]): Promise<any> => node.request({ method, params })

  for (const nonce of [0n, 1n])
    await commands.submit(transfer(0, { nonce, to: null, value: 0n, data: LOGGER }))
  await commands.mine()
  const loggers = [contractAddress(sender, 0n), contractAddress(sender, 1n)] as const

  /** A signed call that makes a contract log; the next nonce unless given. */
  function logging(
    logger: 0 | 1,
    topics: readonly [number, number],
    parts: { nonce?: bigint; bytes?: number } = {},
  ) {
    const data = Buffer.from(
      [...topics, parts.bytes ?? 0].map((word) => topic(word).slice(2)).join(''),
      'hex',
    )
    return transfer(0, {
      nonce: parts.nonce ?? queries.pendingNonce(sender),
      to: loggers[logger],
      value: 0n,
      data,
    })
  }

  return {
    node,
    call,
    loggers,
    logging,
    /** Sends such a call; it waits to be mined. */
    async log(...args: Parameters<typeof logging>): Promise<string> {
      return (await commands.submit(logging(...args))).hash
    },
    mine: (blocks = 1) => commands.mine({ blocks }),
    height: () => queries.head().block.header.number,
    raw: (...args: Parameters<typeof logging>) => toHex(logging(...args).raw),
    close: () => node.close(),
  }
}

/** The result of `loggingChain`. */
export type LoggingChain = Awaited<ReturnType<typeof loggingChain>>

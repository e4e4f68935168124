/** Parent-chain blocks around a piece of work, made apart from the code that reads them. */
import { createHash } from 'node:crypto'
import type { ServedNode } from './served-node.ts'

/** The parts of a submitted block; each may be invalid. */
export interface ParentBlockParts {
  /** What the coinbase carries behind the tag, 32 bytes in hex with 0x; nothing at all when `undefined`. */
  readonly commitment: string | undefined
  /** 32 bytes in hex with 0x. */
  readonly target: string
  /** Transactions other than the coinbase. */
  readonly others?: number
  /** Text before the tag, so that two blocks for one work differ. */
  readonly text?: string
  /** Bytes after the commitment. */
  readonly after?: Buffer
  /** Solve (the default), or see to it that the hash lies above the target. */
  readonly solved?: boolean
}

/** A block and the parameters of the three methods that submit it. Hex without 0x. */
export interface ParentBlock {
  readonly header: string
  readonly coinbase: string
  readonly block: string
  /** Display order. */
  readonly transactionIds: string
  /** Raw order, the coinbase's first. */
  readonly branch: string
  readonly count: string
}

function doubleSha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest()
}

function transaction(input: Buffer, output: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([1, 0, 0, 0, 1]),
    Buffer.alloc(36),
    Buffer.from([input.length]),
    input,
    Buffer.alloc(4, 0xff),
    Buffer.from([1]),
    Buffer.alloc(8),
    Buffer.from([output.length]),
    output,
    Buffer.alloc(4),
  ])
}

const displayed = (hash: Buffer): string => Buffer.from(hash).reverse().toString('hex')

/** Makes a block. */
export function parentBlock(parts: ParentBlockParts): ParentBlock {
  const { commitment, target, others = 0, text = '', after = Buffer.alloc(0), solved = true } = parts
  const tag =
    commitment === undefined
      ? Buffer.from('nothing of ours')
      : Buffer.concat([Buffer.from('RSKBLOCK:'), Buffer.from(commitment.slice(2), 'hex'), after])
  const transactions = [
    transaction(Buffer.from(text), tag),
    ...Array.from({ length: others }, (_, i) => transaction(Buffer.alloc(70, i), Buffer.from([0x51]))),
  ]
  const hashes = transactions.map(doubleSha256)
  const branch = [hashes[0] as Buffer]
  let level = hashes
  while (level.length > 1) {
    branch.push(level[1] as Buffer)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => {
      const left = level[2 * i] as Buffer
      return doubleSha256(Buffer.concat([left, level[2 * i + 1] ?? left]))
    })
  }
  const header = Buffer.alloc(80)
  level[0]?.copy(header, 36)
  header.writeUInt32LE(Math.floor(Date.now() / 1000), 68)
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, 76)
    if (displayed(doubleSha256(header)) <= target.slice(2) === solved) break
  }
  return {
    header: header.toString('hex'),
    coinbase: (transactions[0] as Buffer).toString('hex'),
    block: Buffer.concat([header, Buffer.from([transactions.length]), ...transactions]).toString('hex'),
    transactionIds: hashes.map(displayed).join(' '),
    branch: branch.map((hash) => hash.toString('hex')).join(' '),
    count: transactions.length.toString(16),
  }
}

/** Makes a block for the current work of a node. */
export async function solveWork(
  node: Pick<ServedNode, 'call'>,
  parts: Partial<ParentBlockParts> = {},
): Promise<ParentBlock> {
  const work = await node.call('mnr_getWork')
  return parentBlock({ commitment: work.blockHashForMergedMining, target: work.target, ...parts })
}

/** The state of a node that a refused submission must not change; `work` is the hash of its current work. */
export async function everything({ call }: Pick<ServedNode, 'call'>) {
  const head = await call('eth_getBlockByNumber', 'latest')
  return {
    head,
    siblings: await call('eth_getBlocksByNumber', head.number),
    above: await call('eth_getBlocksByNumber', `0x${(Number(head.number) + 1).toString(16)}`),
    pool: await call('eth_pendingTransactions'),
    work: (await call('mnr_getWork')).blockHashForMergedMining,
  }
}

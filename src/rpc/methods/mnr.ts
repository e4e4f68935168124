/**
 * Merged mining by external miners: they fetch work and submit parent-chain blocks in one of three forms
 * (docs/internals/rpc-reference.md#713-mining).
 */

import { z } from 'zod'
import { branchFromHashes, branchFromPartialTree } from '../../chain/merged-mining/merkle-branch.ts'
import { plainTransaction, solutionFromBlock } from '../../chain/merged-mining/parent-block.ts'
import { PARENT_HEADER_BYTES } from '../../chain/merged-mining/parent-header.ts'
import type { Solution } from '../../chain/merged-mining/proof.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { fromHex, isHexDigits, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { NodeError } from '../../errors.ts'
import { anyText } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, type Parameter, refuse, scalar } from '../parameter.ts'
import { IMPORT_RESULTS } from '../wire/block.ts'
import { DataText, HashText, QuantityText } from '../wire/scalars.ts'

/** Text that is decoded when the call runs: the reference node checks for an empty list before any other parameter. */
function plainText(description: string): Parameter<string> {
  return scalar({
    form: anyText(),
    description,
    decode: (value) => value,
    refusal: (_, name) => expected(name, 'text'),
  })
}

/** Mining pools send hex without `0x`, and the reference node accepts no other form. */
function bytesOf(value: string, name: string): Uint8Array {
  if (value.length === 0 || value.length % 2 !== 0 || !isHexDigits(value)) {
    refuse(name, 'bytes in hex without 0x')
  }
  return fromHex(`0x${value.toLowerCase()}`)
}

function hashesOf(list: string, name: string): Uint8Array[] {
  const items = list.split(/\s+/).filter((item) => item !== '')
  return items.map((item) => {
    const hash = bytesOf(item, name)
    return hash.length === HASH_BYTES ? hash : refuse(name, 'hashes of 32 bytes in hex, separated by spaces')
  })
}

function headerOf(value: string, name: string): Uint8Array {
  const header = bytesOf(value, name)
  return header.length === PARENT_HEADER_BYTES
    ? header
    : refuse(name, `a parent-chain header of ${PARENT_HEADER_BYTES} bytes`)
}

/** Runs a reader of parent-chain bytes; its errors become `invalid-params`. */
function readable<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) refuse(name, `parent-chain data, but ${error.message}`)
    throw error
  }
}

const SubmittedBlock = z.lazy(() =>
  z.object({
    blockImportedResult: DataText,
    blockHash: HashText,
    blockIncludedHeight: QuantityText,
  }),
)

async function submit(solution: Solution, engine: Engine): Promise<z.infer<typeof SubmittedBlock>> {
  const { outcome, hash, height } = await engine.commands.submitWork(solution)
  return {
    blockImportedResult: toHex(new TextEncoder().encode(IMPORT_RESULTS[outcome])),
    blockHash: hash,
    blockIncludedHeight: toQuantity(height),
  }
}

const IgnoredHash = plainText('hash for merged mining; ignored, since the coinbase names the work')
const ParentHeader = plainText('parent-chain header of 80 bytes, in hex without 0x')
const Coinbase = plainText('coinbase transaction, in hex without 0x')

export const mnr_getWork = method({
  name: 'mnr_getWork',
  summary:
    'Work for merged mining on the head; `notify` is true the first time for each parent, and when fees have grown by a tenth.',
  params: {},
  result: () =>
    z.object({
      blockHashForMergedMining: HashText,
      target: HashText,
      feesPaidToMiner: z.string().regex(/^\d+$/),
      notify: z.boolean(),
      parentBlockHash: HashText,
    }),
  examples: [
    {
      params: [],
      result: {
        blockHashForMergedMining: '0x4d1bd995dc03ff24c154be66eb40808900fbb38c44f3255577fdfda6bda65a18',
        target: `0x${'5'.repeat(64)}`,
        feesPaidToMiner: '0',
        notify: true,
        parentBlockHash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
      },
      varies: true,
    },
  ],
  async run(_, { engine }) {
    const { hash, target, paidFees, notify, parentHash } = await engine.commands.takeWork()
    return {
      blockHashForMergedMining: hash,
      target: toFixedHex(target, HASH_BYTES),
      feesPaidToMiner: paidFees.toString(),
      notify,
      parentBlockHash: parentHash,
    }
  },
})

export const mnr_submitBitcoinBlock = method({
  name: 'mnr_submitBitcoinBlock',
  changesState: true,
  counts: 'validBlocks',
  summary:
    'Submits a complete parent-chain block whose coinbase commits to one of the last 20 work packages.',
  params: { block: plainText('parent-chain block, in hex without 0x') },
  result: () => SubmittedBlock,
  errors: ['mining-refused'],
  examples: [],
  run({ block }, { engine }) {
    const bytes = bytesOf(block, 'block')
    return submit(
      readable('block', () => solutionFromBlock(bytes)),
      engine,
    )
  },
})

export const mnr_submitBitcoinBlockTransactions = method({
  name: 'mnr_submitBitcoinBlockTransactions',
  changesState: true,
  counts: 'validBlocks',
  summary:
    'Submits a parent-chain header and coinbase, with the ids of all transactions in display byte order.',
  params: {
    blockHash: IgnoredHash,
    header: ParentHeader,
    coinbase: Coinbase,
    transactionHashes: plainText(
      'transaction ids, the coinbase first, in display byte order, separated by spaces',
    ),
  },
  result: () => SubmittedBlock,
  errors: ['mining-refused'],
  examples: [],
  run({ header, coinbase, transactionHashes }, { engine }) {
    const parentHeader = headerOf(header, 'header')
    const serialized = bytesOf(coinbase, 'coinbase')
    const displayed = hashesOf(transactionHashes, 'transactionHashes')
    return submit(
      {
        parentHeader,
        coinbase: readable('coinbase', () => plainTransaction(serialized)),
        merkleBranch: readable('transactionHashes', () =>
          branchFromHashes(displayed.map((hash) => hash.reverse())),
        ),
      },
      engine,
    )
  },
})

export const mnr_submitBitcoinBlockPartialMerkle = method({
  name: 'mnr_submitBitcoinBlockPartialMerkle',
  changesState: true,
  counts: 'validBlocks',
  summary: 'Submits a parent-chain header and coinbase, with the merkle branch of the coinbase.',
  params: {
    blockHash: IgnoredHash,
    header: ParentHeader,
    coinbase: Coinbase,
    merkleHashes: plainText(
      'hash of the coinbase and its siblings from the bottom up, in raw byte order, separated by spaces',
    ),
    transactionCount: plainText('how many transactions the block has, in hex'),
  },
  result: () => SubmittedBlock,
  errors: ['mining-refused'],
  examples: [],
  run({ header, coinbase, merkleHashes, transactionCount }, { engine }) {
    const hashes = hashesOf(merkleHashes, 'merkleHashes')
    if (hashes.length === 0) {
      throw new NodeError('mining-refused', "The list of merkle hashes can't be empty")
    }
    const parentHeader = headerOf(header, 'header')
    const serialized = bytesOf(coinbase, 'coinbase')
    if (!/^[0-9a-fA-F]{1,8}$/.test(transactionCount)) refuse('transactionCount', 'a number in hex without 0x')
    return submit(
      {
        parentHeader,
        coinbase: readable('coinbase', () => plainTransaction(serialized)),
        merkleBranch: branchFromPartialTree(hashes),
      },
      engine,
    )
  },
})

/** The methods of this file, in the order of the document. */
export const MNR_METHODS = [
  mnr_getWork,
  mnr_submitBitcoinBlock,
  mnr_submitBitcoinBlockTransactions,
  mnr_submitBitcoinBlockPartialMerkle,
] as const

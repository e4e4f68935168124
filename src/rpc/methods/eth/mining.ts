/** Ethereum's mining methods, as far as they have a meaning on a merge-mined chain. */

import { z } from 'zod'
import { HASH_BYTES } from '../../../encoding/hash.ts'
import { type Hex, toFixedHex, toHex } from '../../../encoding/hex.ts'
import { method } from '../../method.ts'
import { HashText, sizedData } from '../../wire/scalars.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

const Hash = sizedData(HASH_BYTES, HASH_BYTES)

export const eth_getWork = method({
  name: 'eth_getWork',
  answeredBy: 'leader',
  summary:
    'Work on top of the head: the hash for merged mining, the seed hash, which is zero on this chain, and the target.',
  params: {},
  result: () => z.tuple([HashText, HashText, HashText]),
  examples: [
    {
      params: [],
      result: [
        '0x4d1bd995dc03ff24c154be66eb40808900fbb38c44f3255577fdfda6bda65a18',
        `0x${'0'.repeat(64)}`,
        `0x${'5'.repeat(64)}`,
      ],
      varies: true,
    },
  ],
  async run(_, { engine }) {
    const { hash, target } = await engine.queries.work()
    return [hash, toFixedHex(0n, HASH_BYTES), toFixedHex(target, HASH_BYTES)] as [Hex, Hex, Hex]
  },
})

/**
 * This chain has no proof of eight bytes: a block is proved by the hash of a parent-chain header. So the node takes
 * the parent-chain block that it would mine for the work itself (docs/internals/protocol.md#24-local-miners; its time is
 * the block's timestamp), puts the last four bytes of the nonce into its header, big-endian, and checks the hash of
 * that header. The digest is ignored.
 */
export const eth_submitWork = method({
  name: 'eth_submitWork',
  changesState: true,
  summary:
    "Tries a nonce for work of eth_getWork on the node's own parent-chain block; true when its hash meets the target and the block is imported.",
  params: { nonce: sizedData(8, 8), powHash: Hash, mixDigest: Hash },
  result: () => z.boolean(),
  errors: ['mining-refused'],
  examples: [{ params: ['0x0000000000000001', UNKNOWN, UNKNOWN], result: false }],
  async run({ nonce, powHash }, { engine }) {
    const inserted = await engine.commands.submitNonce(toHex(powHash), Buffer.from(nonce).readUInt32BE(4))
    return inserted !== undefined && inserted.outcome !== 'known'
  },
})

export const eth_submitHashrate = method({
  name: 'eth_submitHashrate',
  changesState: true,
  summary:
    'Reports the hashrate of a miner in hashes per second, under an id of its choice; valid for a minute.',
  params: { hashrate: sizedData(1, HASH_BYTES), clientId: Hash },
  result: () => z.boolean(),
  examples: [{ params: [`0x${'0'.repeat(64)}`, UNKNOWN], result: true }],
  run({ hashrate, clientId }, { engine }) {
    engine.commands.reportHashrate(toHex(clientId), BigInt(toHex(hashrate)))
    return true
  },
})

/** The methods of this file, in the order of the document. */
export const MINING_METHODS = [eth_getWork, eth_submitWork, eth_submitHashrate] as const

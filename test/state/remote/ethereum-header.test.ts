/** Hashes of Ethereum headers: a block of the main network, and headers of each fork as the library has them. */
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../../src/chain/config.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { WireHeader } from '../../../src/state/remote/wire.ts'
import { readHeader } from '../../../src/state/remote/wire-header.ts'

const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Block 1 of the main network. */
const FIRST = {
  number: '0x1',
  hash: '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6',
  parentHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  logsBloom: `0x${'0'.repeat(512)}`,
  transactionsRoot: EMPTY_ROOT,
  stateRoot: '0xd67e4d450343046425ae4271474353857ab860dbc0a1dde64b41b5cd3a532bf3',
  receiptsRoot: EMPTY_ROOT,
  miner: '0x05a56e2d52c817161883f50c441c3228cfe54d9f',
  difficulty: '0x3ff800000',
  totalDifficulty: '0x7ff800000',
  extraData: '0x476574682f76312e302e302f6c696e75782f676f312e342e32',
  size: '0x219',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x55ba4224',
  transactions: [],
  uncles: [],
  mixHash: '0x969b900de27b6ac6a67742365dd65f55a0526c41fd18e1b16f1a1215c2e66f59',
  nonce: '0x539bd4979fef1ec4',
}

const read = (fields: object) =>
  readHeader({ fields: WireHeader.parse(fields), raw: undefined }, CHAINS.regtest, false)
const isVerified = (fields: object) => {
  const found = read(fields)
  return typeof found === 'string' ? found : found.isVerified
}

/** A header of a fork, as JSON-RPC has it, with the library's hash. */
function headerOf(hardfork: string): Record<string, unknown> {
  const common = new Common({ chain: Mainnet, hardfork })
  const given = {
    number: 9,
    timestamp: 1_700_000_000,
    gasLimit: 30_000_000,
    extraData: '0x7a' as const,
    gasUsed: 21_000,
  }
  const header = createBlockHeader(given, { common })
  const { uncleHash, transactionsTrie, receiptTrie, coinbase, ...json } = header.toJSON()
  return {
    ...json,
    hash: toHex(header.hash()),
    sha3Uncles: uncleHash,
    transactionsRoot: transactionsTrie,
    receiptsRoot: receiptTrie,
    miner: coinbase,
  }
}

describe('the hash of an Ethereum header', () => {
  it('is that of block 1 of the main network', () => {
    expect(isVerified(FIRST)).toBe(true)
  })

  it.each<[string, readonly string[]]>([
    [Hardfork.Istanbul, []],
    [Hardfork.London, ['baseFeePerGas']],
    [Hardfork.Paris, ['baseFeePerGas']],
    [Hardfork.Shanghai, ['withdrawalsRoot']],
    [Hardfork.Cancun, ['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot']],
    [Hardfork.Prague, ['requestsHash']],
  ])('equals that of the library in %s', (hardfork, members) => {
    const fields = headerOf(hardfork)
    expect(Object.keys(fields)).toEqual(expect.arrayContaining([...members]))
    expect(isVerified(fields)).toBe(true)
    expect(isVerified({ ...fields, size: '0x200', totalDifficulty: null, withdrawals: [] })).toBe(true)
  })

  it.each<[string, object]>([
    ['the state root', { stateRoot: EMPTY_ROOT }],
    ['the seal', { nonce: '0x0000000000000000' }],
    ['a member of another fork', { baseFeePerGas: '0x7' }],
    ['the hash', { hash: EMPTY_ROOT }],
  ])('refuses a header with a forged %s', (_, lie) => {
    const told = { ...FIRST, ...lie }
    expect(read(told)).toMatch(/^the header of block 1 hashes to 0x[0-9a-f]{64}, not to 0x[0-9a-f]{64}$/)
    expect(read(told)).toMatch(new RegExp(`not to ${told.hash}$`))
  })

  it.each<[string, object]>([
    ['members that are not known', { hash: keccakHex(Uint8Array.of(1)), l1BlockNumber: '0x7' }],
    ['no seal', { mixHash: undefined, nonce: undefined }],
    ['a gap in the members of forks', { withdrawalsRoot: EMPTY_ROOT }],
  ])('cannot be checked with %s', (_, change) => {
    expect(isVerified({ ...FIRST, ...change })).toBe(false)
  })
})

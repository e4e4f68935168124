/** A header to vary in tests. */
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Header } from '../../src/chain/header.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'

/** A version 2 header of the local network with nothing in it, with the given changes. */
export function headerWith(changes: Partial<Header> = {}): Header {
  return {
    version: 2,
    parentHash: `0x${'11'.repeat(32)}`,
    unclesHash: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    coinbase: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 1n,
    number: 1,
    gasLimit: 10_000_000n,
    gasUsed: 0n,
    timestamp: 1_700_000_000,
    extraData: EMPTY,
    paidFees: 0n,
    minimumGasPrice: 0n,
    uncleCount: 0,
    ummRoot: EMPTY,
    edges: [],
    baseEvent: EMPTY,
    bitcoinHeader: EMPTY,
    merkleProof: EMPTY,
    coinbaseTransaction: EMPTY,
    ...changes,
  }
}

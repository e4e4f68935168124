/** Headers with a proof of work. */
import type { ChainConfig } from '../../src/chain/config.ts'
import type { Header } from '../../src/chain/header.ts'
import { ProofSearch, type ProofSearchOptions } from '../../src/chain/merged-mining/mine-header.ts'

/** Finds a proof at once; a local chain takes about three nonces. */
export function mineHeader(header: Header, config: ChainConfig, options: ProofSearchOptions): Header {
  const search = new ProofSearch(header, config, options)
  for (;;) {
    const proven = search.advance(0xffff_ffff)
    if (proven !== undefined) return proven
  }
}

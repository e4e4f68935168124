/** Files of raw blocks of the reference node's chains, and the head that it had after them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { type Header, headerHash } from '../../src/chain/header.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { referenceChains } from './reference-chains.ts'

/** The raw blocks of the first chain of a fixture, in the order in which the reference node took them. */
export function referenceBlocks(name: string): Hex[] {
  const [chain] = referenceChains(name)
  if (chain === undefined) throw new Error(`no chain ${name}`)
  return chain.blocks.map(([raw]) => raw)
}

/** The header that the reference node answered IMPORTED_BEST for last. */
export function referenceHead(name: string): Header & { readonly hash: Hex } {
  const best = referenceChains(name)[0]?.blocks.findLast(([, answer]) => answer === 'IMPORTED_BEST')
  if (best === undefined) throw new Error(`no best block in ${name}`)
  const { header } = decodeBlock(fromHex(best[0]), CHAINS.regtest)
  return { ...header, hash: headerHash(header, CHAINS.regtest) }
}

/** Writes blocks one after another into a file; its path. */
export function rlpFile(folder: string, blocks: readonly Hex[], name = 'blocks.rlp'): string {
  const path = join(folder, name)
  writeFileSync(path, concat(...blocks.map(fromHex)))
  return path
}

/** The block locator that federators asked for before RSKIP-89: hashes of the best chain at growing distances. */
import { concat, fromBigIntFixed } from '../../../../encoding/bytes.ts'
import { toFixedHex } from '../../../../encoding/hex.ts'
import { encodeBytes, encodeUnsigned } from '../../abi.ts'
import { utf8 } from '../events.ts'
import type { BridgeMethod } from '../method.ts'
import type { HeaderChain } from './header-chain.ts'

const MOST_HASHES = 100
const WORD = 32

/** Displayed hashes: the best block's, those 1, 2, 4, … blocks below it, and that of the first block known. */
function blockLocator(headers: HeaderChain): readonly string[] {
  const { height } = headers.best()
  const initial = headers.initialHeight()
  const depths = [0]
  for (let step = 1; height > initial && depths.length <= MOST_HASHES; step *= 2) {
    if (height - step <= initial) break
    depths.push(step)
  }
  if (height > initial) depths.push(height - initial)
  return depths.map((depth) => toFixedHex(headers.atDepth(depth)?.hash ?? 0n, WORD).slice(2))
}

/** ABI encoding of a list of strings. */
function encodeTexts(texts: readonly string[]): Uint8Array {
  const tails = texts.map((text) => encodeBytes(utf8(text)).subarray(WORD))
  let at = WORD * texts.length
  const heads = tails.map((tail) => {
    const head = encodeUnsigned(BigInt(at))
    at += tail.length
    return head
  })
  return concat(encodeUnsigned(BigInt(WORD)), fromBigIntFixed(BigInt(texts.length), WORD), ...heads, ...tails)
}

/** The method. */
export const LOCATOR_METHOD: BridgeMethod = {
  signature: 'getBtcBlockchainBlockLocator()',
  gas: 76_000n,
  until: 'rskip89',
  isView: true,
  run: ({ headers }) => encodeTexts(blockLocator(headers)),
}

/** Recognizes scripts that many keys spend, by the reference node's rules. */
import { EMPTY, equal } from '../encoding/bytes.ts'
import { fromHex } from '../encoding/hex.ts'
import { type Chunk, countOf, OP, tryParseScript, writeChunks } from './script.ts'

/** A recognized script. */
export interface Redeem {
  /** The whole of it. */
  readonly script: Uint8Array
  /** Signatures that spend it. */
  readonly required: number
  /** Public keys of the ordinary branch, in order. */
  readonly keys: readonly Uint8Array[]
  /** Has it a branch of emergency keys? */
  readonly hasEmergency: boolean
  /** The ordinary branch as a plain multisig script, without prefix and emergency keys. */
  readonly standard: Uint8Array
}

const isCheck = (chunk: Chunk | undefined): boolean =>
  chunk?.opcode === OP.CHECKMULTISIG || chunk?.opcode === OP.CHECKMULTISIGVERIFY

/** Least operations of a script of many keys. */
const MIN_CHUNKS = 4

/** Could it be a script of many keys, by how it ends? */
function endsLikeRedeem(chunks: readonly Chunk[]): boolean {
  if (chunks.length < MIN_CHUNKS) return false
  const last = chunks.at(-1)
  return isCheck(last) || (last?.opcode === OP.ENDIF && isCheck(chunks.at(-2)))
}

function isStandard(chunks: readonly Chunk[]): boolean {
  const [first] = chunks
  const count = chunks.at(-2)
  if (!endsLikeRedeem(chunks) || !isCheck(chunks.at(-1)) || first === undefined || count === undefined) {
    return false
  }
  if (countOf(first) === undefined) return false
  const keys = countOf(count)
  return keys !== undefined && chunks.length === keys + 3 && chunks.slice(1, -2).every(isPush)
}

/** Is it a push by the reference node's reckoning: data, also none? */
function isPush({ opcode }: Chunk): boolean {
  return opcode <= OP.PUSHDATA4
}

function isDelay([data, check, drop]: readonly (Chunk | undefined)[]): boolean {
  return (
    data !== undefined &&
    data.opcode <= OP[16] &&
    check?.opcode === OP.CHECKSEQUENCEVERIFY &&
    drop?.opcode === OP.DROP
  )
}

const CHECK: Chunk = { opcode: OP.CHECKMULTISIG }

/** Where the emergency branch begins. Throws a RangeError, as the reference node fails, when the script ends in the delay. */
function elseAt(chunks: readonly Chunk[]): number {
  const at = chunks.findIndex(({ opcode }, i) => i > 0 && opcode === OP.ELSE && chunks.length >= i + 3)
  if (at >= 0 && chunks.length === at + 3) throw new RangeError('a script that ends within the delay')
  return at
}

/** The ordinary branch of a script with emergency keys, both branches of which end `tail` operations before its end. */
function ordinaryBranch(
  chunks: readonly Chunk[],
  tail: number,
  finish: (branch: readonly Chunk[]) => readonly Chunk[],
): readonly Chunk[] | undefined {
  if (chunks[0]?.opcode !== OP.NOTIF || chunks.at(-tail)?.opcode !== OP.ENDIF) return undefined
  const at = elseAt(chunks)
  if (at < 0 || !isDelay(chunks.slice(at + 1, at + 4))) return undefined
  const ordinary = finish(chunks.slice(1, at))
  const emergency = finish(chunks.slice(at + 4, -tail))
  return isStandard(ordinary) && isStandard(emergency) ? ordinary : undefined
}

function emergencyBranch(chunks: readonly Chunk[]): readonly Chunk[] | undefined {
  return (
    ordinaryBranch(chunks, 1, (branch) => branch) ?? ordinaryBranch(chunks, 2, (branch) => [...branch, CHECK])
  )
}

function isPrefix(data: Chunk | undefined, drop: Chunk | undefined): boolean {
  return data?.opcode === 32 && drop?.opcode === OP.DROP
}

/** The script behind its prefixes, of which it may have any number. */
function withoutPrefixes(chunks: readonly Chunk[]): readonly Chunk[] {
  let start = 0
  while (isPrefix(chunks[start], chunks[start + 1]) && chunks.length - start - 2 >= MIN_CHUNKS) start += 2
  return chunks.slice(start)
}

/** The ordinary branch of a script of any form; `undefined` when it has none of them. */
function ordinaryOf(
  chunks: readonly Chunk[],
): { branch: readonly Chunk[]; hasEmergency: boolean } | undefined {
  if (!endsLikeRedeem(chunks)) return undefined
  const rest = withoutPrefixes(chunks)
  if (isStandard(rest)) return { branch: rest, hasEmergency: false }
  const branch = emergencyBranch(rest)
  return branch && { branch, hasEmergency: true }
}

/** A script of the public test network that the reference node does not recognize, which is consensus. */
export const UNRECOGNIZED_TESTNET_SCRIPT = fromHex(
  '0x6453210208f40073a9e43b3e9103acec79767a6de9b0409749884e989960fee578012fce210225e892391625854128c5c4ea4340de0c2a70570f33db53426fc9c746597a03f42102afc230c2d355b1a577682b07bc2646041b5d0177af0f98395a46018da699b6da210344a3c38cd59afcba3edcebe143e025574594b001700dec41e59409bdbd0f2a0921039a060badbeb24bee49eb2063f616c0f0f0765d4ca646b20a88ce828f259fcdb955670300cd50b27552210216c23b2ea8e4f11c3f9e22711addb1d16a93964796913830856b568cc3ea21d3210275562901dd8faae20de0a4166362a4f82188db77dbed4ca887422ea1ec185f1421034db69f2112f4fb1bb6141bf6e2bd6631f0484d0bd95b16767902c9fe219d4a6f5368ae',
)

/**
 * What a script is; `undefined` when it is not of a known form, or requires no signature. Throws a RangeError where the
 * reference node fails: for a count that is no number, and for a script that ends within the delay.
 */
export function parseRedeem(script: Uint8Array): Redeem | undefined {
  const chunks = tryParseScript(script)
  if (chunks === undefined || equal(script, UNRECOGNIZED_TESTNET_SCRIPT)) return undefined
  const ordinary = ordinaryOf(chunks)
  const first = ordinary?.branch[0]
  if (ordinary === undefined || first === undefined) return undefined
  const required = countOf(first)
  if (required === undefined || required === 0) return undefined
  return {
    script,
    required,
    keys: ordinary.branch.slice(1, -2).map(({ data }) => data ?? EMPTY),
    hasEmergency: ordinary.hasEmergency,
    standard: writeChunks(ordinary.branch),
  }
}

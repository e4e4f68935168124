/** Call frames with what ERC-7562 restricts, as bundlers of ERC-4337 ask for: geth's `erc7562Tracer`. */
import { z } from 'zod'
import { toFixedHex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { Erc7562Tracer, type FrameAccess } from '../../../evm/tracing/erc7562-tracer.ts'
import { arrayOf, mapped } from '../../parameter.ts'
import { AddressText, DataText, HashText, Quantity, wholeNumber } from '../scalars.ts'
import { CallFrameObject, type RpcCallFrame, toRpcCallTree } from './call-tracer.ts'
import { absentAs, OFF } from './options.ts'
import { ITEM_BYTES } from './reply-size.ts'
import { tracer } from './tracer-record.ts'

const Counts = z.record(HashText, z.int().positive())

/** A frame with its calls; `accessedSlots.reads` holds the value of each slot at its first read. */
const Erc7562FrameObject = CallFrameObject.omit({ calls: true }).extend({
  accessedSlots: z.strictObject({
    reads: z.record(HashText, z.array(HashText)),
    writes: Counts,
    transientReads: Counts,
    transientWrites: Counts,
  }),
  extCodeAccessInfo: z.array(AddressText),
  usedOpcodes: z.record(z.string().regex(/^0x[0-9a-f]{1,2}$/), z.int().positive()),
  contractSize: z.record(
    AddressText,
    z.strictObject({ contractSize: z.int().nonnegative(), opcode: z.int().nonnegative() }),
  ),
  outOfGas: z.boolean(),
  keccak: z.array(DataText).optional(),
  get calls() {
    return z.array(Erc7562FrameObject).optional()
  },
})
z.globalRegistry.add(Erc7562FrameObject, {
  id: 'Erc7562Frame',
  description: 'A call with the opcodes, slots and code that it used (erc7562Tracer)',
})
type RpcErc7562Frame = z.infer<typeof Erc7562FrameObject>

/** PUSH, DUP and SWAP, and arithmetic that the rules do not restrict. */
const IGNORED: readonly number[] = [
  ...Array.from({ length: 0x9f - 0x5f + 1 }, (_, i) => 0x5f + i),
  ...[0x50, 0x01, 0x03, 0x02, 0x04, 0x14, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x1c, 0x16, 0x17, 0x19, 0x15],
]

interface Options {
  readonly withLog: boolean
  readonly ignoredOpcodes: readonly number[]
  /** Words of the stack that geth keeps for its checks; no check needs more than one. */
  readonly stackTopItemsSize: number
}

/** The `erc7562Tracer`. */
export const erc7562Tracer = tracer<Options, RpcErc7562Frame>({
  name: 'erc7562Tracer',
  summary: 'the tree of calls with the opcodes, slots, code sizes and hashed data that ERC-7562 restricts',
  options: {
    withLog: OFF,
    ignoredOpcodes: absentAs(arrayOf(mapped(Quantity, Number)), IGNORED),
    stackTopItemsSize: absentAs(wholeNumber('words of the stack that are kept', 1024), 3),
  },
  result: Erc7562FrameObject,
  start({ withLog, ignoredOpcodes }, limits) {
    const recorded = new Erc7562Tracer(limits.budget, new Set(ignoredOpcodes))
    return {
      tracer: recorded,
      result(place) {
        const { root, access, preimages } = recorded
        limits.size(accessBytes(access) + preimages.reduce((sum, { length }) => sum + length, 0))
        const frames = toRpcCallTree(root, { onlyTopCall: false, withLog }, place, limits)
        const frame = withAccess(frames, root, access)
        return preimages.length === 0 ? frame : { ...frame, keccak: [...preimages] }
      },
    }
  },
})

/** Bytes of what a frame and those below it used. */
function accessBytes({
  reads,
  writes,
  transientReads,
  transientWrites,
  codeReads,
  sizes,
  opcodes,
  calls,
}: FrameAccess): number {
  const slots = 2 * reads.size + writes.size + transientReads.size + transientWrites.size
  const own = ITEM_BYTES * (1 + slots + codeReads.length + sizes.size + opcodes.size)
  return calls.reduce((sum, call) => sum + accessBytes(call), own)
}

const hash = (word: bigint) => toFixedHex(word, 32)

function countsOf(counts: ReadonlyMap<bigint, number>): z.infer<typeof Counts> {
  return Object.fromEntries([...counts].map(([slot, count]) => [hash(slot), count]))
}

/** Did gas run out in a frame? Of the transaction's own frame geth does not say so. */
function isOutOfGas({ depth, failure }: CallFrame): boolean {
  return depth > 0 && failure?.cause !== undefined && failure.cause.kind.endsWith('out-of-gas')
}

function withAccess(shown: RpcCallFrame, frame: CallFrame, access: FrameAccess): RpcErc7562Frame {
  const { calls = [], ...rest } = shown
  const isCreation = frame.kind === 'create' || frame.kind === 'create2'
  const below = calls.flatMap((call, i) => {
    const [child, used] = [frame.calls[i], access.calls[i]]
    return child === undefined || used === undefined ? [] : [withAccess(call, child, used)]
  })
  return {
    ...rest,
    // The code of a creation, not its address.
    ...(isCreation && frame.failure === undefined && { output: toHex(frame.output) }),
    accessedSlots: {
      reads: Object.fromEntries([...access.reads].map(([slot, value]) => [hash(slot), [hash(value)]])),
      writes: countsOf(access.writes),
      transientReads: countsOf(access.transientReads),
      transientWrites: countsOf(access.transientWrites),
    },
    extCodeAccessInfo: [...access.codeReads],
    usedOpcodes: Object.fromEntries([...access.opcodes].map(([code, count]) => [toQuantity(code), count])),
    contractSize: Object.fromEntries(
      [...access.sizes].map(([address, { size, opcode }]) => [address, { contractSize: size, opcode }]),
    ),
    outOfGas: isOutOfGas(frame),
    ...(below.length > 0 && { calls: below }),
  }
}

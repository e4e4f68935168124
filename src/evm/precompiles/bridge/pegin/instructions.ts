/** Instructions that a peg-in carries in an output: who receives the coins, and where they go back to (RSKIP-170). */
import { DESTINATION_BYTES, type Destination } from '../../../../bitcoin/output-script.ts'
import { OP, parseScript } from '../../../../bitcoin/script.ts'
import type { Output, Transaction } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { type Hex, toHex } from '../../../../encoding/hex.ts'

/** Instructions of version 1. */
export interface PeginInstructions {
  readonly receiver: Hex
  /** `undefined` when they name none. */
  readonly refund: Destination | undefined
}

/** First bytes of instructions, `RSKT`; the version follows. */
const TAG = Uint8Array.of(0x52, 0x53, 0x4b, 0x54)
const VERSION = 1
const RECEIVER_AT = TAG.length + 1
const REFUND_KIND_AT = RECEIVER_AT + 20
const REFUND_AT = REFUND_KIND_AT + 1
const REFUND_KINDS: Readonly<Record<number, Destination['kind']>> = { 1: 'publicKeyHash', 2: 'scriptHash' }

/** What an output has after OP_RETURN if that begins with the tag. Throws a RangeError for a script that ends within a push. */
function taggedData({ script }: Output): Uint8Array | undefined {
  const [first, push] = parseScript(script)
  const data = first?.opcode === OP.RETURN ? push?.data : undefined
  return data !== undefined && equal(data.subarray(0, TAG.length), TAG) ? data : undefined
}

function refundOf(data: Uint8Array): Destination {
  const kind = REFUND_KINDS[data[REFUND_KIND_AT] ?? 0]
  if (kind === undefined) throw new RangeError('instructions with an unknown kind of refund address')
  return { kind, hash: data.slice(REFUND_AT) }
}

/**
 * The instructions; `undefined` when there are none. Throws a RangeError for instructions of another version or length, for
 * two of them, and when any output has a script that ends within a push.
 */
export function instructionsOf({ outputs }: Transaction): PeginInstructions | undefined {
  const [data, second] = outputs.map(taggedData).filter((data) => data !== undefined)
  if (data === undefined) return undefined
  if (second !== undefined) throw new RangeError('a transaction with two instructions')
  if (data[TAG.length] !== VERSION) throw new RangeError('instructions of an unknown version')
  const hasRefund = data.length === REFUND_AT + DESTINATION_BYTES
  if (!hasRefund && data.length !== REFUND_KIND_AT) throw new RangeError('instructions of a wrong length')
  return {
    receiver: toHex(data.subarray(RECEIVER_AT, REFUND_KIND_AT)),
    refund: hasRefund ? refundOf(data) : undefined,
  }
}

/**
 * Does an input spend an output to a script's hash? Only for scripts of many keys and witness programs: nobody has the
 * preimage of a federation's hash but its script, so no others are executed. The flags are the reference node's: null dummy,
 * strict DER, relative lock times; a witness is not executed.
 */
import { EMPTY, equal, toBigInt } from '../encoding/bytes.ts'
import { hash160 } from './hash.ts'
import { type Chunk, OP, parseScript } from './script.ts'
import { legacySighash } from './sighash.ts'
import { decodeForInput, isSignedBy } from './signature.ts'
import type { Transaction } from './transaction.ts'

const MAX_SCRIPT_BYTES = 10_000
const MAX_PUSH_BYTES = 520
const MAX_STACK = 1000
const MAX_OPERATIONS = 201
const MAX_KEYS = 20
const MAX_NUMBER_BYTES = 4
const MAX_SEQUENCE_BYTES = 5

/** Bits of a sequence (BIP-68): no lock, lock by time, and the value with the latter. */
const LOCK_DISABLED = 0x80000000
const LOCK_BY_TIME = 0x400000
const LOCK_MASK = 0x40ffff
const LOCK_VERSION = 2

/** Thrown when a script fails. */
class ScriptFailure extends Error {}

/** False are zero bytes only, also before a last byte that is a sign. */
function isTrue(item: Uint8Array): boolean {
  const at = item.findIndex((byte) => byte !== 0)
  return at >= 0 && !(at === item.length - 1 && item[at] === 0x80)
}

/** A number of at most so many bytes, lowest first, the highest bit its sign. */
function numberOf(item: Uint8Array, maxBytes: number): number {
  if (item.length > maxBytes) throw new ScriptFailure('a number with too many bytes')
  const magnitude = item.slice().reverse()
  const [first = 0] = magnitude
  magnitude.fill(first & 0x7f, 0, 1)
  const value = Number(toBigInt(magnitude))
  return first >= 0x80 ? -value : value
}

/** Executes one script after another on the same stack, for one input. */
class Execution {
  readonly #transaction: Transaction
  readonly #index: number
  readonly #stack: Uint8Array[]
  /** Of the script that runs, by type: many signatures sign the same. */
  readonly #sighashes = new Map<number, Uint8Array>()

  constructor(transaction: Transaction, index: number, stack: readonly Uint8Array[]) {
    this.#transaction = transaction
    this.#index = index
    this.#stack = [...stack]
  }

  /** Throws a ScriptFailure unless the script ends with a true item. */
  run(script: Uint8Array): void {
    this.#sighashes.clear()
    const branches: boolean[] = []
    let operations = 0
    for (const chunk of parseScript(script)) {
      if (chunk.opcode > OP[16] && ++operations > MAX_OPERATIONS)
        throw new ScriptFailure('too many operations')
      if (this.#branch(chunk, branches) || branches.includes(false)) continue
      operations += this.#step(chunk, script, operations)
      if (this.#stack.length > MAX_STACK) throw new ScriptFailure('too many items')
    }
    if (branches.length > 0) throw new ScriptFailure('a branch without an end')
    if (!isTrue(this.#pop())) throw new ScriptFailure('a script that ends with false')
  }

  #pop(): Uint8Array {
    const item = this.#stack.pop()
    if (item === undefined) throw new ScriptFailure('an empty stack')
    return item
  }

  /** Is the operation one of branches? Then they are changed. */
  #branch({ opcode, data }: Chunk, branches: boolean[]): boolean {
    if (data !== undefined && data.length > MAX_PUSH_BYTES) throw new ScriptFailure('a push that is too long')
    if (opcode === OP.NOTIF) branches.push(branches.includes(false) ? false : !isTrue(this.#pop()))
    else if (opcode === OP.ELSE || opcode === OP.ENDIF) {
      const branch = branches.pop()
      if (branch === undefined) throw new ScriptFailure('an end without a branch')
      if (opcode === OP.ELSE) branches.push(!branch)
    } else return false
    return true
  }

  /** Executes an operation; the result counts as operations too. */
  #step({ opcode, data }: Chunk, script: Uint8Array, operations: number): number {
    if (data !== undefined) this.#stack.push(data)
    else if (opcode >= OP[1] && opcode <= OP[16]) this.#stack.push(Uint8Array.of(opcode - OP[1] + 1))
    else if (opcode === OP.DROP) this.#pop()
    else if (opcode === OP.CHECKSEQUENCEVERIFY) this.#checkSequence()
    else if (opcode === OP.CHECKMULTISIG) return this.#checkMultisig(script, operations)
    else throw new ScriptFailure('an operation that no script of many keys has')
    return 0
  }

  #checkSequence(): void {
    const required = numberOf(this.#stack.at(-1) ?? this.#pop(), MAX_SEQUENCE_BYTES)
    const sequence = this.#transaction.inputs[this.#index]?.sequence ?? 0
    if (required < 0) throw new ScriptFailure('a negative lock time')
    if (required % 2 ** 32 >= LOCK_DISABLED) return
    const [lock, given] = [required & LOCK_MASK, sequence & LOCK_MASK]
    const isOfSameKind = lock >= LOCK_BY_TIME === given >= LOCK_BY_TIME
    const isLocked = this.#transaction.version >= LOCK_VERSION && sequence < LOCK_DISABLED
    if (!isLocked || !isOfSameKind || lock > given) throw new ScriptFailure('a lock time that has not passed')
  }

  #items(most: number): Uint8Array[] {
    const count = numberOf(this.#pop(), MAX_NUMBER_BYTES)
    if (count < 0 || count > most) throw new ScriptFailure('a count out of range')
    return Array.from({ length: count }, () => this.#pop())
  }

  #checkMultisig(script: Uint8Array, operations: number): number {
    const keys = this.#items(MAX_KEYS)
    if (operations + keys.length > MAX_OPERATIONS) throw new ScriptFailure('too many operations')
    const signatures = this.#items(keys.length)
    if (this.#pop().length > 0) throw new ScriptFailure('a first item that is not empty')
    this.#stack.push(this.#areSigned(signatures, keys, script) ? Uint8Array.of(1) : EMPTY)
    return keys.length
  }

  /** Is each signature by one of the keys, in their order? */
  #areSigned(signatures: readonly Uint8Array[], keys: readonly Uint8Array[], script: Uint8Array): boolean {
    let signed = 0
    for (const [i, key] of keys.entries()) {
      const signature = signatures[signed]
      if (signature === undefined) return true
      if (signatures.length - signed > keys.length - i) return false
      if (this.#isSigned(signature, key, script)) signed++
    }
    return signed === signatures.length
  }

  #isSigned(bytes: Uint8Array, key: Uint8Array, script: Uint8Array): boolean {
    const decoded = decodeForInput(bytes)
    if (decoded === undefined) return false
    return isSignedBy(this.#sighash(script, decoded.type), decoded.signature, key)
  }

  #sighash(script: Uint8Array, type: number): Uint8Array {
    const known = this.#sighashes.get(type)
    if (known !== undefined) return known
    const hash = legacySighash(this.#transaction, this.#index, script, type)
    this.#sighashes.set(type, hash)
    return hash
  }
}

/** The items that a script of pushes only leaves; throws a ScriptFailure for any other. */
function pushedItems(script: Uint8Array): Uint8Array[] {
  if (script.length > MAX_SCRIPT_BYTES) throw new ScriptFailure('a script that is too long')
  const chunks = parseScript(script)
  if (chunks.length > MAX_STACK) throw new ScriptFailure('too many items')
  return chunks.map(({ opcode, data }) => {
    if (data !== undefined && data.length <= MAX_PUSH_BYTES) return data
    if (opcode >= OP[1] && opcode <= OP[16]) return Uint8Array.of(opcode - OP[1] + 1)
    if (opcode === OP.NEGATE1) return Uint8Array.of(0x81)
    throw new ScriptFailure('an input with more than pushes')
  })
}

/** Does an input spend, by its script, an output to a script of this hash? */
export function spendsScriptHash(transaction: Transaction, index: number, scriptHash: Uint8Array): boolean {
  try {
    const items = pushedItems(transaction.inputs[index]?.script ?? EMPTY)
    const script = items.pop()
    if (script === undefined || !equal(hash160(script), scriptHash)) return false
    new Execution(transaction, index, items).run(script)
    return true
  } catch (error) {
    if (error instanceof ScriptFailure || error instanceof RangeError) return false
    throw error
  }
}

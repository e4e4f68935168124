/** May an input spend an output? The scripts of both, of script hashes (BIP-16) and of witnesses (BIP-141). */
import { equal } from '../../encoding/bytes.ts'
import { sha256 } from '../../encoding/hash.ts'
import { isPayToScriptHash, outputScript } from '../output-script.ts'
import { OP, push } from '../script.ts'
import { MAX_ITEM, runScript } from './execution.ts'
import { RULE } from './flags.ts'
import { isPushOnly, OP_RESERVED } from './opcodes.ts'
import { demand, ScriptFailure } from './script-failure.ts'
import { isTrue } from './script-number.ts'
import type { SignatureChecker } from './signature-checker.ts'

/** A version and the bytes that a witness has to fit (BIP-141). */
export interface WitnessProgram {
  readonly version: number
  readonly program: Uint8Array
}

const KEY_HASH_BYTES = 20
const SCRIPT_HASH_BYTES = 32

/** The witness program that a script consists of; `undefined` for other scripts. */
export function witnessProgramOf(script: Uint8Array): WitnessProgram | undefined {
  const { length } = script
  const [code = 0, size] = script
  if (length < 4 || length > 42 || size !== length - 2) return undefined
  if (code !== 0 && (code < OP[1] || code > OP[16])) return undefined
  return { version: code === 0 ? 0 : code - OP_RESERVED, program: script.slice(2) }
}

/** What an input spends, and with what. */
export interface Spending {
  /** Script of the input. */
  readonly unlocking: Uint8Array
  /** Script of the output. */
  readonly locking: Uint8Array
  readonly witness: readonly Uint8Array[]
}

function checkTop(stack: readonly Uint8Array[]): void {
  const top = stack.at(-1)
  demand(top !== undefined && isTrue(top), 'EVAL_FALSE')
}

function runWitness(
  script: Uint8Array,
  items: readonly Uint8Array[],
  rules: number,
  checker: SignatureChecker,
): void {
  demand(
    items.every(({ length }) => length <= MAX_ITEM),
    'PUSH_SIZE',
  )
  const stack = [...items]
  runScript(script, stack, { rules, checker, isWitness: true })
  demand(stack.length === 1, 'CLEANSTACK')
  checkTop(stack)
}

function runVersion0(
  program: Uint8Array,
  witness: readonly Uint8Array[],
  rules: number,
  checker: SignatureChecker,
): void {
  if (program.length === KEY_HASH_BYTES) {
    demand(witness.length === 2, 'WITNESS_PROGRAM_MISMATCH')
    runWitness(outputScript({ kind: 'publicKeyHash', hash: program }), witness, rules, checker)
    return
  }
  demand(program.length === SCRIPT_HASH_BYTES, 'WITNESS_PROGRAM_WRONG_LENGTH')
  const script = witness.at(-1)
  if (script === undefined) throw new ScriptFailure('WITNESS_PROGRAM_WITNESS_EMPTY')
  demand(equal(sha256(script), program), 'WITNESS_PROGRAM_MISMATCH')
  runWitness(script, witness.slice(0, -1), rules, checker)
}

function runProgram(
  { version, program }: WitnessProgram,
  witness: readonly Uint8Array[],
  rules: number,
  checker: SignatureChecker,
  isBehindHash: boolean,
): void {
  if (version === 0) {
    runVersion0(program, witness, rules, checker)
    return
  }
  const isTaproot = version === 1 && program.length === SCRIPT_HASH_BYTES && !isBehindHash
  if (isTaproot && (rules & RULE.TAPROOT) !== 0) throw new ScriptFailure('TAPROOT_UNSUPPORTED')
  const isFuture = (rules & RULE.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM) !== 0
  demand(!isFuture, 'DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM')
}

/** One input's verification. */
class Verification {
  readonly #spending: Spending
  readonly #rules: number
  readonly #checker: SignatureChecker
  #hadWitness = false

  constructor(spending: Spending, rules: number, checker: SignatureChecker) {
    this.#spending = spending
    this.#rules = rules
    this.#checker = checker
  }

  run(): void {
    const { unlocking, locking, witness } = this.#spending
    if (this.#has(RULE.SIGPUSHONLY)) demand(isPushOnly(unlocking), 'SIG_PUSHONLY')
    const stack: Uint8Array[] = []
    this.#runScript(unlocking, stack)
    const pushed = [...stack]
    this.#runScript(locking, stack)
    checkTop(stack)
    let final = this.#runProgramOf(locking) ? stack.slice(0, 1) : stack
    if (this.#has(RULE.P2SH) && isPayToScriptHash(locking)) final = this.#runBehindHash(pushed)
    if (this.#has(RULE.CLEANSTACK)) demand(final.length === 1, 'CLEANSTACK')
    if (this.#has(RULE.WITNESS)) demand(this.#hadWitness || witness.length === 0, 'WITNESS_UNEXPECTED')
  }

  #has(rule: number): boolean {
    return (this.#rules & rule) !== 0
  }

  #runScript(script: Uint8Array, stack: Uint8Array[]): void {
    runScript(script, stack, { rules: this.#rules, checker: this.#checker, isWitness: false })
  }

  /** Runs the witness when the output's script is a witness program; false when it is none. */
  #runProgramOf(locking: Uint8Array): boolean {
    const program = this.#has(RULE.WITNESS) ? witnessProgramOf(locking) : undefined
    if (program === undefined) return false
    this.#hadWitness = true
    demand(this.#spending.unlocking.length === 0, 'WITNESS_MALLEATED')
    runProgram(program, this.#spending.witness, this.#rules, this.#checker, false)
    return true
  }

  /** Runs the script that the input pushed last. */
  #runBehindHash(stack: Uint8Array[]): Uint8Array[] {
    const { unlocking, witness } = this.#spending
    demand(isPushOnly(unlocking), 'SIG_PUSHONLY')
    const script = stack.pop()
    if (script === undefined) throw new ScriptFailure('EVAL_FALSE')
    this.#runScript(script, stack)
    checkTop(stack)
    const program = this.#has(RULE.WITNESS) ? witnessProgramOf(script) : undefined
    if (program === undefined) return stack
    this.#hadWitness = true
    demand(equal(unlocking, push(script)), 'WITNESS_MALLEATED_P2SH')
    runProgram(program, witness, this.#rules, this.#checker, true)
    return stack.slice(0, 1)
  }
}

/** Throws a `ScriptFailure` when the input may not spend the output under the rules (bits of `RULE`). */
export function verifySpending(spending: Spending, rules: number, checker: SignatureChecker): void {
  new Verification(spending, rules, checker).run()
}

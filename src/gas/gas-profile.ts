/** Adds up where transactions spent gas: as a tree of the functions that called each other. */
import type { Transaction } from '../chain/transaction.ts'
import { GAS } from '../evm/gas-schedule.ts'
import type { CodeMap } from '../source-level/code-map.ts'
import { calledFunction } from '../source-level/stack/called-messages.ts'
import type { CodeOf } from '../source-level/stack/message-run.ts'
import { GasNode } from './gas-node.ts'
import type { GasMessage } from './gas-recorder.ts'
import { MessageStack } from './message-stack.ts'
import type { GasFrame, GasReport, GasStats } from './model.ts'
import { groupOf } from './opcode-groups.ts'
import { addGas, addStats, keyOf, Rows } from './rows.ts'

/** A transaction that was mined. */
export interface SpentGas {
  readonly transaction: Pick<Transaction, 'to'>
  /** The receipt's. */
  readonly gasUsed: number
  readonly intrinsic: number
  /** Absent where the run was not recorded. */
  readonly root: GasMessage | undefined
}

const FRAMES = {
  intrinsic: { name: '(intrinsic gas)' },
  deposit: { name: '(code deposit)' },
  unrecorded: { name: '(not recorded)' },
} as const satisfies Record<string, GasFrame>

/** Instructions between two pauses. */
const PAUSE_INSTRUCTIONS = 16_384

/** Called again and again; a promise is waited for. */
type Pause = () => Promise<void> | undefined

/** The gas of transactions. */
export class GasProfile {
  readonly #root = new GasNode({ name: 'all' })
  readonly #deployments = new Rows<GasStats>(addStats)
  readonly #methods = new Rows<GasStats>(addStats)
  readonly #opcodes = new Rows<GasReport['opcodes'][number]>(addGas)
  readonly #lines = new WeakMap<CodeMap, (GasFrame | null | undefined)[]>()
  #transactions = 0
  #gasUsed = 0
  #refunds = 0

  /** Adds a transaction; the gas of all frames less the refund is that of its receipt. It may have run millions of instructions. */
  async add(
    { transaction, gasUsed, intrinsic, root }: SpentGas,
    codeOf: CodeOf,
    pause: Pause = () => undefined,
  ): Promise<void> {
    this.#transactions++
    this.#gasUsed += gasUsed
    if (root === undefined) {
      this.#root.child(FRAMES.unrecorded).spend(gasUsed, undefined)
      return
    }
    this.#refunds += intrinsic + root.gasUsed - gasUsed
    this.#root.child(FRAMES.intrinsic).spend(intrinsic, undefined)
    await this.#visit(root, codeOf, pause)
    this.#count(transaction, root, codeOf(root), gasUsed)
  }

  /** What was added so far. */
  report(notes: readonly string[]): GasReport {
    return {
      transactions: this.#transactions,
      gasUsed: this.#gasUsed,
      refunds: this.#refunds,
      deployments: this.#deployments.all,
      methods: this.#methods.all,
      opcodes: this.#opcodes.all,
      ...tablesOf(this.#root),
      notes: [...notes],
    }
  }

  async #visit(message: GasMessage, codeOf: CodeOf, pause: Pause): Promise<void> {
    const waiting: { message: GasMessage; above: GasNode }[] = [{ message, above: this.#root }]
    const onSent = (sent: GasMessage, above: GasNode) => void waiting.push({ message: sent, above })
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const code = codeOf(next.message)
      const stack = new MessageStack(next.above.child(frameOf(next.message, code)), next.message, code)
      stack.top.calls++
      for (const _ of this.#spend(next.message, code, stack, onSent)) await pause()
    }
  }

  /** Adds what each instruction of a message spent; pauses at each `yield`. */
  *#spend(
    message: GasMessage,
    code: CodeMap | undefined,
    stack: MessageStack,
    onSent: (message: GasMessage, node: GasNode) => void,
  ): Generator<void, void, void> {
    const byOpcode = new Float64Array(256)
    let sent = 0
    const { pcs } = message
    const deposit = depositOf(message)
    // What was spent before the first instruction: all of a message without code.
    stack.top.spend(message.gas - message.left(0) - (pcs.length === 0 ? deposit : 0), undefined)
    for (const [index, pc] of pcs.entries()) {
      let gas = message.left(index) - message.left(index + 1)
      if (index === pcs.length - 1) gas -= deposit
      const node = stack.enter(pc)
      for (let next = message.sent[sent]; next?.after === index + 1; next = message.sent[++sent]) {
        gas -= next.message.gasUsed
        onSent(next.message, node)
      }
      node.spend(gas, code && this.#lineAt(code, pc))
      const opcode = message.code?.[pc] ?? 0
      byOpcode[opcode] = (byOpcode[opcode] ?? 0) + gas
      if (index % PAUSE_INSTRUCTIONS === PAUSE_INSTRUCTIONS - 1) yield
    }
    if (deposit > 0) stack.top.child(FRAMES.deposit).spend(deposit, undefined)
    this.#addOpcodes(nameOf(message, code), byOpcode)
  }

  #addOpcodes(contract: string, byOpcode: Float64Array): void {
    for (const [opcode, gas] of byOpcode.entries()) {
      if (gas === 0) continue
      const group = groupOf(opcode)
      this.#opcodes.take(keyOf(contract, group), { contract, group, gas })
    }
  }

  #lineAt(code: CodeMap, pc: number): GasFrame | undefined {
    let lines = this.#lines.get(code)
    if (lines === undefined) {
      lines = []
      this.#lines.set(code, lines)
    }
    const known = lines[pc]
    if (known !== undefined) return known ?? undefined
    const range = code.at(pc)?.range
    const around = range && (range.file.functionAround(range) ?? code.contract === undefined)
    const found = range && around ? lineFrame(range.file.path, range.file.positionOf(range.start).line) : null
    lines[pc] = found
    return found ?? undefined
  }

  #count(
    { to }: Pick<Transaction, 'to'>,
    root: GasMessage,
    code: CodeMap | undefined,
    gasUsed: number,
  ): void {
    const table = to === null ? this.#deployments : this.#methods
    // A transfer is no call of a method.
    if (to !== null && root.code === undefined) return
    const contract = nameOf(root, code)
    const called = to === null ? undefined : functionOf(root, code)
    table.take(keyOf(contract, called), {
      contract,
      ...(called !== undefined && { function: called }),
      calls: 1,
      min: gasUsed,
      max: gasUsed,
      total: gasUsed,
    })
  }
}

const lineFrame = (file: string, line: number): GasFrame => ({ name: `${file}:${line}`, file, line })

function nameOf({ to, isPrecompile, kind }: GasMessage, code: CodeMap | undefined): string {
  if (code !== undefined) return code.name
  if (kind === 'create' || kind === 'create2') return '(unknown contract)'
  return isPrecompile ? `(precompile ${to ?? ''})` : (to ?? '(unknown contract)')
}

function functionOf(message: GasMessage, code: CodeMap | undefined): string {
  if (code?.isCreation) return 'constructor'
  if (code !== undefined) return calledFunction(code, message)?.name ?? '(no function)'
  if (message.kind === 'create' || message.kind === 'create2') return 'constructor'
  return message.input.length < 4
    ? '(no data)'
    : `0x${Buffer.from(message.input.subarray(0, 4)).toString('hex')}`
}

/** The frame of a message. */
function frameOf(message: GasMessage, code: CodeMap | undefined): GasFrame {
  const contract = nameOf(message, code)
  if (message.isPrecompile || (message.code === undefined && code === undefined)) {
    return { name: contract }
  }
  const range = code && (calledFunction(code, message)?.range ?? code.contract?.range)
  return {
    name: `${contract}.${functionOf(message, code)}`,
    contract,
    ...(range && { file: range.file.path, line: range.file.positionOf(range.start).line }),
  }
}

/** What the code of a new contract costs, if it was stored. */
function depositOf({ kind, failure, output }: GasMessage): number {
  const creates = kind === 'create' || kind === 'create2'
  return creates && failure === undefined ? output.length * GAS.codeDepositByte : 0
}

type Tables = Pick<GasReport, 'functions' | 'lines' | 'frames' | 'stacks'>

/** The tables that follow from a tree. */
function tablesOf(root: GasNode): Tables {
  const frames: GasFrame[] = []
  const indexes = new Map<string, number>()
  const indexOf = (frame: GasFrame): number => {
    const key = JSON.stringify(frame)
    const known = indexes.get(key) ?? frames.push(frame) - 1
    indexes.set(key, known)
    return known
  }
  const functions = new Map<number, GasReport['functions'][number]>()
  const lines = new Map<number, GasReport['lines'][number]>()
  const stacks: GasReport['stacks'] = []

  const visit = (node: GasNode, path: readonly number[]): number => {
    let self = node.self
    if (node.self !== 0) stacks.push({ frames: [...path], gas: node.self })
    for (const { frame, gas } of node.lines.values()) {
      self += gas
      const index = indexOf(frame)
      stacks.push({ frames: [...path, index], gas })
      const line = lines.get(index)
      if (line !== undefined) line.gas += gas
      else lines.set(index, { file: frame.file ?? '', line: frame.line ?? 0, gas })
    }
    let total = self
    for (const child of node.children.values()) total += visit(child, [...path, indexOf(child.frame)])
    const { contract } = node.frame
    const own = path.at(-1)
    if (contract === undefined || own === undefined) return total
    const known = functions.get(own) ?? functionRow(node.frame, contract)
    known.calls += node.calls
    known.self += self
    // Of a function that calls itself, the outermost call has it all.
    if (!path.slice(0, -1).includes(own)) known.total += total
    functions.set(own, known)
    return total
  }
  visit(root, [])
  return { functions: [...functions.values()], lines: [...lines.values()], frames, stacks }
}

function functionRow({ name, file, line }: GasFrame, contract: string): GasReport['functions'][number] {
  return {
    contract,
    function: name.slice(contract.length + 1),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    calls: 0,
    self: 0,
    total: 0,
  }
}

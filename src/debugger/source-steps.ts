/** An execution at the level of sources: the functions that are open at each step, and the steps at which statements begin. */
import { JUMPDEST, PUSH0, sizeOf } from '../evm/code-analysis.ts'
import type { CodeMap } from '../source-level/code-map.ts'
import type { RecordedMessage } from '../source-level/message-recorder.ts'
import { contains, type FunctionModel, type SourceRange } from '../source-level/source-file.ts'
import type { JumpKind } from '../source-level/source-map.ts'
import type { DebugSources } from './debug-sources.ts'
import type { Execution } from './execution.ts'
import type { Statement } from './function-scope.ts'
import { GrowingList } from './growing-list.ts'

const JUMPI = 0x57
const PUSH4 = PUSH0 + 4
/** Internal calls that are open at once: each has its return address on the stack, which holds 1024 words. */
const MOST_OPEN = 1024
/** Calls of one execution that are told apart. */
const MOST_FRAMES = 1_000_000
/** Steps between two pauses, some 2 ms. */
const PAUSE_STEPS = 8192

/** The map of the code that a message ran, and the sources of its compilation. */
export interface MappedCode {
  readonly code: CodeMap
  readonly sources: DebugSources
}

/** A function that runs, or code without a map. */
export interface SourceFrame {
  readonly id: number
  /** That called it. */
  readonly parent: SourceFrame | undefined
  readonly depth: number
  readonly message: RecordedMessage
  readonly mapped: MappedCode | undefined
  /** Is it the first one of its message, and not a call within the code? */
  readonly isBase: boolean
  /** Its first step. */
  readonly entry: number
  /** What is called; absent in code that the compiler generated. */
  readonly function: FunctionModel | undefined
  /** The first statement of each function in it: of those that are no internal calls, such as constructors. */
  readonly firstStops: ReadonlyMap<FunctionModel, number>
}

class OpenFrame implements SourceFrame {
  readonly id: number
  readonly parent: SourceFrame | undefined
  readonly depth: number
  readonly message: RecordedMessage
  readonly mapped: MappedCode | undefined
  readonly isBase: boolean
  readonly entry: number
  function: FunctionModel | undefined
  readonly firstStops = new Map<FunctionModel, number>()
  /** That which runs. */
  statement: Statement | undefined

  constructor(frame: Omit<SourceFrame, 'depth' | 'firstStops'>) {
    this.id = frame.id
    this.parent = frame.parent
    this.depth = frame.parent === undefined ? 0 : frame.parent.depth + 1
    this.message = frame.message
    this.mapped = frame.mapped
    this.isBase = frame.isBase
    this.entry = frame.entry
    this.function = frame.function
  }
}

/** What is known of an instruction. */
interface InstructionInfo {
  readonly jump: JumpKind
  readonly isLanding: boolean
  readonly range: SourceRange | undefined
  readonly statement: Statement | undefined
  /**
   * Of a JUMPI, the statement that runs if it jumps: of `if (a) break;` solc leaves the jump of the `if`, and the push of its
   * destination is all that is of the `break`.
   */
  readonly whenJumps: Statement | undefined
}

/** A message that is open. */
interface OpenMessage {
  readonly message: RecordedMessage
  readonly mapped: MappedCode | undefined
  readonly infos: (InstructionInfo | undefined)[]
  /** Innermost last; the first is the message's own. */
  readonly frames: OpenFrame[]
  /** What its last jump did, which the next step shows. */
  jump: JumpKind
  /** The JUMPI that was the last instruction, if a statement runs when it jumps. */
  choice: { readonly pc: number; readonly statement: Statement } | undefined
}

/** A step at which a statement begins. */
export interface Stop {
  readonly step: number
  readonly frame: SourceFrame
  readonly statement: Statement
}

/** What reading the steps needs. */
export interface SourceStepsParts {
  readonly execution: Execution
  mappedCode(message: RecordedMessage): MappedCode | undefined
  /** Called again and again; a promise is waited for. */
  pause(): Promise<void> | undefined
}

/** Reads the steps of an execution. */
export async function readSourceSteps({
  execution,
  mappedCode,
  pause,
}: SourceStepsParts): Promise<SourceSteps> {
  const walk = new Walk(mappedCode)
  const { starts, firsts, messages } = execution.segments
  let since = 0
  for (let segment = 0; segment < starts.length; segment++) {
    const message = messages[segment]
    if (message === undefined) break
    const start = starts.at(segment)
    const end = segment + 1 < starts.length ? starts.at(segment + 1) : execution.length
    const first = firsts.at(segment)
    const { pcs } = message
    walk.begin(message, start)
    for (let step = start; step < end; step++) {
      walk.step(step, pcs[first + step - start] ?? 0)
      if (++since % PAUSE_STEPS === 0) await pause()
    }
  }
  return walk.steps
}

/** Follows the steps. */
class Walk {
  readonly steps = new SourceSteps()
  readonly #mappedCode: SourceStepsParts['mappedCode']
  readonly #infos = new Map<CodeMap, (InstructionInfo | undefined)[]>()
  readonly #open: OpenMessage[] = []

  constructor(mappedCode: SourceStepsParts['mappedCode']) {
    this.#mappedCode = mappedCode
  }

  /** Steps of a message follow, its first ones or those after a call. */
  begin(message: RecordedMessage, step: number): void {
    while ((this.#open.at(-1)?.message.depth ?? -1) > message.depth) this.#open.pop()
    if (this.#open.at(-1)?.message.depth === message.depth && this.#open.at(-1)?.message !== message) {
      this.#open.pop()
    }
    let current = this.#open.at(-1)
    if (current?.message !== message) {
      const parent = current?.frames.at(-1)
      const mapped = this.#mappedCode(message)
      const isCreation = message.kind === 'create' || message.kind === 'create2'
      const called = isCreation ? mapped?.code.contract?.constructor_ : undefined
      current = { message, mapped, infos: this.#infosOf(mapped), frames: [], jump: 'none', choice: undefined }
      current.frames.push(
        this.steps.open({ parent, message, mapped, isBase: true, entry: step, function: called }),
      )
      this.#open.push(current)
    }
    this.#show(current, step)
  }

  #show({ frames }: OpenMessage, step: number): void {
    const frame = frames.at(-1)
    if (frame !== undefined) this.steps.change(step, frame)
  }

  #infosOf(mapped: MappedCode | undefined): (InstructionInfo | undefined)[] {
    if (mapped === undefined) return []
    let infos = this.#infos.get(mapped.code)
    if (infos === undefined) {
      infos = []
      this.#infos.set(mapped.code, infos)
    }
    return infos
  }

  step(step: number, pc: number): void {
    const current = this.#open.at(-1)
    const mapped = current?.mapped
    if (current === undefined || mapped === undefined) return
    let info = current.infos[pc]
    if (info === undefined) {
      info = readInfo(mapped, pc)
      current.infos[pc] = info
    }
    if (current.jump !== 'none') this.#afterJump(current, info, step)
    current.jump = info.jump
    const frame = current.frames.at(-1)
    const { choice } = current
    current.choice = info.whenJumps && { pc, statement: info.whenJumps }
    if (frame === undefined) return
    if (choice !== undefined && pc !== choice.pc + 1) this.#begin(frame, mapped, choice.statement, step)
    else this.#follow(frame, mapped, info, step)
  }

  #afterJump(current: OpenMessage, info: InstructionInfo, step: number): void {
    const { frames, message, mapped, jump } = current
    if (jump === 'out') {
      if (frames.length > 1) frames.pop()
    } else if (info.isLanding && frames.length <= MOST_OPEN && this.steps.frameCount < MOST_FRAMES) {
      const parent = frames.at(-1)
      const { range } = info
      const caller = parent?.function
      const isOwn =
        range !== undefined && (caller === undefined || mapped?.code.mayRunIn(caller, range) === true)
      const called = isOwn ? range.file.functionAround(range) : undefined
      frames.push(this.steps.open({ parent, message, mapped, isBase: false, entry: step, function: called }))
    }
    this.#show(current, step)
  }

  /** Notes where a statement begins. */
  #follow(frame: OpenFrame, mapped: MappedCode, info: InstructionInfo, step: number): void {
    const { statement, range, isLanding } = info
    if (statement === undefined) {
      // A loop that consists of one statement begins again.
      const around = frame.statement
      if (isLanding && range !== undefined && around !== undefined && contains(range, around)) {
        frame.statement = undefined
      }
      return
    }
    if (statement !== frame.statement) this.#begin(frame, mapped, statement, step)
  }

  /** A statement begins, unless it cannot be one of the function that runs. */
  #begin(frame: OpenFrame, { code }: MappedCode, statement: Statement, step: number): void {
    const within = frame.function
    if (code.isOptimized && within !== undefined && !code.mayRunIn(within, statement)) return
    frame.statement = statement
    // A line that stands for a statement of Vyper may end behind the function.
    const around = statement.file.functionAround({ ...statement, end: statement.start })
    // Vyper gives no place to the beginning of a function.
    if (frame.isBase || code.isVyper) frame.function ??= around
    const isFirst = around !== undefined && !frame.firstStops.has(around)
    if (isFirst && statement.isInvocation !== true) frame.firstStops.set(around, step)
    this.steps.stop(step, frame, statement)
  }
}

function statementOf({ sources }: MappedCode, range: SourceRange | undefined): Statement | undefined {
  return range && sources.statementAround(range)
}

/** The statement of a push in front of a JUMPI, which is of another one. */
function whenJumps(mapped: MappedCode, pushPc: number): Statement | undefined {
  const { code } = mapped
  const push = code.at(pushPc)
  if (push === undefined || push.opcode <= PUSH0 || push.opcode > PUSH4) return undefined
  const jump = code.at(pushPc + sizeOf(push.opcode))
  if (jump?.opcode !== JUMPI || jump.range === undefined || push.range === undefined) return undefined
  const statement = statementOf(mapped, push.range)
  return statement === statementOf(mapped, jump.range) || contains(push.range, jump.range)
    ? undefined
    : statement
}

function readInfo(mapped: MappedCode, pc: number): InstructionInfo {
  const { code } = mapped
  const instruction = code.at(pc)
  const range = instruction?.range
  const isJump = instruction?.opcode === JUMPI
  const pushes = isJump ? [2, 3, 4, 5].map((size) => pc - size) : []
  const pushed = pushes.flatMap((at) => (at + sizeOf(code.at(at)?.opcode ?? 0) === pc ? at : []))
  return {
    jump: instruction?.jump ?? 'none',
    isLanding: instruction?.opcode === JUMPDEST,
    range,
    statement: whenJumps(mapped, pc) === undefined ? statementOf(mapped, range) : undefined,
    whenJumps: pushed.length === 0 ? undefined : whenJumps(mapped, pushed[0] ?? 0),
  }
}

/** The frames and stops of an execution. */
export class SourceSteps {
  readonly #frames: OpenFrame[] = []
  /** Where the innermost frame changes, and to which. */
  readonly #changeSteps = new GrowingList()
  readonly #changeFrames = new GrowingList()
  readonly #stopSteps = new GrowingList()
  readonly #stopFrames = new GrowingList()
  readonly #statements: Statement[] = []

  get frameCount(): number {
    return this.#frames.length
  }

  /** How many stops there are. */
  get length(): number {
    return this.#stopSteps.length
  }

  /** Adds a frame. */
  open(frame: Omit<SourceFrame, 'id' | 'depth' | 'firstStops'>): OpenFrame {
    const opened = new OpenFrame({ ...frame, id: this.#frames.length })
    this.#frames.push(opened)
    return opened
  }

  /** A frame is the innermost one from a step on. */
  change(step: number, { id }: SourceFrame): void {
    this.#changeSteps.push(step)
    this.#changeFrames.push(id)
  }

  /** A statement begins. */
  stop(step: number, { id }: SourceFrame, statement: Statement): void {
    this.#stopSteps.push(step)
    this.#stopFrames.push(id)
    this.#statements.push(statement)
  }

  /** The innermost frame at a step. */
  frameAt(step: number): SourceFrame | undefined {
    return this.#frames[this.#changeFrames.at(this.#changeSteps.lastUpTo(step))]
  }

  /** The stop at an index of all. */
  at(index: number): Stop | undefined {
    const frame = this.#frames[this.#stopFrames.at(index)]
    const statement = this.#statements[index]
    if (frame === undefined || statement === undefined) return undefined
    return { step: this.#stopSteps.at(index), frame, statement }
  }

  /** The step of the stop at an index. */
  stepAt(index: number): number {
    return this.#stopSteps.at(index)
  }

  /** The statement that begins at the stop at an index. */
  statementAt(index: number): Statement | undefined {
    return this.#statements[index]
  }

  /** How often the innermost frame changes. */
  get changes(): number {
    return this.#changeSteps.length
  }

  /** The index of the last change up to a step; -1 where none is. */
  lastChangeUpTo(step: number): number {
    return this.#changeSteps.lastUpTo(step)
  }

  /** The step of the change at an index, and the frame that is the innermost one from there on. */
  changeAt(index: number): { readonly step: number; readonly frame: SourceFrame | undefined } {
    return { step: this.#changeSteps.at(index), frame: this.#frames[this.#changeFrames.at(index)] }
  }

  /** The index of the last stop up to a step; -1 where none is. */
  lastUpTo(step: number): number {
    return this.#stopSteps.lastUpTo(step)
  }

  /** The last stop of a frame up to a step. */
  lastOf(frame: SourceFrame, step: number): Stop | undefined {
    for (let index = this.lastUpTo(step); index >= 0; index--) {
      const at = this.#stopSteps.at(index)
      if (at < frame.entry) return undefined
      if (this.#stopFrames.at(index) === frame.id) return this.at(index)
    }
    return undefined
  }

  /** Depth of the frame of a stop. */
  depthAt(index: number): number {
    return this.#frames[this.#stopFrames.at(index)]?.depth ?? 0
  }
}

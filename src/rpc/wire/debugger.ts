/** The debugger on the wire: breakpoints, where it stands, what is open there, values of variables. */
import type { z } from 'zod'
import type { FrameState } from '../../debugger/chapter.ts'
import type { BreakpointRequest, DebugSession } from '../../debugger/debug-session.ts'
import type { Value } from '../../debugger/value.ts'
import { type Hex, toFixedHex, toHex } from '../../encoding/hex.ts'
import type { SourceFile } from '../../source-level/source-file.ts'
import { anyText, names } from '../json-forms.ts'
import { arrayOf, expected, object, type Parameter, scalar } from '../parameter.ts'
import type { DebugMachine, DebugPlace, DebugSourceList, DebugVariable } from './debugger-answers.ts'
import { Flag, Topic, wholeNumber } from './scalars.ts'

/** Lines and events of breakpoints. */
const MOST_BREAKPOINTS = 1000
const LONGEST_TEXT = 4096
const LAST_LINE = 10_000_000

/** A text. */
export const DebugText: Parameter<string> = scalar({
  form: anyText({ most: LONGEST_TEXT }),
  decode: (value) => value,
  refusal: (_, name) => expected(name, `a text of at most ${LONGEST_TEXT} characters`),
})

/** A choice of texts. */
export function choice<const T extends string>(description: string, ...values: readonly T[]): Parameter<T> {
  return scalar({
    form: names(...values),
    description,
    decode: (value) => value as T,
    refusal: (_, name) => expected(name, values.join(', ').replace(/, ([^,]*)$/, ' or $1')),
  })
}

const LineObject = object(
  { file: DebugText, line: wholeNumber('a line, from 1', LAST_LINE) },
  { required: ['file', 'line'], closed: true },
)

/** What `continue` stops at. */
export const BreakpointsObject = object(
  {
    lines: arrayOf(LineObject, { most: MOST_BREAKPOINTS, indexed: true }),
    events: arrayOf(Topic, { most: MOST_BREAKPOINTS, indexed: true }),
    anyEvent: Flag,
    failures: Flag,
  },
  { closed: true },
)

/** Breakpoints as the debugger takes them. */
export function breakpointsOf({
  lines = [],
  events = [],
  anyEvent = false,
  failures = false,
}: ReturnType<(typeof BreakpointsObject)['read']>): BreakpointRequest {
  const byFile = new Map<string, Set<number>>()
  for (const { file, line } of lines) {
    const known = byFile.get(file)
    if (known === undefined) byFile.set(file, new Set([line]))
    else known.add(line)
  }
  return { lines: byFile, events: anyEvent ? true : new Set(events), failures }
}

/** A session's place. `failure` is the text of the execution's failure. */
export function toRpcPlace(
  id: Hex,
  session: DebugSession,
  failure: string | undefined,
): z.infer<typeof DebugPlace> {
  const { step, length, reason, gas } = session
  return {
    session: id,
    step,
    steps: length,
    reason,
    ...(failure !== undefined && { failure }),
    ...(gas !== undefined && { gas }),
    stack: session.stack().map((frame) => ({ ...frame })),
  }
}

/** A value without its parts. */
export function toRpcVariable({ name, type, text, size }: Value): z.infer<typeof DebugVariable> {
  return { name, type, value: text, size }
}

/** Bytes of memory in a reply. */
const MOST_MEMORY = 1 << 20

/** The machine's state; the memory behind the first MiB is left out. */
export function toRpcMachine(
  session: DebugSession,
  state: FrameState,
  storage: ReadonlyMap<bigint, bigint>,
): z.infer<typeof DebugMachine> {
  const { pc, stack, memory } = state
  return {
    pc,
    opcode: session.opcodeOf(state),
    stack: stack.map((word) => toFixedHex(word, 32)),
    memory: toHex(memory.subarray(0, MOST_MEMORY)),
    storage: Object.fromEntries(
      [...storage].map(([slot, word]) => [toFixedHex(slot, 32), toFixedHex(word, 32)]),
    ),
  }
}

/** The sources of the contracts that ran, by path; of two with one path the first. */
export function toRpcSources({ codes }: DebugSession): z.infer<typeof DebugSourceList> {
  const found = new Map<string, { readonly source: SourceFile; readonly lines: Set<number> }>()
  for (const { code, sources } of codes) {
    for (const [path, source] of sources.files) {
      const known = found.get(path)
      if (!source.hasText || (known !== undefined && known.source !== source)) continue
      const lines = known?.lines ?? new Set<number>()
      if (known === undefined) found.set(path, { source, lines })
      for (const line of sources.linesOf(source, code)) lines.add(line)
    }
  }
  return [...found].map(([file, { source, lines }]) => ({
    file,
    content: source.content,
    lines: [...lines].sort((a, b) => a - b),
  }))
}

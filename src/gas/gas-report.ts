/** Reports of gas: read, and those of several runs added up. */
import { z } from 'zod'
import type { GasFrame, GasReport, GasStats } from './model.ts'
import { addGas, addStats, keyOf, Rows } from './rows.ts'

const Gas = z.number()

/** Gas of transactions of one kind. */
const GasStatsObject = z.strictObject({
  contract: z.string(),
  /** Absent for deployments. */
  function: z.string().optional(),
  calls: z.int(),
  min: Gas,
  max: Gas,
  total: Gas,
})

const Frame = z.strictObject({
  name: z.string(),
  contract: z.string().optional(),
  file: z.string().optional(),
  /** Of the declaration of a function, or of a line. */
  line: z.int().optional(),
})

/** A stack with the gas that its last frame spent itself. The last frame is a line where its source is known. */
const Stack = z.strictObject({ frames: z.array(z.int()), gas: Gas })

/** A report as a file or a reply has it. */
export const GasReportObject = z.strictObject({
  transactions: z.int(),
  gasUsed: Gas,
  /** Taken off at the end of transactions. */
  refunds: Gas,
  deployments: z.array(GasStatsObject),
  methods: z.array(GasStatsObject),
  functions: z.array(
    z.strictObject({
      contract: z.string(),
      function: z.string(),
      file: z.string().optional(),
      line: z.int().optional(),
      calls: z.int(),
      /** Without what it called. */
      self: Gas,
      total: Gas,
    }),
  ),
  lines: z.array(z.strictObject({ file: z.string(), line: z.int(), gas: Gas })),
  opcodes: z.array(z.strictObject({ contract: z.string(), group: z.string(), gas: Gas })),
  frames: z.array(Frame),
  stacks: z.array(Stack),
  notes: z.array(z.string()),
}) satisfies z.ZodType<GasReport>

/** The sum of reports. */
export function mergeGas(reports: readonly GasReport[]): GasReport {
  const deployments = new Rows<GasStats>(addStats)
  const methods = new Rows<GasStats>(addStats)
  const functions = new Rows<GasReport['functions'][number]>((to, { calls, self, total }) => {
    to.calls += calls
    to.self += self
    to.total += total
  })
  const lines = new Rows<GasReport['lines'][number]>(addGas)
  const opcodes = new Rows<GasReport['opcodes'][number]>(addGas)
  const stacks = new Rows<GasReport['stacks'][number]>(addGas)
  const frames = new Map<string, { readonly index: number; readonly frame: GasFrame }>()
  const sums = { transactions: 0, gasUsed: 0, refunds: 0 }
  for (const report of reports) {
    sums.transactions += report.transactions
    sums.gasUsed += report.gasUsed
    sums.refunds += report.refunds
    for (const row of report.deployments) deployments.take(keyOf(row.contract), row)
    for (const row of report.methods) methods.take(keyOf(row.contract, row.function), row)
    for (const row of report.functions)
      functions.take(keyOf(row.contract, row.function, row.file, row.line), row)
    for (const row of report.lines) lines.take(keyOf(row.file, row.line), row)
    for (const row of report.opcodes) opcodes.take(keyOf(row.contract, row.group), row)
    const indexes = report.frames.map((frame) => {
      const key = keyOf(frame.name, frame.contract, frame.file, frame.line)
      const known = frames.get(key) ?? { index: frames.size, frame }
      frames.set(key, known)
      return known.index
    })
    for (const { frames: own, gas } of report.stacks) {
      const renamed = own.map((index) => indexes[index] ?? 0)
      stacks.take(renamed.join(), { frames: renamed, gas })
    }
  }
  return {
    ...sums,
    deployments: deployments.all,
    methods: methods.all,
    functions: functions.all,
    lines: lines.all,
    opcodes: opcodes.all,
    frames: [...frames.values()].map(({ frame }) => frame),
    stacks: stacks.all,
    notes: [...new Set(reports.flatMap(({ notes }) => notes))],
  }
}

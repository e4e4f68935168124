/** What an editor asks to debug: the arguments of `launch` and `attach`. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf, NodeError } from '../../errors.ts'
import { DEFAULT_URL } from '../remote.ts'
import type { DebugTargetCall } from './wire.ts'

const Hash = z.string().regex(/^0x[0-9a-f]{64}$/i, 'expected 0x and 64 hex digits')

/** Members of a launch configuration; others are the editor's own. */
const Launch = z.looseObject({
  url: z.url({ protocol: /^https?$/ }).default(DEFAULT_URL),
  /** Of a mined transaction. */
  transaction: Hash.optional(),
  /** A file of the explorer's simulation page, or the first parameter of evm_simulate. */
  simulation: z.string().optional(),
  /** Of the simulation, from 0; the last call or send unless given. */
  step: z.int().min(0).optional(),
  /** As in eth_call. */
  call: z.looseObject({}).optional(),
  block: z.string().default('latest'),
  /** Folder that the paths of sources begin in. */
  sourceRoot: z.string().optional(),
  /** Stop at the first statement although nothing failed? */
  stopOnEntry: z.boolean().default(true),
})
/** A launch configuration. */
export type LaunchOptions = z.output<typeof Launch>

const Step = z.looseObject({ off: z.boolean().optional() })
const SimulationFile = z.looseObject({
  format: z.string().optional(),
  version: z.int().optional(),
  block: z.string().optional(),
  steps: z.array(Step).min(1),
})

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

/** Reads the arguments of `launch` or `attach`. Throws `invalid-options` that names the member. */
export function launchOptions(given: unknown): LaunchOptions {
  const read = Launch.safeParse(given)
  if (!read.success) {
    const [issue] = read.error.issues
    throw refused(`${issue?.path.join('.') || 'configuration'}: ${issue?.message}`)
  }
  const { transaction, simulation, call } = read.data
  if ([transaction, simulation, call].filter((one) => one !== undefined).length > 1) {
    throw refused('transaction, simulation and call exclude each other')
  }
  return read.data
}

async function simulationTarget(path: string, { step, block }: LaunchOptions): Promise<DebugTargetCall> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    // What a parser tells of a malformed file has parts of its content.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : messageOf(error)
    throw refused(`simulation: ${path} cannot be read: ${reason}`)
  }
  const read = SimulationFile.safeParse(json)
  if (!read.success) throw refused(`simulation: ${path} holds no simulation with steps`)
  const { format, version, block: own, steps: all, ...rest } = read.data
  if (format !== undefined && (format !== 'tandem-simulation' || version !== 1)) {
    throw refused(`simulation: ${path} is of an unknown format`)
  }
  const steps = all.filter(({ off }) => off !== true).map(({ off: _, ...one }) => one)
  const last = steps.findLastIndex((one) => 'call' in one || 'send' in one)
  return {
    method: 'evm_debugSimulation',
    params: [{ steps, ...rest }, step ?? Math.max(0, last), own ?? block],
  }
}

/** The call that opens what a configuration names; without a target what failed last. Throws `invalid-options`. */
export async function targetOf(options: LaunchOptions): Promise<DebugTargetCall> {
  const { transaction, simulation, call, block } = options
  if (transaction !== undefined) return { method: 'evm_debugTransaction', params: [transaction] }
  if (call !== undefined) return { method: 'evm_debugCall', params: [call, block] }
  if (simulation !== undefined) return simulationTarget(simulation, options)
  return { method: 'evm_debugFailure', params: [] }
}

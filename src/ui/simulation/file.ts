/** Simulations as files: JSON of a scenario, with its format and version. */
import { isObject } from '../checks.ts'
import { type Scenario, scenarioFrom } from './scenario.ts'

const FORMAT = 'tandem-simulation'
const VERSION = 1

/** Bytes of a file, and of what a link unpacks to. */
export const MOST_BYTES = 2_000_000

/** The text of a file. */
export function fileText(scenario: Scenario): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, ...scenario }, undefined, 2)}\n`
}

/** The scenario of a file's text. Throws an Error in words, with the path of the wrong member. */
export function readFileText(text: string): Scenario {
  if (text.length > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
  const value = jsonOf(text)
  if (!isObject(value)) throw new Error('it holds no JSON object')
  const { format, version, ...scenario } = value
  if (format !== FORMAT) throw new Error(`format: expected "${FORMAT}"`)
  if (version !== VERSION) throw new Error(`version: expected ${VERSION}, the only one that this page reads`)
  return scenarioFrom(scenario)
}

/** The value of a JSON text. Throws an Error in words. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

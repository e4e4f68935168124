/** The input of solc's standard JSON interface, as clients send it. */
import { z } from 'zod'
import { isTooComplex } from '../encoding/json-complexity.ts'
import type { Compilation } from '../sources/compilation.ts'
import { ApiError, DEEPEST_INPUT } from './request.ts'

const StandardInputSchema = z.looseObject({
  language: z.string(),
  sources: z.record(z.string(), z.looseObject({ content: z.string().optional() })),
  settings: z.looseObject({}).default({}),
})
/** Input of solc's standard JSON interface, as far as it is checked. */
export type StandardInput = z.infer<typeof StandardInputSchema>

/** Reads the text of a compiler's input. Throws `ApiError`. */
export function readStandardInput(text: string): StandardInput {
  if (isTooComplex(text, DEEPEST_INPUT))
    throw new ApiError('The standard JSON input is nested too deeply, or has too many lists and objects')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new ApiError('The source code is not JSON of the standard JSON interface')
  }
  const input = StandardInputSchema.safeParse(json)
  if (!input.success) {
    const [issue] = input.error.issues
    throw new ApiError(`The standard JSON input is malformed: ${issue?.path.join('.')}: ${issue?.message}`)
  }
  const missing = Object.entries(input.data.sources).find(([, { content }]) => content === undefined)
  if (missing !== undefined) {
    throw new ApiError(`The standard JSON input is malformed: sources.${missing[0]} has no content`)
  }
  return input.data
}

/** Do two inputs have the same sources and settings, apart from what they ask the compiler to write? */
export function isSameInput(given: StandardInput, known: Compilation['input']): boolean {
  const sources = Object.entries(given.sources)
  const plain = (settings: object) => JSON.stringify({ ...settings, outputSelection: undefined })
  return (
    plain(given.settings) === plain(known.settings) &&
    sources.every(
      ([path, { content }]) => Object.hasOwn(known.sources, path) && known.sources[path]?.content === content,
    )
  )
}

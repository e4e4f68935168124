/** The arguments of an editor's requests, as far as the adapter reads them. */
import { z } from 'zod'

const Index = z.int().min(0)
const Step = z.looseObject({ granularity: z.string().optional() })

/** By command. Those of `launch` and `attach` are checked where they are read. */
const REQUESTS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['next', Step],
  ['stepIn', Step],
  ['stepBack', Step],
  ['stackTrace', z.looseObject({ startFrame: Index.optional(), levels: Index.optional() })],
  ['scopes', z.looseObject({ frameId: Index })],
  [
    'variables',
    z.looseObject({ variablesReference: Index, start: Index.optional(), count: Index.optional() }),
  ],
  ['evaluate', z.looseObject({ expression: z.string(), frameId: Index.optional() })],
  [
    'setBreakpoints',
    z.looseObject({
      source: z.looseObject({ path: z.string().optional(), sourceReference: Index.optional() }),
      breakpoints: z.array(z.looseObject({ line: z.int() })).optional(),
    }),
  ],
  ['setExceptionBreakpoints', z.looseObject({ filters: z.array(z.string()) })],
  ['source', z.looseObject({ sourceReference: Index })],
])
const Any = z.looseObject({})

/** What is wrong with the arguments of a request; `undefined` where nothing is. */
export function faultOf(command: string, given: unknown): string | undefined {
  const read = (REQUESTS.get(command) ?? Any).safeParse(given)
  if (read.success) return undefined
  const [issue] = read.error.issues
  return `${command}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message}`
}

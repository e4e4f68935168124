/** What the sources say of a traced transaction, as a node answers `evm_stackTrace`, in lines. */
import pc from 'picocolors'
import { z } from 'zod'
import type { SourceFrame } from '../errors.ts'
import { stackLines } from '../source-level/stack/shown-frame.ts'
import type { CallSource } from './call-tree-lines.ts'
import type { Remote } from './remote.ts'
import { plain } from './terminal-text.ts'

const Frame = z.object({
  kind: z.string(),
  contract: z.string().exactOptional(),
  function: z.string().exactOptional(),
  file: z.string().exactOptional(),
  line: z.int().exactOptional(),
  column: z.int().exactOptional(),
  address: z.templateLiteral(['0x', z.string()]).exactOptional(),
  message: z.string().exactOptional(),
}) satisfies z.ZodType<SourceFrame, unknown>

const WireSourceTrace = z.object({
  stackTrace: z.array(Frame),
  caught: z.array(z.object({ traceAddress: z.array(z.int()), stackTrace: z.array(Frame) })),
  calls: z.array(
    z.object({
      traceAddress: z.array(z.int()),
      contract: z.string().optional(),
      function: z.string().optional(),
      site: Frame.optional(),
    }),
  ),
})

/** A transaction at the level of sources. */
export type SourceTrace = z.output<typeof WireSourceTrace>

/** Asks for it; `undefined` from a node that knows no sources, or has not the method. */
export async function sourceTraceOf(hash: string, remote: Remote): Promise<SourceTrace | undefined> {
  const found = await remote.call('evm_stackTrace', [hash], WireSourceTrace.nullable()).catch(() => null)
  const isKnown = found?.calls.some(({ contract }) => contract !== undefined) === true
  return isKnown ? found : undefined
}

function siteText({ file, line, column }: SourceFrame): string | undefined {
  return file === undefined ? undefined : `${file}:${line}:${column}`
}

/** What it says of each frame of the call tree. */
export function callSources({ calls }: SourceTrace): (path: readonly number[]) => CallSource | undefined {
  const byPath = new Map(calls.map((call) => [call.traceAddress.join(), call]))
  return (path) => {
    const call = byPath.get(path.join())
    return (
      call && { contract: call.contract, function: call.function, site: call.site && siteText(call.site) }
    )
  }
}

/** The failure with its stack, innermost frame first, in red and dim. */
export function stackTraceLines(frames: readonly SourceFrame[]): string[] {
  const message = frames.at(-1)?.message
  return [
    ...(message === undefined ? [] : [pc.red(plain(message))]),
    ...stackLines(frames).map((line) => pc.dim(line)),
  ]
}

/** The stack of the failure, and of the failures that were caught, under headings. */
export function sourceTraceLines({ stackTrace, caught }: SourceTrace): string[] {
  return [
    ...(stackTrace.length === 0 ? [] : ['', pc.bold('Stack'), ...stackTraceLines(stackTrace)]),
    ...caught.flatMap(({ traceAddress, stackTrace: inner }) => [
      '',
      pc.bold(`Caught, in call ${traceAddress.join('.')}`),
      ...stackTraceLines(inner),
    ]),
  ]
}

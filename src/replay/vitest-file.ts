/** A recording as a test for vitest, which needs no other file. */
import { allocSource } from '../recording/alloc.ts'
import type { Header } from '../recording/lines.ts'
import type { NumberedLine } from './recorded-file.ts'
import { StandIns } from './stand-ins.ts'

const json = (value: unknown): string => JSON.stringify(value)

/** The statements of a line. */
function statements({ value }: NumberedLine, secrets: StandIns): readonly string[] {
  if ('tick' in value) return [`time = ${value.time}`, `await timers[${value.timer - 1}]?.()`]
  if (!('from' in value)) return []
  const { time, text, reply } = value
  const request = secrets.fill(value.request)
  const isInProcess = value.from === 'in process' && text === undefined
  const asked = isInProcess ? `call(${json(request)})` : `send(${json(text ?? json(request))})`
  const answer =
    reply === undefined || reply === null
      ? `await ${asked}`
      : `expect(await ${asked}).toEqual(${json(reply)})`
  return [`time = ${time}`, answer]
}

/**
 * The text of the test: the node of the recording, its requests at their times, and the recorded replies. A recording
 * whose last reply differs makes a test that fails until the node gives the recorded one. Values that were given for
 * secrets are in the test.
 */
export function vitestText(
  { options, time }: Header,
  lines: readonly NumberedLine[],
  { title, secrets = new StandIns() }: { readonly title: string; readonly secrets?: StandIns | undefined },
): string {
  const body = lines.flatMap((line) => statements(line, secrets)).map((line) => `    ${line}`)
  const state = lines.find(({ value }) => 'state' in value)?.value
  const load =
    state !== undefined && 'state' in state
      ? [`    await node.request({ method: 'anvil_loadState', params: [${json(state.state)}] })`]
      : []
  const { alloc: accounts, ...plain } = options
  const alloc = accounts === undefined ? '' : `, alloc: ${allocSource(accounts)}`
  const clock = options.frozenClock === undefined || options.frozenClock === false ? ' now: () => time,' : ''
  return `${[
    `import { createNode } from ${json('tandem')}`,
    `import { expect, it } from ${json('vitest')}`,
    '',
    `const OPTIONS = ${json(plain)}`,
    '',
    `it(${json(title)}, async () => {`,
    `  let time = ${time}`,
    '  const timers = []',
    `  const node = await createNode({ ...OPTIONS${alloc},${clock}`,
    '    intervalTimer(milliseconds, onEnd) {',
    '      const index = timers.push(onEnd) - 1',
    '      return () => { timers[index] = undefined }',
    '    },',
    '  })',
    "  const session = { label: 'http', owner: '', entitlements: new Set(['stateOverride']), allows: () => true }",
    "  const send = async (text) => JSON.parse((await node.dispatcher.dispatchText(text, session)) ?? 'null')",
    '  const call = (request) => node.request(request).then(',
    '    (result) => JSON.parse(JSON.stringify({ result: result ?? null })),',
    '    ({ code, message, data }) => JSON.parse(JSON.stringify({ error: { code, message, data } })),',
    '  )',
    '  try {',
    ...load,
    ...body,
    '  } finally {',
    '    await node.close()',
    '  }',
    '})',
  ].join('\n')}\n`
}

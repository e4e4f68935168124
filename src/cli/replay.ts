/** `tandem replay`: repeats a recording, names what differs, reduces it, and leaves a node standing at a line. */
import { readFile, writeFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { bytesOf } from '../abi/artifact.ts'
import { type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { isObject } from '../encoding/json-object.ts'
import { NodeError } from '../errors.ts'
import type { NodeOptions } from '../options/options.ts'
import type { Header } from '../recording/lines.ts'
import { type NumberedLine, openRecording, readRecording } from '../replay/recorded-file.ts'
import { reduceRecording } from '../replay/reduce.ts'
import { type Difference, type Outcome, type RunOptions, replayLines } from '../replay/run.ts'
import { StandIns } from '../replay/stand-ins.ts'
import { type Changes, NodeTarget, type Target } from '../replay/target.ts'
import { UrlTarget } from '../replay/url-target.ts'
import { versionAt } from '../replay/versions.ts'
import { vitestText } from '../replay/vitest-file.ts'
import { serve } from '../transport/server.ts'
import { hidden } from './secrets.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings } from './settings.ts'
import type { Writers } from './start.ts'
import { untilSignal } from './start-command.ts'

/** The flags of the command. */
interface ReplayFlags {
  readonly against?: string
  readonly code?: readonly string[]
  readonly secret?: readonly string[]
  readonly all?: true
  readonly reduce?: string
  readonly test?: string
  readonly to?: string
  readonly serve?: true
}

/** The options of the node that may be given again: secret ones, which a recording has not, and rules. */
const NODE_FLAGS = [
  'mnemonic',
  'fork',
  'forkHeader',
  'forkCacheDir',
  'forkOffline',
  'rules',
  'activate',
  'deactivate',
  'abi',
]
const SERVE_FLAGS = ['host', 'port']

function misused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

/** Code by address, of `--code 0x…=file`: hex, or the JSON of an artifact. Throws `invalid-options`. */
async function codeOf(texts: readonly string[]): Promise<ReadonlyMap<Hex, Uint8Array>> {
  const code = new Map<Hex, Uint8Array>()
  for (const text of texts) {
    const [, address, file] = /^(0x[0-9a-fA-F]{40})=(.+)$/.exec(text) ?? []
    if (address === undefined || file === undefined)
      throw misused(`--code expects <address>=<file>, not ${text}.`)
    const content = await readFile(file, 'utf8').catch(() => {
      throw misused(`The file ${file} of --code cannot be read.`)
    })
    code.set(lowerCaseHex(address), codeIn(content, file))
  }
  return code
}

function codeIn(content: string, file: string): Uint8Array {
  const json = content.trimStart().startsWith('{') ? jsonIn(content) : undefined
  const code = bytesOf(isObject(json) ? json.deployedBytecode : content.trim())
  if (code !== undefined) return code
  throw misused(`The file ${file} of --code has neither hex nor the deployedBytecode of an artifact.`)
}

function jsonIn(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

/** Values of secrets by their numbers, of `--secret 1=value`. Throws `invalid-options`. */
function secretsOf(texts: readonly string[]): StandIns {
  const entries = texts.map((text) => {
    const [, number, value] = /^([1-9]\d{0,8})=(.+)$/s.exec(text) ?? []
    if (number === undefined || value === undefined) throw misused('--secret expects <number>=<value>.')
    return [Number(number), value] as const
  })
  return new StandIns(new Map(entries))
}

/** The line of `--to`. Throws `invalid-options`. */
function lineOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,14}$/.test(text)) throw misused(`--to expects the number of a line, not ${text}.`)
  return Number(text)
}

const isUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Makes the target of a replay. Throws `invalid-options`. */
async function targetMaker(
  against: string | undefined,
  changes: Changes,
): Promise<(header: Header) => Promise<Target>> {
  if (against === undefined) return (header) => NodeTarget.start(header, changes)
  if (isUrl(against)) return async () => new UrlTarget(new URL(against), changes.secrets)
  const make = await versionAt(against)
  return (header) => NodeTarget.start(header, changes, make)
}

const shown = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value))

/** A difference as text. */
export function differenceLine({ line, what, path, recorded, replayed }: Difference): string {
  const member = path === '' ? what : `${what} ${path}`
  return `line ${line}: ${member}: recorded ${shown(recorded)}, replayed ${shown(replayed)}`
}

/** What a replay found, as text. */
function summary({ replies, events, differences, unanswered }: Outcome): string {
  const compared = `${replies} ${replies === 1 ? 'reply' : 'replies'} and ${events} ${events === 1 ? 'event' : 'events'}`
  const open = unanswered.length === 0 ? '' : `, no reply was recorded to line ${unanswered.join(', ')}`
  return differences.length === 0 ? `${compared} compared, all equal${open}` : `${compared} compared${open}`
}

/** A recording as text. */
export function recordingText(header: Header, lines: readonly NumberedLine[]): string {
  return `${[header, ...lines.map(({ value }) => value)].map((value) => JSON.stringify(value)).join('\n')}\n`
}

/** Reduces a recording that differs, and writes what was asked for. */
async function reduce(
  path: string,
  difference: Difference,
  { make, secrets }: { make(header: Header): Promise<Target>; readonly secrets: StandIns },
  { reduce: recordingPath, test }: ReplayFlags,
  { output }: Writers,
): Promise<void> {
  const { header, lines } = await readRecording(path)
  const reduced = await reduceRecording({ header, lines, difference }, () => make(header))
  output.write(`reduced ${lines.length + 1} lines to ${reduced.lines.length + 1}, in ${reduced.tries} tries`)
  if (recordingPath !== undefined) await writeFile(recordingPath, recordingText(header, reduced.lines))
  if (test !== undefined) {
    const text = vitestText(header, reduced.lines, { title: differenceLine(difference), secrets })
    await writeFile(test, text)
  }
}

/** Serves the node of a replay until a signal ends it. */
async function leaveStanding(
  target: Target,
  options: Parameters<typeof serve>[1],
  { output }: Writers,
): Promise<void> {
  if (!(target instanceof NodeTarget)) throw misused('--serve is for a node of this process, not for a URL.')
  target.runClock()
  const server = await serve(target.node, options)
  const stopped = untilSignal()
  output.write(`ready ${server.url}`)
  await stopped
  await server.close()
}

async function replay(path: string, flags: ReplayFlags, command: Command, writers: Writers): Promise<void> {
  if (flags.serve && flags.to === undefined) throw misused('--serve needs --to, the line to stand at.')
  const { node: given, serve: serveOptions } = readSettings(
    typedFlags(command),
    {},
    new Map([['memory', true]]),
  )
  const {
    memory: _memory,
    dataDir: _dataDir,
    ...options
  }: NodeOptions = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const code = await codeOf(flags.code ?? [])
  const secrets = secretsOf(flags.secret ?? [])
  const make = await targetMaker(flags.against, { options, code, secrets })
  const changesRules = ['rules', 'activate', 'deactivate'].some((key) => Object.hasOwn(options, key))
  const isOtherRelease = flags.against !== undefined
  const renamesHashes = changesRules || code.size > 0 || isOtherRelease
  const { header, lines, cutLine } = await openRecording(path)
  const run: RunOptions = {
    renamesHashes,
    isOtherRelease,
    to: lineOf(flags.to),
    stopsAtFirst: flags.all !== true && flags.serve !== true,
    isCut: () => cutLine() !== undefined,
  }
  const target = await make(header)
  try {
    const outcome = await replayLines(lines, target, run)
    const cut = cutLine()
    if (cut !== undefined) {
      writers.errors.write(`tandem: the recording was cut off: line ${cut} is incomplete, and was left out`)
    }
    const found = flags.all ? outcome.differences : outcome.differences.slice(0, 1)
    for (const difference of found) writers.output.write(differenceLine(difference))
    writers.output.write(summary(outcome))
    const [first] = outcome.differences
    if (first !== undefined) process.exitCode = 1
    if (flags.serve) await leaveStanding(target, serveOptions, writers)
    else if (first !== undefined && (flags.reduce !== undefined || flags.test !== undefined)) {
      await reduce(path, first, { make, secrets }, flags, writers)
    }
  } finally {
    await target.close()
  }
}

const SECRET_HELP = 'value of the secret that the recording names <secret number>; may be given again'

/** The values of an option that may be given again. */
function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillReplayCommand(command: Command, writers: Writers): void {
  command
    .argument('<recording>', 'file that tandem start --record has written')
    .option(
      '--against <target>',
      'URL of a node, or an installed version by its number or folder, in place of this version',
    )
    .option(
      '--code <address=file>',
      'code in place of that at an address: hex or an artifact; may be given again',
      collected,
    )
    .addOption(hidden(new Option('--secret <number=value>', SECRET_HELP).argParser(collected)))
    .option('--all', 'list every difference, not only the first')
    .option('--reduce <file>', 'write the shortest recording that still differs')
    .option('--test <file>', 'write it as a test for vitest')
    .option('--to <line>', 'repeat up to this line of the recording')
    .option('--serve', 'with --to: serve the node as it is then, until a signal')
  addSettingFlags(command, [...NODE_FLAGS, ...SERVE_FLAGS])
  command
    .allowExcessArguments(false)
    .action((path: string, flags: ReplayFlags) => replay(path, flags, command, writers))
}

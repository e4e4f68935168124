/** `tandem gas`: where the transactions of a command, or of a running node, spend gas, and how that differs between two runs. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { NodeError } from '../errors.ts'
import { type GasDifference, gasDifferences, increases } from '../gas/gas-difference.ts'
import { GasReportObject, mergeGas } from '../gas/gas-report.ts'
import type { GasReport } from '../gas/model.ts'
import { pprofFile } from '../gas/pprof.ts'
import { speedscopeFile } from '../gas/speedscope.ts'
import { gasDifferenceTable, gasTables } from './gas-tables.ts'
import { type RecordedKind, type RecordedRun, recordBesideNode, runAgainst } from './recorded-run.ts'
import { createRemote } from './remote.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags } from './start-command.ts'
import { checkHash } from './trace.ts'

const KIND: RecordedKind<GasReport> = {
  setting: 'gasDir',
  variable: 'TANDEM_GAS_DIR',
  schema: GasReportObject,
  methods: { start: 'evm_startGasProfile', read: 'evm_gasProfile' },
}

interface GasOptions {
  readonly url?: string
  readonly transaction?: string
  readonly out?: string
  readonly diff?: readonly string[]
  readonly against?: string
  readonly failAbove?: string
  readonly top: string
  readonly print: string
}

const refused = (message: string): NodeError => new NodeError('invalid-options', message)

/** A percentage such as `2%` or `0.5`. */
function percentIn(text: string): number {
  if (!/^\d+(\.\d+)?%?$/.test(text))
    throw refused(`--fail-above expects a percentage such as 2%, not "${text}".`)
  return Number.parseFloat(text)
}

function countIn(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw refused(`--top expects a number of rows, not "${text}".`)
  return Number(text)
}

/** A report that an earlier run wrote. */
async function readReport(path: string): Promise<GasReport> {
  let content: unknown
  try {
    content = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw refused(`Cannot read the report ${path}: ${error instanceof Error ? error.message : error}`)
  }
  const read = GasReportObject.safeParse(content)
  if (!read.success) throw refused(`${path} is not a gas.json of tandem gas.`)
  return read.data
}

async function record(
  words: readonly string[],
  { url, transaction }: GasOptions,
  command: Command,
  writers: NodeWriters,
): Promise<RecordedRun<GasReport>> {
  if (transaction !== undefined) {
    if (url === undefined) throw refused('--transaction needs the --url of the node that has mined it.')
    const remote = createRemote(url)
    const hash = checkHash(transaction)
    const report = await remote.call(KIND.methods.read, [hash], GasReportObject.nullable())
    if (report === null)
      throw new NodeError('internal', `The node at ${remote.shown} has mined no transaction ${hash}.`)
    return { reports: [report], exitCode: 0 }
  }
  if (url !== undefined) return runAgainst(url, words, KIND, writers)
  if (words.length === 0)
    throw refused('Give a command behind --, the --url of a node, or two reports for --diff.')
  return recordBesideNode(words, command, KIND, writers)
}

async function writeFiles(folder: string, report: GasReport, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'gas.json'), `${JSON.stringify(report)}\n`)
  await writeFile(join(folder, 'gas.speedscope.json'), JSON.stringify(speedscopeFile(report, name)))
  await writeFile(join(folder, 'gas.pb.gz'), pprofFile(report))
}

/** Prints the differences; the exit code is 1 where one is above the limit. */
function compare(
  differences: readonly GasDifference[],
  { failAbove }: GasOptions,
  { output, errors }: NodeWriters,
): number {
  for (const line of gasDifferenceTable(differences)) output.write(line)
  if (failAbove === undefined) return 0
  const found = increases(differences, percentIn(failAbove))
  if (found.length === 0) return 0
  errors.write(`tandem: ${found.length} of the averages rose by more than ${percentIn(failAbove)} %.`)
  return 1
}

async function gas(
  words: readonly string[],
  options: GasOptions,
  command: Command,
  writers: NodeWriters,
): Promise<void> {
  const { diff, against, failAbove } = options
  const most = countIn(options.top)
  if (failAbove !== undefined) {
    percentIn(failAbove)
    if (diff === undefined && against === undefined) throw refused('--fail-above needs --diff or --against.')
  }
  if (diff !== undefined) {
    const [before, after, ...others] = diff
    if (before === undefined || after === undefined || others.length > 0) {
      throw refused('--diff expects two files, the earlier one first.')
    }
    process.exitCode = compare(
      gasDifferences(await readReport(before), await readReport(after)),
      options,
      writers,
    )
    return
  }
  // A report that cannot be read ends this before the command runs.
  const earlier = against === undefined ? undefined : await readReport(against)
  const { reports, exitCode } = await record(words, options, command, writers)
  const report = mergeGas(reports)
  if (options.out !== undefined) await writeFiles(options.out, report, words.join(' ') || 'tandem gas')
  const { output, errors } = writers
  if (options.print === 'json') output.write(JSON.stringify(report))
  else for (const line of gasTables(report, most)) output.write(line)
  for (const note of report.notes) errors.write(`tandem: ${note}`)
  const compared = earlier === undefined ? 0 : compare(gasDifferences(earlier, report), options, writers)
  process.exitCode = exitCode === 0 ? compared : exitCode
}

const EXAMPLES = `
Examples:
  tandem gas -- npm test                            tables of methods, deployments, functions, lines
  tandem gas --out gas -- npm test                  gas.json, gas.speedscope.json, gas.pb.gz
  tandem gas --against main.json --fail-above 2% -- npm test
  tandem gas --diff before.json after.json
  tandem gas --url http://127.0.0.1:4444 --transaction 0x…`

/** Fills in the command. Its action sets the exit code of the process, and throws as that of `exec` does. */
export function fillGasCommand(command: Command, writers: NodeWriters): void {
  addStartFlags(command)
  command
    .optionsGroup('Gas:')
    .option('--url <url>', 'a node that runs already; without a command, what it has recorded is read')
    .option('--transaction <hash>', 'the gas of one transaction that the node has mined')
    .option('--out <folder>', 'where gas.json, gas.speedscope.json and gas.pb.gz (pprof) are written')
    .option('--diff <files...>', 'compare two gas.json, and run nothing')
    .option('--against <file>', 'compare with a gas.json')
    .option('--fail-above <percent>', 'end with 1 when the average of a method or deployment rose by more')
    .option('--top <count>', 'functions and lines in the tables', '20')
    .option('--print <form>', 'tables, or the report as json', 'tables')
    .argument('[command...]', 'after --: the program to run and its arguments')
    .usage('[flags of start] -- <command...>')
    .addHelpText('after', EXAMPLES)
    .action((words: readonly string[], options: GasOptions) => gas(words, options, command, writers))
}

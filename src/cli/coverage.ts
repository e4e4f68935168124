/** `tandem coverage`: which lines, branches and functions of contracts a command runs, or a running node has run. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { isLibraryPath, matchesPattern } from '../coverage/file-choice.ts'
import { CoverageMapObject, mergeCoverage } from '../coverage/istanbul.ts'
import { lcovText } from '../coverage/lcov.ts'
import type { CoverageMap } from '../coverage/model.ts'
import { NodeError } from '../errors.ts'
import { coverageTable } from './coverage-table.ts'
import { type RecordedKind, recordBesideNode, runAgainst } from './recorded-run.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags } from './start-command.ts'

const Report = z.object({ files: CoverageMapObject, notes: z.array(z.string()) })

const KIND: RecordedKind<z.output<typeof Report>> = {
  setting: 'coverageDir',
  variable: 'TANDEM_COVERAGE_DIR',
  schema: Report,
  methods: { start: 'evm_startCoverage', read: 'evm_coverage' },
}

interface CoverageOptions {
  readonly url?: string
  readonly out: string
  readonly exclude?: readonly string[]
  readonly libraries?: true
}

/** The path of a source in the working directory, where `genhtml` and editors find it: Hardhat 3 puts `project/` in front. */
function pathHere(path: string): string {
  const inProject = path.replace(/^project\//, '')
  return !existsSync(path) && existsSync(inProject) ? inProject : path
}

/** The files that are asked for, by their paths here. */
function chosen(files: CoverageMap, { exclude = [], libraries }: CoverageOptions): CoverageMap {
  const isChosen = (path: string) =>
    (libraries === true || !isLibraryPath(path)) && !exclude.some((pattern) => matchesPattern(path, pattern))
  return Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => isChosen(path))
      .map(([path, coverage]) => [pathHere(path), { ...coverage, path: pathHere(path) }] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

async function cover(
  words: readonly string[],
  options: CoverageOptions,
  command: Command,
  writers: NodeWriters,
): Promise<void> {
  if (options.url === undefined && words.length === 0) {
    throw new NodeError('invalid-options', 'Give a command behind --, or the --url of a node.')
  }
  const { reports, exitCode } =
    options.url === undefined
      ? await recordBesideNode(words, command, KIND, writers)
      : await runAgainst(options.url, words, KIND, writers)
  const merged = mergeCoverage(reports.map(({ files }) => files))
  const files = chosen(merged.files, options)
  await mkdir(options.out, { recursive: true })
  await writeFile(join(options.out, 'lcov.info'), lcovText(files))
  await writeFile(join(options.out, 'coverage-final.json'), JSON.stringify(files))
  const { output, errors } = writers
  for (const line of coverageTable(files)) output.write(line)
  for (const note of new Set(reports.flatMap(({ notes }) => notes))) errors.write(`tandem: ${note}`)
  for (const path of merged.changed) {
    errors.write(`tandem: ${path} was not the same in all processes: the coverage of one of them is shown.`)
  }
  process.exitCode = exitCode
}

const EXAMPLES = `
Examples:
  tandem coverage -- npm test              RPC_URL names the node
  tandem coverage --url http://127.0.0.1:4444
  genhtml coverage/lcov.info -o coverage/html`

/** Fills in the command. Its action sets the exit code of the process to that of the command, and throws as that of `exec` does. */
export function fillCoverageCommand(command: Command, writers: NodeWriters): void {
  addStartFlags(command)
  command
    .optionsGroup('Coverage:')
    .option('--url <url>', 'a node that runs already; without a command, what it has recorded is read')
    .option('--out <folder>', 'where lcov.info and coverage-final.json are written', 'coverage')
    .option('--exclude <patterns...>', 'paths of sources to leave out, in which * matches anything')
    .option('--libraries', 'with the sources of packages (node_modules, npm/, lib/, names with @)')
    .argument('[command...]', 'after --: the program to run and its arguments')
    .usage('[flags of start] -- <command...>')
    .addHelpText('after', EXAMPLES)
    .action((words: readonly string[], options: CoverageOptions) => cover(words, options, command, writers))
}

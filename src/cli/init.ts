/** `tandem init`: adds Tandem to a project of Hardhat, Foundry, viem or ethers, after it has shown what it changes. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { messageOf, NodeError } from '../errors.ts'
import { replaceFile } from '../store/atomic-file.ts'
import { packageVersion } from '../store/package-files.ts'
import { type Change, lineEnd } from './init/change.ts'
import { addExampleTest, exampleCommand, testScript } from './init/example-test.ts'
import { changeFoundryConfig } from './init/foundry.ts'
import { changeHardhatConfig } from './init/hardhat.ts'
import { lineDiff } from './init/line-diff.ts'
import { withMember } from './init/manifest.ts'
import { PROJECT_KINDS, type Project, type ProjectKind, readProject, textOf } from './init/project.ts'
import type { Writers } from './start.ts'

/** What a kind of project gets. */
interface Plan {
  readonly packages: readonly string[]
  /** Scripts of the manifest, where it has none of these names. */
  readonly scripts: Readonly<Record<string, string>>
  readonly change: (project: Project) => Change
  /** Commands to type next. */
  readonly next: readonly string[]
}

function planOf(project: Project): Plan {
  const { kind, manifest } = project
  if (kind === 'hardhat') {
    const command = 'hardhat test --network tandem'
    const scripts = { 'test:tandem': command }
    const packages = ['hardhat-tandem', 'tandem']
    return { packages, scripts, change: changeHardhatConfig, next: ['npm install', `npx ${command}`] }
  }
  if (kind === 'foundry') {
    const first = manifest === undefined ? 'npm install --save-dev tandem' : 'npm install'
    const next = [first, 'npx tandem exec --preset anvil --port 8545 -- forge test --fork-url tandem']
    return { packages: ['tandem'], scripts: { tandem: 'tandem anvil' }, change: changeFoundryConfig, next }
  }
  return {
    packages: ['tandem'],
    scripts: { test: testScript(project) },
    change: (from) => addExampleTest(from, kind),
    next: ['npm install', exampleCommand(project)],
  }
}

function changeManifest({ manifest, packages: present }: Project, { packages, scripts }: Plan): Change[] {
  if (manifest === undefined) return []
  const withPackages = packages
    .filter((name) => present[name] === undefined)
    .reduce((text, name) => withMember(text, 'devDependencies', name, `^${packageVersion()}`), manifest)
  const after = Object.entries(scripts).reduce(
    (text, [name, script]) => withMember(text, 'scripts', name, script),
    withPackages,
  )
  return [{ file: 'package.json', before: manifest, after }]
}

/** Chains that `tandem start` keeps do not belong into a repository. */
function changeIgnored({ folder }: Project): Change[] {
  const before = textOf(folder, '.gitignore')
  if (before === undefined) return []
  const isThere = before.split('\n').some((line) => /^\/?\.tandem\/?$/.test(line.trim()))
  const end = lineEnd(before)
  const gap = before === '' || before.endsWith('\n') ? '' : end
  return [{ file: '.gitignore', before, after: isThere ? before : `${before}${gap}.tandem/${end}` }]
}

/** The lines of a change, in colour where the terminal supports it. */
function changeLines({ file, before, after }: Change): string[] {
  const colours: Readonly<Record<string, (text: string) => string>> = { '+': pc.green, '-': pc.red }
  const lines = lineDiff(before ?? '', after).map((line) => (colours[line[0] ?? ''] ?? pc.dim)(line))
  return [pc.bold(before === undefined ? `${file} (new)` : file), ...lines]
}

/** Does the person at the terminal agree? Throws `invalid-options` where there is none. */
async function isAgreed(): Promise<boolean> {
  if (process.stdin.isTTY !== true) {
    throw new NodeError(
      'invalid-options',
      'Nothing was written: run the command again with --yes to write this.',
    )
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question('Write these changes? [y/N] ')).trim())
  } finally {
    terminal.close()
  }
}

/** The file that a path names, which may be a link, and its access; a new one has that of the process. */
function placeOf(path: string): { readonly path: string; readonly mode: number } {
  if (!existsSync(path)) return { path, mode: 0o666 }
  const real = realpathSync(path)
  return { path: real, mode: statSync(real).mode & 0o777 }
}

/** Throws `invalid-options` where one of the changes cannot be written, before any is. */
function checkWritable(folder: string, changes: readonly Change[]): void {
  for (const { file } of changes) {
    const { path } = placeOf(join(folder, file))
    let place = path
    try {
      if (existsSync(path)) accessSync(path, constants.W_OK)
      do place = dirname(place)
      while (!existsSync(place))
      if (!statSync(place).isDirectory()) throw new Error(`${place} is no folder`)
      accessSync(place, constants.W_OK)
    } catch (error) {
      throw new NodeError(
        'invalid-options',
        `${file} cannot be written: ${messageOf(error)}. Nothing was written.`,
      )
    }
  }
}

async function writeChange(folder: string, { file, after }: Change): Promise<void> {
  const { path, mode } = placeOf(join(folder, file))
  await mkdir(dirname(path), { recursive: true })
  await replaceFile(path, after, mode)
}

async function init(
  folder: string,
  kind: ProjectKind | undefined,
  isSure: boolean,
  { output }: Writers,
): Promise<void> {
  const project = readProject(folder, kind)
  const plan = planOf(project)
  const all = [plan.change(project), ...changeManifest(project, plan), ...changeIgnored(project)]
  const changes = all.filter(({ before, after }) => before !== after)
  if (changes.length === 0) {
    output.write(`Nothing to change: this project of ${project.kind} has Tandem already.`)
    return
  }
  for (const change of changes) for (const line of changeLines(change)) output.write(line)
  await output.flush()
  if (!isSure && !(await isAgreed())) {
    output.write('Nothing was written.')
    return
  }
  checkWritable(folder, changes)
  for (const change of changes) await writeChange(folder, change)
  output.write(`Written: ${changes.map(({ file }) => file).join(', ')}. Next: ${plan.next.join('; ')}`)
}

/** Fills in the command. Its action throws `invalid-options`, and the file system's errors. */
export function fillInitCommand(command: Command, writers: Writers): void {
  command
    .argument('[folder]', 'folder of the project', '.')
    .addOption(
      new Option('--kind <kind>', 'kind of the project; found by its files unless given').choices(
        PROJECT_KINDS,
      ),
    )
    .option('--yes', 'write without asking')
    .allowExcessArguments(false)
    .action((folder: string, { kind, yes = false }: { kind?: ProjectKind; yes?: boolean }) =>
      init(resolve(folder), kind, yes, writers),
    )
}

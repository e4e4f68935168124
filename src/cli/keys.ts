/** `tandem keys`: create, list, rotate and revoke the API keys of a file. */
import type { Command } from 'commander'
import { NodeError } from '../errors.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { bareName, EXPLORER_API, METRICS_PAGE } from '../rpc/permissions.ts'
import { isMethodOrNamespace } from '../rpc/profiles.ts'
import { generateKey } from '../transport/keys/api-key.ts'
import { addKey, revokeKey, rotateKey } from '../transport/keys/key-changes.ts'
import { changeKeys, readKeys } from '../transport/keys/key-file.ts'
import { FORMS, type KeyRecord } from '../transport/keys/key-record.ts'
import type { Writers } from './start.ts'
import { columnLines } from './terminal-text.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, m: 60, h: 3600, d: 86_400 }
/** Three weeks: within the longest delay of a timer. */
const LONGEST_GRACE = 21 * 86_400

interface FileOption {
  readonly apiKeys?: string
}

interface CreateOptions extends FileOption {
  readonly name: string
  readonly allow?: string
  readonly stateOverride?: true
  readonly rate?: string
  readonly burst?: string
  readonly quota?: string
}

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

function fileOf({ apiKeys }: FileOption): string {
  const file = apiKeys ?? process.env.TANDEM_API_KEYS
  if (file === undefined || file === '')
    throw refused('Name the file that holds the keys: --api-keys <file>.')
  return file
}

/** Namespaces and methods of a list. Throws for an unknown one, which would allow nothing without an error. */
function allowList(text: string | undefined): string[] {
  const names = (text ?? '').split(/[\s,]+/).filter((name) => name !== '')
  for (const name of names) {
    const isPage = [METRICS_PAGE, EXPLORER_API].includes(bareName(name))
    if (!isPage && !isMethodOrNamespace(bareName(name), METHODS)) {
      throw refused(`--allow names "${name}", and there is no such method or namespace.`)
    }
  }
  return names
}

/** Seconds of a text such as 90s, 30min, 1h or 7d. */
function graceSeconds(text: string): number {
  const [, count, unit] = /^(\d{1,7})(s|min|m|h|d)$/.exec(text) ?? []
  const seconds = Number(count) * (UNITS[unit ?? ''] ?? Number.NaN)
  if (!(seconds <= LONGEST_GRACE)) {
    throw refused(`--grace expects a time such as 0s, 30min, 1h or 7d, at most 21d, not "${text}".`)
  }
  return seconds
}

/** The key alone goes to standard output, where a script can read it. */
function show(key: string, message: string, { output, errors }: Writers): void {
  errors.write(message)
  output.write(key)
}

function stateOf({ revoked, previous }: KeyRecord, now: number): string {
  if (revoked !== undefined) return `revoked ${revoked}`
  return previous !== undefined && Date.parse(previous.until) > now
    ? `active; the one before until ${previous.until}`
    : 'active'
}

function listLines(keys: readonly KeyRecord[]): string[] {
  const rows = keys.map((key) => [
    key.name,
    key.allow.join(',') || '(all unguarded)',
    key.stateOverride ? 'yes' : 'no',
    `${key.rate ?? '-'}${key.burst === undefined ? '' : ` +${key.burst}`}`,
    key.quota ?? '-',
    key.created.slice(0, 10),
    stateOf(key, Date.now()),
  ])
  const table = [['name', 'allow', 'override', 'rate', 'quota', 'created', 'state'], ...rows]
  const widest = (table[0] ?? []).slice(1).map(() => Number.POSITIVE_INFINITY)
  return columnLines(table, widest).map((line) => line.trimEnd())
}

/** A record without its hash. */
function listed({ hash: _, previous, ...record }: KeyRecord): object {
  return previous === undefined ? record : { ...record, previousUntil: previous.until }
}

const FILE = ['--api-keys <file>', 'JSON file that holds the keys [TANDEM_API_KEYS]'] as const

function addCreate(keys: Command, writers: Writers): void {
  keys
    .command('create')
    .description('make a key, print it only once, and keep its hash')
    .option(...FILE)
    .requiredOption('--name <name>', 'whose key it is')
    .option('--allow <names>', `${FORMS.allow}; left out: all but those that a key has to name`)
    .option('--state-override', 'allow it state overrides')
    .option('--rate <calls>', FORMS.rate)
    .option('--burst <calls>', 'calls allowed at once beyond those of one period of the rate')
    .option('--quota <calls>', `${FORMS.quota}; a day is one of UTC`)
    .allowExcessArguments(false)
    .action(async (options: CreateOptions) => {
      const file = fileOf(options)
      const { name, rate, burst, quota, stateOverride = false } = options
      const key = generateKey()
      const record = {
        name,
        allow: allowList(options.allow),
        stateOverride,
        ...(rate !== undefined && { rate }),
        ...(burst !== undefined && { burst: Number(burst) }),
        ...(quota !== undefined && { quota }),
      }
      await changeKeys(file, (known) => addKey(known, record, key, new Date()))
      show(key, `This is the key "${name}"; it is not shown again, and ${file} holds only its hash.`, writers)
    })
}

function addList(keys: Command, { output }: Writers): void {
  keys
    .command('list')
    .description('show the keys of a file, without the keys themselves')
    .option(...FILE)
    .option('--json', 'print JSON')
    .allowExcessArguments(false)
    .action((options: FileOption & { json?: true }) => {
      const known = readKeys(fileOf(options))
      const lines = options.json ? [JSON.stringify(known.map(listed))] : listLines(known)
      for (const line of lines) output.write(line)
    })
}

function addRotate(keys: Command, writers: Writers): void {
  keys
    .command('rotate')
    .description('replace a key by a new one, which is printed only once')
    .argument('<name>')
    .option(...FILE)
    .option('--grace <time>', 'how long the old key stays valid', '1h')
    .allowExcessArguments(false)
    .action(async (name: string, options: FileOption & { grace: string }) => {
      const file = fileOf(options)
      const grace = graceSeconds(options.grace)
      const key = generateKey()
      await changeKeys(file, (known) => rotateKey(known, name, key, grace, new Date()))
      const old = grace === 0 ? 'the old one is no longer valid' : `the old one is valid for ${options.grace}`
      show(key, `This is the new key "${name}"; it is not shown again, and ${old}.`, writers)
    })
}

function addRevoke(keys: Command, { output }: Writers): void {
  keys
    .command('revoke')
    .description('end a key at once')
    .argument('<name>')
    .option(...FILE)
    .allowExcessArguments(false)
    .action(async (name: string, options: FileOption) => {
      await changeKeys(fileOf(options), (known) => revokeKey(known, name, new Date()))
      output.write(`The key "${name}" is revoked.`)
    })
}

/** Fills in the command with those below it. Their actions throw `invalid-options`. */
export function fillKeysCommand(keys: Command, writers: Writers): void {
  keys.allowExcessArguments().action(() => {
    throw refused('Name a command: tandem keys create, list, rotate or revoke.')
  })
  for (const add of [addCreate, addList, addRotate, addRevoke]) add(keys, writers)
}

/** What `tandem init` changes in `foundry.toml`: the name of the local node. */
import { isDeepStrictEqual } from 'node:util'
import { parse, type TomlTable } from 'smol-toml'
import { messageOf, NodeError } from '../../errors.ts'
import { type Change, lineEnd } from './change.ts'
import { type Project, textOf } from './project.ts'

const FILE = 'foundry.toml'
const TABLE = 'rpc_endpoints'
const NAME = 'tandem'
/** Where `tandem anvil` listens. */
const URL = 'http://127.0.0.1:8545'
const ENDPOINT = `${NAME} = "${URL}"`
const HEAD = /^[ \t]*\[[ \t]*(["']?)rpc_endpoints\1[ \t]*\].*$/gm

/** Throws `invalid-options` for a malformed text. */
function parsed(text: string, folder: string): TomlTable {
  try {
    return parse(text)
  } catch (error) {
    throw new NodeError('invalid-options', `${FILE} in ${folder} is malformed: ${messageOf(error)}`)
  }
}

/** The endpoints of a content; `undefined` where it has none. */
function endpointsOf(content: TomlTable): TomlTable | undefined {
  const table = content[TABLE]
  return typeof table === 'object' && !Array.isArray(table) && !(table instanceof Date) ? table : undefined
}

/** The text with the line under each head of the table, and with a table of its own. */
function* candidates(text: string): Generator<string> {
  const end = lineEnd(text)
  for (const { index, 0: head } of text.matchAll(HEAD)) {
    const at = index + head.trimEnd().length
    yield `${text.slice(0, at)}${end}${ENDPOINT}${text.slice(at)}`
  }
  const above = text.trimEnd()
  yield `${above}${above === '' ? '' : end + end}[${TABLE}]${end}${ENDPOINT}${end}`
}

/** Is the endpoint all that the text adds to the content? It is not where the line became part of something else. */
function addsEndpoint(text: string, content: TomlTable): boolean {
  try {
    const after = parse(text)
    const endpoints = endpointsOf(after)
    if (endpoints?.[NAME] !== URL) return false
    delete endpoints[NAME]
    if (content[TABLE] === undefined) delete after[TABLE]
    return isDeepStrictEqual(after, content)
  } catch {
    return false
  }
}

/** The changed file. Throws `invalid-options` where there is none, where it is malformed, or where it has an unknown form. */
export function changeFoundryConfig({ folder }: Project): Change {
  const before = textOf(folder, FILE)
  if (before === undefined) throw new NodeError('invalid-options', `There is no ${FILE} in ${folder}.`)
  const content = parsed(before, folder)
  if (endpointsOf(content)?.[NAME] !== undefined) return { file: FILE, before, after: before }
  for (const after of candidates(before)) {
    if (addsEndpoint(after, content)) return { file: FILE, before, after }
  }
  throw new NodeError(
    'invalid-options',
    `${FILE} has a form that cannot be changed here. Add to ${TABLE} by hand: ${ENDPOINT}`,
  )
}

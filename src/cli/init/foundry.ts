/** What `tandem init` changes in `foundry.toml`: the name of the local node. */
import { NodeError } from '../../errors.ts'
import type { Change } from './change.ts'
import { type Project, textOf } from './project.ts'

const FILE = 'foundry.toml'
const SECTION = '[rpc_endpoints]'
/** Where `tandem anvil` listens. */
const ENDPOINT = 'tandem = "http://127.0.0.1:8545"'

/** The changed file. Throws `invalid-options` where there is none. */
export function changeFoundryConfig({ folder }: Project): Change {
  const before = textOf(folder, FILE)
  if (before === undefined) throw new NodeError('invalid-options', `There is no ${FILE} in ${folder}.`)
  const lines = before.split('\n')
  const at = lines.findIndex((line) => line.trim() === SECTION)
  if (at < 0) return { file: FILE, before, after: `${before.trimEnd()}\n\n${SECTION}\n${ENDPOINT}\n` }
  const end = lines.findIndex((line, i) => i > at && /^\s*\[/.test(line))
  const own = lines.slice(at + 1, end < 0 ? undefined : end)
  if (own.some((line) => /^\s*"?tandem"?\s*=/.test(line))) return { file: FILE, before, after: before }
  return {
    file: FILE,
    before,
    after: [...lines.slice(0, at + 1), ENDPOINT, ...lines.slice(at + 1)].join('\n'),
  }
}

/** The page of the options: settings by group, presets, and the help of the other commands. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { flagName, SETTINGS, variableOf } from '../../dist/cli/settings.js'
import { OPTION_GROUPS } from '../../dist/options/groups.js'
import { NODE_SETTINGS } from '../../dist/options/options.js'
import { PRESET_DEFAULTS } from '../../dist/options/presets.js'
import { SERVE_SETTINGS } from '../../dist/options/serve-settings.js'
import { describeDefault } from '../../dist/options/setting.js'
import { cell, code, codeCell, NOTICE, page, table } from './markdown.mjs'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const COMMANDS = [
  'start',
  'import',
  'export',
  'dump',
  'load',
  'verify',
  'exec',
  'trace',
  'drift',
  'methods',
  'mcp',
  'init',
  'doctor',
  'completion',
  'keys create',
  'keys list',
  'keys rotate',
  'keys revoke',
  'cluster status',
  'peg in',
  'peg out',
  'peg status',
]

function optionRows(belongs) {
  return Object.entries(SETTINGS)
    .filter(([key]) => belongs(key))
    .map(([key, { flag, help, rskjKeys, ...rest }]) => {
      const names = Object.keys(rskjKeys ?? {})
      const alias = names.length === 0 ? '' : `; in the file also ${names.map(code).join(', ')}`
      // The key of a flag that turns something off has the opposite value.
      const named = flagName(flag).startsWith('no-') ? `${key}: false` : key
      return [codeCell(flag), codeCell(named), cell(describeDefault(rest)), cell(help) + alias]
    })
}

/** The defaults of the presets: a row for each setting that one of them changes. */
function presetRows() {
  const { rsk: _, ...presets } = PRESET_DEFAULTS
  const keys = [...new Set(Object.values(presets).flatMap((values) => Object.keys(values)))]
  const shown = (value, key) =>
    value === undefined
      ? describeDefault(SETTINGS[key])
      : Array.isArray(value)
        ? value.join(', ')
        : String(value)
  return keys.map((key) => [
    codeCell(key),
    ...Object.values(presets).map((values) => cell(shown(values[key], key))),
  ])
}

/** Commands with the flags of start, which the tables list already. */
const STARTS = new Set(['exec'])

function helpOf(command) {
  const env = { ...process.env, NO_COLOR: '1' }
  const text = execFileSync(process.execPath, [MAIN, ...command.split(' '), '--help'], {
    encoding: 'utf8',
    env,
  }).trim()
  return STARTS.has(command) ? text.replace(/\n\n(Options|Chain):\n(.|\n)*$/, '') : text
}

/** The groups of `tandem start --help`, each with where its settings can also be given. */
function groupSections() {
  const head = ['flag', 'key', 'default', 'meaning']
  return OPTION_GROUPS.flatMap(({ title, keys }) => {
    const inNode = keys.filter((key) => Object.hasOwn(NODE_SETTINGS, key)).length
    const inServe = keys.filter((key) => Object.hasOwn(SERVE_SETTINGS, key)).length
    const places = [
      ...(inNode === keys.length ? ['`createNode({ … })`'] : []),
      ...(inServe === keys.length ? ['`serve(node, { … })`'] : []),
    ]
    const note =
      places.length === 0 ? 'Of the command only.' : `In process: options of ${places.join(' and ')}.`
    return [
      `## ${title}`,
      '',
      note,
      '',
      table(
        head,
        optionRows((key) => keys.includes(key)),
      ),
      '',
    ]
  })
}

/** The page of the options. */
export function optionsPage() {
  return page([
    NOTICE,
    '# Options',
    '',
    `Each setting of \`tandem start\` is a flag, an environment variable (\`--data-dir\` is \`${variableOf('--data-dir')}\`) and a key`,
    'of a JSON file (`--config <file>`, key `dataDir`). A flag beats the environment, which beats the file. An empty variable',
    'counts as absent; an unknown flag, `TANDEM_` variable or key ends the start with status 2. Where the file may also',
    'hold the configuration key of the reference node (RSKj), the row names it. `tandem start --help` has the same groups.',
    '',
    `Groups: ${OPTION_GROUPS.map(
      ({ title }) =>
        `[${title}](#${title
          .toLowerCase()
          .replace(/[^a-z -]/g, '')
          .replaceAll(' ', '-')})`,
    ).join(', ')}, [presets](#presets), [other commands](#commands).`,
    '',
    ...groupSections(),
    '## Presets',
    '',
    'What `--preset hardhat` and `--preset anvil` change; each value can be set by its own flag, variable or key.',
    '[The guide](guides/clients.md#suites-written-for-hardhat-node-or-anvil) describes what clients see.',
    '',
    table(['key', 'hardhat', 'anvil'], presetRows()),
    '',
    '## Commands',
    '',
    ...COMMANDS.filter((command) => command !== 'start').flatMap((command) => [
      `### tandem ${command}`,
      '',
      '```text',
      helpOf(command),
      '```',
      '',
    ]),
  ])
}

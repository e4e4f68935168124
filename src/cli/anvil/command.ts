/** `tandem anvil`: a node that launchers of Anvil can start, by Anvil's flags and with its banner. */
import { createHash, randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { GenesisAlloc } from '../../chain/genesis.ts'
import { NodeError } from '../../errors.ts'
import type { Node } from '../../node/node.ts'
import { isLoopback } from '../../options/addresses.ts'
import { resolveNodeOptions, resolveServeOptions, resolveTerminalOptions } from '../../options/options.ts'
import { hidden } from '../secrets.ts'
import { SETTINGS, type Settings } from '../settings.ts'
import type { NodeWriters, StartStyle } from '../start.ts'
import { endAtSignal, loadStart, untilSignal } from '../start-command.ts'
import type { AnvilSettings } from './flag-values.ts'
import { ANVIL_FLAGS } from './flags.ts'
import { checkForkFlags } from './fork-flags.ts'

/** Anvil's port. */
const PORT = 8545

function emptySettings(): AnvilSettings {
  return {
    node: { preset: 'anvil' },
    serve: { port: PORT },
    silent: false,
    quiet: false,
    verbose: false,
    json: false,
    autoImpersonate: false,
    printsConsole: true,
    printsTraces: false,
    configOut: undefined,
    randomWords: undefined,
    mnemonicSeed: undefined,
    funded: new Map(),
    init: undefined,
    loadState: undefined,
    dumpState: undefined,
    stateInterval: undefined,
    warnings: [],
  }
}

/** Anvil's refusal of two flags, in the form of its command line: the one typed first is named first. */
function checkMiningFlags(words: readonly string[]): void {
  const at = (name: RegExp) => words.findIndex((word) => name.test(word))
  const flags = [
    { at: at(/^(-b.*|--block-?[tT]ime(=.*)?)$/), name: '--block-time <SECONDS>' },
    { at: at(/^--no-min(e|ing)$/), name: '--no-mining' },
  ].sort((a, b) => a.at - b.at)
  const [first, second] = flags
  if (first === undefined || second === undefined || first.at < 0) return
  throw new NodeError('invalid-options', `the argument '${first.name}' cannot be used with '${second.name}'`)
}

/** Reads the typed flags in the order of the table. Throws `invalid-options`. */
function settingsOf(command: Command, env: NodeJS.ProcessEnv): AnvilSettings {
  const settings = emptySettings()
  if (env.ANVIL_IP_ADDR) settings.serve.host = env.ANVIL_IP_ADDR
  const attributeOf = (long: string) => command.options.find((one) => one.long === long)?.attributeName()
  const typed = (long: string) => {
    const attribute = attributeOf(long)
    if (attribute === undefined || command.getOptionValueSource(attribute) !== 'cli') return undefined
    const value: unknown = command.getOptionValue(attribute)
    return typeof value === 'string' ? value : ''
  }
  for (const { flags, aliases = [], apply } of ANVIL_FLAGS) {
    const [long = ''] = /--[\w-]+/.exec(flags) ?? []
    // Commander stores --block-time and --blockTime under one name.
    const names = aliases.filter((name) => attributeOf(name) !== attributeOf(long))
    const given = [long, ...names].flatMap((name) => {
      const value = typed(name)
      return value === undefined ? [] : [{ name, value }]
    })
    const [first, second] = given
    if (second !== undefined) {
      throw new NodeError(
        'invalid-options',
        `${first?.name} and ${second.name} are the same flag: give one of them.`,
      )
    }
    if (first !== undefined) apply(first.value, settings, first.name)
  }
  return settings
}

/** The mnemonic that the flags ask for. Throws `invalid-options` when they ask for several. */
async function chooseMnemonic({ node, randomWords, mnemonicSeed }: AnvilSettings): Promise<void> {
  const asked = [node.mnemonic, randomWords, mnemonicSeed].filter((one) => one !== undefined)
  if (asked.length > 1) {
    throw new NodeError(
      'invalid-options',
      '--mnemonic, --mnemonic-random and --mnemonic-seed-unsafe contradict each other: give one of them.',
    )
  }
  if (randomWords === undefined && mnemonicSeed === undefined) return
  const { mnemonicOf } = await import('../../engine/wallet/mnemonic.ts')
  const entropy =
    mnemonicSeed === undefined
      ? randomBytes(((randomWords ?? 12) / 3) * 4)
      : createHash('sha256').update(mnemonicSeed).digest().subarray(0, 16)
  node.mnemonic = mnemonicOf(entropy)
}

/** A node that listens beyond loopback is open to all, as Anvil is, but warns of it. */
function allowHost({ serve, warnings }: AnvilSettings): void {
  if (serve.host === undefined || isLoopback(serve.host)) return
  serve.unsafeOpen = true
  warnings.push(
    `Warning: listening on ${serve.host}: anyone who reaches the port can use the accounts and move the chain`,
  )
}

function allocOf({ funded, node }: AnvilSettings): GenesisAlloc {
  const usual = resolveNodeOptions({ ...node, alloc: undefined }).accountBalance ?? 0n
  return new Map([...funded].map(([address, balance]) => [address, { balance: balance ?? usual }]))
}

/** The values of a flag that was given several times. */
function joinLines(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before}\n${value}`
}

/** Fills in the command; its action throws `NodeError` and `ListenError`. */
export function fillAnvilCommand(command: Command, { output }: NodeWriters): void {
  for (const { flags, help, aliases = [], repeatable = false, holds } of ANVIL_FLAGS) {
    const isSecret = holds !== undefined && SETTINGS[holds]?.secret === true
    const option = (text: string, about?: string) => {
      const made = new Option(text, about)
      if (repeatable) made.argParser(joinLines)
      return isSecret ? hidden(made) : made
    }
    command.addOption(option(flags, help))
    const argument = / [<[].*$/.exec(flags)?.[0] ?? ''
    for (const alias of aliases) command.addOption(option(`${alias}${argument}`).hideHelp())
  }
  command.allowExcessArguments(false).action(async () => {
    endAtSignal()
    checkMiningFlags(process.argv)
    const asked = settingsOf(command, process.env)
    checkForkFlags(asked.node)
    await chooseMnemonic(asked)
    allowHost(asked)
    const node = { ...asked.node, alloc: allocOf(asked) }
    const { preset } = resolveNodeOptions(node)
    resolveServeOptions(asked.serve, { preset })
    const settings: Settings = {
      node,
      serve: asked.serve,
      files: {
        init: asked.init,
        state: { load: asked.loadState, dump: asked.dumpState, intervalSeconds: asked.stateInterval },
      },
      terminal: resolveTerminalOptions({
        quiet: asked.quiet || asked.silent,
        json: asked.json,
        logLevel: asked.silent ? 'silent' : asked.verbose ? 'debug' : 'info',
      }),
    }
    const { announceAnvil } = await import('./banner.ts')
    const start = await loadStart()
    const style: StartStyle = {
      announce: (started, server, writer) => announceAnvil(started, server, asked, writer),
      warnsItself: true,
      withoutTrees: !asked.printsTraces,
      withoutConsole: !asked.printsConsole,
      ...(asked.autoImpersonate && {
        prepare: ({ engine }: Node) => engine.dev.impersonation.setEverybody(true),
      }),
    }
    // Launchers take any line on standard error for a failure.
    await start(settings, { output, errors: output }, untilSignal, style)
  })
}

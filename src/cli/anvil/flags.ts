/**
 * Anvil's command line: every flag of Anvil 1.7, what it sets here, or why it is refused. Accounts are those of
 * `--preset anvil`; the chain keeps its own rules (docs/differences.md).
 */
import { NodeError } from '../../errors.ts'
import { LONGEST_INTERVAL } from '../../options/kinds.ts'
import { coins, contradicting, type Flag, fund, hardfork, number, refused } from './flag-values.ts'
import { FORK_FLAGS } from './fork-flags.ts'

const NOTHING = (): void => {}

/** A flag for what is always so here. */
const always = (flags: string, help: string, aliases: readonly string[] = []): Flag => ({
  flags,
  help,
  aliases,
  apply: NOTHING,
})

/** A flag that cannot be followed. */
const never = (flags: string, reason: string, aliases: readonly string[] = []): Flag => ({
  flags,
  help: `refused: ${reason}`,
  aliases,
  apply(_value, _settings, flag) {
    throw refused(flag, reason)
  },
})

/** Gas limit of a block without a limit: the most gas that frames count. */
const UNLIMITED_GAS = 10n ** 12n
const LARGEST_BODY = 1_073_741_824

/** All flags, in the order of Anvil's help. */
export const ANVIL_FLAGS: readonly Flag[] = [
  {
    flags: '-p, --port <number>',
    help: 'port to listen on',
    apply: (value, { serve }, flag) => {
      serve.port = number(value, flag, { most: 65_535 })
    },
  },
  {
    flags: '-a, --accounts <count>',
    help: 'how many accounts to make',
    apply: (value, { node }, flag) => {
      node.accounts = number(value, flag, { most: 10_000 })
    },
  },
  {
    flags: '--balance <coins>',
    help: 'balance of each account',
    apply: (value, { node }, flag) => {
      node.accountBalance = coins(value, flag)
    },
  },
  {
    flags: '--timestamp <seconds>',
    help: 'timestamp of block 0',
    apply: (value, { node }, flag) => {
      node.genesisTime = number(value, flag)
    },
  },
  {
    flags: '--number <height>',
    help: 'number of the first block; only 0',
    apply: (value, _, flag) => {
      if (value !== '0') throw refused(`${flag} ${value}`, 'the first block of this chain is block 0')
    },
  },
  {
    flags: '-m, --mnemonic <words>',
    holds: 'mnemonic',
    help: 'BIP-39 words to derive the accounts from',
    apply: (value, { node }) => {
      node.mnemonic = value
    },
  },
  {
    flags: '--mnemonic-random [words]',
    help: 'make a random mnemonic of this many words; 12 unless given',
    apply: (value, settings, flag) => {
      const count = value === '' ? 12 : number(value, flag)
      if (![12, 15, 18, 21, 24].includes(count)) {
        throw new NodeError('invalid-options', `${flag} expects 12, 15, 18, 21 or 24 words, not "${value}".`)
      }
      settings.randomWords = count
    },
  },
  {
    flags: '--mnemonic-seed-unsafe <seed>',
    holds: 'mnemonic',
    help: 'make a mnemonic from a seed; the words differ from those that Anvil makes of it',
    apply: (value, settings) => {
      settings.mnemonicSeed = value
    },
  },
  {
    flags: '--derivation-path <path>',
    help: 'BIP-32 path of the accounts',
    apply: (value, { node }) => {
      node.derivationPath = value
    },
  },
  {
    flags: '--hardfork <name>',
    help: "an Ethereum fork; cancun is the chain's own",
    apply: (value, settings) => hardfork(value, settings),
  },
  {
    flags: '-b, --block-time <seconds>',
    aliases: ['--blockTime'],
    help: 'seconds between mined blocks',
    apply: (value, { node }, flag) => {
      const seconds = Number(value)
      if (!(seconds > 0))
        throw new NodeError('invalid-options', `${flag} expects seconds above 0, not "${value}".`)
      node.mining = seconds
    },
  },
  {
    flags: '--no-mining',
    aliases: ['--no-mine'],
    help: 'mine on request only',
    apply: (_, { node }) => {
      node.mining = 'manual'
    },
  },
  {
    flags: '--mixed-mining',
    help: 'mine a block for each transaction as well as those of --block-time',
    apply: (_, { node }, flag) => {
      if (typeof node.mining !== 'number')
        throw new NodeError(
          'invalid-options',
          `${flag} needs --block-time: the seconds between the other blocks.`,
        )
      node.mixedMining = true
    },
  },
  {
    flags: '--order <order>',
    help: 'order of transactions in a block: fees, the best price first, or fifo, as they arrived',
    apply: (value, { node }, flag) => {
      if (value !== 'fees' && value !== 'fifo')
        throw new NodeError('invalid-options', `${flag} expects fees or fifo, not "${value}".`)
      node.order = value
    },
  },
  {
    flags: '--config-out <file>',
    help: 'file to write accounts, keys and settings to, as JSON',
    apply: (value, settings) => {
      settings.configOut = value
    },
  },
  {
    flags: '--fund-accounts <list>',
    help: 'further accounts with a balance: addresses, or address:coins, separated by commas',
    apply: fund,
  },
  {
    flags: '--ipc [path]',
    aliases: ['--ipcpath'],
    help: 'Unix socket that serves JSON-RPC as well; /tmp/anvil.ipc unless given',
    apply: (value, { serve }) => {
      serve.ipc = value === '' ? '/tmp/anvil.ipc' : value
    },
  },
  {
    flags: '--init <file>',
    help: 'genesis file: chain id, accounts, timestamp and gas limit',
    apply: (value, settings) => {
      settings.init = value
    },
  },
  {
    flags: '--state <file>',
    help: '--load-state, where the file is there, and --dump-state',
    apply: (value, settings, flag) => {
      if (settings.init !== undefined) throw contradicting('--init', flag)
      settings.loadState = { path: value, mayBeMissing: true }
      settings.dumpState = value
    },
  },
  {
    flags: '-s, --state-interval <seconds>',
    help: 'seconds between writes of the file of --state or --dump-state',
    apply: (value, settings, flag) => {
      settings.stateInterval = number(value, flag, { least: 1, most: LONGEST_INTERVAL })
    },
  },
  {
    flags: '--dump-state <file>',
    help: 'state file to write when the node ends, with all blocks; of a folder, its state.json',
    apply: (value, settings, flag) => {
      if (settings.dumpState !== undefined) throw contradicting('--state', flag)
      settings.dumpState = value
    },
  },
  {
    flags: '--load-state <file>',
    help: 'state file to load: of this node or of Anvil',
    apply: (value, settings, flag) => {
      if (settings.loadState !== undefined) throw contradicting('--state', flag)
      if (settings.init !== undefined) throw contradicting('--init', flag)
      settings.loadState = { path: value, mayBeMissing: false }
    },
  },
  always('--preserve-historical-states', 'all states are kept'),
  always('--prune-history [count]', 'accepted, without effect: all states are kept'),
  always('--max-persisted-states <count>', 'accepted, without effect: all states are kept'),
  always('--transaction-block-keeper <count>', 'accepted, without effect: all blocks are kept'),
  never('--max-transactions <count>', 'blocks are limited by gas; use --gas-limit'),
  always('--memory-limit <bytes>', 'accepted, without effect: calls are limited by gas'),
  {
    flags: '--chain-id <number>',
    aliases: ['--chain'],
    help: 'chain id, any number; the rules stay those of this chain',
    apply: (value, { node }, flag) => {
      node.chainId = number(value, flag, { least: 1 })
    },
  },
  {
    flags: '--gas-limit <gas>',
    aliases: ['--block-gas-limit'],
    help: 'gas limit of a block',
    apply: (value, { node }, flag) => {
      node.blockGasLimit = number(value, flag, { least: 1 })
    },
  },
  {
    flags: '--disable-block-gas-limit',
    help: 'a gas limit that no block reaches',
    apply: (_, { node }) => {
      node.blockGasLimit = UNLIMITED_GAS
    },
  },
  never(
    '--code-size-limit <bytes>',
    'the limit of 24,576 bytes is a rule of the chain; hardhat_setCode places longer code',
  ),
  never(
    '--disable-code-size-limit',
    'the limit of 24,576 bytes is a rule of the chain; hardhat_setCode places longer code',
  ),
  {
    flags: '--gas-price <wei>',
    help: 'price that eth_gasPrice answers',
    apply: (value, { node }, flag) => {
      node.gasPrice = number(value, flag)
    },
  },
  {
    flags: '--block-base-fee-per-gas <wei>',
    aliases: ['--base-fee'],
    help: "the chain's counterpart of the base fee, its minimum gas price",
    apply: (value, { node }, flag) => {
      node.minGasPrice = number(value, flag)
    },
  },
  always('--steps-tracing', 'steps can be traced at any time', ['--tracing']),
  {
    flags: '--disable-console-log',
    help: 'print no console.log lines of contracts',
    apply: (_, settings) => {
      settings.printsConsole = false
    },
  },
  {
    flags: '--print-traces',
    help: 'print the call tree of each failed transaction',
    apply: (_, settings) => {
      settings.printsTraces = true
    },
  },
  {
    flags: '--auto-impersonate',
    aliases: ['--auto-unlock'],
    help: 'send for any sender',
    apply: (_, settings) => {
      settings.autoImpersonate = true
    },
  },
  {
    flags: '--host <address>',
    help: 'address to listen on; ANVIL_IP_ADDR',
    apply: (value, { serve }, flag) => {
      if (value.includes(','))
        throw refused(`${flag} ${value}`, 'a node listens on one address; 0.0.0.0 is all of them')
      serve.host = value
    },
  },
  {
    flags: '--allow-origin <origin>',
    help: 'origins of web pages that may use the node; those of this machine unless given',
    apply: (value, { serve }) => {
      serve.cors = value.split(',').map((origin) => origin.trim())
    },
  },
  {
    flags: '--no-cors',
    help: 'let no web page use the node',
    apply: (_, { serve }) => {
      serve.cors = []
    },
  },
  {
    flags: '--no-request-size-limit',
    help: 'take requests of up to 1 GiB',
    apply: (_, { serve }) => {
      serve.maxBodyBytes = LARGEST_BODY
    },
  },
  {
    flags: '--silent',
    help: 'print nothing',
    apply: (_, settings) => {
      settings.silent = true
    },
  },
  {
    flags: '-q, --quiet',
    help: 'print no line per call or block',
    apply: (_, settings) => {
      settings.quiet = true
    },
  },
  {
    flags: '-v, --verbosity',
    help: 'print log lines of level debug',
    apply: (_, settings) => {
      settings.verbose = true
    },
  },
  {
    flags: '--json',
    help: 'print log lines as JSON',
    apply: (_, settings) => {
      settings.json = true
    },
  },
  always('--color <when>', 'accepted: colours are used where the terminal has them'),
  always('-j, --threads <count>', 'accepted, without effect: a node runs in one process', ['--jobs']),
  always('--disable-min-priority-fee', 'the chain has no priority fee'),
  {
    flags: '--disable-default-create2-deployer',
    help: 'leave the deterministic deployment proxy out of the genesis',
    apply: (_, { node }) => {
      node.create2Deployer = false
    },
  },
  never('--slots-in-an-epoch <count>', 'the chain has no slots and epochs; leave the flag out'),
  never('--enable-tx-gas-limit', 'the chain limits a transaction by its block; use --gas-limit'),
  never(
    '--disable-pool-balance-checks',
    'senders must be able to pay; use --auto-impersonate and anvil_setBalance',
  ),
  ...FORK_FLAGS,
]

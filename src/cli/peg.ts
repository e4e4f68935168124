/** `tandem peg in`, `out`, `status`: coins between the two chains of a running node. */
import type { Command } from 'commander'
import { z } from 'zod'
import { NodeError } from '../errors.ts'
import { createRemote, DEFAULT_URL, type Remote } from './remote.ts'
import type { Writers } from './start.ts'

const SATOSHI_IN_COIN = 100_000_000n
const DECIMALS = 8

/** Satoshi of an amount in coins. Throws `invalid-options`. */
function satoshiOf(amount: string): number {
  const [, whole, fraction = ''] = /^(\d{1,8})(?:\.(\d{1,8}))?$/.exec(amount) ?? []
  if (whole === undefined) {
    throw new NodeError(
      'invalid-options',
      `The amount expects bitcoins with at most 8 decimals such as 0.5, not ${amount}.`,
    )
  }
  return Number(BigInt(whole) * SATOSHI_IN_COIN + BigInt(fraction.padEnd(DECIMALS, '0')))
}

/** An amount in coins without needless zeros. */
function coinsOf(satoshi: number): string {
  const digits = String(satoshi).padStart(DECIMALS + 1, '0')
  const text = `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
  return text.replace(/\.?0+$/, '')
}

const PegIn = z.object({
  status: z.string(),
  bitcoinTransaction: z.string(),
  transaction: z.string().nullable(),
  reason: z.string().nullable(),
})
const PegOut = PegIn.extend({ bitcoinTransaction: z.string().nullable() })
const Federation = z.object({ address: z.string(), threshold: z.int(), members: z.array(z.unknown()) })
const Status = z.object({
  bitcoin: z.object({
    height: z.int(),
    hash: z.string(),
    mempool: z.int(),
    origin: z.string().nullish(),
  }),
  bridge: z.object({ height: z.int() }),
  active: Federation,
  retiring: Federation.nullable(),
  proposed: Federation.nullable(),
  locked: z.int(),
  lockingCap: z.int(),
  feePerKb: z.int(),
  minimumPegIn: z.int(),
  minimumPegOut: z.int(),
  pegInConfirmations: z.int(),
  pegIns: z.array(
    z.object({
      bitcoinTransaction: z.string(),
      satoshi: z.int(),
      confirmations: z.int(),
      ignored: z.string().nullish(),
    }),
  ),
  pegOuts: z.array(
    z.object({
      stage: z.string(),
      satoshi: z.int().nullable(),
      receiver: z.string().nullable(),
      bitcoinTransaction: z.string().nullable(),
      confirmations: z.int().nullable(),
      needed: z.int().nullable(),
      missing: z.int().nullable(),
    }),
  ),
  history: z
    .array(
      z.object({
        kind: z.string(),
        status: z.string(),
        bitcoinTransaction: z.string(),
        satoshi: z.int().nullable(),
        reason: z.string().nullable(),
      }),
    )
    .default([]),
})

const row = (name: string, value: string) => `${name.padEnd(12)} ${value}`

/** The lines of a peg-in or peg-out; the empty value of an absent transaction is left out. */
function movementLines(found: z.infer<typeof PegOut>): string[] {
  const { status, transaction, bitcoinTransaction, reason } = found
  return [
    row('Status', reason === null ? status : `${status}: ${reason}`),
    ...(bitcoinTransaction === null ? [] : [row('Bitcoin', bitcoinTransaction)]),
    ...(transaction === null ? [] : [row('Transaction', transaction)]),
  ]
}

function pegOutText(waiting: z.infer<typeof Status>['pegOuts'][number]): string {
  const { stage, satoshi, receiver, bitcoinTransaction, confirmations, needed, missing } = waiting
  if (stage === 'requested') return `requested: ${coinsOf(satoshi ?? 0)} BTC to ${receiver}`
  if (stage === 'confirming') return `${bitcoinTransaction}, block ${confirmations} of ${needed}`
  return `${bitcoinTransaction}, signatures missing: ${missing}`
}

function pegInText(waiting: z.infer<typeof Status>['pegIns'][number], needed: number): string {
  const { bitcoinTransaction, satoshi, confirmations, ignored } = waiting
  const progress = ignored ? `ignored: ${ignored}` : `block ${confirmations} of ${needed}`
  return `${bitcoinTransaction}, ${coinsOf(satoshi)} BTC, ${progress}`
}

/** What the Bridge made a transaction for, as people call it. */
const KINDS: Readonly<Record<string, string>> = {
  pegIn: 'peg-in',
  pegOut: 'peg-out',
  svpFund: 'validation (fund)',
  svpSpend: 'validation (spend)',
}

function eventText(event: z.infer<typeof Status>['history'][number]): string {
  const { kind, status, bitcoinTransaction, satoshi, reason } = event
  const amount = satoshi === null ? '' : `, ${coinsOf(satoshi)} BTC`
  const state = reason === null ? status : `${status}: ${reason}`
  return `${KINDS[kind] ?? kind} ${bitcoinTransaction}${amount}, ${state}`
}

function federationText({ address, threshold, members }: z.infer<typeof Federation>): string {
  return `${address}, ${threshold} of ${members.length}`
}

function statusLines(status: z.infer<typeof Status>): string[] {
  const { bitcoin, bridge, active, retiring, proposed, pegIns, pegOuts } = status
  return [
    row('Bitcoin', `height ${bitcoin.height}, ${bitcoin.hash}, mempool ${bitcoin.mempool}`),
    ...(bitcoin.origin ? [row('Node', bitcoin.origin)] : []),
    row('Bridge', `height ${bridge.height}`),
    row('Federation', federationText(active)),
    ...(retiring === null ? [] : [row('Retiring', federationText(retiring))]),
    ...(proposed === null ? [] : [row('Proposed', federationText(proposed))]),
    row('Locked', `${coinsOf(status.locked)} of at most ${coinsOf(status.lockingCap)} BTC`),
    row('Minimum', `in ${coinsOf(status.minimumPegIn)}, out ${coinsOf(status.minimumPegOut)} BTC`),
    row('Fee', `${status.feePerKb} satoshi for 1,000 bytes`),
    ...pegIns.map((waiting) => row('Peg-in', pegInText(waiting, status.pegInConfirmations))),
    ...pegOuts.map((waiting) => row('Peg-out', pegOutText(waiting))),
    ...status.history.map((event) => row('Past', eventText(event))),
  ]
}

interface Flags {
  readonly url: string
  readonly json?: boolean
  readonly to?: string
  readonly from?: string
  readonly wait?: boolean
}

/** Fills in the command. Its actions throw `NodeError`. */
export function fillPegCommand(command: Command, { output }: Writers): void {
  const withNode = (subcommand: Command) =>
    subcommand
      .option('--url <url>', 'address of the node', DEFAULT_URL)
      .option('--json', 'print the answer as JSON')
      .allowExcessArguments(false)
  const print = (found: object, lines: readonly string[], { json }: Flags) => {
    for (const line of json === true ? [JSON.stringify(found)] : lines) output.write(line)
  }
  const move = async (node: Remote, method: string, params: readonly unknown[], flags: Flags) => {
    const found = await node.call(method, params, PegOut)
    print(found, movementLines(found), flags)
  }
  withNode(command.command('in').description('send bitcoins of the faucet to an account of the chain'))
    .argument('<amount>', 'bitcoins, such as 0.5')
    .requiredOption('--to <address>', 'account that gets them')
    .option('--no-wait', 'mine no blocks')
    .action((amount: string, flags: Flags) => {
      const params = [flags.to, satoshiOf(amount), ...(flags.wait === false ? [0] : [])]
      return move(createRemote(flags.url), 'btc_pegIn', params, flags)
    })
  withNode(command.command('out').description('send coins of a local account to its Bitcoin address'))
    .argument('<amount>', 'bitcoins, such as 0.5')
    .requiredOption('--from <address>', 'local account that sends them')
    .option('--no-wait', 'mine no blocks beyond that of the transaction')
    .action((amount: string, flags: Flags) => {
      const params = [flags.from, satoshiOf(amount), flags.wait !== false]
      return move(createRemote(flags.url), 'btc_pegOut', params, flags)
    })
  const status = withNode(
    command.command('status').description('print both chains, the federation and what waits'),
  )
  status.action(async (flags: Flags) => {
    const found = await createRemote(flags.url).call('btc_status', [], Status)
    print(found, statusLines(found), flags)
  })
}

/** The banner of a started node: its chain, data directory, mining mode, explorer and accounts. */
import pc from 'picocolors'
import { isLocalNetwork } from '../chain/network.ts'
import { changesOf } from '../chain/rule-choice.ts'
import { describeChanges } from '../chain/rule-table.ts'
import { toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { type ForkOrigin, originOf } from '../engine/fork/fork.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { EvmChoice } from '../options/engine-settings.ts'

/** Accounts beyond this many are only counted. */
const MAX_LISTED = 20

/** What the banner shows. */
export interface BannerParts {
  readonly engine: Engine
  /** `undefined` for memory. */
  readonly dataDir: string | undefined
  readonly mining: 'auto' | 'manual' | number
  /** With an interval, a block for each transaction as well. */
  readonly mixedMining?: boolean
  /** What executes; shown where it is not our own EVM. */
  readonly evm?: EvmChoice
  /** The federation's mode, where a Bitcoin chain runs as well. */
  readonly federation?: FederationMode | undefined
  /** The federation replaced that of a fork's upstream. */
  readonly takesOver?: boolean
  /** Address of its JSON-RPC. */
  readonly bitcoinRpc?: string | undefined
  /** The address of the explorer; `undefined` where it is turned off. */
  readonly explorer?: string | undefined
}

const EVM_TEXTS = {
  ethereumjs: '@ethereumjs/evm',
  both: "this node's and @ethereumjs/evm, compared",
} as const

function miningText(mode: BannerParts['mining'], isMixed: boolean): string {
  if (mode === 'auto') return 'a block for each transaction'
  if (mode === 'manual') return 'on request'
  return `a block every ${mode} s${isMixed ? ', and for each transaction' : ''}`
}

function bitcoinText(federation: FederationMode, rpc: string | undefined, takesOver: boolean): string {
  const whose = takesOver ? " in place of the upstream's, whose coins are simulated" : ''
  return `regtest, federation ${federation}${whose}${rpc === undefined ? '' : `, ${rpc}`}`
}

function forkText({ upstream, chainId, block, hash }: ForkOrigin): string {
  return `of ${upstream} (chain id ${chainId}) at block ${block} (${hash})`
}

/** The lines of the banner. Keys are shown on local chains only, where they hold nothing of value. */
export function bannerLines({
  engine,
  dataDir,
  mining,
  mixedMining = false,
  evm = 'tandem',
  federation,
  takesOver = false,
  bitcoinRpc,
  explorer,
}: BannerParts): string[] {
  const { config, accounts, fork } = engine
  const rules = describeChanges(changesOf(config))
  const isLocal = isLocalNetwork(config.network)
  const row = (name: string, value: string) => `${pc.dim(name.padEnd(9))} ${value}`
  const listed = accounts.list().slice(0, MAX_LISTED)
  const lines = [
    pc.bold('Tandem'),
    row('Chain', `${config.name}, id ${config.chainId} (0x${config.chainId.toString(16)})`),
    ...(fork === undefined ? [] : [row('Fork', forkText(originOf(fork)))]),
    ...(rules === '' ? [] : [row('Rules', rules)]),
    row('Data', dataDir ?? 'in memory, forgotten at the end'),
    row('Mining', miningText(mining, mixedMining)),
    ...(federation === undefined ? [] : [row('Bitcoin', bitcoinText(federation, bitcoinRpc, takesOver))]),
    ...(evm === 'tandem' ? [] : [row('EVM', EVM_TEXTS[evm])]),
    ...(explorer === undefined ? [] : [row('Explorer', explorer)]),
    row('Accounts', listed.length === 0 ? 'none' : `${accounts.list().length}`),
    ...listed.map((address, i) => {
      const key = isLocal ? accounts.key(address) : undefined
      return `  ${pc.dim(`${i}`.padStart(2))} ${address}${key === undefined ? '' : ` ${pc.dim(toHex(key))}`}`
    }),
  ]
  if (isLocal && listed.length > 0)
    lines.push(pc.yellow('The keys stand here in the open: use them on this chain only.'))
  return [...lines, '']
}

/** What Anvil prints when it is ready, in the form that alloy's, prool's and ape's launchers parse. */
import { writeFileSync } from 'node:fs'
import { addr } from 'micro-eth-signer'
import { toHex } from '../../encoding/hex.ts'
import type { Node } from '../../node/node.ts'
import { packageVersion } from '../../store/package-files.ts'
import type { Server } from '../../transport/server.ts'
import type { LineWriter } from '../line-writer.ts'
import type { AnvilSettings } from './flag-values.ts'

const RULE = '=================='

/** Wei as coins with all their decimals. */
function fullCoins(wei: bigint): string {
  const digits = wei.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`
}

interface Shown {
  readonly addresses: readonly string[]
  readonly keys: readonly string[]
  readonly balance: bigint
  readonly mnemonic: string
  readonly derivationPath: string
  readonly chainId: number
  readonly baseFee: bigint
  readonly gasLimit: bigint
  readonly gasPrice: bigint
  readonly timestamp: number
}

function shownOf({ engine, options }: Node): Shown {
  const { accounts, config, queries } = engine
  const { header } = queries.head().block
  const listed = accounts.list()
  return {
    addresses: listed.map((address) => addr.addChecksum(address)),
    keys: listed.flatMap((address) => {
      const key = accounts.key(address)
      return key === undefined ? [] : [toHex(key)]
    }),
    balance: options.accountBalance ?? 0n,
    mnemonic: options.mnemonic ?? '',
    derivationPath: options.derivationPath,
    chainId: config.chainId,
    baseFee: header.minimumGasPrice,
    gasLimit: header.gasLimit,
    gasPrice: queries.gasPrice(),
    timestamp: header.timestamp,
  }
}

function section(title: string, lines: readonly string[]): string[] {
  return [title, RULE, ...lines, '']
}

/**
 * The banner without the line of the address. `Chain ID: 33` is on one line before it, since alloy stops reading at the
 * address and otherwise assumes 31337.
 */
function bannerLines(shown: Shown): string[] {
  const { addresses, keys, balance } = shown
  return [
    '',
    `    Tandem ${packageVersion()}, with Anvil's command line`,
    '',
    ...section('Available Accounts', [
      '',
      ...addresses.map((address, i) => `(${i}) ${address} (${fullCoins(balance)} ETH)`),
    ]),
    ...section('Private Keys', ['', ...keys.map((key, i) => `(${i}) ${key}`)]),
    ...section('Wallet', [
      `Mnemonic:          ${shown.mnemonic}`,
      `Derivation path:   ${shown.derivationPath}`,
      '',
    ]),
    ...section('Chain ID', ['', `${shown.chainId}`]),
    ...section('Base Fee', ['', `${shown.baseFee}`]),
    ...section('Gas Limit', ['', `${shown.gasLimit}`]),
    ...section('Genesis Timestamp', ['', `${shown.timestamp}`]),
    ...section('Genesis Number', ['', '0']),
    `Chain ID: ${shown.chainId}`,
    '',
  ]
}

/** The file of `--config-out`. Throws when it cannot be written. */
function writeConfig(file: string, shown: Shown): void {
  const config = {
    available_accounts: shown.addresses,
    private_keys: shown.keys,
    wallet: { mnemonic: shown.mnemonic, derivation_path: shown.derivationPath },
    base_fee: shown.baseFee.toString(),
    gas_limit: shown.gasLimit.toString(),
    gas_price: shown.gasPrice.toString(),
    genesis_timestamp: shown.timestamp.toString(),
  }
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
}

/** Prints the banner and the address, and writes the file of `--config-out`. */
export function announceAnvil(node: Node, server: Server, settings: AnvilSettings, output: LineWriter): void {
  const shown = shownOf(node)
  if (settings.configOut !== undefined) writeConfig(settings.configOut, shown)
  if (settings.silent) return
  const lines = settings.quiet || settings.json ? [`Chain ID: ${shown.chainId}`] : bannerLines(shown)
  const { hostname, port } = new URL(server.url)
  const host = settings.serve.host ?? hostname
  const address = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port || 80}`
  const ipc = server.ipcPath === undefined ? [] : [`IPC path: ${server.ipcPath}`]
  for (const line of [...settings.warnings, ...lines, ...ipc, `Listening on ${address}`]) output.write(line)
}

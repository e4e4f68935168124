/** Settings of the Bitcoin chain that runs beside a local chain, and of the federation between the two. */
import { z } from 'zod'
import { type Kind, oneOf, same, text, whole, yesOrNo } from './kinds.ts'
import { setting } from './setting.ts'

/** When the simulated federation works: for each block, on request, or never. */
export type FederationMode = 'auto' | 'manual' | 'off'

/** Can the text of a URL be decoded? */
function isEscaped(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Where a Bitcoin Core listens; it holds a password. */
const coreUrl: Kind<string, string> = {
  schema: () =>
    z.url({ protocol: /^https?$/ }).refine((given) => {
      const { username, password } = new URL(given)
      return [username, password].every(isEscaped)
    }),
  expects: 'a URL such as http://user:password@127.0.0.1:18443',
  fromText: same,
}

export const BITCOIN_SETTINGS = {
  bitcoin: setting(yesOrNo, {
    flag: '--bitcoin',
    help: 'run a Bitcoin regtest chain beside a local chain (regtest, devnet), with a federation for the peg between the two',
    fallback: false,
  }),
  bitcoinRpc: setting(coreUrl, {
    flag: '--bitcoin-rpc <url>',
    help: 'with --bitcoin: the JSON-RPC of a Bitcoin Core on regtest, with user and password, whose chain takes the place of the simulated one',
    fallback: undefined,
    fallbackText: 'none: a simulated chain',
    secret: true,
  }),
  bitcoinBlocksPer: setting(whole(0, 1_000_000), {
    flag: '--bitcoin-blocks-per <count>',
    help: 'with --bitcoin: blocks of the local chain for each block that its mining adds to the Bitcoin chain; all are proven by Bitcoin blocks, and 0 adds none',
    fallback: 20,
  }),
  federation: setting(oneOf('auto', 'manual', 'off') satisfies Kind<FederationMode, FederationMode>, {
    flag: '--federation <mode>',
    help: 'with --bitcoin: auto, the federation sends its transactions for each block; manual, on fed_updateBridge and btc_flush; off, never',
    fallback: 'auto',
  }),
  federationTakeover: setting(yesOrNo, {
    flag: '--federation-takeover',
    help: "with --bitcoin and --fork: replace the federation of the upstream's Bridge by that of the local network, whose keys the node has, on the simulated Bitcoin chain",
    fallback: false,
  }),
}

/** The settings of the port on which Bitcoin Core's JSON-RPC is answered. */
export const BITCOIN_RPC_SETTINGS = {
  bitcoinRpcPort: setting(whole(0, 65_535), {
    flag: '--bitcoin-rpc-port <number>',
    help: "with --bitcoin: port of this machine's own address for Bitcoin Core's JSON-RPC, Esplora and Blockbook; 0 takes a free one",
    fallback: undefined,
    fallbackText: 'none',
  }),
  bitcoinRpcUser: setting(text, {
    flag: '--bitcoin-rpc-user <name>',
    help: 'user of that JSON-RPC',
    fallback: 'tandem',
  }),
  bitcoinRpcPassword: setting(text, {
    flag: '--bitcoin-rpc-password <password>',
    help: 'password of that JSON-RPC',
    fallback: 'tandem',
    secret: true,
  }),
}
